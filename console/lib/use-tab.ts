/** Which tab of a page is shown: the address says it, and is corrected where it names none. */
import { useEffect } from 'react'
import { useSearchParams } from 'react-router'
import { useStillHere } from './use-still-here.ts'

export interface Tab {
  value: string
  label: string
}

/**
 * @param tabs of the page; the first is shown where the address names none, and is not named in it
 * @param was what tabs were called before, and what they are called now
 * @returns the tab that is shown, and what goes to another; filters of a tab leave with it
 */
export function useTab(
  tabs: readonly Tab[],
  was: Readonly<Record<string, string>> = {},
): [tab: string, go: (to: string | null) => void] {
  const [address, setAddress] = useSearchParams()
  const isHere = useStillHere()
  const first = tabs[0]!.value
  const asked = address.get('tab')
  const named = asked === null ? first : (was[asked] ?? asked)
  const tab = tabs.some(({ value }) => value === named) ? named : first
  const right = tab === first ? null : tab
  useEffect(() => {
    if (asked === right || !isHere()) return
    setAddress(
      (now) => {
        const next = new URLSearchParams(now)
        if (right === null) next.delete('tab')
        else next.set('tab', right)
        return next
      },
      { replace: true },
    )
  }, [asked, right, setAddress, isHere])
  return [tab, (to) => setAddress(to === null || to === first ? {} : { tab: to })]
}

/** Filters of a list, which the address of its page has, so that a link and a reload keep them. */
import { useSearchParams } from 'react-router'

/** @returns the parameters of the address; and what changes one of them in place, null: to what the page is without it */
export function useFilters(): [address: URLSearchParams, set: (name: string, value: string | null) => void] {
  const [address, setAddress] = useSearchParams()
  const set = (name: string, value: string | null) =>
    setAddress(
      (now) => {
        const next = new URLSearchParams(now)
        if (value) next.set(name, value)
        else next.delete(name)
        return next
      },
      { replace: true },
    )
  return [address, set]
}

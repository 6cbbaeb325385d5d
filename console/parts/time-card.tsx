/** One card for all times of the page: the instant here, in UTC and as ISO 8601, to copy. */
import { Button, Kbd, Paper, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useCopy } from '../lib/copy-text.ts'
import { instantWords } from '../lib/time.ts'

/** How long the pointer rests before it comes or goes, milliseconds. */
const RESTS_MS = 300
const CARD = 'time-card'
/** Keys that close it. */
const CLOSES: ReadonlySet<string> = new Set(['Escape', 'Enter', ' '])
const WIDTH = 250
/** Of its three lines and the button. */
const HEIGHT = 112

interface Shown {
  iso: string
  left: number
  top: number
  /** It came with the focus: keys copy from it. */
  hasKeys: boolean
}

/** Where the card of a time stands; null: no time, or one without an instant. */
function cardOf(time: Element | null | undefined, hasKeys = false): Shown | null {
  const iso = time?.getAttribute('datetime')
  if (!time || !iso || Number.isNaN(Date.parse(iso))) return null
  const { left, top, bottom } = time.getBoundingClientRect()
  return {
    iso,
    hasKeys,
    left: Math.max(8, Math.min(left, window.innerWidth - WIDTH - 8)),
    top: bottom + 4 + HEIGHT < window.innerHeight ? bottom + 4 : Math.max(8, top - 4 - HEIGHT),
  }
}

/** The time of what is focused: it is in it or around it, or in the row whose link it is. */
const timeOf = (focused: HTMLElement): Element | null =>
  focused.closest('time[datetime]') ??
  focused.querySelector('time[datetime]') ??
  (focused.matches('.row-link') ? (focused.closest('tr')?.querySelector('time[datetime]') ?? null) : null)

/** The time under the pointer, also where the link of its row lies above. */
const timeUnder = ({ clientX, clientY }: PointerEvent): Shown | null =>
  cardOf(document.elementsFromPoint(clientX, clientY).find((one) => one.matches('time[datetime]')))

/** Stands once in the console, and listens to all of it. */
export function TimeCard() {
  const [shown, setShown] = useState<Shown | null>(null)
  const { copied, copy } = useCopy()
  useEffect(() => {
    let timer = 0
    const show = (next: Shown | null) => {
      window.clearTimeout(timer)
      setShown(next)
    }
    const isInCard = (target: EventTarget | null) => target instanceof Element && target.closest(`#${CARD}`)
    // Once the pointer rests: what lies under it is not asked for at every step.
    const move = (event: PointerEvent) => {
      window.clearTimeout(timer)
      if (isInCard(event.target) || event.pointerType !== 'mouse') return
      timer = window.setTimeout(() => setShown(timeUnder(event)), RESTS_MS)
    }
    const focus = ({ target }: Event) => {
      if (isInCard(target) || !(target instanceof HTMLElement)) return
      show(target.matches(':focus-visible') ? cardOf(timeOf(target), true) : null)
    }
    const tap = (event: PointerEvent) => {
      if (event.pointerType !== 'mouse' && !isInCard(event.target)) show(timeUnder(event))
    }
    const gone = () => show(null)
    // One that came with the focus would stand on: a click on the ground focuses nothing.
    const down = (event: PointerEvent) => {
      if (event.pointerType === 'mouse' && !isInCard(event.target)) gone()
    }
    // WCAG 2.1, 1.4.13; what else Escape closes is closed, too. What Enter and Space open stands where the card does.
    const press = ({ key }: KeyboardEvent) => CLOSES.has(key) && gone()
    document.addEventListener('pointermove', move)
    document.addEventListener('focusin', focus)
    document.addEventListener('pointerdown', down)
    document.addEventListener('pointerup', tap)
    document.addEventListener('scroll', gone, true)
    document.addEventListener('keydown', press)
    return () => {
      window.clearTimeout(timer)
      document.removeEventListener('pointermove', move)
      document.removeEventListener('focusin', focus)
      document.removeEventListener('pointerdown', down)
      document.removeEventListener('pointerup', tap)
      document.removeEventListener('scroll', gone, true)
      document.removeEventListener('keydown', press)
    }
  }, [])
  useHotkeys([['c', () => shown?.hasKeys && copy(shown.iso, true)]])
  if (!shown) return null
  const { local, utc, iso } = instantWords(shown.iso, Date.now())
  return (
    <Paper
      id={CARD}
      role="tooltip"
      withBorder
      shadow="sm"
      p="xs"
      style={{ position: 'fixed', zIndex: 400, width: WIDTH, left: shown.left, top: shown.top }}
    >
      <Text size="sm">{local}</Text>
      <Text size="sm">{utc}</Text>
      <Text size="sm" className="mono">
        {iso}
      </Text>
      {/* It stands at the end of the document, away from what is focused: keys have one of their own. */}
      <Button
        size="compact-xs"
        variant="default"
        mt={4}
        tabIndex={-1}
        rightSection={shown.hasKeys ? <Kbd size="xs">C</Kbd> : undefined}
        onClick={() => copy(iso, true)}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </Paper>
  )
}

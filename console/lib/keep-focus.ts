/**
 * Who works by keys never loses their place: where what is focused is taken away or switched off, such as a row that was
 * deleted or a button while it saves, the focus goes to what is nearest once nothing else has taken it. Browsers let it
 * fall to the start of the document (WCAG 2.2, 2.4.3).
 */

const STOPS =
  'a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex="0"], [contenteditable="true"]'
/** It takes the focus of a page that was gone to. */
const HEADING = 'h1.page-title'
/** What is opened over the page: once it is gone, one is back where one was before. */
const OVER = '[role="dialog"], [role="menu"], [role="listbox"], .notices'
/** Dialogs and menus of the kit give the focus back themselves, a moment after they are closed; milliseconds. */
const WAIT_MS = 60

interface Place {
  element: HTMLElement
  /** Path of the page. */
  path: string
  /** What it is in, inside out. */
  around: readonly Element[]
  left: Left | null
}

/** Set once it is taken out: the part that went, what was before and after it, and what was put there in the same moment. */
interface Left {
  gone: Node
  before: Node | null
  after: Node | null
  instead: readonly Node[]
}

/** Must be called once. It listens to the document for as long as the page is there. */
export function keepFocus(): void {
  let now: Place | null = null
  /** Where one was before what is open was opened. */
  let below: Place | null = null
  let byKeys = false
  let timer = 0

  const later = (): void => {
    // Not put off by what goes on being drawn.
    if (timer === 0) timer = window.setTimeout(settle, WAIT_MS)
  }
  const settle = (): void => {
    timer = 0
    if (!now || !byKeys || document.activeElement !== document.body) return
    const wasOver = now.around.some((one) => one.matches(OVER)) && !now.element.isConnected
    const place = wasOver && below ? below : now
    // The page that was gone to takes it by its heading (parts/page.tsx).
    if (place.path !== window.location.pathname) return
    const next = isStop(place.element) ? place.element : (headingAnew(place) ?? nearest(place))
    // One that is switched off for a while, such as a button that saves, has it again once it is on.
    if (next === null && place.element.isConnected) return
    ;(next ?? document.getElementById('page'))?.focus()
  }
  document.addEventListener(
    'keydown',
    () => {
      byKeys = true
    },
    true,
  )
  document.addEventListener(
    'pointerdown',
    () => {
      byKeys = false
    },
    true,
  )
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    const place = placeOf(target)
    const isOver = place.around.some((one) => one.matches(OVER))
    if (!isOver) below = place
    now = place
  })
  // Given up on purpose, it is not brought back.
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    const given = now
    if (relatedTarget !== null || target !== given?.element) return
    // Browsers dispatch focusout before they remove the element.
    queueMicrotask(() => {
      if (now === given && isStop(given.element) && document.hasFocus()) now = null
      else later()
    })
  })
  new MutationObserver((records) => {
    for (const place of [now, below]) if (place) noteLeft(place, records)
    if (now && document.activeElement === document.body) later()
  }).observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled', 'inert'],
  })
}

function placeOf(element: HTMLElement): Place {
  const around: Element[] = []
  for (let one: Element | null = element; one; one = one.parentElement) around.push(one)
  return { element, path: window.location.pathname, around, left: null }
}

function noteLeft(place: Place, records: readonly MutationRecord[]): void {
  if (place.left || place.element.isConnected) return
  for (const { target, removedNodes, previousSibling: before, nextSibling: after } of records)
    for (const gone of removedNodes)
      if (place.around.includes(gone as Element)) {
        const there = records.filter((record) => record.target === target)
        place.left = { gone, before, after, instead: there.flatMap(({ addedNodes }) => [...addedNodes]) }
      }
}

/** @returns the heading of a page that is drawn anew once it is loaded, where that of before had the focus */
const headingAnew = ({ element }: Place): HTMLElement | null =>
  element.matches(HEADING) && !element.isConnected ? document.querySelector<HTMLElement>(HEADING) : null

/** @returns the same of a part that is drawn anew, such as the button of a form that was saved */
function sameAnew({ element, left }: Place): HTMLElement | null {
  const name = nameOf(element)
  const stops = (left?.instead ?? []).flatMap(shownStops)
  return (name && stops.find((one) => one.tagName === element.tagName && nameOf(one) === name)) || null
}

const nameOf = (element: HTMLElement): string =>
  element.getAttribute('aria-label') ??
  (element as HTMLInputElement).labels?.[0]?.textContent ??
  element.textContent

/** @returns what stood after it, or before it, or else is nearest around it, in the page; null: nothing */
function nearest(place: Place): HTMLElement | null {
  const { element, around, left } = place
  if (element.isConnected) return null
  const anew = sameAnew(place)
  if (anew) return anew
  const at = left ? stopsIn(left.gone).indexOf(element) : 0
  for (let one = left?.after ?? null; one; one = one.nextSibling) {
    const stops = shownStops(one)
    // Of the next row the same button.
    if (stops.length > 0) return stops[at] ?? stops[0]!
  }
  for (let one = left?.before ?? null; one; one = one.previousSibling) {
    const stops = shownStops(one)
    if (stops.length > 0) return stops[at] ?? stops.at(-1)!
  }
  const page = document.getElementById('page')
  for (const one of around) {
    if (one === page) break
    if (!one.isConnected || !page?.contains(one)) continue
    const [first] = shownStops(one)
    if (first) return first
  }
  return null
}

const stopsIn = (node: Node): HTMLElement[] =>
  node instanceof Element
    ? [...(node.matches(STOPS) ? [node as HTMLElement] : []), ...node.querySelectorAll<HTMLElement>(STOPS)]
    : []

const shownStops = (node: Node): HTMLElement[] => (node.isConnected ? stopsIn(node).filter(isStop) : [])

const isStop = (element: HTMLElement): boolean =>
  element.isConnected && !element.matches(':disabled, [inert] *') && element.checkVisibility()

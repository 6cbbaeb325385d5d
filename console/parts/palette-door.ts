/** How the palette is opened and closed by what does not load it: it comes with its first use. */

type Step = () => void

interface Steps {
  open: Step
  close: Step
  /** Puts a text before what its field has. */
  type(text: string): void
}

let steps: Steps | null = null
const listeners = new Set<Step>()

export const paletteDoor = {
  /** Opens it; the first time it is loaded for that. What is typed meanwhile is for its field. */
  open: (): void => {
    holdTyping()
    if (steps) steps.open()
    else for (const listener of listeners) listener()
  },
  close: (): void => steps?.close(),
  /** Called by the palette once it is there. */
  isHere: (given: Steps): void => {
    steps = given
  },
  /** @param listener loads it @returns stops */
  onWanted: (listener: Step): Step => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

/** The field of the palette. */
export const FIELD_LABEL = 'Search'
const FIELD = `[role="dialog"] input[aria-label="${FIELD_LABEL}"]`
/** It will not come any more. */
const HELD_MS = 10_000

let stopHolding: Step | null = null

/**
 * Keeps the letters that are typed until the field has the focus: it is loaded and drawn first, and a page takes single
 * letters for its own keys, so that the search for "error" marked an incident as handled.
 */
function holdTyping(): void {
  if (stopHolding) return
  let text = ''
  const onKey = (event: KeyboardEvent): void => {
    const { key } = event
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
    if (key === 'Escape') {
      stopHolding?.()
      steps?.close()
    } else if (key === 'Backspace') text = text.slice(0, -1)
    else if (key.length === 1) text += key
    else if (key !== 'Enter') return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const onFocus = ({ target }: FocusEvent): void => {
    if (!(target as Element).matches('input, textarea, select')) return
    stopHolding?.()
    if (text !== '' && (target as Element).matches(FIELD)) steps?.type(text)
  }
  const onPress = (): void => stopHolding?.()
  const ending = setTimeout(onPress, HELD_MS)
  stopHolding = () => {
    clearTimeout(ending)
    window.removeEventListener('keydown', onKey, true)
    window.removeEventListener('focusin', onFocus, true)
    window.removeEventListener('pointerdown', onPress, true)
    stopHolding = null
  }
  window.addEventListener('keydown', onKey, true)
  window.addEventListener('focusin', onFocus, true)
  window.addEventListener('pointerdown', onPress, true)
}

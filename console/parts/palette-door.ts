/** How the palette is opened and closed by what does not load it: it comes with its first use. */

type Step = () => void

let steps: { open: Step; close: Step } | null = null
const listeners = new Set<Step>()

export const paletteDoor = {
  /** Opens it; the first time it is loaded for that. */
  open: (): void => {
    if (steps) steps.open()
    else for (const listener of listeners) listener()
  },
  close: (): void => steps?.close(),
  /** Called by the palette once it is there. */
  isHere: (given: { open: Step; close: Step }): void => {
    steps = given
  },
  /** @param listener loads it @returns stops */
  onWanted: (listener: Step): Step => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

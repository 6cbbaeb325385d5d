/** Faults of a form at their fields: each from when its field is left, all from when it is submitted. */
import { type FocusEvent, useState } from 'react'
import { type FieldErrors, rest } from './field-errors.ts'

export interface ShownFaults {
  /** Those to show now. */
  shown: FieldErrors
  /** All are shown: it was submitted. */
  isSubmitted: boolean
  /** Of the element round the fields, each of which has its path as `data-field`. */
  form: { onBlur: (event: FocusEvent) => void }
  /** Shows all; lib/first-fault.ts goes to the first. */
  showAll: () => void
}

/** @param found all faults there are, by path */
export function useShownFaults(found: FieldErrors): ShownFaults {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [submits, setSubmits] = useState(0)
  const isShown = (path: string): boolean =>
    submits > 0 || [...left].some((field) => path === field || /^[.[]/.test(rest(path, field)))
  return {
    shown: Object.fromEntries(Object.entries(found).filter(([path]) => isShown(path))),
    isSubmitted: submits > 0,
    form: {
      onBlur: (event) => {
        const field = (event.target as HTMLElement).closest<HTMLElement>('[data-field]')
        // Within a field, such as from a value to its list, nothing is left.
        if (!field || field.contains(event.relatedTarget)) return
        const path = field.dataset.field!
        setLeft((now) => (now.has(path) ? now : new Set(now).add(path)))
      },
    },
    showAll: () => setSubmits((n) => n + 1),
  }
}

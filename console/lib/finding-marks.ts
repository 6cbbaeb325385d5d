/** Marks of findings in words. */
import type { FindingMark, MarkWrite } from '../../schemas/types.ts'
import type { Tone } from '../parts/mark.tsx'

export const MARK_WORDS: Record<FindingMark['mark'], string> = {
  right: 'Right',
  partly: 'Partly right',
  wrong: 'Wrong',
}

export const MARK_TONES: Record<FindingMark['mark'], Tone> = { right: 'good', partly: 'busy', wrong: 'bad' }

/** A filter of results by their marks, as the address and the API have it. */
export const MARK_FILTERS = [
  ...Object.entries(MARK_WORDS).map(([value, label]) => ({ value, label })),
  { value: 'any', label: 'Marked' },
  { value: 'none', label: 'Not marked' },
]

/** What brings a mark back. @param mark null: there was none */
export function writeOf(mark: FindingMark | null): MarkWrite {
  if (mark === null) return { mark: null }
  const { note, cause } = mark
  return {
    mark: mark.mark,
    ...(note === null ? {} : { note }),
    ...(cause === null ? {} : { cause }),
  }
}

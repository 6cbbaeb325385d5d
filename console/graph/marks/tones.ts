/** How a tone is told to those who do not see its colour. */
import type { Tone } from '../types.ts'

/** What is neutral needs no word. */
export const TONE_WORDS: Record<Tone, string> = {
  neutral: '',
  busy: 'At work: ',
  waiting: 'Waiting: ',
  good: 'Good: ',
  bad: 'Bad: ',
}

/** By its shape. */
export const SYMBOLS: Record<Tone, string> = { neutral: '•', busy: '▸', waiting: '…', good: '✓', bad: '✕' }

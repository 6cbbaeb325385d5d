/** A note under a node or on an edge, with a bar where it has progress. */
import type { Note, Tone } from '../types.ts'

/** Told to those who do not see the colour; what is neutral needs no word. */
export const TONE_WORDS: Record<Tone, string> = {
  neutral: '',
  busy: 'At work: ',
  waiting: 'Waiting: ',
  good: 'Good: ',
  bad: 'Bad: ',
}
export const SYMBOLS: Record<Tone, string> = { neutral: '', busy: '▸ ', waiting: '… ', good: '✓ ', bad: '✕ ' }

export function NoteMark({ note }: { note: Note }) {
  return (
    <div className="graph-note" data-tone={note.tone}>
      <span aria-hidden>{SYMBOLS[note.tone]}</span>
      <span className="graph-hidden">{TONE_WORDS[note.tone]}</span>
      {note.text}
      {note.progress !== undefined && (
        <span className="graph-bar" aria-hidden>
          <span style={{ width: `${Math.round(Math.min(1, Math.max(0, note.progress)) * 100)}%` }} />
        </span>
      )}
    </div>
  )
}

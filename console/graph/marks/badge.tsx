/** A badge of 16 px beside a node, or on an edge, which has no room for words: that something is told of it, and how it is. The text in full is in the panel. */
import type { Note } from '../types.ts'
import { SYMBOLS, TONE_WORDS } from './tones.ts'

const SIZE = 16
const AROUND = 2 * Math.PI * 6.5

export function Badge({ note }: { note: Note }) {
  const filled = note.progress === undefined ? null : Math.min(1, Math.max(0, note.progress))
  return (
    <span className="graph-badge" data-tone={note.tone} title={note.text}>
      <span className="graph-hidden">
        {TONE_WORDS[note.tone]}
        {note.text}
      </span>
      {filled !== null && filled < 1 ? (
        <svg width={SIZE} height={SIZE} viewBox={`0 0 ${SIZE} ${SIZE}`} aria-hidden>
          <circle cx={8} cy={8} r={6.5} className="graph-badge-ground" />
          <circle
            cx={8}
            cy={8}
            r={6.5}
            transform="rotate(-90 8 8)"
            strokeDasharray={`${AROUND * filled} ${AROUND}`}
          />
        </svg>
      ) : (
        <span aria-hidden>{SYMBOLS[note.tone]}</span>
      )}
    </span>
  )
}

/** What a note says of itself where it has no headline and no next step of its own. */

const HEADLINE_MAX = 100
const NEXT_STEP_MAX = 300

/** The first heading, bold lead, or sentence of a note; empty of an empty one. */
export function headlineOf(note: string): string {
  const line = note.split('\n').find((text) => text.trim() !== '') ?? ''
  const bold = /^\*\*(.+?)\*\*/.exec(line.trim())?.[1]
  const text = bold ?? plain(line)
  const sentence = /^.+?[.!?](?=\s|$)/.exec(text)?.[0] ?? text
  return sentence.length > HEADLINE_MAX ? `${sentence.slice(0, HEADLINE_MAX - 1)}…` : sentence
}

export function nextStepOf(note: string): string | null {
  const match = /(?:^|\n)[#*\s-]*next step[s]?\**\s*:\**\s*(.+)/i.exec(note)
  return match ? plain(match[1]!).slice(0, NEXT_STEP_MAX) : null
}

/** A text of Markdown as one line. */
export const plain = (markdown: string): string =>
  markdown
    .replace(/^#+\s*/gm, '')
    .replace(/[*_`]/g, '')
    .replace(/\s+/g, ' ')
    .trim()

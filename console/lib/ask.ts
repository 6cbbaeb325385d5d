/** An answer of Ask as it is shown: its pieces put together, and its words made into links. */
import type { FoldInText } from '../../schemas/event-line.ts'
import type { AskFrame, AskProposal, AskRequest } from '../../schemas/types.ts'

export type AskBlock =
  | { kind: 'text'; text: string }
  | {
      kind: 'tool'
      id: string
      name: string
      input: Record<string, unknown>
      /** Null while it runs. */
      ms: number | null
      ok: boolean | null
      preview: string
      folds: readonly FoldInText[]
    }
  | { kind: 'proposal'; id: string; proposal: AskProposal }

export interface AskView {
  turn: string | null
  blocks: AskBlock[]
  /** Its model is unavailable, and why; null: it is. */
  waiting: Extract<AskFrame, { type: 'wait' }> | null
  /** Null while it is answered. */
  end: Extract<AskFrame, { type: 'done' | 'error' }> | null
}

export const EMPTY_VIEW: AskView = { turn: null, blocks: [], waiting: null, end: null }

/** The view with one frame more. A start begins it anew. */
export function withFrame(before: AskView, frame: AskFrame): AskView {
  const view = before.waiting ? { ...before, waiting: null } : before
  const { blocks } = view
  switch (frame.type) {
    case 'start':
      return { ...EMPTY_VIEW, turn: frame.turn }
    case 'text': {
      const last = blocks.at(-1)
      if (last?.kind === 'text')
        return { ...view, blocks: [...blocks.slice(0, -1), { kind: 'text', text: last.text + frame.text }] }
      return frame.text.trim() ? { ...view, blocks: [...blocks, { kind: 'text', text: frame.text }] } : view
    }
    case 'again':
      return blocks.at(-1)?.kind === 'text' ? { ...view, blocks: blocks.slice(0, -1) } : view
    case 'tool': {
      const { id, name, input } = frame
      return {
        ...view,
        blocks: [...blocks, { kind: 'tool', id, name, input, ms: null, ok: null, preview: '', folds: [] }],
      }
    }
    case 'tool_done': {
      const { id, ms, ok, preview, folds = [] } = frame
      // Models name calls anew in each round: the newest of that name is meant that is not answered yet.
      const at = blocks.findLastIndex(
        (block) => block.kind === 'tool' && block.id === id && block.ok === null,
      )
      return {
        ...view,
        blocks: blocks.map((block, i) =>
          i === at && block.kind === 'tool' ? { ...block, ms, ok, preview, folds } : block,
        ),
      }
    }
    case 'wait':
      return { ...view, waiting: frame }
    case 'proposal':
      return { ...view, blocks: [...blocks, { kind: 'proposal', id: frame.id, proposal: frame.payload }] }
    default:
      return { ...view, end: frame }
  }
}

export const viewOf = (frames: readonly AskFrame[]): AskView => frames.reduce(withFrame, EMPTY_VIEW)

/** What is shown while an answer waits for its model: until when, on the clock of who reads, and why. */
export function waitWords(
  { until, reason }: NonNullable<AskView['waiting']>,
  time: (at: string) => string,
): string {
  return `The model is unavailable; next try at ${time(until)}. ${reason}`
}

/** The answer as text, for copying. */
export const answerOf = ({ blocks }: AskView): string =>
  blocks.flatMap((block) => (block.kind === 'text' ? [block.text.trim()] : [])).join('\n\n')

const name = encodeURIComponent
const PATHS: Record<string, (of: string) => string> = {
  source: (of) => `/sources/${name(of)}`,
  trigger: (of) => `/triggers/${name(of)}`,
  agent: (of) => `/agents/${name(of)}`,
  firing: (of) => `/firings/${name(of)}`,
}
/** Links as they are, then code of several lines, then code within one. */
const PIECES = /(\[[^\]\n]*\]\([^)\n]*\)|```[\s\S]*?(?:```|$)|`[^`\n]+`)/
const ID = /\b(evt_\d{1,15}|run_[0-9a-f]{6,64})\b/g

/** Markdown whose events, runs, entities and objects are links to where they are. */
export function linked(text: string): string {
  return text
    .split(PIECES)
    .map((piece, i) =>
      i % 2 === 1 ? linkedCode(piece) : piece.replace(ID, (id) => `[${id}](${pathOfId(id)})`),
    )
    .join('')
}

function linkedCode(piece: string): string {
  if (!piece.startsWith('`') || piece.startsWith('```')) return piece
  const path = pathOfWord(piece.slice(1, -1).trim())
  return path ? `[${piece}](${path})` : piece
}

const pathOfId = (id: string): string => (id.startsWith('evt_') ? `/events/${id}` : `/runs/${id}`)

function pathOfWord(word: string): string | null {
  if (/^(evt_\d{1,15}|run_[0-9a-f]{6,64})$/.test(word)) return pathOfId(word)
  if (/^[A-Za-z0-9_]{1,64}=[^\s=<>][^\n<>]{0,199}$/.test(word)) return `/explore?l=${name(word)}&window=24h`
  const at = word.indexOf(':')
  const of = word.slice(at + 1)
  return /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(of)
    ? (PATHS[word.slice(0, Math.max(0, at))]?.(of) ?? null)
    : null
}

/** What is asked for. */
export const TASKS = [
  { value: 'ask', label: 'Ask about what happened' },
  { value: 'sources', label: 'Connect a system' },
  { value: 'watch', label: 'Watch for something' },
  { value: 'agent', label: 'Set up an agent' },
] as const
export type Task = (typeof TASKS)[number]['value']

export const modeOf = (task: Task): Pick<AskRequest, 'mode' | 'step'> =>
  task === 'ask' ? { mode: 'ask' } : { mode: 'build', step: task }

/** The id of a conversation that is begun. */
export const newSession = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** What became of cards, kept with the conversation: by turn and call. */
export interface CardState {
  applied: Record<string, string>
}

export function readCards(state: string | null | undefined): CardState {
  if (!state) return { applied: {} }
  try {
    const { applied = {} } = JSON.parse(state) as Partial<CardState>
    return { applied }
  } catch {
    // Another client's: nothing of it is about cards.
    return { applied: {} }
  }
}

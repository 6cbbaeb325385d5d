/** The tool that ends a run: what it takes, and what is wrong with what a model gave it. */
import { check } from '../../schemas/index.ts'
import type { AgentSpec, Claim } from '../../schemas/types.ts'
import type { ToolSpec } from '../models/types.ts'

export const CONCLUDE = 'conclude'
const HEADLINE_MAX = 100
const NEXT_STEP_MAX = 300
const NOTE_MAX_BYTES = 65_536
const CLAIMS_MAX = 50

/** A run's conclusion, as the rules want it. */
export interface Conclusion {
  outcome: 'finding' | 'no_op'
  note: string
  verdict: string | null
  headline: string | null
  nextStep: string | null
  /** Another entity than that the run was woken for. */
  entity: { label: string | null; key: string } | null
  claims: Claim[]
}

/** @returns the tool as a model is offered it */
export function concludeTool({ verdicts }: Pick<AgentSpec, 'verdicts'>): ToolSpec {
  const text = (description: string, maxLength?: number) => ({
    type: 'string',
    description,
    ...(maxLength ? { maxLength } : {}),
  })
  return {
    name: CONCLUDE,
    description:
      'Ends this run. Call it once, when you know what to say: outcome finding writes your note onto the timeline of the entity, no_op says that there is nothing to report.',
    input: {
      type: 'object',
      properties: {
        outcome: { type: 'string', enum: ['finding', 'no_op'] },
        summary: text('The note, Markdown: what happened, why, and how you know. Required for a finding.'),
        ...(verdicts?.length
          ? { verdict: { type: 'string', enum: verdicts.map(({ verdict }) => verdict) } }
          : { verdict: text('One lowercase word, if it helps.', 40) }),
        headline: text('One line that says it all.', HEADLINE_MAX),
        next_step: text('What a person should do next, if anything.', NEXT_STEP_MAX),
        key: text('Another entity that this is about, if it is.', 512),
        label: text('The label whose value key is.', 64),
        claims: {
          type: 'array',
          maxItems: CLAIMS_MAX,
          description:
            'What the note claims, the cause first, each with the ids of the events it rests on. They are checked: each event must have been shown to you, and hold what you quote, name, count or compare. One that gives none of these is unproved.',
          items: {
            type: 'object',
            properties: {
              text: text('The claim, one sentence.', 500),
              role: {
                type: 'string',
                enum: ['cause', 'effect', 'ruled_out', 'context'],
                description: 'The first is the cause without it, the others are context.',
              },
              events: { type: 'array', items: { type: 'string' }, minItems: 1 },
              quote: text('Words that one of these events has, exactly.', 500),
              number: { type: 'number', description: 'A number one of them has, as it is written there.' },
              count: { type: 'integer', description: 'How many events they are, or stand for.' },
              was: { type: 'number', description: 'With now: what a number was, in one of them.' },
              now: { type: 'number', description: 'With was: what it became, in another.' },
            },
            required: ['text', 'events'],
          },
        },
      },
      required: ['outcome'],
    },
  }
}

/** @returns the conclusion, or a sentence that says what to change. */
export function readConclusion(
  args: Record<string, unknown>,
  { verdicts = [] }: Pick<AgentSpec, 'verdicts'>,
): Conclusion | string {
  const outcome = wordOf(args.outcome)
  if (outcome !== 'finding' && outcome !== 'no_op') return 'outcome must be finding or no_op'
  const note = textOf(args.summary) ?? ''
  if (outcome === 'finding' && note === '') return 'summary is required for a finding'
  if (Buffer.byteLength(note) > NOTE_MAX_BYTES) return `summary must have at most ${NOTE_MAX_BYTES} bytes`
  const verdict = wordOf(args.verdict)
  const known = verdicts.map((one) => one.verdict)
  if (verdict !== null && known.length > 0 && !known.includes(verdict))
    return `verdict must be one of ${known.join(', ')}`
  if (verdict !== null && known.length === 0 && !/^[a-z][a-z0-9_-]{0,39}$/.test(verdict))
    return 'verdict must be one lowercase word of at most 40 letters, digits, dashes or underscores'
  if (verdict === 'no_op') return 'verdict must not be no_op: that is an outcome'
  if (outcome === 'finding' && known.length > 0 && verdict === null)
    return `verdict is required: one of ${known.join(', ')}`
  const key = textOf(args.key)
  const label = textOf(args.label)
  if (key && key.length > 512) return 'key must have at most 512 characters'
  if (label && !/^[A-Za-z0-9_.-]{1,64}$/.test(label)) return 'label must be the name of a label'
  const claims = readClaims(args.claims)
  if (typeof claims === 'string') return claims
  return {
    outcome,
    note,
    verdict,
    headline: oneLine(args.headline, HEADLINE_MAX),
    nextStep: oneLine(args.next_step, NEXT_STEP_MAX),
    entity: key ? { label, key } : null,
    claims: outcome === 'finding' ? claims : [],
  }
}

function readClaims(given: unknown): Claim[] | string {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) return 'claims must be a list'
  if (given.length > CLAIMS_MAX) return `claims must have at most ${CLAIMS_MAX} entries`
  for (const [i, claim] of given.entries()) {
    const fault = check('claim.json', claim)
    if (fault) return `claims[${i}]: ${fault}`
  }
  return given as Claim[]
}

function textOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? null : text
}

const wordOf = (value: unknown): string | null => textOf(value)?.toLowerCase() ?? null

/** What is a little too long is cut: it is no reason to ask again. */
function oneLine(value: unknown, max: number): string | null {
  const text = textOf(value)?.replace(/\s+/g, ' ') ?? null
  return text !== null && text.length > max ? `${text.slice(0, max - 1)}…` : text
}

/** A finding as a message of Slack (SPEC.md, Outbound 4): what was found of whom, by whom, and where to look. */
import { escaped, mrkdwn } from './mrkdwn.ts'
import { excerptOf, sections } from './split.ts'

export interface SlackFinding {
  runId: string
  agent: string
  /** Null: a handoff or a person started it. */
  trigger: string | null
  verdict: string | null
  model: string | null
  /** Label whose value the entity is; empty: unknown. */
  label: string
  entity: string
  headline: string | null
  nextStep: string | null
  /** Markdown. */
  note: string
  /** Epoch ms. */
  at: number
}

/** What an earlier finding of the same incident, which is in the channel, grew to with this one. */
export interface SlackGrowth {
  /** Epoch ms of the first finding. */
  firstSeen: number
  runs: number
  findings: number
  /** In the order they were first given. */
  verdicts: readonly string[]
  /** The one before, where its note is in the channel alone, and would be lost by the update. */
  before: SlackFinding | null
}

type Block = Record<string, unknown>

export interface SlackMessage {
  /** For notifications and readers that show no blocks. */
  text: string
  blocks: Block[]
}

/** The message, and the whole note for its thread where it does not fit. */
export interface FindingMessage {
  first: SlackMessage
  thread: SlackMessage[]
}

const HEADER_MAX = 150
const FIELD_MAX = 300
const TEXT_MAX = 200
/** Slack takes 50 blocks in a message. */
const BLOCKS_MAX = 40

/**
 * @param publicUrl address of the console; null: without buttons.
 * @param growth of what it updates: each note is in the thread then; null: it is new
 */
export function findingMessage(
  found: SlackFinding,
  publicUrl: string | null,
  growth: SlackGrowth | null = null,
): FindingMessage {
  const whole = sections(mrkdwn(found.note))
  const isWhole = whole.length <= 1
  const shown = isWhole ? whole : [...sections(mrkdwn(excerptOf(found.note)))].slice(0, 1)
  const headline = found.headline ? [section(`*${escaped(oneLine(found.headline))}*`)] : []
  const next = found.nextStep ? [section(`*Next:* ${escaped(oneLine(found.nextStep))}`)] : []
  const text = `${found.agent} on ${entityOf(found)}: ${oneLine(found.headline ?? excerptOf(found.note, TEXT_MAX))}`
  return {
    first: {
      text: escaped(cut(text, HEADER_MAX + TEXT_MAX)),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: cut(oneLine(entityOf(found)), HEADER_MAX) } },
        { type: 'section', fields: fieldsOf(found, growth) },
        ...headline,
        ...shown.map(section),
        ...next,
        ...(publicUrl === null ? [] : [buttons(found, publicUrl)]),
        context(
          isWhole
            ? `Finding of ${found.runId}`
            : `Finding of ${found.runId}; the whole note is in the thread`,
        ),
        ...(growth ? [context(grownWords(growth))] : []),
      ],
    },
    thread: growth ? notesInThread(found, growth) : isWhole ? [] : inThread(found, whole),
  }
}

const grownWords = ({ firstSeen, runs, findings }: SlackGrowth): string =>
  `The same incident since ${minuteOf(firstSeen)}: ${findings} findings of ${runs} runs; each note is in the thread`

/** The note, behind that of the one before where nothing else has it. */
function notesInThread(found: SlackFinding, { before }: SlackGrowth): SlackMessage[] {
  return [...(before ? [before] : []), found].flatMap((one) => {
    const facts = [`${one.agent}, ${minuteOf(one.at)}`, one.verdict, one.headline].filter(Boolean)
    const lead = section(`*${escaped(cut(oneLine(facts.join(' · ')), FIELD_MAX))}*`)
    const [first, ...rest] = inThread(one, sections(mrkdwn(one.note)))
    return first ? [{ ...first, blocks: [lead, ...first.blocks] }, ...rest] : []
  })
}

const minuteOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function inThread(found: SlackFinding, parts: readonly string[]): SlackMessage[] {
  const messages: SlackMessage[] = []
  for (let from = 0; from < parts.length; from += BLOCKS_MAX)
    messages.push({
      text: escaped(cut(`The whole note of ${found.agent} on ${entityOf(found)}`, TEXT_MAX)),
      blocks: parts.slice(from, from + BLOCKS_MAX).map(section),
    })
  return messages
}

function fieldsOf({ agent, trigger, verdict, model, at }: SlackFinding, growth: SlackGrowth | null): Block[] {
  const field = (name: string, value: string) => ({
    type: 'mrkdwn',
    text: `*${name}*\n${value}`,
    verbatim: true,
  })
  const plain = (value: string) => escaped(cut(oneLine(value), FIELD_MAX))
  const seconds = Math.floor(at / 1_000)
  const others = growth?.verdicts.filter((one) => one !== verdict) ?? []
  return [
    field('Agent', plain(agent)),
    ...(trigger ? [field('Trigger', `\`${plain(trigger).replaceAll('`', "'")}\``)] : []),
    ...(verdict ? [field('Verdict', plain(verdict))] : []),
    ...(others.length ? [field('Other verdicts', plain(others.join(', ')))] : []),
    ...(model ? [field('Model', plain(model))] : []),
    field('When', `<!date^${seconds}^{date_short_pretty} {time}|${minuteOf(at)}>`),
  ]
}

/** The entity with its label, since a value alone may be one of several labels. */
const entityOf = ({ label, entity }: Pick<SlackFinding, 'label' | 'entity'>): string =>
  label ? `${label}=${entity}` : entity

/** Links of ours, to the console alone. */
function buttons({ runId, label, entity }: SlackFinding, publicUrl: string): Block {
  const base = publicUrl.replace(/\/+$/, '')
  const button = (text: string, id: string, path: string) => ({
    type: 'button',
    text: { type: 'plain_text', text },
    action_id: id,
    url: `${base}${path}`,
  })
  return {
    type: 'actions',
    elements: [
      button('View', 'svc_view', `/runs/${encodeURIComponent(runId)}`),
      button('Open timeline', 'svc_timeline', `/explore?l=${encodeURIComponent(`${label}=${entity}`)}`),
    ],
  }
}

/** `verbatim`: names of channels and people in plain text stay text. */
const section = (text: string): Block => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })
const context = (text: string): Block => ({
  type: 'context',
  elements: [{ type: 'mrkdwn', text: escaped(text), verbatim: true }],
})

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)

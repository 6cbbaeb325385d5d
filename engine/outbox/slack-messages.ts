/** A finding as a message of Slack (SPEC.md, Outbound 4): what was found of whom, by whom, and where to look. */

import { createHash } from 'node:crypto'
import { countWords } from '../../schemas/plain-words.ts'
import type { FiringMessage } from '../../schemas/types.ts'

interface SlackFinding {
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
/** Slack takes no longer address in a button: one of a very long name is left out. */
const URL_MAX = 3_000
const TEXT_MAX = 200
/** Of a headline, or a next step. */
const LINE_MAX = 1_500
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
  const headline = found.headline ? [section(`*${fitted(found.headline, LINE_MAX)}*`)] : []
  const next = found.nextStep ? [section(`*Next:* ${fitted(found.nextStep, LINE_MAX)}`)] : []
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
  `The same incident since ${minuteOf(firstSeen)}: ${countWords(findings, 'finding')} of ${countWords(runs, 'run')}; each note is in the thread`

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
  const links = [
    button('View', 'svc_view', `/runs/${encodeURIComponent(runId)}`),
    button('Open timeline', 'svc_timeline', `/explore?l=${encodeURIComponent(`${label}=${entity}`)}`),
  ]
  return { type: 'actions', elements: links.filter(({ url }) => url.length <= URL_MAX) }
}

/** `verbatim`: names of channels and people in plain text stay text. */
const section = (text: string): Block => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })
const context = (text: string): Block => ({
  type: 'context',
  elements: [{ type: 'mrkdwn', text: escaped(text), verbatim: true }],
})

/** A line of text, escaped, which may make it longer. @param max characters of what is sent */
export const fitted = (text: string, max: number): string => sections(escaped(oneLine(text)), max)[0] ?? ''

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`)

/* What of an incident its message has beside what was found: where it stands, and buttons that act. */

/** Where an incident stands, and what may be done to it. */
export interface IncidentCard {
  /** Such as inc_3. */
  id: string
  /** That a button of the message speaks of. */
  version: number
  severity: string
  /** Such as "acknowledged by mara". */
  state: string
  firings: number
  /** Epoch ms. */
  openedAt: number
  /** What people may do with it now, by the names that they are called by. */
  accepts: readonly string[]
  /** A run that has ended and can be repeated; null: none. */
  run: string | null
}

/** What a button asks for, in its value: Slack hands it back as it was. */
export interface SlackAct {
  do: 'acknowledge' | 'handle' | 'reopen' | 'snooze' | 'rerun' | 'approve' | 'decline'
  /** Incident, run or proposal. */
  of: string
  /** Version of the incident that the message shows. */
  v?: number
  /** Of snooze: for how long, in hours; 0: until it changes. */
  h?: number
  /** Of rerun: the incident it is for. */
  i?: string
}

const SNOOZES = [1, 4, 24, 0]
const snoozeWords = (hours: number): string =>
  hours === 0 ? 'Until it changes' : `For ${countWords(hours, 'hour')}`

/** Buttons that act begin so; the others are links, which need no answer. */
export const ACT_ID = 'svc_do_'

/**
 * The message of an incident with where it stands and what may be done.
 * @param base as it was posted, without these
 */
export function withIncident({ text, blocks }: SlackMessage, card: IncidentCard): SlackMessage {
  const at = blocks.findIndex(({ type }) => type === 'actions')
  const links = at === -1 ? [] : (blocks[at]!.elements as Block[])
  const rest = blocks.filter((_block, i) => i !== at)
  const end = rest.findIndex(({ type }) => type === 'context')
  const cutAt = end === -1 ? rest.length : end
  const elements = [...links, ...incidentActs(card)]
  const words = [
    `Incident ${card.id}: ${card.severity}, ${card.state}`,
    `${countWords(card.firings, 'firing')} since ${minuteOf(card.openedAt)}`,
  ].join('; ')
  return {
    text,
    blocks: [
      ...rest.slice(0, cutAt),
      ...(elements.length ? [{ type: 'actions', elements }] : []),
      context(cut(oneLine(words), FIELD_MAX)),
      ...rest.slice(cutAt),
    ],
  }
}

/** Tells whether a message is as it was posted. */
export const digestOf = (message: SlackMessage): string =>
  createHash('sha256')
    .update(JSON.stringify([message.text, message.blocks]))
    .digest('hex')

/** Buttons for what an incident accepts as it is. */
export function incidentActs({
  id,
  version,
  accepts,
  run,
}: Pick<IncidentCard, 'id' | 'version' | 'accepts' | 'run'>): Block[] {
  const button = (text: string, act: SlackAct, more: object = {}) => ({
    type: 'button',
    text: { type: 'plain_text', text },
    action_id: `${ACT_ID}${act.do}`,
    value: JSON.stringify(act),
    ...more,
  })
  const of = { of: id, v: version }
  return [
    ...(accepts.includes('acknowledge')
      ? [button('Acknowledge', { do: 'acknowledge', ...of }, { style: 'primary' })]
      : []),
    ...(accepts.includes('handle') ? [button('Handled', { do: 'handle', ...of })] : []),
    ...(accepts.includes('snooze') ? [snoozes(of)] : []),
    ...(accepts.includes('handle') || !accepts.includes('reopen')
      ? []
      : [button('Reopen', { do: 'reopen', ...of })]),
    ...(run === null
      ? []
      : [
          button(
            'Run again',
            { do: 'rerun', of: run, i: id },
            {
              confirm: confirmed(
                'Run again?',
                'The agent looks at it once more, which costs what a run costs.',
                'Run',
              ),
            },
          ),
        ]),
  ]
}

const snoozes = (of: { of: string; v: number }): Block => ({
  type: 'static_select',
  placeholder: { type: 'plain_text', text: 'Snooze' },
  action_id: `${ACT_ID}snooze`,
  options: SNOOZES.map((h) => ({
    text: { type: 'plain_text', text: snoozeWords(h) },
    value: JSON.stringify({ do: 'snooze', ...of, h } satisfies SlackAct),
  })),
})

const confirmed = (title: string, text: string, yes: string): Block => ({
  title: { type: 'plain_text', text: title },
  text: { type: 'plain_text', text },
  confirm: { type: 'plain_text', text: yes },
  deny: { type: 'plain_text', text: 'Cancel' },
})

/** A proposal as its message has it. */
interface ProposalInSlack {
  id: string
  /** What it changes, in a line. */
  summary: string
  why: string
  proposer: string
  state: 'open' | 'approved' | 'declined' | 'withdrawn'
  decidedBy: string | null
  reason: string | null
  /** Epoch ms. */
  madeAt: number
}

const PROPOSAL_TEXT_MAX = 2_000

/** @param publicUrl address of the console; null: without a link. */
export function proposalMessage(of: ProposalInSlack, publicUrl: string | null): SlackMessage {
  const button = (text: string, act: SlackAct, style: string, confirm: Block) => ({
    type: 'button',
    text: { type: 'plain_text', text },
    action_id: `${ACT_ID}${act.do}`,
    value: JSON.stringify(act),
    ...{ style, confirm },
  })
  const link = {
    type: 'button',
    text: { type: 'plain_text', text: 'View' },
    action_id: 'svc_proposal',
    url: `${publicUrl?.replace(/\/+$/, '')}/changes?proposal=${of.id}`,
  }
  const elements = [
    ...(publicUrl === null ? [] : [link]),
    ...(of.state === 'open'
      ? [
          button(
            'Approve',
            { do: 'approve', of: of.id },
            'primary',
            confirmed('Approve it?', 'Exactly what was planned is written.', 'Approve'),
          ),
          button(
            'Decline',
            { do: 'decline', of: of.id },
            'danger',
            confirmed('Decline it?', 'Nothing is written.', 'Decline'),
          ),
        ]
      : []),
  ]
  const stands =
    of.state === 'open'
      ? 'It waits for somebody to decide'
      : `${of.state} by ${of.decidedBy ?? ''}${of.reason ? `: ${of.reason}` : ''}`
  return {
    text: escaped(cut(`${of.proposer} proposes: ${oneLine(of.summary)}`, FIELD_MAX)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'Proposed change' } },
      section(`*${fitted(of.summary, PROPOSAL_TEXT_MAX)}*`),
      ...(of.why.trim() ? [section(fitted(of.why, PROPOSAL_TEXT_MAX))] : []),
      ...(elements.length ? [{ type: 'actions', elements }] : []),
      context(
        cut(oneLine(`Proposal ${of.id} of ${of.proposer}, ${minuteOf(of.madeAt)}. ${stands}`), FIELD_MAX),
      ),
    ],
  }
}

/* A firing as a message of Slack: what tripped, of whom, and the timeline as it was then. */

/** Of the timeline; the newest of it is at its end. */
const PAYLOAD_MAX = 1_500

/** @param publicUrl address of the console; null: without a button. */
export function firingMessage(firing: FiringMessage, publicUrl: string | null): SlackMessage {
  const { trigger, title, severity, key, entity, fired_at: at, payload, reason, dispatch_id: id } = firing
  const who = entity ? `${entity.label}=${entity.value}` : key
  const field = (name: string, value: string) => ({
    type: 'mrkdwn',
    text: `*${name}*\n${value}`,
    verbatim: true,
  })
  const seconds = Math.floor(Date.parse(at) / 1_000)
  const iso = `${at.slice(0, 16).replace('T', ' ')} UTC`
  const button = {
    type: 'button',
    text: { type: 'plain_text', text: 'View firing' },
    action_id: 'svc_firing',
    url: `${publicUrl?.replace(/\/+$/, '')}/firings/${encodeURIComponent(id)}`,
  }
  const plain = (value: string) => escaped(cut(oneLine(value), FIELD_MAX))
  // One that was queued by an older version has no title.
  const what = `${firing.resolves ? 'Over: ' : ''}${title ?? `${trigger} fired`}`
  return {
    // All that a phone shows of it: what, of whom, how bad.
    text: escaped(cut(`${what}${who ? ` (${who})` : ''}${severity ? `, ${severity}` : ''}`, FIELD_MAX)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(oneLine(what), HEADER_MAX) } },
      {
        type: 'section',
        fields: [
          ...(who ? [field('Entity', plain(who))] : []),
          field('Trigger', `\`${plain(trigger).replaceAll('`', "'")}\``),
          ...(severity ? [field('Severity', severity)] : []),
          field(firing.resolves ? 'Over' : 'Fired', `<!date^${seconds}^{date_short_pretty} {time}|${iso}>`),
        ],
      },
      ...(payload.trim()
        ? [
            {
              type: 'section',
              text: { type: 'mrkdwn', text: `\`\`\`\n${code(payload)}\n\`\`\``, verbatim: true },
            },
          ]
        : []),
      ...(publicUrl === null ? [] : [{ type: 'actions', elements: [button] }]),
      {
        type: 'context',
        elements: [
          {
            type: 'mrkdwn',
            text: escaped(cut(oneLine(reason || `Firing ${id}`), FIELD_MAX)),
            verbatim: true,
          },
        ],
      },
    ],
  }
}

/** The end of the text, from a line on; a fence within would end the block. */
function code(payload: string): string {
  const text = escaped(payload.trim()).replaceAll('```', "'''")
  if (text.length <= PAYLOAD_MAX) return text
  const end = text.slice(-PAYLOAD_MAX)
  return `…\n${end.slice(end.indexOf('\n') + 1)}`
}

/*
 * Markdown of findings as Slack's mrkdwn. Everything is escaped first, so that text of events can neither
 * mention anybody nor hide where a link leads: links are shown with their address.
 */

/** What Slack reads as markup of its own. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const TABLE_MAX = 60
const FENCE = /^\s*(```|~~~)/

/** @returns lines of mrkdwn; code between fences is kept as it is. */
export function mrkdwn(markdown: string): string {
  const lines = markdown.replace(/\r\n?/g, '\n').split('\n')
  const out: string[] = []
  for (let i = 0; i < lines.length; i++) {
    if (FENCE.test(lines[i]!)) {
      let last = i + 1
      while (last < lines.length && !FENCE.test(lines[last]!)) last++
      out.push('```', ...lines.slice(i + 1, last).map(codeLine), '```')
      i = last
    } else if (isTable(lines, i)) {
      let last = i + 1
      while (last + 1 < lines.length && lines[last + 1]!.trim().startsWith('|')) last++
      out.push(...table(lines.slice(i, last + 1)))
      i = last
    } else if (!/^\s*([-*_])(\s*\1){2,}\s*$/.test(lines[i]!)) out.push(line(lines[i]!))
  }
  return out
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** A fence within would end the block. */
const codeLine = (text: string): string => escaped(text).replaceAll('```', "'''")

function line(text: string): string {
  const heading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(text)?.[1]
  if (heading !== undefined) return heading === '' ? '' : `*${inline(heading).replaceAll('*', '')}*`
  const bullet = /^(\s*)[-*+]\s+(.*)$/.exec(text)
  return bullet ? `${bullet[1]}• ${inline(bullet[2]!)}` : inline(text)
}

/** Code spans are left alone; the rest is escaped, then bold and links are said Slack's way. What is bounded keeps the time in proportion. */
function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part, i) => (i % 2 ? escaped(part) : words(part)))
    .join('')
}

function words(text: string): string {
  return escaped(text)
    .replace(/!?\[([^[\]]*)\]\((https?:\/\/[^\s()|]+)\)/g, (_all, label: string, url: string) =>
      label === '' || label === url ? url : `${label} (${url})`,
    )
    .replace(/\*\*(?=\S)(.{1,300}?)(?<=\S)\*\*/g, '*$1*')
    .replace(/__(?=\S)(.{1,300}?)(?<=\S)__/g, '*$1*')
}

const isTable = (lines: readonly string[], at: number): boolean =>
  lines[at]!.trim().startsWith('|') && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? '')

/** Aligned as code while it is narrow; else a bullet for each row. */
function table(lines: readonly string[]): string[] {
  const [head, , ...rows] = lines.map(cellsOf)
  const all = [head!, ...rows]
  const widths = head!.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const isNarrow = widths.reduce((sum, width) => sum + width + 2, 0) <= TABLE_MAX
  if (isNarrow)
    return [
      '```',
      ...all.map((row) =>
        codeLine(widths.map((width, column) => (row[column] ?? '').padEnd(width)).join('  ')).trimEnd(),
      ),
      '```',
    ]
  return rows.map(
    (row) => `• ${row.map((cell, column) => `${inline(head![column] ?? '')}: ${inline(cell)}`).join('; ')}`,
  )
}

const cellsOf = (text: string): string[] =>
  text
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim())

/* Long texts in parts that a message holds, cut between lines and never within a code block. */

/** Slack takes 3,000 characters in a section. */
export const SECTION_MAX = 2_800
const CODE_FENCE = '```'

/** @param text mrkdwn. @returns parts of at most `max` characters; a code block that is cut goes on in a block. */
export function sections(text: string, max: number = SECTION_MAX): string[] {
  const parts: string[] = []
  let part: string[] = []
  let length = 0
  let isCode = false
  const close = () => {
    if (part.length) parts.push([...part, ...(isCode ? [CODE_FENCE] : [])].join('\n'))
    part = isCode ? [CODE_FENCE] : []
    length = isCode ? CODE_FENCE.length + 1 : 0
  }
  for (const line of text.split('\n').flatMap((one) => pieces(one, max - 2 * (CODE_FENCE.length + 1)))) {
    // What closes the block has to fit as well.
    if (length + line.length + 1 + CODE_FENCE.length > max) close()
    part.push(line)
    length += line.length + 1
    if (line === CODE_FENCE) isCode = !isCode
  }
  isCode = false
  close()
  return parts.filter((one) => one.trim() !== '')
}

/** A line longer than a part, cut at blanks where there are any, never within an escaped character. */
function pieces(line: string, max: number): string[] {
  const out: string[] = []
  let rest = line
  while (rest.length > max) {
    const blank = rest.lastIndexOf(' ', max)
    let at = blank > max / 2 ? blank : max
    const amp = rest.lastIndexOf('&', at)
    if (amp > at - 5 && amp > 0 && /^&(amp|lt|gt);/.test(rest.slice(amp))) at = amp
    out.push(rest.slice(0, at))
    rest = rest.slice(at).trimStart()
  }
  return [...out, rest]
}

const EXCERPT_MAX = 600

/**
 * What stands for a long note in the channel: the paragraph that begins with Summary, else the first with
 * words, cut at the end of a sentence.
 * @param markdown as written.
 */
export function excerptOf(markdown: string, max: number = EXCERPT_MAX): string {
  const paragraphs = markdown
    .replace(/\r\n?/g, '\n')
    .split(/\n\s*\n/)
    .map((one) => one.trim())
  const isWords = (one: string) => /[\p{L}\p{N}]/u.test(one) && !/^(#{1,6}\s[^\n]*$|```|~~~|\|)/.test(one)
  const found =
    paragraphs.find((one) => /^[#*_\s]*summary\b/i.test(one) && one.replace(/[^\p{L}]/gu, '').length > 10) ??
    paragraphs.find(isWords) ??
    markdown.trim()
  if (found.length <= max) return found
  const cut = found.slice(0, max)
  const end = Math.max(...['. ', '! ', '? ', '.\n'].map((mark) => cut.lastIndexOf(mark)))
  return end > max / 3 ? cut.slice(0, end + 1) : `${cut.slice(0, cut.lastIndexOf(' ') + 1 || max).trimEnd()}…`
}

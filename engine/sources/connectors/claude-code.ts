/**
 * Sessions of a coding agent (SPEC.md, Sources and labels 4: claude_code): an event for each message of a
 * transcript, and for each verdict of a challenge. Its plugin posts lines as they are written.
 */
import { createHash } from 'node:crypto'
import type { ClaudeCodeConfig } from '../../../schemas/types.ts'
import { isWrittenDigits } from '../../log/ingest/json.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { redactCredentials } from '../../net/redact.ts'
import { type Item, objectOf, type PushConnector, scalar } from './connector.ts'

const ENTITY = 'session'

export const claudeCode: PushConnector = {
  kind: 'claude_code',
  label: 'Coding agent sessions',
  mode: 'push',
  description:
    'Sessions of a coding agent, posted by its plugin: an event for each message and tool call, and for each verdict of a challenge. Credentials are taken out before anything is stored. The entity is the session.',
  sourceType: 'agent_session',
  configSchema: 'connector-claude-code.json',
  makesItself: true,
  labels: [
    { name: ENTITY, field: ENTITY, primary: true },
    ...['repo', 'branch', 'model', 'flow'].map((name) => ({ name, field: name })),
  ],
  provides: [
    { name: 'session', help: 'Id of the session.', primary: true },
    { name: 'repo', help: 'Folder the session works in, by its last name.' },
    { name: 'branch', help: 'Branch of git at that moment.' },
    { name: 'model', help: 'Model that wrote the message.' },
    { name: 'flow', help: 'Flow the session follows, where its plugin says.' },
    { name: 'type', help: 'Type of the line: user, assistant, system and those of the plugin.' },
    { name: 'sidechain', help: 'true for what a subagent does.' },
    { name: 'project', help: 'Project the session works for, where its plugin says.' },
    { name: 'station', help: 'Station of the session in a crew.' },
    { name: 'subagent', help: 'Subagent that wrote the message.' },
    { name: 'verdict', help: 'Verdict of a challenge, in capitals.' },
    { name: 'sha', help: 'Commit that was challenged.' },
    { name: 'finding_count', help: 'Findings of a challenge; a number.' },
    { name: 'blocking_count', help: 'Those that block; a number.' },
    { name: 'round', help: 'Round of a challenge; a number.' },
    { name: 'duration_seconds', help: 'How long a challenge took; a number.' },
  ],
  compile: (config) => compileLines(config as ClaudeCodeConfig),
  note: () => 'POST the lines of a session to /ingest/claude_code; the first one shows here.',
}

function compileLines({
  redact = true,
  include_thinking: hasThinking = false,
}: ClaudeCodeConfig): ReturnType<PushConnector['compile']> {
  return (item, _headers, index) => {
    const hasSecrets = redact && holdsCredentials(item)
    const line = objectOf(hasSecrets ? cleaned(item.value) : item.value)
    const session = scalar(line.sessionId)
    // What belongs to no session is on no timeline.
    if (session === undefined) return []
    const challenge = challengeOf(line)
    const stamped = { ...labelsOf(line, session), ...challenge?.labels }
    const { timestamp } = line
    return [
      {
        eventType: challenge?.eventType ?? typeOfLine(line),
        text: challenge?.text ?? textOfLine(line, hasThinking),
        ...(typeof timestamp === 'string' ? { eventTime: timestamp } : {}),
        context: { ...line, ...stamped },
        stamped,
        entityLabel: ENTITY,
        dedupeKey: `${session} ${scalar(line.uuid) ?? contentKey(item.raw, typeof timestamp === 'string' ? null : index)}`,
        ...(hasSecrets ? { raw: Buffer.from(JSON.stringify(cleaned(item.whole()))) } : {}),
      },
    ]
  }
}

/**
 * What tells a line without a uuid: its content, in which its time is. One without a time may be said twice;
 * then its place in what was posted belongs to it.
 */
const contentKey = (raw: Uint8Array, place: number | null): string =>
  `${createHash('sha256').update(raw).digest('base64url')}${place === null ? '' : ` ${place}`}`

function labelsOf(line: Record<string, unknown>, session: string): Record<string, string> {
  const given: [string, unknown][] = [
    [ENTITY, session],
    ['repo', scalar(line.cwd)?.split(/[\\/]/).filter(Boolean).at(-1)],
    ['branch', line.gitBranch],
    ['model', objectOf(line.message).model],
    ['type', line.type],
    ['sidechain', line.isSidechain === true ? 'true' : 'false'],
    ...['flow', 'project', 'station', 'subagent'].map((name): [string, unknown] => [name, line[name]]),
  ]
  return Object.fromEntries(
    given.flatMap(([name, value]) => {
      const text = scalar(value)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

/** In its bytes or, written with escapes, in its texts. */
function holdsCredentials({ value, raw }: Item): boolean {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString()
  return isCredential(text) || textsOf(value).some(isCredential)
}

const isCredential = (text: string): boolean => redactCredentials(text) !== text

/** Every text and name in a value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, one]) => [name, ...textsOf(one)])
}

/** The value with credentials taken out of its texts and names. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return redactCredentials(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (value === null || typeof value !== 'object' || isWrittenDigits(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [redactCredentials(name), cleaned(one)]),
  )
}

/* Lines in which a challenger says what it found of a commit or a plan. */

const TEXT_MAX = 4_000
const SHA_LABEL = 12
const SHA_TEXT = 8
const TYPES = ['challenge_plan', 'challenge_commit', 'challenge_waived']
const NUMBERS = ['finding_count', 'blocking_count', 'round', 'duration_seconds']

interface ChallengeEvent {
  eventType: string
  text: string
  labels: Record<string, string | number>
}

/** @returns null for any other line. */
function challengeOf(line: Record<string, unknown>): ChallengeEvent | null {
  const type = scalar(line.type)
  if (type === undefined || !TYPES.includes(type)) return null
  const challenge = objectOf(line.challenge)
  const verdict = scalar(challenge.verdict)?.toUpperCase()
  const sha = scalar(challenge.sha)
  const numbers = NUMBERS.flatMap((name) =>
    typeof challenge[name] === 'number' ? [[name, challenge[name]] as const] : [],
  )
  return {
    eventType: type,
    text: oneLine([headline(type, challenge), ...findingLines(challenge)].join(' · '), TEXT_MAX),
    labels: {
      ...(verdict === undefined ? {} : { verdict }),
      ...(sha === undefined ? {} : { sha: sha.slice(0, SHA_LABEL) }),
      ...Object.fromEntries(numbers),
    },
  }
}

function headline(type: string, challenge: Record<string, unknown>): string {
  const sha = scalar(challenge.sha)?.slice(0, SHA_TEXT)
  const subject =
    sha === undefined ? ['plan', scalar(challenge.plan)].filter(Boolean).join(' ') : `commit ${sha}`
  const round = scalar(challenge.round)
  const did = type === 'challenge_waived' ? 'waived findings of' : 'reviewed'
  return `Challenger ${did} ${subject}${round === undefined ? '' : `, round ${round}`}: ${outcome(type, challenge)}`
}

function outcome(type: string, challenge: Record<string, unknown>): string {
  const count = Number(challenge.finding_count ?? findingsOf(challenge).length)
  const waived = Number(challenge.waived_count ?? 0)
  if (type === 'challenge_waived') return `${waived} waived`
  const verdict = scalar(challenge.verdict)?.toLowerCase()
  if (verdict === undefined || verdict === 'timeout') return 'no verdict (timeout)'
  if (count === 0) return 'no findings'
  return `${count} ${count === 1 ? 'finding' : 'findings'} (${Number(challenge.blocking_count ?? 0)} blocking)`
}

function findingLines(challenge: Record<string, unknown>): string[] {
  return findingsOf(challenge).map(
    ({ priority, title, waived }) =>
      `[${scalar(priority) ?? '?'}] ${scalar(title) ?? ''}${waived === true ? ' (waived)' : ''}`,
  )
}

const findingsOf = (challenge: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(challenge.findings) ? challenge.findings.map(objectOf) : []

/* What a line of a session's transcript is, and says in one line. */

const TYPE_MAX = 200
const LINE_TEXT_MAX = 500
const INPUT_MAX = 80

type Line = Record<string, unknown>

/** tool_use and tool_result where the message holds one, else the type of the line. */
function typeOfLine(line: Line): string {
  const types = blocksOf(line).map((block) => block.type)
  const found = ['tool_use', 'tool_result'].find((type) => types.includes(type))
  return oneLine(found ?? scalar(line.type) ?? 'message', TYPE_MAX)
}

/** @param hasThinking whether thoughts are part of it. */
function textOfLine(line: Line, hasThinking: boolean): string {
  const { content } = objectOf(line.message)
  const said =
    typeof content === 'string'
      ? content
      : blocksOf(line)
          .map((block) => textOfBlock(block, hasThinking))
          .filter(Boolean)
          .join(' ')
  return oneLine(said.trim() || ownText(line) || `${scalar(line.type) ?? 'line'} without text`, LINE_TEXT_MAX)
}

/** Lines that hold no message: summaries, and what the plugin says of the session. */
function ownText(line: Line): string | undefined {
  const type = scalar(line.type)
  switch (type) {
    case 'summary':
      return scalar(line.summary)
    case 'session_flow':
      return `flow ${scalar(line.flow) ?? 'none'}`
    case 'session_project':
      return `works for project ${scalar(line.project) ?? 'none'}`
    case 'session_state':
      return [scalar(line.state) ?? 'unknown', scalar(line.reason)].filter(Boolean).join(': ')
    case 'session_station':
      return ['station', line.station, line.role, line.parent && `under ${scalar(line.parent)}`]
        .map(scalar)
        .filter(Boolean)
        .join(' ')
    case 'subagent_truncated':
      return `transcript of subagent ${scalar(line.subagent) ?? 'unknown'} was cut`
    default:
      return scalar(line.text) ?? scalar(line.content) ?? scalar(line.message) ?? scalar(line.warning)
  }
}

function textOfBlock(block: Line, hasThinking: boolean): string {
  switch (block.type) {
    case 'text':
      return scalar(block.text) ?? ''
    case 'tool_use':
      return `→ ${scalar(block.name) ?? 'tool'}(${inputText(block.input)})`
    case 'tool_result':
      return `[tool_result] ${resultText(block.content)}`
    case 'thinking':
      return hasThinking ? (scalar(block.thinking) ?? '') : ''
    default:
      return ''
  }
}

function inputText(input: unknown): string {
  return oneLine(input === undefined ? '' : JSON.stringify(input), INPUT_MAX)
}

function resultText(content: unknown): string {
  if (!Array.isArray(content)) return scalar(content) ?? ''
  return content
    .map((part) => scalar(objectOf(part).text) ?? '')
    .filter(Boolean)
    .join(' ')
}

function blocksOf(line: Line): Line[] {
  const { content } = objectOf(line.message)
  return Array.isArray(content) ? content.map(objectOf) : []
}

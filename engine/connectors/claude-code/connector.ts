/**
 * Sessions of a coding agent (SPEC.md, Sources and labels 4: claude_code): an event for each message of a
 * transcript, and for each verdict of a challenge. Its plugin posts lines as they are written.
 */
import { createHash } from 'node:crypto'
import type { ClaudeCodeConfig } from '../../../schemas/types.ts'
import { isWrittenDigits } from '../../ingest/json-digits.ts'
import { redactCredentials } from '../../redact.ts'
import type { Item, PushConnector } from '../connector.ts'
import { objectOf, scalar } from '../scalar.ts'
import { challengeOf } from './challenge.ts'
import { textOfLine, typeOfLine } from './line.ts'

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

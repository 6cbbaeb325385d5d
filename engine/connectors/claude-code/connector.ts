/**
 * Sessions of a coding agent (SPEC.md, Sources and labels 4: claude_code): an event for each message of a
 * transcript, and for each verdict of a challenge. Its plugin posts lines as they are written.
 */
import type { ClaudeCodeConfig } from '../../../schemas/types.ts'
import { redactCredentials } from '../../redact.ts'
import type { Item, MappedEvent, PushConnector } from '../connector.ts'
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
}: ClaudeCodeConfig): (item: Item) => MappedEvent[] {
  return ({ value, raw }) => {
    const clean = redact ? cleaned(value, raw) : null
    const line = objectOf(clean ? clean.value : value)
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
        ...(scalar(line.uuid) === undefined ? {} : { dedupeKey: `${session} ${String(line.uuid)}` }),
        ...(clean ? { raw: Buffer.from(JSON.stringify(clean.value)) } : {}),
      },
    ]
  }
}

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

/** The line without credentials; null where it has none, so that its own bytes are stored. */
function cleaned(value: unknown, raw: Uint8Array): { value: unknown } | null {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString()
  let hasChanged = redactCredentials(text) !== text
  const walk = (inner: unknown): unknown => {
    if (typeof inner === 'string') {
      const clean = redactCredentials(inner)
      if (clean !== inner) hasChanged = true
      return clean
    }
    if (Array.isArray(inner)) return inner.map(walk)
    if (inner === null || typeof inner !== 'object') return inner
    return Object.fromEntries(
      Object.entries(inner).map(([name, one]) => [redactCredentials(name), walk(one)]),
    )
  }
  const clean = walk(value)
  return hasChanged ? { value: clean } : null
}

/**
 * Entries of a systemd journal of the daemon's machine, read by the system's own `journalctl` as JSON
 * (https://systemd.io/JOURNAL_EXPORT_FORMATS/): run for each poll, without a shell, from where the poll before ended, and ended once
 * enough was read. The files of a journal have compressions and hashes of their own and change with systemd, so they are not read here.
 *
 * An admin key may declare a source, but only the operator of the machine says that its journal may be read: SVC_JOURNAL.
 */
import { spawn } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { JournaldConfig } from '../../../schemas/types.ts'
import { parseDigits } from '../../log/ingest/json.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { patternFault } from '../../model/pattern.ts'
import { levelNamed } from '../../model/units.ts'
import {
  type Item,
  type MappedEvent,
  objectOf,
  type PollConnector,
  type Polled,
  type Reach,
  scalar,
  UpstreamError,
} from './connector.ts'
import { compileWanted, jsonLine, messageOf, plainLine, textFields } from './upstream.ts'

const TEXT_MAX = 1_000
/** Of one poll; where there are more, the next one is due at once. */
const ENTRIES_MAX = 5_000
const POLL_BYTES = 4 * 1024 * 1024
/** Bytes of an entry, as JSON: one with more, such as a core dump, is read without its long fields. */
const ENTRY_MAX = 1024 * 1024
/** Entries at the end that a discovery looks at. */
const LOOKED_AT = 500
const ERRORS_KEPT = 2_048
const ENTITY = 'service'
/** What is read of an entry that is too long. */
const USUAL = [
  ...[
    'MESSAGE',
    'MESSAGE_ID',
    'PRIORITY',
    'SYSLOG_IDENTIFIER',
    '_COMM',
    '_PID',
    '_UID',
    '_HOSTNAME',
    '_TRANSPORT',
  ],
  ...['_SYSTEMD_UNIT', '_SYSTEMD_USER_UNIT', 'UNIT', 'OBJECT_SYSTEMD_UNIT', '_SOURCE_REALTIME_TIMESTAMP'],
  ...['COREDUMP_UNIT', 'COREDUMP_EXE', 'COREDUMP_SIGNAL_NAME'],
].join()
/** Cursor and times come with it whatever is asked for. */
const NONE = '_BOOT_ID'
/** RFC 5424, table 2, which the journal's PRIORITY follows (systemd.journal-fields). */
const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const
/** The priority that systemd sets on a line of standard output without one. */
const BY_DEFAULT = '6'

export const journald: PollConnector = {
  kind: 'journald',
  label: 'systemd journal',
  mode: 'poll',
  description:
    'Entries of the systemd journal of the machine of the daemon. SVC_JOURNAL of the daemon says that it may be read; the entity is the service.',
  sourceType: 'application_log',
  configSchema: 'connector-journald.json',
  suggestedPoll: '2s',
  minPollMs: 1_000,
  identity: ['directory', 'units', 'identifiers', 'priority'],
  provides: [
    { name: ENTITY, help: 'Unit without .service; of what is no service, its program.', primary: true },
    { name: 'unit', help: 'Unit of systemd it is about, such as nginx.service.' },
    { name: 'host', help: 'Host whose journal it is of.' },
    { name: 'app', help: 'Program, by its syslog identifier, else the name of its process.' },
    { name: 'severity', help: 'emerg, alert, crit, err, warning, notice, info or debug.' },
    { name: 'level', help: 'FATAL, ERROR, WARN, INFO or DEBUG.' },
    { name: 'message', help: 'What the entry says.' },
    { name: '_PID', help: 'A field of the entry; every other is read by its name, too.' },
    { name: 'json', help: 'Fields of a JSON message by json.<name>.' },
  ],
  validate: (config: FieldsOf<JournaldConfig>) =>
    (['match', 'drop'] as const).flatMap((field) => {
      const fault = config[field] === undefined ? null : patternFault(config[field], '')
      return fault === null ? [] : [`${field}: ${fault}`]
    }),
  compile: () => mapEntry,
  poll: (config: FieldsOf<JournaldConfig>, cursor, reach) => pollJournal(config, cursor, reach),
  discover: (config, reach) => propose(config as JournaldConfig, reach),
}

/* An entry as an event. */

/**
 * A field as text. Bytes that are no printable UTF-8 are an array of numbers, a field that an entry has several times is an
 * array of its values, and the first is meant; what was left out for its length is null.
 */
function textOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return scalar(value)
  if (value.length > 0 && value.every((one) => typeof one === 'number'))
    return Buffer.from(value as number[]).toString('utf8')
  return textOf(value[0])
}

function mapEntry({ value }: Item): MappedEvent[] {
  const entry = objectOf(value)
  const fields: Record<string, string> = {}
  for (const [name, field] of Object.entries(entry)) {
    const text = textOf(field)
    if (text !== undefined) fields[name] = text
  }
  const message = plainLine(fields.MESSAGE ?? '')
  const json = jsonLine(message)
  const said = messageOf(json) ?? message
  const app = fields.SYSLOG_IDENTIFIER ?? fields._COMM
  const unit = unitOf(fields)
  const service = unit?.endsWith('.service') ? unit.slice(0, -'.service'.length) : (app ?? unit)
  const severity = SEVERITIES[Number(fields.PRIORITY ?? Number.NaN)]
  const level = levelIn(fields, severity, message, json)
  const known = { [ENTITY]: service, unit, host: fields._HOSTNAME, app, severity, level }
  const stamped = Object.fromEntries(
    Object.entries(known).filter((one): one is [string, string] => one[1] !== undefined),
  )
  const time = fields._SOURCE_REALTIME_TIMESTAMP ?? fields.__REALTIME_TIMESTAMP
  return [
    {
      eventType: 'log',
      text: oneLine(headed(app, said), TEXT_MAX),
      ...(time === undefined ? {} : { eventTime: time }),
      context: { ...json, ...(json ? { json } : {}), ...fields, message, ...stamped },
      stamped,
      entityLabel: ENTITY,
      ...(fields.__CURSOR === undefined ? {} : { dedupeKey: fields.__CURSOR }),
    },
  ]
}

const headed = (app: string | undefined, said: string): string => {
  if (said.trim() === '') return app ?? 'journal entry without text'
  return app === undefined || said.startsWith(app) ? said : `${app}: ${said}`
}

/**
 * The unit an entry is about. What systemd itself, or a privileged program such as that of core dumps, says of another unit is
 * about that one; others may not claim so (systemd.journal-fields; journalctl, --unit).
 */
function unitOf(fields: Readonly<Record<string, string>>): string | undefined {
  const { _PID, _UID, UNIT, COREDUMP_UNIT, OBJECT_SYSTEMD_UNIT, _SYSTEMD_USER_UNIT, _SYSTEMD_UNIT } = fields
  const told = (_PID === '1' && UNIT) || (_UID === '0' && (COREDUMP_UNIT || OBJECT_SYSTEMD_UNIT))
  return told || _SYSTEMD_USER_UNIT || _SYSTEMD_UNIT || undefined
}

/** The level by priority; of standard output with the default priority, the level that the line itself names. */
function levelIn(
  { PRIORITY, _TRANSPORT }: Readonly<Record<string, string>>,
  severity: string | undefined,
  message: string,
  json: Record<string, unknown> | null,
): string | undefined {
  const isChosen = severity !== undefined && !(_TRANSPORT === 'stdout' && PRIORITY === BY_DEFAULT)
  const word = isChosen
    ? severity
    : ((json ? scalar(json.level ?? json.severity) : textFields(message).level) ?? severity)
  return word === undefined ? undefined : (levelNamed(word) ?? (severity && levelNamed(severity)))
}

/* Which journal may be read. */

/** @returns the words that name the journal to journalctl. @throws UpstreamError */
async function placeOf({ directory }: JournaldConfig, { env = {} }: Reach): Promise<string[]> {
  const allowed = (env.SVC_JOURNAL ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  if (allowed.length === 0)
    throw new UpstreamError(
      'SVC_JOURNAL is not set: the operator says that the journal may be read, by SVC_JOURNAL=on, or by the folders of others.',
    )
  if (directory === undefined) {
    if (allowed.includes('on')) return []
    throw new UpstreamError(
      'SVC_JOURNAL does not allow the journal of the machine (on). Name one of its folders as directory.',
    )
  }
  const real = await realOf(directory)
  for (const folder of allowed.filter((word) => word.startsWith('/')))
    if ((await realOf(folder)) === real) return [`--directory=${real}`]
  throw new UpstreamError(`${directory} is no folder that SVC_JOURNAL names (${allowed.join(', ')}).`)
}

const realOf = (path: string): Promise<string> => realpath(path).catch(() => path)

const chosen = ({ units = [], identifiers = [], priority }: JournaldConfig): string[] => [
  ...units.map((unit) => `--unit=${unit}`),
  ...identifiers.map((name) => `--identifier=${name}`),
  ...(priority === undefined ? [] : [`--priority=${priority}`]),
]

/* Polls. */

/**
 * Where reading stands: after an entry, which is too long to be read again to see whether it is there still, or at a time (epoch
 * seconds) where the journal had none yet.
 */
type Cursor = { after: string; isLong?: true } | { since: number } | { start: true }

async function pollJournal(config: JournaldConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const place = await placeOf(config, reach)
  const words = [...place, ...chosen(config)]
  if (cursor === null && !config.from_start)
    return { items: [], cursor: JSON.stringify(await endOf(words, reach)) }
  const from = cursor === null ? { start: true as const } : (JSON.parse(cursor) as Cursor)
  const read = await readOn(words, from, reach)
  const isWanted = compileWanted(config)
  return {
    items: read.entries.filter(({ message }) => isWanted(message)).map(({ line }) => line),
    cursor: JSON.stringify(read.at),
    ...(read.more ? { more: true } : {}),
    ...(read.notices.length ? { notice: read.notices.join(' ') } : {}),
  }
}

/** The last entry there is. @throws UpstreamError */
async function endOf(words: readonly string[], reach: Reach): Promise<Cursor> {
  const { lines } = await runJournalctl(
    [...words, '--output=json', '--lines=1', `--output-fields=${NONE}`],
    reach,
  )
  const last = entryIn(lines.at(-1)?.text ?? '')
  return last ? { after: last.cursor } : { since: Math.floor(reach.clock.now() / 1_000) }
}

interface Entry {
  line: string
  cursor: string
  message: string
  time: string
}

interface Reading {
  entries: Entry[]
  /** Where reading stands now. */
  at: Cursor
  more: boolean
  notices: string[]
}

const fromWords = (from: Cursor): string[] => {
  if ('after' in from) return [`--${from.isLong ? 'after-cursor' : 'cursor'}=${from.after}`]
  return 'since' in from ? [`--since=@${from.since}`] : []
}

/**
 * Entries from a place on. Reading begins with the entry where the poll before ended, so that it shows whether the journal still
 * has it: what was cleared away before it was read cannot be known otherwise. @throws UpstreamError
 */
async function readOn(words: readonly string[], from: Cursor, reach: Reach): Promise<Reading> {
  const read = (place: Cursor, how: readonly string[], most: number) =>
    runJournalctl([...words, '--output=json', ...fromWords(place), ...how], reach, most)
  const { lines, isCut } = await read(from, ['--all'], ENTRIES_MAX + 1)
  const entries: Entry[] = []
  const notices: string[] = []
  let more = isCut
  let isKnown = !('after' in from) || from.isLong === true
  let at = from
  for (const { text, isLong } of lines) {
    let entry = isLong ? null : entryIn(text)
    if (isLong) {
      // It is the one that follows the last one read. Without --all, fields of more than 4 KiB are null.
      for (const fields of [USUAL, NONE]) {
        const short = await read(at, [`--output-fields=${fields}`], 2)
        entry ??=
          short.lines
            .map((line) => entryIn(line.text))
            .find((one) => one !== null && !('after' in at && one.cursor === at.after)) ?? null
      }
      notices.push('Of an entry of more than 1 MiB only the usual fields were read.')
      more = entry !== null
    }
    if (entry && 'after' in from && entry.cursor === from.after) isKnown = true
    else if (entry) entries.push(entry)
    if (entry) at = { after: entry.cursor, ...(isLong ? { isLong } : {}) }
    // Its line was cut, so nothing behind it was read.
    if (isLong) break
  }
  if (!isKnown && entries.length > 0)
    notices.unshift(
      `The journal no longer has the entry where the last poll ended: some from before ${entries[0]!.time} may be missing.`,
    )
  return { entries, at, more, notices }
}

/** @returns null for a line that is no entry */
function entryIn(line: string): Entry | null {
  if (line.trim() === '') return null
  try {
    const entry = objectOf(parseDigits(line))
    const { __CURSOR: cursor, __REALTIME_TIMESTAMP: micros } = entry
    if (typeof cursor !== 'string') return null
    const time = new Date(Number(scalar(micros) ?? 0) / 1_000).toISOString()
    return { line, cursor, time, message: plainLine(textOf(entry.MESSAGE) ?? '') }
  } catch {
    // A line that was cut off with its program.
    return null
  }
}

/* The program. */

interface Output {
  lines: { text: string; isLong: boolean }[]
  /** It had more to say. */
  isCut: boolean
}

/**
 * What `journalctl` says, line by line, until it has ended or enough was read.
 * @param words its options; none is made of more than a value behind its `=`. @param most lines that are taken
 * @throws UpstreamError
 */
function runJournalctl(words: readonly string[], reach: Reach, most = ENTRIES_MAX): Promise<Output> {
  const { env = {}, signal } = reach
  return new Promise((resolve, reject) => {
    const child = spawn('journalctl', ['--quiet', '--no-pager', ...words], {
      env: { PATH: env.PATH, LC_ALL: 'C.UTF-8', SYSTEMD_COLORS: '0', SYSTEMD_LOG_COLOR: '0' },
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: false,
      signal,
      killSignal: 'SIGKILL',
    })
    const out: Output = { lines: [], isCut: false }
    let held: Buffer[] = []
    let heldBytes = 0
    let bytes = 0
    let said = ''
    const enough = () => {
      out.isCut = true
      child.stdout.destroy()
      child.kill('SIGKILL')
    }
    const take = (part: Buffer, isWhole: boolean) => {
      held.push(part)
      heldBytes += part.length
      const isLong = heldBytes > ENTRY_MAX
      if (!isWhole && !isLong) return
      out.lines.push({ text: isLong ? '' : Buffer.concat(held).toString('utf8'), isLong })
      bytes += heldBytes
      held = []
      heldBytes = 0
      if (isLong || bytes >= POLL_BYTES || out.lines.length >= most) enough()
    }
    child.stdout.on('data', (part: Buffer) => {
      let at = 0
      for (let end = part.indexOf(10); end !== -1 && !out.isCut; end = part.indexOf(10, at)) {
        take(part.subarray(at, end), true)
        at = end + 1
      }
      if (!out.isCut && at < part.length) take(part.subarray(at), false)
    })
    child.stdout.on('error', () => {})
    child.stderr.on('data', (part: Buffer) => {
      said = (said + part.toString('utf8')).slice(-ERRORS_KEPT)
    })
    child.once('error', (error) => reject(faultOf(error, '', reach)))
    child.once('close', (code) => {
      // Nothing to show is status 1 in some versions, without a word.
      if (out.isCut || code === 0 || (code === 1 && said.trim() === '')) resolve(out)
      else reject(faultOf(null, said, reach))
    })
  })
}

function faultOf(error: NodeJS.ErrnoException | null, said: string, { signal }: Reach): UpstreamError {
  if (signal.aborted) return new UpstreamError('journalctl gave no answer in the time of a poll.')
  if (error?.code === 'ENOENT')
    return new UpstreamError(
      'There is no journalctl where svc runs: the machine has no systemd, or PATH lacks it.',
    )
  if (error) return new UpstreamError(`journalctl cannot be started: ${error.message}`)
  const last = oneLine(said.trim().split('\n').at(-1) ?? '', 300)
  if (/permission denied|access denied|insufficient permissions/i.test(said))
    return new UpstreamError(
      `The user that the daemon runs as may not read the journal: add it to the group systemd-journal. journalctl says: ${last}`,
    )
  return new UpstreamError(`journalctl says: ${last || 'nothing, and failed'}`)
}

/* What the journal holds. */

const UNITS_SHOWN = 50

/** @throws UpstreamError */
async function propose(config: JournaldConfig, reach: Reach): Promise<Record<string, unknown>> {
  const words = [
    ...(await placeOf(config, reach)),
    ...chosen(config),
    '--output=json',
    `--lines=${LOOKED_AT}`,
  ]
  const { lines } = await runJournalctl(words, reach)
  const events = lines.flatMap(({ text }) => {
    const entry = entryIn(text)
    if (!entry) return []
    const value: unknown = parseDigits(text)
    return mapEntry({ raw: Buffer.from(text), value, whole: () => value })
  })
  const count = (name: string): Map<string, number> => {
    const counts = new Map<string, number>()
    for (const { stamped } of events) {
      const value = stamped?.[name]
      if (value !== undefined) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
    }
    return new Map([...counts].sort((a, b) => b[1] - a[1]))
  }
  const fields = new Map<string, number>()
  for (const { context } of events)
    for (const name of Object.keys(context)) fields.set(name, (fields.get(name) ?? 0) + 1)
  const services = count(ENTITY)
  const hosts = [...count('host').keys()]
  return {
    connector: 'journald',
    summary:
      events.length === 0
        ? 'The journal has no entries of these. Check units, programs and priority, and that the user of the daemon is in the group systemd-journal.'
        : `${countWords(services.size, 'service')} on ${hosts.join(', ') || 'this machine'} in the last ${countWords(events.length, 'entry', 'entries')}`,
    services: [...services].slice(0, UNITS_SHOWN).map(([name, entries]) => ({ name, entries })),
    units: [...count('unit').keys()].slice(0, UNITS_SHOWN),
    fields: [...fields]
      .map(([name, found]) => ({ name, coverage: found / events.length }))
      .sort((a, b) => b.coverage - a.coverage)
      .slice(0, 50),
    sample: events.slice(-3).map(({ text }) => text),
    proposed_config: { ...config },
  }
}

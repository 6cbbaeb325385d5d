/**
 * Messages of syslog senders, as the syslog port of the daemon takes them apart (RFC 5424, RFC 3164): an event
 * for each. A time of the older form has neither a year nor a zone, so it is read here, where the source says
 * the zone and the item says when it came.
 */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { SyslogConfig } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { compileZone, type Zone, zoneFaults } from '../../log/ingest/time.ts'
import { levelNamed } from '../../model/units.ts'
import { type Item, type MappedEvent, objectOf, type PushConnector, scalar } from './connector.ts'
import { jsonLine, lineFields, lineTime, messageOf, plainLine } from './upstream.ts'

const TEXT_MAX = 1_000
const ENTITY = 'host'
/** What marks JSON in a message: https://cee.mitre.org, Log Transport 1.0. */
const CEE = /^\s*@cee:\s*/
const STAMPED = ['app', 'severity', 'facility', 'msgid'] as const

export const syslog: PushConnector = {
  kind: 'syslog',
  label: 'Syslog',
  mode: 'push',
  description:
    'Messages of machines, network devices and programs by syslog, RFC 5424 and RFC 3164, over TCP and UDP. SVC_SYSLOG_PORT of the daemon opens the port; the entity is the host.',
  sourceType: 'application_log',
  configSchema: 'connector-syslog.json',
  makesItself: true,
  provides: [
    { name: ENTITY, help: 'Host that the message names, else the address it came from.', primary: true },
    { name: 'app', help: 'Program: APP-NAME, or the tag of the older form.' },
    { name: 'severity', help: 'emerg, alert, crit, err, warning, notice, info or debug.' },
    { name: 'facility', help: 'kern, user, daemon, auth, local0 and so on.' },
    { name: 'level', help: 'FATAL, ERROR, WARN, INFO or DEBUG.' },
    { name: 'pid', help: 'Id of the process.' },
    { name: 'msgid', help: 'Kind of message, where the sender names one.' },
    { name: 'message', help: 'What the message says.' },
    { name: 'data', help: 'Structured data: data.<id>.<name>, such as data.origin.ip.' },
    { name: 'json', help: 'Fields of a JSON message by json.<name>, where its name is taken.' },
    { name: 'from', help: 'Address the message came from.' },
  ],
  validate: ({ zone }: FieldsOf<SyslogConfig>) => zoneFaults(zone),
  compile: (config) => compileSyslog(config as SyslogConfig),
  fields: () => [
    ...['host', 'app', 'severity', 'facility', 'msgid', 'message', 'from'],
    ...['raw', 'time', 'received', 'form'],
  ],
  note: () => 'Point a syslog sender at the port that SVC_SYSLOG_PORT opens; its first message shows here.',
}

function compileSyslog({ zone }: SyslogConfig): ReturnType<PushConnector['compile']> {
  const local = compileZone(zone ?? 'UTC')
  return ({ value }: Item) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      fail(
        'invalid',
        'is no syslog message: it must be an object with raw, and message, host, app where known',
      )
    const record = objectOf(value)
    const said = plainLine(typeof record.message === 'string' ? record.message : (scalar(record.raw) ?? ''))
    const json = jsonLine(said.replace(CEE, ''))
    // What a program says of its own line goes before what the shipper of a file gives to all.
    const given = record.severity ?? (json ? json.severity : lineFields(null, said).level)
    const level = levelNamed(scalar(json?.level) ?? '') ?? levelNamed(scalar(given) ?? '')
    // A line without a header, as programs write JSON to a socket, says the rest by itself.
    const own = record.form === 'unknown' ? (scalar(json?.host) ?? scalar(json?.hostname)) : undefined
    const host = scalar(record.host) ?? own ?? scalar(record.from)
    const stamped: NonNullable<MappedEvent['stamped']> = host === undefined ? {} : { [ENTITY]: host }
    for (const name of STAMPED) {
      const given = scalar(record[name])
      if (given !== undefined) stamped[name] = given
    }
    if (level !== undefined) stamped.level = level
    const known = Object.fromEntries(Object.entries(record).filter(([, field]) => field !== null))
    const eventTime = timeOf(record, local) ?? ownTime(said, json, zone === undefined ? null : local)
    return [
      {
        eventType: 'log',
        text: oneLine(textOf(record, messageOf(json) ?? said), TEXT_MAX),
        ...(eventTime === undefined ? {} : { eventTime }),
        context: {
          ...(json ? { ...json, json } : {}),
          ...known,
          ...(host === undefined ? {} : { host }),
          ...(level === undefined ? {} : { level }),
        },
        stamped,
        entityLabel: ENTITY,
      },
    ]
  }
}

/** Who says it stands in front, where the message does not begin with it. rsyslog keeps the space that was behind the tag of a program. */
function textOf(record: Record<string, unknown>, said: string): string {
  const app = scalar(record.app)
  const own = said.trim() === '' ? (scalar(record.msgid) ?? scalar(record.raw) ?? '') : said.replace(/^ /, '')
  if (own === '') return app ?? 'syslog message without text'
  return app === undefined || own.startsWith(app) || record.form === 'unknown' ? own : `${app}: ${own}`
}

/** What the message says by itself, where its header has no time: with a zone, for its arrival is nearer than a guess of one. */
function ownTime(said: string, json: Record<string, unknown> | null, zone: Zone | null): unknown {
  const told = lineTime(said, json, zone)
  return typeof told === 'string' && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(told) ? undefined : told
}

/* Times of the older form. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const OLD_TIME = /^([A-Z][a-z]{2}) {1,2}(\d{1,2})(?: (\d{4}))? (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/

/** A time that says its zone is left as it is; of one that does not, the year is the nearest to its arrival. */
function timeOf({ time, received }: Record<string, unknown>, zone: Zone): unknown {
  const given = scalar(time)
  const parts = given === undefined ? null : OLD_TIME.exec(given)
  if (!parts || given === undefined) return given
  const [, name, day, year, hours, minutes, seconds, fraction = ''] = parts
  const month = MONTHS.indexOf(name!)
  const ms =
    (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000 +
    Number(fraction.padEnd(3, '0').slice(0, 3))
  const arrived = Date.parse(scalar(received) ?? '')
  if (month < 0 || (year === undefined && Number.isNaN(arrived))) return given
  const at = new Date(arrived).getUTCFullYear()
  const times = (year === undefined ? [at - 1, at, at + 1] : [Number(year)])
    .filter((one) => isDay(one, month, Number(day)))
    .map((one) => zone(Date.UTC(one, month, Number(day)) + ms))
  const [nearest] = times.sort((a, b) => Math.abs(a - arrived) - Math.abs(b - arrived))
  return nearest === undefined ? given : { ms: nearest, given }
}

/** Not 29 February of a year that has none. */
const isDay = (year: number, month: number, day: number): boolean =>
  new Date(Date.UTC(year, month, day)).getUTCMonth() === month && day > 0

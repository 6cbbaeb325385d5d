/**
 * A syslog message taken apart: RFC 5424, and RFC 3164 as devices send it. What is neither is kept as text with
 * what is known of it.
 */

const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug']
/** RFC 5424, table 1, by the names that syslog.conf has for them. */
const FACILITIES = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp'],
  ...['ntp', 'audit', 'console', 'cron2', 'local0', 'local1', 'local2', 'local3', 'local4', 'local5'],
  ...['local6', 'local7'],
]
const BOM = '\ufeff'
/** PRI of RFC 5424, 6.2.1: no zeros in front. */
const PRI = /^<(0|[1-9]\d{0,2})>/
const ISO = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)`
const HEADER = new RegExp(`^1 (-|${ISO}) ([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32})(?: |$)`)
/** Before a time: of a message that has a head of RFC 5424 with fields missing, time, host and tag are what is left. */
const VERSION = /^1 (?=\d{4}-)/
const MONTHS = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
/** Also with a year and with parts of a second, as network devices write it, and with ISO times, as relays do. */
const OLD_HEADER = new RegExp(
  String.raw`^(${MONTHS} (?: \d|\d\d|\d)(?: \d{4})? \d\d:\d\d:\d\d(?:\.\d{1,6})?|${ISO}) (\S+)(?: |$)`,
)
/**
 * Cisco's devices: a number, its name and the zone where they are set to say these, then `%FACILITY-SEVERITY-MNEMONIC`.
 * A `*` or `.` says that the clock is not set by NTP, or was not of late.
 */
const CISCO = new RegExp(
  String.raw`^(?:\d+: )?(?:([^\s:%*.][^\s:%]*): )?[*.]?(${MONTHS} (?: \d|\d\d|\d)(?: \d{4})? \d\d:\d\d:\d\d(?:\.\d{1,6})?)(?: ([A-Z]{1,5}))?(?: ([^\s:]+))? ?: (?=%[A-Z][\w-]*-[0-7]-\w+: )`,
)
/** Zones whose names say their offset, as times take them. */
const OFFSETS = /^(?:Z|UT|UTC|GMT|[ECMP][SD]T)$/
const TAG = /^([^\s:[\]<>]{1,64})(?:\[([^\]\s]{0,64})\])?: ?/
const SD_ID = /([^\s=\]"]{1,64})/y
const SD_PARAM = / +([^\s=\]"]{1,64})="((?:[^"\\\]]|\\[\s\S])*)"/y

type Values = Record<string, string | string[]>

/** As it is stored; null for what the message does not say. */
export interface SyslogMessage {
  form: 'rfc5424' | 'rfc3164' | 'unknown'
  raw: string
  facility: string | null
  severity: string | null
  host: string | null
  app: string | null
  pid: string | null
  msgid: string | null
  /** As the sender wrote it; the older form has neither year nor zone. */
  time: string | null
  /** Structured data: values by id and name; a list where a name comes more than once. */
  data: Record<string, Values>
  message: string
}

/** @param bytes one message without its frame. Bytes that are no UTF-8 are read as Latin-1. */
export function parseMessage(bytes: Uint8Array): SyslogMessage {
  const raw = decode(bytes)
  const priority = PRI.exec(raw)
  const number = priority ? Number(priority[1]) : Number.NaN
  const nothing: SyslogMessage = {
    ...{ form: 'unknown', raw, facility: null, severity: null, host: null, app: null, pid: null },
    ...{ msgid: null, time: null, data: {}, message: withoutBom(raw) },
  } as SyslogMessage
  if (!priority || number > 191) return nothing
  const known = {
    ...nothing,
    facility: FACILITIES[number >> 3]!,
    severity: SEVERITIES[number & 7]!,
  }
  const rest = raw.slice(priority[0].length)
  return (
    modern(known, rest) ??
    cisco(known, rest) ??
    old(known, rest.replace(VERSION, '')) ?? { ...known, message: withoutBom(rest) }
  )
}

function modern(known: SyslogMessage, rest: string): SyslogMessage | null {
  const header = HEADER.exec(rest)
  if (!header) return null
  const [whole, time, host, app, pid, msgid] = header.map((part) => (part === '-' ? null : part))
  // A tag of the older form, unless the fields behind it are said to be absent: what follows is the message, not those fields.
  if (app?.endsWith(':') && pid !== null && msgid !== null) return null
  const body = rest.slice(whole!.length)
  // Structured data that is against its grammar stays in the message.
  const { data, end } = structuredData(body) ?? { data: {}, end: 0 }
  return {
    ...known,
    form: 'rfc5424',
    ...{ time: time!, host: host!, app: app!, pid: pid!, msgid: msgid! },
    data,
    message: withoutBom(body.slice(end)),
  }
}

/** @returns where the message begins; null where it is none (RFC 5424, 6.3) */
function structuredData(body: string): { data: SyslogMessage['data']; end: number } | null {
  if (/^-(?: |$)/.test(body)) return { data: {}, end: Math.min(2, body.length) }
  const elements: [string, Values][] = []
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(body)
    if (found) at = pattern.lastIndex
    return found
  }
  while (body[at] === '[') {
    at++
    const id = next(SD_ID)?.[1]
    if (id === undefined) return null
    const values = new Map<string, string | string[]>()
    for (let param = next(SD_PARAM); param; param = next(SD_PARAM)) {
      const [, name, given] = param
      const value = given!.replace(/\\(["\\\]])/g, '$1')
      const before = values.get(name!)
      values.set(name!, before === undefined ? value : [before, value].flat())
    }
    if (body[at] !== ']') return null
    at++
    elements.push([id, Object.fromEntries(values)])
  }
  if (at === 0 || (at < body.length && body[at] !== ' ')) return null
  return { data: Object.fromEntries(elements), end: Math.min(at + 1, body.length) }
}

function cisco(known: SyslogMessage, rest: string): SyslogMessage | null {
  const header = CISCO.exec(rest)
  if (!header) return null
  const [whole, before, time, zone, behind] = header
  const body = rest.slice(whole.length)
  const app = /^%[^:]+/.exec(body)![0]
  return {
    ...known,
    form: 'rfc3164',
    time: zone !== undefined && OFFSETS.test(zone) ? `${time} ${zone}` : time!,
    host: before ?? behind ?? null,
    app,
    message: body.slice(app.length + 2),
  }
}

function old(known: SyslogMessage, rest: string): SyslogMessage | null {
  const header = OLD_HEADER.exec(rest)
  if (!header) return null
  const { time, host, body } = hostOf(header, rest)
  const tag = TAG.exec(body)
  return {
    ...known,
    form: 'rfc3164',
    ...{ time, host },
    app: tag?.[1] ?? null,
    pid: tag?.[2] || null,
    message: withoutBom(body.slice(tag?.[0].length ?? 0)),
  }
}

/** What ends with a colon is no host: a sender of the same machine leaves its own name out. */
function hostOf(
  [whole, time, host]: RegExpExecArray,
  rest: string,
): { time: string; host: string | null; body: string } {
  const isTag = /(?:\]|[^:]):$/.test(host!)
  return isTag
    ? { time: time!, host: null, body: rest.slice(time!.length + 1) }
    : { time: time!, host: host!, body: rest.slice(whole.length) }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return Buffer.from(bytes).toString('latin1')
  }
}

const withoutBom = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text)

/**
 * Presets: how known senders of webhooks are read, as data (catalog/presets/<name>.yaml, schemas/preset-file.json). A
 * source names one, and what its own config leaves open is read as the preset says. Pure but for the one file that
 * `npm run generate` makes of all of them, so that no thread reads YAML.
 */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { textOfSlack } from '../../../schemas/plain-text.ts'
import type {
  PresetFile,
  PresetFit,
  PresetMatch,
  PresetReading,
  SenderPreset,
} from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { compileField, lookup } from '../../log/ingest/json-project.ts'
import { isLabelName, oneLine, parseTemplate, TEXT_MAX } from '../../log/ingest/label.ts'
import { compileReplace, patternFault } from '../../model/pattern.ts'
import { levelNamed } from '../../model/units.ts'
import type { Egress } from '../../net/fetch.ts'
import { objectOf, scalar } from './connector.ts'
import { lineTime, textFields } from './upstream.ts'

type Headers = Record<string, string> | undefined
type Context = Record<string, unknown>

let shipped: Readonly<Record<string, PresetFile>> | undefined

/** Every preset by its name, in the order of the names; read when first asked for. */
export function presets(): Readonly<Record<string, PresetFile>> {
  // The build copies catalog/ beside the bundle; from source it is at the root of the project.
  const beside = fileURLToPath(new URL('./catalog/presets.json', import.meta.url))
  const path = existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../../catalog/presets.json', import.meta.url))
  shipped ??= JSON.parse(readFileSync(path, 'utf8')) as Record<string, PresetFile>
  return shipped
}

/** Undefined for none, and for one that this version does not have. */
export const presetOf = (name: string | undefined): PresetFile | undefined =>
  name !== undefined && Object.hasOwn(presets(), name) ? presets()[name] : undefined

/** The presets as the API shows them. */
export function describePresets(): SenderPreset[] {
  return Object.entries(presets()).map(([name, file]) => {
    const readings = [file.reads, ...(file.cases ?? [])]
    const { from, headers = {}, body } = file.examples[0]!
    const { items, signature, handshake } = file
    return {
      ...{ name, label: file.label, about: file.about, setup: file.setup, docs: file.docs },
      ...(items === undefined ? {} : { items }),
      entity: [...new Set(readings.flatMap(({ entity = [] }) => entity))],
      labels: [
        ...new Set(
          readings.flatMap(({ labels = {}, numbers = {} }) => [
            ...Object.keys(labels),
            ...Object.keys(numbers),
          ]),
        ),
      ],
      ...(signature === undefined ? {} : { signature }),
      ...(handshake === undefined ? {} : { handshake }),
      example: { from, headers, body },
    }
  })
}

/* Reading: templates over a payload and the headers that the preset names. */

/** What a preset makes of an item; what it does not know is absent. */
export interface PresetEvent {
  type?: string
  text?: string
  time?: unknown
  dedupe?: string
  labels: Record<string, string | number>
  entity?: string
}

export interface PresetReader {
  /** Headers that it reads, in lower case. */
  headers: readonly string[]
  /** What a header says, without the encoding its sender gives it. */
  headerText(value: string): string
  /** A text without the markup its sender writes it in. */
  plainText(text: string): string
  read(context: Context, headers: Headers): PresetEvent
}

/** Labels taken from one object of names that the sender chose. */
const OF_MAX = 32
/** Read of states, of which some say nothing of a level, such as `running`: those are no level. */
const LEVEL = 'level'

/** Compiles a preset, once for each source. */
export function compilePreset(file: PresetFile): PresetReader {
  const base = file.reads
  const cases = (file.cases ?? []).map((one) => ({
    fits: one.when ?? {},
    read: compileReading(over(base, one)),
  }))
  const plain = compileReading(base)
  return {
    headers: headersIn(file),
    headerText: file.header_encoding === 'percent' ? percentDecoded : (value) => value,
    plainText: file.text_markup === 'slack' ? textOfSlack : (text) => text,
    read: (context, headers) =>
      (cases.find(({ fits }) => isMatch(fits, context, headers))?.read ?? plain)(context),
  }
}

const QUOTED = /^"((?:[^"\\]|\\.)*)"$/
/**
 * As receivers of CloudEvents read headers (HTTP protocol binding 1.0.2, section 3.1.3.2): a quoted string is taken out of
 * its quotes, then bytes of UTF-8 are percent-decoded, once.
 */
const percentDecoded = (value: string): string =>
  (QUOTED.exec(value)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? value).replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  )

const over = (base: PresetReading, one: PresetReading): PresetReading => ({
  ...base,
  ...one,
  labels: { ...base.labels, ...one.labels },
  numbers: { ...base.numbers, ...one.numbers },
})

function compileReading(reading: PresetReading): (context: Context) => PresetEvent {
  const [type, text, dedupe] = [reading.type, reading.text, reading.dedupe].map(compileValue)
  const time = compileValue(reading.time)
  const labels = Object.entries(reading.labels ?? {}).map(([name, given]) => ({
    name,
    read: compileLabel(given),
  }))
  const numbers = Object.entries(reading.numbers ?? {}).map(([name, field]) => ({
    name,
    read: compileField(field),
  }))
  const entities = [reading.entity ?? []].flat()
  return (context) => {
    const found: Record<string, string | number> = {}
    for (const path of reading.labels_of ?? []) addTexts(found, lookup(context, path))
    for (const path of reading.numbers_of ?? []) addNumbers(found, lookup(context, path))
    for (const { name, read } of numbers) {
      const value = read(context)
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
      if (typeof number === 'number' && Number.isFinite(number)) found[name] = number
    }
    for (const { name, read } of labels) {
      const value = read(context)
      if (value !== undefined && (name !== LEVEL || levelNamed(value) !== undefined)) found[name] = value
    }
    const entity = entities.find((name) => typeof found[name] === 'string')
    const said = {
      type: textOf(type!(context)),
      text: saidOnce(textOf(text!(context))),
      dedupe: textOf(dedupe!(context)),
    }
    const at = time(context)
    return {
      ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
      ...(at === undefined ? {} : { time: at }),
      labels: found,
      ...(entity === undefined ? {} : { entity }),
    }
  }
}

/** Of `a: a` one: the message of a log line is often that of its error. */
function saidOnce(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const half = text.slice(0, (text.length - 2) / 2)
  return text === `${half}: ${half}` ? half : text
}

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))

function addTexts(found: Record<string, string | number>, of: unknown): void {
  for (const [name, value] of Object.entries(objectOf(of)).slice(0, OF_MAX)) {
    const label = labelName(name)
    const text = typeof value === 'number' ? String(value) : value
    if (isLabelName(label) && typeof text === 'string' && text !== '') found[label] = text
  }
}

function addNumbers(found: Record<string, string | number>, of: unknown): void {
  for (const [name, value] of Object.entries(objectOf(of)).slice(0, OF_MAX)) {
    const label = labelName(name)
    if (isLabelName(label) && typeof value === 'number') found[label] = value
  }
}

const labelName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 64)

type LabelOfPreset = NonNullable<PresetReading['labels']>[string]

function compileLabel(given: LabelOfPreset): (context: Context) => string | undefined {
  if (typeof given === 'string' || Array.isArray(given)) {
    const value = compileValue(given)
    return (context) => textOf(value(context))
  }
  const { from, pattern, replace = '', map = {} } = given
  const value = compileValue(from)
  const rewrite = pattern === undefined ? (text: string) => text : compileReplace(pattern, replace)
  return (context) => {
    const text = textOf(value(context))
    const said = text === undefined ? undefined : rewrite(text)
    if (said === undefined || said === '') return undefined
    const alias = [said, said.toLowerCase()].find((one) => Object.hasOwn(map, one))
    return alias === undefined ? said : map[alias]
  }
}

type Part = string | ((context: Context) => unknown)

/** The first of the templates whose fields are all there; a template of one field alone keeps the field's type. */
function compileValue(
  given: string | string[] | undefined,
): (context: Context) => string | number | undefined {
  const templates = [given ?? []].flat().map((template) => parseTemplate(template).map(partOf))
  return (context) => {
    for (const parts of templates) {
      const value = rendered(parts, context)
      if (value !== undefined) return value
    }
    return undefined
  }
}

function rendered(parts: readonly Part[], context: Context): string | number | undefined {
  let text = ''
  for (const part of parts) {
    const value = typeof part === 'string' ? part : part(context)
    if (parts.length === 1 && typeof value === 'number') return value
    const said = scalar(value)
    if (said === undefined) return undefined
    text += said
  }
  return oneLine(text.trim(), TEXT_MAX) || undefined
}

const PAIRS = '|pairs'
const LAST = '|last'
/** What a line of text says of itself; a time without a zone is that of no machine we know. */
const OF_LINES: Readonly<Record<string, (line: string) => unknown>> = {
  '|time': (line) => scalar(lineTime(line, null, null)),
  '|level': (line) => textFields(line).level,
}

function partOf(part: string | { field: string }): Part {
  if (typeof part === 'string') return part
  const [list, rest] = part.field.split(LAST)
  if (rest !== undefined) {
    const read = compileField(list!)
    return (context) => {
      const entries = read(context)
      const last: unknown = Array.isArray(entries) ? entries.at(-1) : undefined
      return rest === '' ? last : lookup(last, rest.slice(1))
    }
  }
  for (const [ending, told] of Object.entries(OF_LINES))
    if (part.field.endsWith(ending)) {
      const read = compileField(part.field.slice(0, -ending.length))
      return (context) => told(scalar(read(context)) ?? '')
    }
  if (!part.field.endsWith(PAIRS)) return compileField(part.field)
  const read = compileField(part.field.slice(0, -PAIRS.length))
  return (context) =>
    Object.entries(objectOf(read(context)))
      .flatMap(([name, value]) => (scalar(value) === undefined ? [] : [`${name}=${scalar(value)}`]))
      .slice(0, OF_MAX)
      .join(', ')
}

const HEADER = 'header.'

/** Of all its templates. */
function headersIn(file: PresetFile): string[] {
  const named = fieldsIn(file).filter((field) => field.startsWith(HEADER))
  return [...new Set(named.map((field) => field.slice(HEADER.length)))]
}

function fieldsIn(file: PresetFile): string[] {
  const templates = [file.reads, ...(file.cases ?? [])].flatMap(
    ({ type, text, time, dedupe, labels = {} }) => [
      ...[type ?? [], text ?? [], time ?? [], dedupe ?? []].flat(),
      ...Object.values(labels).flatMap((one) =>
        typeof one === 'string' || Array.isArray(one) ? one : [one.from].flat(),
      ),
    ],
  )
  return templates.flatMap((template) =>
    parseTemplate(template).flatMap((part) => (typeof part === 'string' ? [] : [part.field])),
  )
}

/* What tells a sender. */

/** Whether all that is named holds. @param headers undefined: none is known, and what asks for one does not hold. */
function isMatch(
  { header = {}, has = [], is = {} }: PresetMatch,
  context: unknown,
  headers: Headers,
): boolean {
  return (
    Object.entries(header).every(([name, begins]) => headers?.[name]?.toLowerCase().startsWith(begins)) &&
    has.every((path) => (lookup(context, path) ?? null) !== null) &&
    Object.entries(is).every(([path, values]) => values.includes(scalar(lookup(context, path)) ?? ''))
  )
}

/** Names of the headers by which presets tell their senders. */
export function tellingHeaders(): string[] {
  const rules = Object.values(presets()).flatMap(({ fits }) => fits)
  return [...new Set(rules.flatMap(({ header = {} }) => Object.keys(header)))]
}

/**
 * The preset whose sender the headers of a delivery tell; a body alone tells nothing here.
 * @param whole all fields of the payload, asked for only where a header fits: a source reads no more than it needs.
 */
export function senderOf(headers: Headers, whole: () => unknown): string | undefined {
  if (!headers) return undefined
  const isTold = ({ header: _known, ...fields }: PresetMatch) =>
    isMatch(fields, 'has' in fields || 'is' in fields ? whole() : undefined, headers)
  return rulesTold(headers).find(({ rule }) => isTold(rule))?.name
}

interface NamedRule {
  name: string
  rule: PresetMatch
}

/** By the headers of a body, which its items share: to look through all presets for each took four fifths of reading it. */
const toldBy = new WeakMap<object, readonly NamedRule[]>()

/** The rules of presets whose headers are there. */
function rulesTold(headers: NonNullable<Headers>): readonly NamedRule[] {
  const known = toldBy.get(headers)
  if (known) return known
  const found = Object.entries(presets()).flatMap(([name, { fits }]) =>
    fits
      .filter(({ header }) => header !== undefined && isMatch({ header }, undefined, headers))
      .map((rule) => ({ name, rule })),
  )
  toldBy.set(headers, found)
  return found
}

/** Payloads a preset fits at least, of those that were looked at. */
const FITS_MIN = 0.5

/**
 * The preset that fits most of the payloads, by what is in them or by what their headers told.
 * @param payloads parsed, whole, each with the sender that its headers told, if any.
 */
export function fitOf(payloads: readonly { payload: unknown; sender?: string }[]): PresetFit | undefined {
  const ranked = Object.entries(presets())
    .map(([name, file]) => {
      const rules = payloads.map(({ payload, sender }) =>
        Math.max(0, ...file.fits.map((rule) => weightOf(rule, payload, sender === name))),
      )
      const fits = rules.filter((weight) => weight > 0).length
      return { name, label: file.label, fits, weight: rules.reduce((sum, one) => sum + one, 0) }
    })
    .filter(({ fits }) => fits > 0 && fits >= payloads.length * FITS_MIN)
    .sort((a, b) => b.fits - a.fits || b.weight - a.weight)
  const [best] = ranked
  if (!best) return undefined
  const { name, label, fits } = best
  return { name, label, fits, sampled: payloads.length, config: { preset: name } }
}

/** How much a rule asks for, where it holds; a header says more than fields. */
function weightOf(rule: PresetMatch, payload: unknown, isTold: boolean): number {
  const { header, has = [], is = {} } = rule
  if (header !== undefined) return isTold && isMatch({ has, is }, payload, undefined) ? 100 : 0
  return isMatch(rule, payload, undefined) ? has.length + 2 * Object.keys(is).length : 0
}

/** What a rule asks for at least, so that a body alone tells who sent it: two fields may be those of anybody. */
const TELLS_MIN = 3

/**
 * Connectors that read what a webhook would store as it came: notifications of Alertmanager and what Prometheus and rulers
 * post to one, exports of OTLP/HTTP, and entries of Vercel's log drains.
 */
const CONNECTORS: Readonly<Record<string, readonly PresetMatch[]>> = {
  alertmanager: [
    { has: ['alerts', 'receiver', 'groupKey'] },
    { has: ['labels.alertname', 'annotations', 'startsAt'] },
  ],
  otlp: [
    { has: ['resourceLogs.0.scopeLogs'] },
    { has: ['resourceSpans.0.scopeSpans'] },
    { has: ['resourceMetrics.0.scopeMetrics'] },
  ],
  vercel: [{ has: ['id', 'timestamp', 'source', 'projectId', 'deploymentId'] }],
}

/**
 * What reads a payload better than a webhook without a preset does: the preset that asks for most of what it has, else a
 * connector; notifications of Grafana have the form of Alertmanager's, and more. @returns its name; undefined: nothing that is known
 */
export function readerOf(payload: unknown): string | undefined {
  const [best] = Object.entries(presets())
    .map(([name, { fits }]) => ({
      name,
      weight: Math.max(...fits.map((rule) => weightOf(rule, payload, false))),
    }))
    .filter(({ weight }) => weight >= TELLS_MIN)
    .sort((a, b) => b.weight - a.weight)
  const connector = Object.entries(CONNECTORS).find(([, fits]) =>
    fits.some((rule) => isMatch(rule, payload, undefined)),
  )
  return best?.name ?? connector?.[0]
}

/** On the health of a webhook. @param reader what reads better what it receives. @param source its name */
export function readerHealth(reader: string, source: string): string {
  const file = presetOf(reader)
  if (file)
    return `It receives what the preset ${reader} (${file.label}) reads better: svc sources discover ${source} --preset ${reader} --apply, or Discover on its page.`
  if (reader === 'otlp')
    return 'It receives exports of OpenTelemetry, each of which it stores as one event: let their exporter send to /v1/logs, /v1/traces and /v1/metrics, where each record is an event.'
  return `It receives what the connector ${reader} reads better, an event for each entry, with its labels: add a source of that connector, and give its address to the sender.`
}

/* Rules a schema cannot say. */

/** Headers that may carry a credential or a signature are not read; `x-event-key` of Bitbucket is the kind of its events. */
const SENSITIVE = /auth|cookie|token|secret|signature|password|(^|(?<!-event)-)key|hmac/

/** @returns a sentence per fault. */
export function presetFaults(file: PresetFile): string[] {
  const readings = [file.reads, ...(file.cases ?? [])]
  const labels = readings.flatMap(({ labels = {} }) => Object.entries(labels))
  return [
    ...(file.reads.when ? ['reads has no when: it is for what no case fits'] : []),
    ...(file.cases ?? []).flatMap((one, i) => (one.when ? [] : [`cases[${i}] needs a when`])),
    ...headersIn(file)
      .filter((name) => SENSITIVE.test(name))
      .map((name) => `header.${name} is not read: it may carry a credential`),
    ...labels.flatMap(([name, given]) => {
      const fault =
        typeof given === 'string' || Array.isArray(given) || given.pattern === undefined
          ? null
          : patternFault(given.pattern, given.replace ?? '')
      return [
        ...(isLabelName(name) ? [] : [`label ${name} is reserved`]),
        ...(fault ? [`label ${name}: ${fault}`] : []),
      ]
    }),
    ...readings
      .flatMap(({ entity = [] }) => entity)
      .filter((name) => !labels.some(([label]) => label === name) && !hasOwnNames(file))
      .map((name) => `entity ${name} is no label of the preset`),
  ]
}

const hasOwnNames = ({ reads, cases = [] }: PresetFile): boolean =>
  [reads, ...cases].some(({ labels_of: of }) => of !== undefined)

/*
 * Amazon SNS: the certificate that a message is signed with, and the subscription that svc confirms. Both are asked for
 * by the address in the message, so only Amazon's own hosts are asked, over https, by the guarded way out.
 */

export interface SnsCalls {
  /**
   * The certificate that a message names, as PEM; kept for the next ones.
   * @returns null where the body is no message that is signed.
   * @throws SvcError bad_signature: not an address of Amazon's; upstream: it cannot be had
   */
  snsCertificate(body: Uint8Array): Promise<string | null>
  /**
   * Confirms a subscription, as its confirmation asks; any other message is let be.
   * @throws SvcError invalid: not an address of Amazon's; upstream: Amazon did not take it, so that SNS asks again
   */
  confirmSns(body: Uint8Array): Promise<void>
}

const TIMEOUT_MS = 10_000
const ANSWER_BYTES = 65_536
const CERTIFICATES_MAX = 32
const MESSAGE_BYTES_MAX = 1_048_576
/** docs.aws.amazon.com, Verifying the signatures of Amazon SNS messages: the host of a region, in China's partition too. */
const HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?$/

export function snsCalls({ egress }: { egress: Pick<Egress, 'send'> }): SnsCalls {
  const certificates = new Map<string, string>()
  const get = (url: string) =>
    egress.send({
      ...{ url, method: 'GET', audience: 'caller', timeoutMs: TIMEOUT_MS, maxResponseBytes: ANSWER_BYTES },
    })
  return {
    async snsCertificate(body) {
      const given = messageOf(body).SigningCertURL
      if (typeof given !== 'string') return null
      const url = addressOfAmazon(given)
      if (!url?.pathname.endsWith('.pem'))
        fail('bad_signature', 'SigningCertURL is not https://sns.<region>.amazonaws.com/….pem')
      const known = certificates.get(url.href)
      if (known !== undefined) return known
      const answer = await get(url.href)
      if (!answer.ok) return fail('upstream', `the certificate of Amazon SNS: ${answer.message}`)
      if (answer.status !== 200) fail('upstream', `the certificate of Amazon SNS: HTTP ${answer.status}`)
      if (certificates.size >= CERTIFICATES_MAX) certificates.clear()
      certificates.set(url.href, answer.body.toString())
      return answer.body.toString()
    },
    async confirmSns(body) {
      const { Type: type, SubscribeURL: given } = messageOf(body)
      if (type !== 'SubscriptionConfirmation') return
      const url = typeof given === 'string' ? addressOfAmazon(given) : null
      if (!url) return fail('invalid', 'SubscribeURL is not https://sns.<region>.amazonaws.com/…')
      const answer = await get(url.href)
      if (!answer.ok) fail('upstream', `Amazon SNS did not confirm the subscription: ${answer.message}`)
      else if (answer.status !== 200)
        fail('upstream', `Amazon SNS did not confirm the subscription: HTTP ${answer.status}`)
    },
  }
}

/** Null for every address that is not one of SNS itself, over https, at its own port. */
function addressOfAmazon(given: string): URL | null {
  if (!URL.canParse(given)) return null
  const url = new URL(given)
  const isPlain = url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === ''
  return isPlain && HOST.test(url.hostname) ? url : null
}

function messageOf(body: Uint8Array): Record<string, unknown> {
  if (body.length > MESSAGE_BYTES_MAX) return {}
  try {
    return objectOf(JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()))
  } catch {
    // Lines, or no JSON: no message of SNS; storing it says what is wrong.
    return {}
  }
}

/** Any HTTP API that answers with JSON (SPEC.md, Sources and labels: connector-specific facts, http_poll). */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { check } from '../../../schemas/index.ts'
import type { HttpPollConfig, Label } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { parseDigits } from '../../log/ingest/json.ts'
import { parseEventTime } from '../../log/ingest/time.ts'
import { type PollConnector, type Reach, UpstreamError } from './connector.ts'
import {
  API,
  compileMapping,
  entriesOf,
  jsonOf,
  mappedFields,
  pagingSeen,
  pollOnce,
  request,
  requestFaults,
} from './http-pages.ts'

export const httpPoll: PollConnector = {
  kind: 'http_poll',
  label: 'HTTP API',
  mode: 'poll',
  description:
    'Any HTTP API that answers with JSON: it is asked at each interval, and each entry of its answer becomes an event. With an id field an entry is stored once.',
  sourceType: 'event_stream',
  configSchema: 'connector-http-poll.json',
  provides: [],
  suggestedPoll: '1m',
  minPollMs: 10_000,
  identity: ['url', 'method', 'body', 'payload_key', 'id_field'],
  validate: (config: FieldsOf<HttpPollConfig>) => requestFaults(config),
  compile: (config: FieldsOf<HttpPollConfig>) => compileMapping(config),
  fields: (config: FieldsOf<HttpPollConfig>) => mappedFields(config),
  discover: discoverApi,
  poll: (config: FieldsOf<HttpPollConfig>, cursor, reach) => pollOnce(config, cursor, reach),
}

/*
 * What an API answers with, and a config that reads it. It is asked once; where its entries lie, which
 * fields tell them apart, when they happened and what is worth a label is guessed from them. Which label is
 * the entity is for a person to say.
 */

const SAMPLE = 20
const FIELDS_TOLD = 60
const LABELS_MAX = 8
const TEXT_FIELDS = 3
const LIST_DEPTH = 2

/** @throws UpstreamError; SvcError invalid, naming the field */
async function discoverApi(given: Record<string, unknown>, reach: Reach): Promise<Record<string, unknown>> {
  const { labels: declared, ...known } = given
  const fault = check('connector-http-poll.json', known)
  if (fault) fail('invalid', fault, { field: 'config' })
  const config = known as FieldsOf<HttpPollConfig>
  const faults = requestFaults(config)
  if (faults.length) fail('invalid', faults.join('; '), { field: 'config' })
  const answer = await request(config, reach)
  const path = config.payload_key ?? (answer.status === 204 ? '' : listIn(jsonOf(answer, API)))
  const { value, entries } = entriesOf(answer, path)
  if (entries.count === 0)
    throw new UpstreamError('the API answers with an empty list; try again when it has entries')
  const sample = entries.texts.slice(0, SAMPLE).map((text) => flat(parseDigits(text)))
  const fields = fieldsOf(sample)
  const time = timeOf(fields, reach.clock.now())
  const id = idOf(fields, sample.length, entries.isList) ?? (entries.isList ? undefined : time)
  return {
    connector: 'http_poll',
    summary: summaryOf(entries.count, path, id),
    fields: fields.slice(0, FIELDS_TOLD).map(({ name, values }) => ({ name, example: shortened(values[0]) })),
    sample_fields: Object.fromEntries(
      Object.entries(sample[0]!)
        .slice(0, FIELDS_TOLD)
        .map(([name, one]) => [name, shortened(one)]),
    ),
    sample_item: shortened(parseDigits(entries.texts[0]!)),
    sample_reply: shortened(value),
    per_poll: Math.min(entries.count, entries.texts.length),
    proposed_config: {
      ...withoutSecrets(config),
      ...(path === '' ? {} : { payload_key: path }),
      ...(id === undefined
        ? {}
        : { id_field: id, ...(config.paging === undefined ? pagingSeen(answer, value) : {}) }),
      ...templateOf(config, fields, [time, id]),
      ...(time === undefined ? {} : { event_time_field: time }),
      // What a person declared is better than a guess.
      labels: Array.isArray(declared) && declared.length ? declared : labelsOf(fields, [time]),
    },
  }
}

/** Where the first list of objects lies within two levels; empty: the whole answer is what there is. */
function listIn(value: unknown, path = '', depth = 0): string {
  if (isList(value) || depth === LIST_DEPTH || value === null || typeof value !== 'object') return ''
  const inner = Object.entries(value).map(
    ([key, one]) => [path === '' ? key : `${path}.${key}`, one] as const,
  )
  const own = inner.find(([, one]) => isList(one))
  if (own) return own[0]
  for (const [name, one] of inner) {
    const found = Array.isArray(one) ? '' : listIn(one, name, depth + 1)
    if (found !== '') return found
  }
  return ''
}

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => one !== null && typeof one === 'object')

type Fields = ReturnType<typeof fieldsOf>

function labelsOf(fields: Fields, without: readonly (string | undefined)[]): Label[] {
  const taken = new Set<string>()
  return fields
    .filter(({ name, kind, values }) => {
      const label = labelName(name)
      const isFit = kind === 'number' || (kind === 'string' && values.every((one) => isShort(one)))
      if (without.includes(name) || !isFit || label === '' || taken.has(label)) return false
      taken.add(label)
      return true
    })
    .slice(0, LABELS_MAX)
    .map(
      ({ name, kind }): Label => ({
        name: labelName(name),
        field: name,
        ...(kind === 'number' ? { type: 'number' as const } : {}),
      }),
    )
}

const labelName = (field: string): string => field.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 64)

/** The first values that fit on a line; what a person has set stays. */
function templateOf(
  { text_template: own }: HttpPollConfig,
  fields: Fields,
  without: readonly (string | undefined)[],
): { text_template?: string } {
  if (own !== undefined) return {}
  const said = fields.filter(
    ({ name, values }) => !without.includes(name) && values.every((one) => isShort(one)),
  )
  const [first, ...rest] = said.filter(({ name }) => !/[{}]/.test(name)).slice(0, TEXT_FIELDS)
  if (!first) return {}
  return { text_template: [`{${first.name}}`, ...rest.map(({ name }) => `${name}={${name}}`)].join(' ') }
}

function withoutSecrets({ credential: _secret, ...config }: HttpPollConfig): Partial<HttpPollConfig> {
  return config
}

function summaryOf(count: number, path: string, id: string | undefined): string {
  const what = count === 1 ? 'One entry' : `${count} entries`
  const where = path === '' ? 'in the answer' : `at ${path}`
  const once =
    id === undefined ? 'No field tells them apart, so each poll stores them all.' : `Told apart by ${id}.`
  return `${what} ${where}. ${once}`
}

/* What fields of sampled entries are: scalars by their dotted names, times, and ids. */

const DEPTH_MAX = 6
const FIELDS_MAX = 200
const SHORT = 64
/** Names a time mostly has; the first that holds times is taken. */
const TIME_NAME =
  /(^|[._])(timestamp|time|datetime|date|at|ts|created|updated|published|occurred|observed)$|(_at|_time|_date|At|Time|Date)$/
const ID_NAME = /(^|\.)(id|uuid|guid|key|sha|number)$|(_id|Id|ID)$/

interface FieldSeen {
  name: string
  kind: 'string' | 'number' | 'other'
  /** Its values in the sample, without those that are absent. */
  values: unknown[]
}

/** The scalars of an entry by their dotted names; of a scalar entry it is `value`. */
function flat(value: unknown): Record<string, unknown> {
  const found: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  let count = 0
  const walk = (one: unknown, name: string, depth: number): void => {
    if (one === null || one === undefined || Array.isArray(one) || count >= FIELDS_MAX) return
    if (typeof one !== 'object') {
      found[name === '' ? 'value' : name] = one
      count++
    } else if (depth < DEPTH_MAX)
      for (const [key, inner] of Object.entries(one))
        walk(inner, name === '' ? key : `${name}.${key}`, depth + 1)
  }
  walk(value, '', 0)
  return found
}

/** Fields in the order they are met. */
function fieldsOf(sample: readonly Record<string, unknown>[]): FieldSeen[] {
  const byName = new Map<string, unknown[]>()
  for (const entry of sample)
    for (const [name, value] of Object.entries(entry)) byName.set(name, [...(byName.get(name) ?? []), value])
  return [...byName].map(([name, values]) => ({ name, values, kind: kindOf(values) }))
}

function kindOf(values: readonly unknown[]): FieldSeen['kind'] {
  const is = (type: string) => values.every((value) => typeof value === type)
  if (is('number')) return 'number'
  return is('string') ? 'string' : 'other'
}

/** Text that fits a label and a line. */
const isShort = (value: unknown): boolean =>
  typeof value !== 'string' || (value !== '' && value.length <= SHORT)

/** The field that holds a time in every entry it is in, those named like one first. @param nowMs epoch ms */
function timeOf(fields: readonly FieldSeen[], nowMs: number): string | undefined {
  const times = fields.filter(({ values }) => values.every((value) => isTime(value, nowMs)))
  return (times.find(({ name }) => TIME_NAME.test(name)) ?? times.find(({ kind }) => kind === 'string'))?.name
}

function isTime(value: unknown, nowMs: number): boolean {
  if (typeof value === 'number') return value >= 1e9 && value < 4e12
  return typeof value === 'string' && value.length >= 10 && parseEventTime(value, nowMs).ts !== null
}

/** The field that is there in every entry and never twice the same, named like an id. */
function idOf(fields: readonly FieldSeen[], entries: number, isList: boolean): string | undefined {
  if (!isList) return undefined
  return fields.find(
    ({ name, kind, values }) =>
      kind !== 'other' && ID_NAME.test(name) && values.length === entries && new Set(values).size === entries,
  )?.name
}

/* An answer cut to what shows its shape: of each list one entry, of texts the beginning. */

const TEXT_MAX = 200
const KEYS_MAX = 60

function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value
  if (value === null || typeof value !== 'object') return value
  if (depth === DEPTH_MAX) return '…'
  if (Array.isArray(value)) return value.slice(0, 1).map((one) => shortened(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, KEYS_MAX)
      .map(([key, one]) => [key, shortened(one, depth + 1)]),
  )
}

/**
 * What an API answers with, and a config that reads it. It is asked once; where its entries lie, which
 * fields tell them apart, when they happened and what is worth a label is guessed from them. Which label is
 * the entity is for a person to say.
 */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { check } from '../../../schemas/index.ts'
import type { HttpPollConfig, Label } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { entriesAt } from '../../ingest/entries.ts'
import { parseDigits } from '../../ingest/json-digits.ts'
import { type Reach, UpstreamError } from '../connector.ts'
import { jsonOf } from './ask.ts'
import { fieldsOf, flat, idOf, isShort, timeOf } from './guess.ts'
import { pagingSeen } from './paging.ts'
import { API, missing, request, requestFaults } from './request.ts'
import { shortened } from './shorten.ts'

const SAMPLE = 20
const FIELDS_TOLD = 60
const LABELS_MAX = 8
const TEXT_FIELDS = 3
const LIST_DEPTH = 2

/** @throws UpstreamError; SvcError invalid, naming the field */
export async function discoverApi(
  given: Record<string, unknown>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const { labels: declared, ...known } = given
  const fault = check('connector-http-poll.json', known)
  if (fault) fail('invalid', fault, { field: 'config' })
  const config = known as FieldsOf<HttpPollConfig>
  const faults = requestFaults(config)
  if (faults.length) fail('invalid', faults.join('; '), { field: 'config' })
  const answer = await request(config, reach)
  const value = jsonOf(answer, API)
  const path = config.payload_key ?? listIn(value)
  const entries = entriesAt(answer.bytes, path) ?? missing(path, value)
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

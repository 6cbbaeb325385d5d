/** Any system that can POST JSON (SPEC.md, Webhook connector config). */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import type { PresetRows, PresetUnpack, WebhookConfig } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { isDeeper, parseDigits, parseForWriting } from '../../log/ingest/json.ts'
import { compileField } from '../../log/ingest/json-project.ts'
import { compileTemplate, oneLine, parseTemplate, summarise, templateFields } from '../../log/ingest/label.ts'
import { nestedEntriesAt, OPENED_BYTES_MAX, openedAt } from '../../log/ingest/split.ts'
import { timesIn, zoneFaults } from '../../log/ingest/time.ts'
import { type Delivery, deliveryOf } from '../upstreams/github-deliveries.ts'
import {
  type FlatMapping,
  type Item,
  type MappedEvent,
  objectOf,
  type PushConnector,
  scalar,
} from './connector.ts'
import { contextOf as itemContextOf } from './http-pages.ts'
import {
  compilePreset,
  type PresetEvent,
  type PresetReader,
  presetOf,
  presets,
  readerOf,
  senderOf,
  tellingHeaders,
} from './preset.ts'

const EVENT_TYPE = 'webhook_event'
const EVENT_TYPE_MAX = 200
/** Headers that name one delivery: a repeat is the same delivery, sent again. */
const DELIVERY_HEADERS = [
  'x-github-delivery',
  'linear-delivery',
  'webhook-id',
  'svix-id',
  'x-shopify-webhook-id',
  'x-amz-firehose-request-id',
]
/** Headers that label fields can read, as header.<name>; no other, for some carry credentials. */
const GITHUB_EVENT = 'x-github-event'
const OFFERED_HEADERS = [GITHUB_EVENT, 'linear-event']
/** Headers by which senders say what happened, where the body does not, such as a push of Bitbucket: the type, unless one is set. */
const EVENT_HEADERS = [
  ...['x-event-key', 'x-gitea-event', 'x-forgejo-event', 'x-gogs-event', 'x-gitlab-event', 'linear-event'],
  ...[
    'x-buildkite-event',
    'circleci-event-type',
    'x-shopify-topic',
    'x-wc-webhook-topic',
    'x-contentful-topic',
  ],
  ...['x-discourse-event', 'x-plane-event', 'x-event-type', 'x-event-name', 'x-event', 'x-webhook-event'],
  ...['x-webhook-topic', 'ce-type'],
]

export const webhook: PushConnector = {
  kind: 'webhook',
  label: 'Webhook',
  mode: 'push',
  description:
    'Any system that can POST JSON: one object, a list, or NDJSON; of a body that holds a list, such as grouped alerts, an event for each entry. Signatures of GitHub, Linear, PagerDuty, Stripe, Slack, Shopify, GitLab, Standard Webhooks or plain HMAC-SHA256 and HMAC-SHA512 can be checked. Deliveries of GitHub, told by their X-GitHub-Event header, get a type such as pull_request.opened, a sentence, their own time and the labels repository, actor, number, action and key, wherever the config does not say otherwise.',
  sourceType: 'event_stream',
  configSchema: 'connector-webhook.json',
  wantsHeaders: true,
  provides: [
    { name: 'header.x-github-event', help: 'Event name GitHub sends beside the payload.' },
    { name: 'header.linear-event', help: 'Event name Linear sends beside the payload.' },
  ],
  validate: (config) => faultsOf(config),
  signatureOf: (config) => presetOf((config as WebhookConfig).preset)?.signature,
  handshake: (config) => presetOf((config as WebhookConfig).preset)?.handshake,
  compile: (config) => compileWebhook(config as WebhookConfig),
  fields: (config) => fieldsOf(config as WebhookConfig),
  splits: (config) => itemsOf(config as WebhookConfig) !== undefined,
  flat: (config) => flatOf(config as WebhookConfig),
  note: (path) => `POST events to ${path}; the first one shows here.`,
}

function faultsOf({ preset, signature_scheme: scheme, ...config }: FieldsOf<WebhookConfig>): string[] {
  const file = presetOf(preset)
  if (preset !== undefined && !file)
    return [
      `preset ${preset} is not known${didYouMean(preset, Object.keys(presets()))}; there are ${Object.keys(presets()).join(', ')}`,
    ]
  const faults = zoneFaults(config.zone)
  const isSet = config.signature_secret !== undefined || config.signature_secret_previous !== undefined
  if (!isSet || scheme !== undefined || file?.signature) return faults
  const sender = preset === undefined ? '' : `, and the sender of preset ${preset} does not sign`
  return [
    ...faults,
    `signature_scheme must say how signature_secret is used: without it no signature is checked${sender}; set it, or clear the secret with ""`,
  ]
}

/** Of entries of a list, and what is around them, anything may be asked. */
function fieldsOf(config: WebhookConfig): string[] | null {
  if (config.items_field !== undefined || config.preset !== undefined) return null
  const named = [
    ...[config.event_type_field, config.event_time_field, config.event_end_field],
    config.dedupe_field,
  ]
  return [...named.filter((field) => field !== undefined), ...templateFields(config.text_template ?? '')]
}

/** A key is more than fields of the item, and so is a delivery that headers tell of. */
function flatOf(config: WebhookConfig): FlatMapping | null {
  const { event_type: type = EVENT_TYPE, event_type_field: typeField, event_time_field: timeField } = config
  if (config.dedupe_field !== undefined || config.items_field !== undefined) return null
  if (config.preset !== undefined || config.event_end_field !== undefined) return null
  if (config.zone !== undefined) return null
  return {
    type,
    ...(typeField === undefined ? {} : { typeField }),
    ...(timeField === undefined ? {} : { timeField }),
    text: parseTemplate(config.text_template ?? ''),
    unlessHeaders: [
      ...[...DELIVERY_HEADERS, GITHUB_EVENT, ...(type === EVENT_TYPE ? EVENT_HEADERS : [])],
      ...(isFresh(config) ? tellingHeaders() : []),
    ],
  }
}

/** Items of a fresh source that are looked at for who sent them: a sender keeps to its form. */
export const LOOKS_MAX = 16

type Headers = Record<string, string> | undefined

const itemsOf = (config: WebhookConfig): string | undefined =>
  config.items_field ?? presetOf(config.preset)?.items

function compileWebhook(config: WebhookConfig): ReturnType<PushConnector['compile']> {
  const eventOf = compileEvent(config)
  const items = itemsOf(config)
  const file = config.items_field === undefined ? presetOf(config.preset) : undefined
  const unpack = file?.unpack
  if (items === undefined && unpack === undefined)
    return (item, headers, index) => [eventOf(item, headers, String(index))]
  const split = items === undefined ? opened(unpack!) : itemsAt(items, unpack, file?.items_alone, file?.rows)
  return (item, headers, index) =>
    split(item).map(({ item: one, isEntry }, n) => ({
      ...eventOf(one, headers, isEntry ? `${index}.${n}` : String(index)),
      ...(isEntry ? { raw: one.raw } : {}),
    }))
}

/** @returns a function of an item, the headers it came with, and its place among those of the delivery. */
function compileEvent(config: WebhookConfig): (item: Item, headers: Headers, place: string) => MappedEvent {
  const { event_type: fixed = EVENT_TYPE, event_type_field: typeField } = config
  const { event_time_field: timeField, event_end_field: endField, dedupe_field: dedupeField } = config
  const typeOf = compileField(typeField ?? '')
  const timeOf = compileField(timeField ?? '')
  const endOf = compileField(endField ?? '')
  const timed = timesIn(config.zone)
  const keyOf = compileField(dedupeField ?? '')
  const template = compileTemplate(config.text_template ?? '')
  // Others that sign in their own way send this header too, with payloads of their own.
  const isGithub =
    config.items_field === undefined &&
    config.preset === undefined &&
    (config.signature_scheme === undefined || config.signature_scheme === 'github')
  const file = presetOf(config.preset)
  const preset = file && compilePreset(file)
  const plain = preset?.plainText ?? ((text: string) => text)
  const fresh = isFresh(config)
  let looksLeft = fresh ? LOOKS_MAX : 0
  return (item, headers, place) => {
    const event = isGithub ? headers?.[GITHUB_EVENT] : undefined
    const delivery = event ? deliveryOf(event, item.whole()) : null
    const context = contextOf(item.value, headers, delivery, preset)
    const own = typeField === undefined ? undefined : scalar(typeOf(context))
    const time = timeField === undefined ? undefined : timed(timeOf(context))
    const key = dedupeField === undefined ? undefined : scalar(keyOf(context))
    const read = preset?.read(context, headers)
    // What the config says goes before what GitHub or the preset says.
    const says =
      typeField === undefined && fixed === EVENT_TYPE ? (delivery?.eventType ?? read?.type) : undefined
    const isRepeat = key === undefined && read?.dedupe !== undefined
    const sender = fresh && !delivery ? senderOf(headers, () => item.whole()) : undefined
    const reader = sender ?? (!delivery && looksLeft-- > 0 ? readerOf(item.whole()) : undefined)
    const told = fixed === EVENT_TYPE && headers && EVENT_HEADERS.map((name) => headers[name]).find(Boolean)
    return {
      eventType: oneLine(own ?? says ?? (told || fixed), EVENT_TYPE_MAX),
      text: plain(template(context).trim() || delivery?.text || read?.text || '') || summarise(item.whole()),
      eventTime: time ?? delivery?.eventTime ?? read?.time,
      ...(endField === undefined ? {} : { endTime: timed(endOf(context)) }),
      context,
      ...stampedOf(delivery, read, sender),
      ...(reader === undefined ? {} : { reader }),
      dedupeKey: isRepeat ? `preset:${read.dedupe}` : (key ?? deliveryKey(headers, place)),
    }
  }
}

/** Nothing is set of how payloads are read: what their headers tell is kept, so that a preset can be offered. */
const isFresh = (config: WebhookConfig): boolean =>
  Object.keys(config).every((name) => name.startsWith('signature_'))

/** Label of a fresh source's events: the preset whose sender their headers told. */
export const SENDER = 'sender'

function stampedOf(
  delivery: Delivery | null,
  read: PresetEvent | undefined,
  sender: string | undefined,
): Pick<MappedEvent, 'stamped' | 'entityLabel'> {
  if (delivery) return { stamped: delivery.stamped, entityLabel: delivery.entityLabel }
  if (read)
    return { stamped: read.labels, ...(read.entity === undefined ? {} : { entityLabel: read.entity }) }
  return sender === undefined ? {} : { stamped: { [SENDER]: sender } }
}

type Context = MappedEvent['context']

/** The payload's own object, so that no field is copied; anything else is wrapped as {value}. */
function contextOf(
  value: unknown,
  headers: Headers,
  delivery: Delivery | null,
  preset?: PresetReader,
): Context {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
  const object = isObject ? (value as Context) : { value }
  const told: Record<string, string> = {}
  for (const name of headers ? OFFERED_HEADERS : [])
    if (headers![name] !== undefined) told[`header.${name}`] = headers![name]
  for (const name of headers ? (preset?.headers ?? []) : [])
    if (headers![name] !== undefined) told[`header.${name}`] = preset!.headerText(headers![name])
  if (Object.keys(told).length === 0) return object
  // repository is an object of the payload too, whose fields stay readable by their dotted names.
  const whole = Object.entries(delivery?.stamped ?? {}).filter(([name]) => !Object.hasOwn(object, name))
  return { ...Object.fromEntries(whole), ...object, ...told }
}

/** One delivery may carry several items, so their place in it is part of the key. */
function deliveryKey(headers: Headers, place: string): string | undefined {
  const name = headers && DELIVERY_HEADERS.find((header) => headers[header])
  return name && `${name}:${headers[name]}:${place}`
}

/*
 * A body that holds a list of what happened, such as Grafana's `alerts`: an event for each entry, which keeps the
 * rest of the body as its `envelope`.
 */

/** The field of an entry that its envelope is. */
const ENVELOPE = 'envelope'

const ENTRIES_MAX = 100_000
/** What the envelopes stored beside entries may be in all, in times of the body's size. */
const COPIES_MAX = 4
/** What stored payloads may be. */
const PAYLOAD_BYTES_MAX = 1_048_576
const PAYLOAD_DEPTH_MAX = 100

interface Entry {
  item: Item
  /** Whether what is stored is not all that came. */
  isEntry: boolean
}

/** The item with what a field of it holds in base64 in place of that. */
function opened(unpack: PresetUnpack): (item: Item) => Entry[] {
  return (item) => {
    const texts = openedAt(bytesOf(item).toString(), unpack, { left: OPENED_BYTES_MAX })
    if (!texts || texts.some(isTooLong)) return [{ item, isEntry: false }]
    return texts.map((text) => ({ item: itemOf(text, parseDigits(text), null), isEntry: true }))
  }
}

/**
 * @param path where the list lies; an object there counts as a list of one. @param unpack what is opened of each entry
 * @param isAlone whether the list must be all that an item has @param rows what of an entry is an event each
 * @returns the entries; one with the envelope of its own where nothing lies at the path. Those that are too long are refused.
 * @throws SvcError too_large: more than 100,000 entries
 */
function itemsAt(
  path: string,
  unpack?: PresetUnpack,
  isAlone?: boolean,
  rows?: PresetRows,
): (item: Item) => Entry[] {
  return (item) => {
    const { length } = item.raw
    const nested = nestedEntriesAt(bytesOf(item), path, ENTRIES_MAX)
    const isOther = isAlone && nested?.around.replaceAll(/\s/g, '') !== `{${JSON.stringify(path)}:[]}`
    const found = isOther ? null : nested
    if (!found && length > PAYLOAD_BYTES_MAX)
      fail('too_large', `is larger than 1 MiB, and has no list at ${path}`)
    if (!found) return [{ item: itself(item), isEntry: false }]
    const { count, around } = found
    if (count > ENTRIES_MAX)
      fail('too_large', `${path} holds ${count} entries; at most ${ENTRIES_MAX} are taken from one item`)
    const opening = { left: OPENED_BYTES_MAX }
    const texts = found.texts
      .flatMap((text) => (unpack && openedAt(text, unpack, opening)) ?? [text])
      .flatMap((text) => (rows && rowsOf(text, rows, opening)) ?? [text])
      .filter((text) => {
        if (isTooLong(text)) item.refuse?.(`has an entry at ${path} that is larger than 1 MiB`)
        return !isTooLong(text)
      })
    const kept = texts.length * around.length <= COPIES_MAX * length ? texts.length : 1
    return texts.map((text, n) => ({
      item: itemOf(
        text,
        { ...itemContextOf(parseDigits(text)), [ENVELOPE]: item.value },
        n < kept ? around : null,
      ),
      isEntry: true,
    }))
  }
}

/**
 * An entry for each row of its field, with what else it says beside each, as Loki's clients send the lines of a stream.
 * @returns null where the field holds no rows. @throws SvcError too_large
 */
function rowsOf(text: string, { field, names }: PresetRows, opening: { left: number }): string[] | null {
  const entry = parseForWriting(text)
  const { [field]: rows, ...around } = objectOf(entry)
  if (!Array.isArray(rows) || !rows.every(Array.isArray)) return null
  opening.left -= JSON.stringify(around).length * rows.length
  if (opening.left < 0) fail('too_large', 'what is beside its rows, once for each, is larger than 64 MiB')
  return rows.map((row: unknown[]) =>
    JSON.stringify({
      ...around,
      ...Object.fromEntries(names.flatMap((name, n) => (row[n] === undefined ? [] : [[name, row[n]]]))),
    }),
  )
}

const bytesOf = ({ raw: { buffer, byteOffset, byteLength } }: Item): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

const isTooLong = (text: string): boolean => Buffer.byteLength(text) > PAYLOAD_BYTES_MAX

const itemOf = (text: string, value: unknown, envelope: string | null): Item => ({
  raw: payloadOf(text, envelope),
  value,
  whole: () => parseForWriting(text),
})

/** What has no list, or is an entry that was stored, is told of itself. */
function itself(item: Item): Item {
  const own = itemContextOf(item.value)
  return {
    raw: item.raw,
    value: Object.hasOwn(own, ENVELOPE) ? own : { ...own, [ENVELOPE]: item.value },
    whole: () => item.whole(),
  }
}

/** The entry as it came, and the envelope behind its own fields. */
function payloadOf(text: string, envelope: string | null): Uint8Array {
  const alone = Buffer.from(text)
  if (envelope === null) return alone
  const own = !text.startsWith('{') ? `{"value":${text}` : text.slice(0, -1)
  const both = Buffer.from(`${own}${/^\{\s*$/.test(own) ? '' : ','}"${ENVELOPE}":${envelope}}`)
  const isStorable = both.length <= PAYLOAD_BYTES_MAX && !isDeeper(both, [0, both.length], PAYLOAD_DEPTH_MAX)
  return isStorable ? both : alone
}

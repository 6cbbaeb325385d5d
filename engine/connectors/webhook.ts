/** Any system that can POST JSON (SPEC.md, Webhook connector config). */
import type { WebhookConfig } from '../../schemas/types.ts'
import { compileField } from '../ingest/field.ts'
import { compileTemplate, oneLine, parseTemplate, summarise, templateFields } from '../ingest/template.ts'
import type { FlatMapping, Item, MappedEvent, PushConnector } from './connector.ts'
import { type Delivery, deliveryOf } from './github/delivery/delivery.ts'
import { scalar } from './scalar.ts'
import { itemsAt } from './webhook-items.ts'

const EVENT_TYPE = 'webhook_event'
const EVENT_TYPE_MAX = 200
/** Headers that name one delivery: a repeat is the same delivery, sent again. */
const DELIVERY_HEADERS = [
  'x-github-delivery',
  'linear-delivery',
  'webhook-id',
  'svix-id',
  'x-shopify-webhook-id',
]
/** Headers that label fields can read, as header.<name>; no other, for some carry credentials. */
const GITHUB_EVENT = 'x-github-event'
const OFFERED_HEADERS = [GITHUB_EVENT, 'linear-event']

export const webhook: PushConnector = {
  kind: 'webhook',
  label: 'Webhook',
  mode: 'push',
  description:
    'Any system that can POST JSON: one object, a list, or NDJSON; of a body that holds a list, such as grouped alerts, an event for each entry. Signatures of GitHub, Linear, PagerDuty, Stripe, Slack, Shopify, GitLab, Standard Webhooks or plain HMAC-SHA256 can be checked. Deliveries of GitHub, told by their X-GitHub-Event header, get a type such as pull_request.opened, a sentence, their own time and the labels repository, actor, number, action and key, wherever the config does not say otherwise.',
  sourceType: 'event_stream',
  configSchema: 'connector-webhook.json',
  wantsHeaders: true,
  provides: [
    { name: 'header.x-github-event', help: 'Event name GitHub sends beside the payload.' },
    { name: 'header.linear-event', help: 'Event name Linear sends beside the payload.' },
  ],
  compile: (config) => compileWebhook(config as WebhookConfig),
  fields: (config) => fieldsOf(config as WebhookConfig),
  flat: (config) => flatOf(config as WebhookConfig),
  note: (path) => `POST events to ${path}; the first one shows here.`,
}

/** Of entries of a list, and what is around them, anything may be asked. */
function fieldsOf(config: WebhookConfig): string[] | null {
  if (config.items_field !== undefined) return null
  const named = [config.event_type_field, config.event_time_field, config.dedupe_field]
  return [...named.filter((field) => field !== undefined), ...templateFields(config.text_template ?? '')]
}

/** A key is more than fields of the item, and so is a delivery that headers tell of. */
function flatOf(config: WebhookConfig): FlatMapping | null {
  const { event_type: type = EVENT_TYPE, event_type_field: typeField, event_time_field: timeField } = config
  if (config.dedupe_field !== undefined || config.items_field !== undefined) return null
  return {
    type,
    ...(typeField === undefined ? {} : { typeField }),
    ...(timeField === undefined ? {} : { timeField }),
    text: parseTemplate(config.text_template ?? ''),
    unlessHeaders: [...DELIVERY_HEADERS, GITHUB_EVENT],
  }
}

type Headers = Record<string, string> | undefined

function compileWebhook(config: WebhookConfig): ReturnType<PushConnector['compile']> {
  const eventOf = compileEvent(config)
  if (config.items_field === undefined)
    return (item, headers, index) => [eventOf(item, headers, String(index))]
  const split = itemsAt(config.items_field)
  return (item, headers, index) =>
    split(item).map(({ item: one, isEntry }, n) => ({
      ...eventOf(one, headers, isEntry ? `${index}.${n}` : String(index)),
      ...(isEntry ? { raw: one.raw } : {}),
    }))
}

/** @returns a function of an item, the headers it came with, and its place among those of the delivery. */
function compileEvent(config: WebhookConfig): (item: Item, headers: Headers, place: string) => MappedEvent {
  const { event_type: fixed = EVENT_TYPE, event_type_field: typeField } = config
  const { event_time_field: timeField, dedupe_field: dedupeField } = config
  const typeOf = compileField(typeField ?? '')
  const timeOf = compileField(timeField ?? '')
  const keyOf = compileField(dedupeField ?? '')
  const template = compileTemplate(config.text_template ?? '')
  // Others that sign in their own way send this header too, with payloads of their own.
  const isGithub =
    config.items_field === undefined &&
    (config.signature_scheme === undefined || config.signature_scheme === 'github')
  return (item, headers, place) => {
    const event = isGithub ? headers?.[GITHUB_EVENT] : undefined
    const delivery = event ? deliveryOf(event, item.whole()) : null
    const context = contextOf(item.value, headers, delivery)
    const own = typeField === undefined ? undefined : scalar(typeOf(context))
    const time = timeField === undefined ? undefined : timeOf(context)
    const key = dedupeField === undefined ? undefined : scalar(keyOf(context))
    // What the config says goes before what GitHub says.
    const says = typeField === undefined && fixed === EVENT_TYPE ? delivery?.eventType : undefined
    return {
      eventType: oneLine(own ?? says ?? fixed, EVENT_TYPE_MAX),
      text: template(context).trim() || delivery?.text || summarise(item.whole()),
      eventTime: time ?? delivery?.eventTime,
      context,
      ...(delivery ? { stamped: delivery.stamped, entityLabel: delivery.entityLabel } : {}),
      dedupeKey: key ?? deliveryKey(headers, place),
    }
  }
}

type Context = MappedEvent['context']

/** The payload's own object, so that no field is copied; anything else is wrapped as {value}. */
function contextOf(value: unknown, headers: Headers, delivery: Delivery | null): Context {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
  const object = isObject ? (value as Context) : { value }
  const offered = headers ? OFFERED_HEADERS.filter((name) => headers[name] !== undefined) : []
  if (!headers || offered.length === 0) return object
  const named = Object.fromEntries(offered.map((name) => [`header.${name}`, headers[name]]))
  // repository is an object of the payload too, whose fields stay readable by their dotted names.
  const whole = Object.entries(delivery?.stamped ?? {}).filter(([name]) => !Object.hasOwn(object, name))
  return { ...Object.fromEntries(whole), ...object, ...named }
}

/** One delivery may carry several items, so their place in it is part of the key. */
function deliveryKey(headers: Headers, place: string): string | undefined {
  const name = headers && DELIVERY_HEADERS.find((header) => headers[header])
  return name && `${name}:${headers[name]}:${place}`
}

/** Any system that can POST JSON (SPEC.md, Webhook connector config). */
import type { WebhookConfig } from '../../schemas/types.ts'
import { compileField } from '../ingest/field.ts'
import { compileTemplate, oneLine, parseTemplate, summarise, templateFields } from '../ingest/template.ts'
import type { FlatMapping, MappedEvent, PushConnector } from './connector.ts'
import { scalar } from './scalar.ts'

const EVENT_TYPE = 'webhook_event'
const EVENT_TYPE_MAX = 200
/** Headers that name one delivery: a repeat is the same delivery, sent again. */
const DELIVERY_HEADERS = ['x-github-delivery', 'linear-delivery', 'webhook-id']
/** Headers that label fields can read, as header.<name>; no other, for some carry credentials. */
const OFFERED_HEADERS = ['x-github-event', 'linear-event']

export const webhook: PushConnector = {
  kind: 'webhook',
  label: 'Webhook',
  mode: 'push',
  description:
    'Any system that can POST JSON: one object, a list, or NDJSON. Signatures of GitHub, Linear or plain HMAC-SHA256 can be checked. With the GitHub scheme and no event type set, the type is the X-GitHub-Event header and the action, such as pull_request.opened.',
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

/** `action` is what GitHub's event types are made of. */
function fieldsOf(config: WebhookConfig): string[] {
  const named = [config.event_type_field, config.event_time_field, config.dedupe_field]
  return [
    'action',
    ...named.filter((field) => field !== undefined),
    ...templateFields(config.text_template ?? ''),
  ]
}

/** A key, or a type that a header names, is more than fields of the item. */
function flatOf(config: WebhookConfig): FlatMapping | null {
  const { event_type: type = EVENT_TYPE, event_type_field: typeField, event_time_field: timeField } = config
  if (config.dedupe_field !== undefined || config.signature_scheme === 'github') return null
  return {
    type,
    ...(typeField === undefined ? {} : { typeField }),
    ...(timeField === undefined ? {} : { timeField }),
    text: parseTemplate(config.text_template ?? ''),
    unlessHeaders: DELIVERY_HEADERS,
  }
}

type Headers = Record<string, string> | undefined

function compileWebhook(config: WebhookConfig): ReturnType<PushConnector['compile']> {
  const typeOf = compileEventType(config)
  const timeOf = compileField(config.event_time_field ?? '')
  const keyOf = compileField(config.dedupe_field ?? '')
  const template = compileTemplate(config.text_template ?? '')
  const { event_time_field: timeField, dedupe_field: dedupeField } = config
  return (item, headers, index) => {
    const context = contextOf(item.value, headers)
    const time = timeField === undefined ? undefined : timeOf(context)
    const key = dedupeField === undefined ? undefined : scalar(keyOf(context))
    return [
      {
        eventType: typeOf(context, headers),
        text: template(context).trim() || summarise(item.whole()),
        eventTime: typeof time === 'string' || typeof time === 'number' ? time : undefined,
        context,
        dedupeKey: key ?? deliveryKey(headers, index),
      },
    ]
  }
}

type Context = MappedEvent['context']

/** The payload's own object, so that no field is copied; anything else is wrapped as {value}. */
function contextOf(value: unknown, headers: Headers): Context {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
  const object = isObject ? (value as Context) : { value }
  const offered = headers ? OFFERED_HEADERS.filter((name) => headers[name] !== undefined) : []
  if (!headers || offered.length === 0) return object
  return { ...object, ...Object.fromEntries(offered.map((name) => [`header.${name}`, headers[name]])) }
}

function compileEventType({
  event_type: fixed = EVENT_TYPE,
  event_type_field: field,
  signature_scheme: scheme,
}: WebhookConfig): (context: Context, headers: Headers) => string {
  if (field !== undefined) {
    const read = compileField(field)
    return (context) => oneLine(scalar(read(context)) ?? fixed, EVENT_TYPE_MAX)
  }
  if (scheme !== 'github' || fixed !== EVENT_TYPE) return () => fixed
  return (context, headers) => oneLine(githubType(context, headers) ?? fixed, EVENT_TYPE_MAX)
}

/** GitHub names the event in a header and the action in the payload: pull_request.opened. */
function githubType(context: Context, headers: Headers): string | undefined {
  const event = headers?.['x-github-event']
  if (!event) return undefined
  return Object.hasOwn(context, 'action') && typeof context.action === 'string'
    ? `${event}.${context.action}`
    : event
}

/** One delivery may carry several items, so their place in it is part of the key. */
function deliveryKey(headers: Headers, index: number): string | undefined {
  const name = headers && DELIVERY_HEADERS.find((header) => headers[header])
  return name && `${name}:${headers[name]}:${index}`
}

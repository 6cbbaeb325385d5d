/** Any system that can POST JSON (SPEC.md, Webhook connector config). */

import type { WebhookConfig } from '../../schemas/types.ts'
import { compileField } from '../ingest/field.ts'
import { compileTemplate, oneLine, summarise } from '../ingest/template.ts'
import type { Item, MappedEvent, PushConnector } from './connector.ts'

const EVENT_TYPE = 'webhook_event'
const EVENT_TYPE_MAX = 200
/** Headers that name one delivery: a repeat is the same delivery, sent again. */
const DELIVERY_HEADERS = ['x-github-delivery', 'linear-delivery', 'webhook-id']
/** Headers that label fields can read, as header.<name>. */
const OFFERED_HEADERS = ['x-github-event', 'linear-event']

export const webhook: PushConnector = {
  kind: 'webhook',
  label: 'Webhook',
  mode: 'push',
  description:
    'Any system that can POST JSON: one object, a list, or NDJSON. Signatures of GitHub, Linear or plain HMAC-SHA256 can be checked.',
  sourceType: 'event_stream',
  configSchema: 'connector-webhook.json',
  provides: [
    { name: 'header.x-github-event', help: 'Event name GitHub sends beside the payload.' },
    { name: 'header.linear-event', help: 'Event name Linear sends beside the payload.' },
  ],
  compile: (config) => compileWebhook(config as WebhookConfig),
  note: (path) => `POST events to ${path}; the first one shows here.`,
}

type Mapper = (item: Item, headers: Record<string, string> | undefined, index: number) => MappedEvent[]

function compileWebhook(config: WebhookConfig): Mapper {
  const typeField = config.event_type_field === undefined ? null : compileField(config.event_type_field)
  const timeField = config.event_time_field === undefined ? null : compileField(config.event_time_field)
  const dedupeField = config.dedupe_field === undefined ? null : compileField(config.dedupe_field)
  const template = config.text_template === undefined ? null : compileTemplate(config.text_template)
  const fixedType = config.event_type ?? EVENT_TYPE
  const fromGitHub =
    config.signature_scheme === 'github' && !typeField && (config.event_type ?? EVENT_TYPE) === EVENT_TYPE
  return ({ value }, headers, index) => {
    const context = contextOf(value, headers)
    const type = typeField
      ? scalar(typeField(context))
      : fromGitHub
        ? githubType(context, headers)
        : undefined
    const time = timeField?.(context)
    const key = dedupeField ? scalar(dedupeField(context)) : deliveryKey(headers, index)
    return [
      {
        eventType: type === undefined ? fixedType : oneLine(type, EVENT_TYPE_MAX),
        text: template ? template(context) || summarise(value) : summarise(value),
        eventTime: typeof time === 'string' || typeof time === 'number' ? time : undefined,
        context,
        dedupeKey: key,
      },
    ]
  }
}

/** The payload's own object, so that no field is copied; anything else is wrapped as {value}. */
function contextOf(value: unknown, headers: Record<string, string> | undefined): Record<string, unknown> {
  const object =
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : { value }
  if (!headers) return object
  const offered = OFFERED_HEADERS.filter((name) => headers[name] !== undefined)
  if (offered.length === 0) return object
  return { ...object, header: Object.fromEntries(offered.map((name) => [name, headers[name]])) }
}

/** GitHub names the event in a header and the action in the payload: pull_request.opened. */
function githubType(
  context: Record<string, unknown>,
  headers: Record<string, string> | undefined,
): string | undefined {
  const event = headers?.['x-github-event']
  if (!event) return undefined
  return typeof context.action === 'string' ? `${event}.${context.action}` : event
}

function deliveryKey(headers: Record<string, string> | undefined, index: number): string | undefined {
  if (!headers) return undefined
  const name = DELIVERY_HEADERS.find((header) => headers[header])
  return name === undefined ? undefined : `${name}:${headers[name]}:${index}`
}

function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

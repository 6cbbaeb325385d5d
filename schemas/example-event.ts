/**
 * A body that a source takes and that shows in all its fields: every example that is shown or sent is made here, from
 * the config alone, so that the command works as it is printed. In the console, in `svc sources add`, and of a setup's
 * test event.
 */

type Fields = Record<string, unknown>

interface MappedLabel {
  name: string
  field?: string
  type?: string
  pattern?: string
  map?: Record<string, string>
}

/** What of a source's config says where a body has its fields. */
export interface Mapping {
  labels?: readonly MappedLabel[]
  event_type_field?: string
  event_time_field?: string
  text_template?: string
  dedupe_field?: string
  items_field?: string
}

const ENVELOPE = 'envelope.'
const HEADER = 'header.'

/**
 * @param say what the event says. @param at its time, ISO 8601.
 * @param known fields it has already, such as those of a plan's example: they stay. @returns the body; connectors with
 *   a form of their own get that.
 */
export function exampleEvent(
  connector: string,
  mapping: Mapping,
  say: string,
  at: string,
  known: Fields | null = null,
): Fields {
  if (connector === 'webhook') return mapped(mapping, say, at, known)
  if (known) return structuredClone(known)
  if (connector === 'alertmanager') return alerting(mapping, say, at)
  if (connector === 'otlp') return exported(mapping, say)
  if (connector === 'vercel') return drained(mapping, say, at)
  if (connector === 'syslog')
    return {
      ...mapped(mapping, say, at, null),
      ...{ facility: 'user', severity: 'info', host: 'example-host', app: 'example', time: at, message: say },
    }
  if (connector === 'claude_code')
    return {
      ...{
        type: 'user',
        sessionId: 'example',
        timestamp: at,
        cwd: '/srv/example-repo',
        gitBranch: 'example-branch',
      },
      message: { role: 'user', content: say },
    }
  if (connector === 'memory') return { key: 'checkout', label: 'service', content: say }
  return mapped(mapping, say, at, null)
}

/** Headers a body needs beside it, for labels that read them; each whole. */
export const exampleHeaders = ({ labels = [] }: Mapping): string[] =>
  labels.flatMap((label) =>
    label.field?.startsWith(HEADER) ? [`${label.field.slice(HEADER.length)}: ${sampleOf(label)}`] : [],
  )

/** Values that patterns are often written for. */
const SHAPES = [
  'checkout',
  'checkout-1',
  'shop/checkout',
  'service:checkout',
  'checkout.shop',
  'v1.2.3',
  '#17',
  '17',
]

function sampleOf({ name, type, pattern, map }: MappedLabel): unknown {
  const [first] = Object.keys(map ?? {})
  if (first !== undefined && pattern === undefined) return first
  if (type === 'number' && pattern === undefined) return 1
  const plain = name === 'service' ? 'checkout' : `example-${name}`
  if (pattern === undefined) return plain
  return [plain, ...SHAPES].find((text) => fits(text, pattern)) ?? plain
}

/** Patterns are RE2's, nearly all of which are JavaScript's too. */
function fits(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern).test(text)
  } catch {
    return false
  }
}

function mapped(mapping: Mapping, say: string, at: string, known: Fields | null): Fields {
  const { items_field: list, labels = [], text_template: template } = mapping
  const around: Fields = structuredClone(known ?? {})
  const entry = list === undefined ? around : entryAt(around, list)
  const put = (field: string | undefined, value: unknown): void => {
    // Headers are no part of a body.
    if (!field || field.startsWith(HEADER)) return
    if (list !== undefined && field.startsWith(ENVELOPE)) putAt(around, field.slice(ENVELOPE.length), value)
    else putAt(entry, field, value)
  }
  for (const label of labels)
    if (label.pattern !== undefined || label.map !== undefined) put(label.field, sampleOf(label))
  put(mapping.event_time_field, at)
  put(mapping.event_type_field, 'example')
  put(mapping.dedupe_field, `example-${Date.parse(at)}`)
  for (const label of labels) put(label.field, sampleOf(label))
  const named = fieldsIn(template ?? '')
  // The first that nothing else is read from says it.
  const free = named.find((field) => lookedUp(entry, around, field) === undefined)
  for (const field of named)
    if (lookedUp(entry, around, field) === undefined)
      put(field, field === free ? say : `example-${lastOf(field)}`)
  const isPlain = Object.keys(entry).length === 0
  // Nothing says how it is read: what discovery reads by itself.
  if (isPlain && known === null && list === undefined)
    return { service: 'checkout', event: 'example', message: say, time: at }
  if (template === undefined && known === null && entry.message === undefined) entry.message = say
  return around
}

/** The first entry of the list at a path, made where it is not there. */
function entryAt(around: Fields, list: string): Fields {
  const found = at(around, list)
  const first: unknown = Array.isArray(found) ? found[0] : found
  if (typeof first === 'object' && first !== null) return first as Fields
  const entry: Fields = {}
  putAt(around, list, [entry])
  return entry
}

/* Connectors with a form of their own: what labels read is put where they read it. */

function alerting({ labels = [] }: Mapping, say: string, at: string): Fields {
  const alert = {
    labels: { alertname: 'Example', service: 'checkout' } as Fields,
    annotations: { summary: say } as Fields,
  }
  for (const label of labels) {
    const [head = '', ...rest] = (label.field ?? '').split('.')
    const name = rest.join('.')
    if (head === 'annotations' && name) alert.annotations[name] ??= sampleOf(label)
    else if (head === 'labels' && name) alert.labels[name] ??= sampleOf(label)
    else if (head && !name && !ALERT_OWN.has(head)) alert.labels[head] ??= sampleOf(label)
  }
  return { version: '4', status: 'firing', alerts: [{ status: 'firing', ...alert, startsAt: at }] }
}

const ALERT_OWN: ReadonlySet<string> = new Set([
  'status',
  'startsAt',
  'endsAt',
  'fingerprint',
  'generatorURL',
])

/** An OTLP export of one log record (OTLP/HTTP, JSON encoding). */
function exported({ labels = [] }: Mapping, say: string): Fields {
  const resource = new Map<string, unknown>([['service.name', 'checkout']])
  const record = new Map<string, unknown>()
  for (const label of labels) {
    const { field = '' } = label
    const [, of, name] = /^(resourceAttributes|attributes)\.(.+)$/.exec(field) ?? []
    const into = of === 'attributes' ? record : resource
    const key = name ?? field
    if (key !== '' && !RECORD_OWN.has(key) && !into.has(key)) into.set(key, sampleOf(label))
  }
  const listed = (values: Map<string, unknown>) =>
    [...values].map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { doubleValue: value } : { stringValue: String(value) },
    }))
  const logRecord = {
    severityText: 'INFO',
    body: { stringValue: say },
    ...(record.size ? { attributes: listed(record) } : {}),
  }
  return {
    resourceLogs: [{ resource: { attributes: listed(resource) }, scopeLogs: [{ logRecords: [logRecord] }] }],
  }
}

const RECORD_OWN: ReadonlySet<string> = new Set([
  'text',
  'signal',
  'severity',
  'traceId',
  'spanId',
  'name',
  'spanKind',
  'statusCode',
  'durationMs',
  'value',
])

function drained({ labels = [] }: Mapping, say: string, at: string): Fields {
  const entry: Fields = {
    ...{ id: `example-${Date.parse(at)}`, message: say, timestamp: Date.parse(at), source: 'lambda' },
    ...{ projectName: 'checkout', environment: 'production', host: 'example.vercel.app', path: '/' },
    ...{ branch: 'main', deploymentId: 'dpl_example' },
  }
  for (const label of labels)
    if (label.field && !DRAIN_OWN.has(label.field)) putAt(entry, label.field, sampleOf(label))
  return entry
}

/** What the connector reads under a name of its own. */
const DRAIN_OWN: ReadonlySet<string> = new Set(['project', 'deployment'])

const lookedUp = (entry: Fields, around: Fields, field: string): unknown =>
  field.startsWith(ENVELOPE) ? at(around, field.slice(ENVELOPE.length)) : at(entry, field)

const at = (fields: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, part) => (value as Fields | undefined)?.[part], fields)

const lastOf = (field: string): string => field.split('.').at(-1)!

/** The fields a template names; doubled braces are braces. */
function fieldsIn(template: string): string[] {
  return [...template.matchAll(/\{\{|\}\}|\{([^{}]*)\}/g)].flatMap(([, field]) => field?.trim() || [])
}

/** Puts a value where its path leads, through objects and, for numbers, lists; what is there stays. */
function putAt(fields: Fields, path: string, value: unknown): void {
  const parts = path.split('.')
  let within: Fields = fields
  for (const [i, part] of parts.entries()) {
    const isAbsent = within[part] === undefined || within[part] === null || within[part] === ''
    if (i === parts.length - 1) {
      if (isAbsent) within[part] = value
      return
    }
    if (isAbsent) within[part] = /^\d{1,3}$/.test(parts[i + 1]!) ? [] : {}
    if (typeof within[part] !== 'object') return
    within = within[part] as Fields
  }
}

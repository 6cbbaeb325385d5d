/**
 * A body that a source takes and that shows in all its fields: for commands to copy, in the console and from
 * `svc sources add`. It is made from the config alone, so that the command works as it is printed.
 */

type Fields = Record<string, unknown>

/** What of a source's config says where a body has its fields. */
export interface Mapping {
  labels?: readonly { name: string; field?: string; type?: string; map?: Record<string, string> }[]
  event_type_field?: string
  event_time_field?: string
  text_template?: string
  dedupe_field?: string
  items_field?: string
}

const ENVELOPE = 'envelope.'

/**
 * @param say what the event says. @param at its time, ISO 8601. @returns the body; connectors with a form of their
 *   own get that.
 */
export function exampleEvent(connector: string, mapping: Mapping, say: string, at: string): Fields {
  if (connector === 'alertmanager')
    return {
      version: '4',
      status: 'firing',
      alerts: [
        {
          status: 'firing',
          labels: { alertname: 'Example', service: 'checkout' },
          annotations: { summary: say },
          startsAt: at,
        },
      ],
    }
  if (connector === 'vercel')
    return {
      id: `example-${Date.parse(at)}`,
      message: say,
      timestamp: Date.parse(at),
      source: 'lambda',
      projectName: 'checkout',
    }
  if (connector === 'claude_code')
    return { type: 'user', sessionId: 'example', timestamp: at, message: { role: 'user', content: say } }
  if (connector === 'memory') return { key: 'checkout', label: 'service', content: say }
  return mapped(mapping, say, at)
}

function mapped(mapping: Mapping, say: string, at: string): Fields {
  const { items_field: list, labels = [], text_template: template } = mapping
  const entry: Fields = {}
  const around: Fields = list === undefined ? entry : {}
  const put = (field: string | undefined, value: unknown): void => {
    // Headers are no part of a body.
    if (!field || field.startsWith('header.')) return
    if (list !== undefined && field.startsWith(ENVELOPE)) putAt(around, field.slice(ENVELOPE.length), value)
    else putAt(entry, field, value)
  }
  put(mapping.event_time_field, at)
  put(mapping.event_type_field, 'example')
  put(mapping.dedupe_field, `example-${Date.parse(at)}`)
  for (const { name, field, type, map } of labels)
    put(
      field,
      Object.keys(map ?? {})[0] ??
        (type === 'number' ? 1 : name === 'service' ? 'checkout' : `example-${name}`),
    )
  const named = fieldsIn(template ?? '')
  // The first that nothing else is read from says it.
  const free = named.find((field) => lookedUp(entry, around, field) === undefined)
  for (const field of named)
    if (lookedUp(entry, around, field) === undefined)
      put(field, field === free ? say : `example-${lastOf(field)}`)
  if (template === undefined && entry.message === undefined) entry.message = say
  if (list === undefined) return entry
  putAt(around, list, [entry])
  return around
}

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
  parts.forEach((part, i) => {
    if (i === parts.length - 1) within[part] ??= value
    else {
      const next = within[part]
      if (typeof next !== 'object' || next === null) within[part] = /^\d{1,3}$/.test(parts[i + 1]!) ? [] : {}
      within = within[part] as Fields
    }
  })
}

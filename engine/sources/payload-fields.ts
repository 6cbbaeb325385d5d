/**
 * The fields of payloads, as the rules of propose.ts look at them: what their names say in words, where they lie, what
 * their values are, and in how many of the events they are. Pure.
 */
import { parseText } from '../log/ingest/json.ts'
import { parseEventTime } from '../log/ingest/time.ts'

const DEPTH_MAX = 8
const FIELDS_MAX = 300
/** Characters of a field's name in a config. */
const PATH_MAX = 256
const VALUES_KEPT = 50
const EXAMPLE_MAX = 120
export const ENVELOPE = 'envelope'

export interface Field {
  path: string
  /** What its last name says, in words. */
  words: string[]
  /** The same of the name around it; empty at the top. */
  around: string[]
  /** Words of all names above. */
  above: string[]
  /** Names above, without those that only hold named values, such as labels. */
  depth: number
  isListed: boolean
  isEnvelope: boolean
  /** It lies beside a kind, as the name of a thing does. */
  isOfKind: boolean
  values: (string | number | boolean)[]
  /** Epoch ms of values that are times an event can have. */
  times: number[]
  coverage: number
  /** Places of the events that have it. */
  in: number[]
}

/** `issueEventType`, `event_type` and `event-type` in words. */
export const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** What only holds named values: it says nothing of them. */
export const HOLDERS = words(
  'labels label tags tag attributes annotations properties fields dimensions metadata values data event body payload',
)
const SECRET = words(
  'token secret password passwd authorization credential credentials apikey signature cookie',
)
const SECRETS = /(^|_)(api|access|private|secret)_key$/
export const LINK = /^[a-z][a-z0-9+.-]*:\/\//i
export const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i
export const HASH = /^((?=.*\d)[0-9a-f]{12,}|[A-Za-z0-9+/_-]{16,}={1,2})$/i

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

/** Scalars of the events by their dotted names; of lists the first entry, into text that is JSON. */
export function fieldsOf(events: readonly Record<string, unknown>[], nowMs: number): Field[] {
  const found = new Map<string, Field>()
  for (const [place, event] of events.entries())
    eachScalar(event, (names, value, parent) => {
      const path = names.join('.')
      let field = found.get(path)
      if (!field) {
        if (found.size >= FIELDS_MAX || path.length > PATH_MAX || isSecret(names)) return
        field = { ...describe(names, path, parent), coverage: 0, in: [] }
        found.set(path, field)
      }
      field.in.push(place)
      if (field.values.length >= VALUES_KEPT) return
      field.values.push(value)
      const at = typeof value === 'boolean' ? null : parseEventTime(value, nowMs).ts
      if (at !== null) field.times.push(at)
    })
  return [...found.values()].map((field) => ({ ...field, coverage: field.in.length / events.length }))
}

function isSecret(names: readonly string[]): boolean {
  const last = wordsOf(names.at(-1)!)
  return last.some((word) => SECRET.has(word)) || SECRETS.test(last.join('_'))
}

function describe(names: string[], path: string, parent: object): Omit<Field, 'coverage' | 'in'> {
  const isEnvelope = names[0] === ENVELOPE
  const above = names.slice(isEnvelope ? 1 : 0, -1).filter((name) => !/^\d+$/.test(name))
  return {
    path,
    words: wordsOf(names.at(-1)!),
    around: above.length ? wordsOf(above.at(-1)!) : [],
    above: above.flatMap(wordsOf),
    depth:
      above.filter((name) => !wordsOf(name).every((word) => HOLDERS.has(word))).length + above.length / 100,
    isListed: names.some((name) => /^\d+$/.test(name)),
    isEnvelope,
    isOfKind: Object.hasOwn(parent, 'kind') && Object.hasOwn(parent, 'name') && names.at(-1) === 'name',
    values: [],
    times: [],
  }
}

type Visit = (names: string[], value: string | number | boolean, parent: object) => void

function eachScalar(value: unknown, visit: Visit, names: string[] = [], parent: object = {}): void {
  if (value === null || value === undefined || value === '' || names.length > DEPTH_MAX) return
  if (typeof value === 'object') {
    const inner = Array.isArray(value) ? Object.entries(value.slice(0, 1)) : Object.entries(value)
    // A brace would end the placeholder of a template.
    for (const [name, one] of inner)
      if (name !== '' && !/[{}]/.test(name)) eachScalar(one, visit, [...names, name], value)
    return
  }
  const nested = typeof value === 'string' ? parseText(value) : undefined
  if (nested) eachScalar(nested, visit, names, parent)
  else if (names.length) visit(names, value as string | number | boolean, parent)
}

export const exampleOf = ({ values }: Pick<Field, 'values'>): string =>
  String(values[0]).slice(0, EXAMPLE_MAX)

export const objectOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { value }

export const has = (field: Pick<Field, 'words'>, list: ReadonlySet<string>): boolean =>
  field.words.some((word) => list.has(word))

/* What the names of things are worth. */

/** How well a noun says what an event is about: what people watch first. */
export const NOUNS: Readonly<Record<string, number>> = {
  ...{ service: 10, app: 9.5, application: 9.5, entity: 9.5, component: 9, workload: 9 },
  ...{ host: 8, hostname: 8, server: 8, instance: 8, machine: 8, device: 8, vm: 8, node: 7.8 },
  ...{ pod: 7.5, container: 7.5, bucket: 7.5, function: 7.5, database: 7.5, queue: 7.2, cluster: 7 },
  ...{ monitor: 7, probe: 7, check: 7, repository: 6.5, repo: 6.5, project: 6, resource: 5 },
  ...{
    order: 5.5,
    customer: 5.5,
    account: 5.5,
    tenant: 5.5,
    subject: 5,
    channel: 5,
    email: 4.5,
    session: 4.5,
  },
  ...{
    issue: 4.5,
    ticket: 4.5,
    incident: 4.5,
    topic: 4.5,
    alert: 2,
    object: 4,
    alertname: 4,
    alarm: 4,
    rule: 4,
  },
  ...{ job: 4, workflow: 4, pipeline: 4, user: 3.5, namespace: 3.5, environment: 3.5, env: 3.5 },
  ...{ team: 3, organization: 3, org: 3, group: 3, source: 2.5, region: 2, zone: 2, platform: 2, branch: 2 },
}
/** What of a thing a field is, and what that is worth as its name; a name alone is that of the thing around it. */
export const PARTS: Readonly<Record<string, number>> = {
  ...{ name: 0, full: 0.3, path: 0.3, slug: 0.6, with: 0, key: 0, display: 0, identifier: 0.3, login: 0 },
  ...{ title: -0.3, summary: -0.3, label: 0, arn: -2, id: -1.5, uid: -1.5, uuid: -3, number: -2 },
}

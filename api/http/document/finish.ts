/**
 * The API document as clients read it, from what the routes say: keywords of our own and patterns that other
 * engines do not know are out, each operation has its body, parameters, refusals and examples. Made when the
 * document is first asked for, never at a start.
 */

import { isRepeatable, operations } from '../../../engine/index.ts'
import { allSchemas } from '../../../schemas/index.ts'
import { scopeOf } from '../scopes.ts'
import { HEADERS, TAKES, TAKES_NOTHING_TOO } from '../validate.ts'
import { exampleOf, type Schema } from './examples.ts'
import { type HeaderName, headerParameters } from './headers.ts'
import { pathParameters } from './path-parameters.ts'
import { portable } from './patterns.ts'
import { refusalRef, refusals, refusalsOf, sharedResponses } from './refusals.ts'

interface Media {
  schema: Schema
  example?: unknown
  examples?: Record<string, { $ref: string }>
}
interface Parameter {
  $ref?: string
  name?: string
  in?: string
  schema?: Schema
  description?: string
  example?: unknown
}
interface Operation {
  operationId: string
  requestBody?: { required: boolean; content: Record<string, Media> }
  parameters?: Parameter[]
  responses: Record<string, { $ref?: string; headers?: object; content?: Record<string, Media> }>
  security?: Record<string, string[]>[]
  [TAKES]?: Record<string, Media>
  [TAKES_NOTHING_TOO]?: boolean
  [HEADERS]?: HeaderName[]
  [OPTIONAL_BODY]?: boolean
}
interface Document {
  tags?: unknown
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; [kind: string]: Record<string, unknown> }
}

/** Of an operation whose body may be absent. */
export const OPTIONAL_BODY = 'x-body-optional'

const SCHEMAS = '#/components/schemas/'
/** Read by our compiler of types alone. */
const OURS = new Set(['tsType', 'x-optional-body'])
/** Keywords whose value is data. */
const DATA = new Set(['examples', 'example', 'enum', 'const', 'default'])

/** @param document as the routes' schemas make it; it is changed and returned. */
export function finished(given: unknown): unknown {
  const document = given as Document
  const { components } = document
  document.tags = tags
  components.schemas = clean(components.schemas, true) as typeof components.schemas
  const examples: Record<string, { summary: string; value: unknown }> = {}
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      takeBody(operation, method)
      addParameters(operation, path)
      addVersion(operation)
      addRefusals(operation, method.toUpperCase(), path)
      operations[method] = clean(operation) as Operation
      illustrate(operations[method], components.schemas, examples)
    }
  components.parameters = Object.fromEntries(
    Object.entries(headerParameters).map(([key, parameter]) => [key, { in: 'header', ...parameter }]),
  )
  components.responses = sharedResponses() as Record<string, unknown>
  components.examples = Object.fromEntries(Object.entries(examples).sort(([a], [b]) => (a < b ? -1 : 1)))
  return document
}

/** Without keywords of ours, its patterns as every engine takes them. @param isMap names, not keywords */
function clean(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((one) => clean(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => isMap || !OURS.has(key))
      .map(([key, one]) => {
        if (isMap) return [key, clean(one)]
        if (DATA.has(key)) return [key, one]
        if (key === 'pattern' && typeof one === 'string') return [key, portable(one)]
        if (key === 'description' && typeof one === 'string') return [key, markdownOf(one)]
        return [key, clean(one, key === 'properties')]
      }),
  )
}

/**
 * A description as CommonMark, which the document takes it for: a word such as `source:<name>` is code, since a
 * browser takes what stands in its brackets for a tag, and shows nothing.
 */
const markdownOf = (text: string): string =>
  text.replace(/[^\s`]*<[^\s<>`]+>[^\s`]*/g, (word) => {
    const end = /[.,;:]*$/.exec(word)![0]
    return `\`${word.slice(0, word.length - end.length)}\`${end}`
  })

/** What is sent: as the route says; a route that reads none says that too. */
function takeBody(operation: Operation, method: string): void {
  const { [TAKES]: media, [TAKES_NOTHING_TOO]: mayBeEmpty, [OPTIONAL_BODY]: isOptional } = operation
  delete operation[TAKES]
  delete operation[TAKES_NOTHING_TOO]
  delete operation[OPTIONAL_BODY]
  if (media) operation.requestBody = { required: !mayBeEmpty, content: byTitle(media) }
  else if (isOptional && operation.requestBody) operation.requestBody.required = false
  else if (!operation.requestBody && method !== 'get' && method !== 'delete')
    operation.requestBody = {
      required: false,
      content: { 'application/json': { schema: { $ref: `${SCHEMAS}${NOTHING}` } } },
    }
}

/** References by $id as the document has them, by title. */
function byTitle(media: Record<string, Media>): Record<string, Media> {
  const titles = new Map(allSchemas().map(({ $id, title }) => [`${$id}#`, title]))
  return Object.fromEntries(
    Object.entries(media).map(([type, { schema }]) => [
      type,
      { schema: schema.$ref === undefined ? schema : { $ref: `${SCHEMAS}${titles.get(schema.$ref)}` } },
    ]),
  )
}

const NOTHING = 'NothingAsked'
const takesNothing = ({ requestBody }: Operation): boolean =>
  requestBody?.content['application/json']?.schema.$ref === `${SCHEMAS}${NOTHING}`

function addParameters(operation: Operation, path: string): void {
  const segments = path.split('/')
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in !== 'path') continue
    const before = segments[segments.indexOf(`{${parameter.name}}`) - 1]
    const known = pathParameters[`${before}/${parameter.name}`]
    if (!known) throw new Error(`${path}: say what ${parameter.name} is in path-parameters.ts`)
    const { pattern, ...described } = known
    Object.assign(parameter, described)
    if (pattern !== undefined) parameter.schema = { ...parameter.schema, pattern }
  }
  const names = [...(operation[HEADERS] ?? []), ...namedHeaders(operation.operationId)]
  delete operation[HEADERS]
  if (names.length > 0)
    operation.parameters = [
      ...(operation.parameters ?? []),
      ...names.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ]
}

/** Before refusals are added: what is answered till then is of success. */
function addVersion({ operationId, responses }: Operation): void {
  if (isVersioned(operationId))
    for (const response of Object.values(responses)) response.headers = { ...VERSION_HEADER }
  if (!isHashed(operationId)) return
  for (const response of Object.values(responses)) response.headers = { ...HASH_HEADER }
  responses['304'] = { ...UNCHANGED }
}

function addRefusals(operation: Operation, method: string, path: string): void {
  const scope = scopeOf(method, path.replaceAll(/\{(\w+)\}/g, ':$1')) ?? 'admin'
  const met = refusalsOf({
    ...{ method, path, scope },
    isRepeatable: isKeyed(operation.operationId),
    hasBody: operation.requestBody !== undefined && !takesNothing(operation),
    queries: (operation.parameters ?? []).flatMap(({ in: place, name }) =>
      place === 'query' ? (name ?? []) : [],
    ),
  })
  for (const name of met)
    operation.responses[String(refusals[name].status)] ??= { $ref: refusalRef(name, path) }
}

/** Adds examples: of a schema with a name one that operations share. */
function illustrate(
  { requestBody, responses }: Operation,
  schemas: Readonly<Record<string, Schema>>,
  shared: Record<string, { summary: string; value: unknown }>,
): void {
  const find = (ref: string): Schema => {
    const schema = schemas[ref.slice(SCHEMAS.length)]
    if (!schema) throw new Error(`${ref} leads nowhere`)
    return schema
  }
  const add = (media: Media, type: string, whole: boolean): void => {
    // Protobuf is bytes: it has no example.
    if (type === 'application/x-protobuf') return
    const title = media.schema.$ref?.slice(SCHEMAS.length)
    if (title === undefined) {
      // A skill may be sent as plain text too; what is answered as such are metrics.
      const known = type === 'text/plain' && !whole ? 'text/markdown' : type
      media.example = TEXT_EXAMPLES[known] ?? exampleOf(media.schema, find, whole)
      return
    }
    shared[title] ??= { summary: title, value: exampleOf(media.schema, find, whole) }
    media.examples = { [title]: { $ref: `#/components/examples/${title}` } }
  }
  for (const [type, media] of Object.entries(requestBody?.content ?? {})) add(media, type, false)
  for (const { content } of Object.values(responses))
    for (const [type, media] of Object.entries(content ?? {})) add(media, type, true)
}

/** Of answers and bodies that are no JSON. */
const TEXT_EXAMPLES: Readonly<Record<string, string>> = {
  'application/yaml': 'sources:\n  - name: gateway\n    connector: webhook\n',
  'application/x-ndjson': '{"level":"error","order":"A-1001"}\n{"level":"info","order":"A-1002"}\n',
  'text/markdown':
    '---\nname: checkout-runbook\ndescription: What to do when payments fail.\n---\nLook at the gateway first.\n',
  'text/plain': 'svc_events_stored 234000\n',
}

/*
 * Which operations take the headers of a write of what is declared, and which answer a version, as they are
 * declared (write-by.ts reads and writes them; docs/api.md).
 */

const find = (operationId: string) => operations.find(({ id }) => id === operationId)

/** @returns the headers an operation takes, as headers.ts has them. */
function namedHeaders(operationId: string): HeaderName[] {
  const { merges, guarded, hashed, recorded } = find(operationId) ?? {}
  return [
    ...(isKeyed(operationId) ? ['IdempotencyKey' as const] : []),
    ...(merges ? ['IfMatch' as const] : []),
    ...(guarded ? ['IfVersion' as const] : []),
    ...(hashed ? ['IfNoneMatch' as const] : []),
    ...(recorded ? ['Why' as const] : []),
  ]
}

/** Whether an operation takes an Idempotency-Key. */
const isKeyed = (operationId: string): boolean => {
  const found = find(operationId)
  return found !== undefined && isRepeatable(found)
}

/** Whether an operation answers 304 to who has its answer already. */
const isHashed = (operationId: string): boolean => find(operationId)?.hashed ?? false

/** The header of such an answer, and what is answered instead (RFC 9110, 8.8.3 and 15.4.5). */
const HASH_HEADER = {
  ETag: {
    description: 'A hash of the answer: for If-None-Match of the next read.',
    schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]{22}"$' },
  },
} as const
export const UNCHANGED = {
  description: 'Unchanged: it is as If-None-Match names it, and is not sent again.',
  headers: HASH_HEADER,
} as const

/** Whether an operation answers the version of what it answers. */
const isVersioned = (operationId: string): boolean => find(operationId)?.versioned ?? false

/** The header of such an answer (RFC 9110, section 8.8.3). */
const VERSION_HEADER = {
  ETag: {
    description: 'Its version: for If-Match of a write. Absent for a key of the project.',
    schema: { type: 'string', pattern: '^"[0-9]{1,15}"$' },
  },
} as const

/* What each group of operations is about, in the order people meet them. */

export const tags: readonly { name: string; description: string }[] = [
  { name: 'ingest', description: 'Events in.' },
  { name: 'read', description: 'Timelines out.' },
  { name: 'ask', description: 'Questions answered by a model over reads.' },
  { name: 'sources', description: 'Where events come from.' },
  { name: 'triggers', description: 'What is watched, and when it fires.' },
  {
    name: 'incidents',
    description: 'Firings of one trigger for one key, from the first until somebody handles them; and Home.',
  },
  { name: 'firings', description: 'What triggers made of events, and why an event woke nobody.' },
  { name: 'deliveries', description: 'Firings on their way to each recipient.' },
  { name: 'subscriptions', description: 'Who outside gets firings, by post or by fetching.' },
  { name: 'agents', description: 'Service agents, and the examples they are tested by.' },
  { name: 'runs', description: 'Agents at work, step by step.' },
  { name: 'evals', description: 'Reports of svc evals: how good agents are at finding causes.' },
  { name: 'mcp servers', description: 'Servers whose tools agents may use.' },
  { name: 'skills', description: 'What agents are taught.' },
  { name: 'entities', description: 'Names of one thing, joined.' },
  { name: 'parts', description: 'Sources, triggers, agents, servers and skills as one list.' },
  { name: 'projects', description: 'Named sets of parts with their wiring, findings and results.' },
  { name: 'demo', description: 'A made-up shop to look at svc with.' },
  { name: 'setup', description: 'From a goal to a plan, and from a plan to a project.' },
  { name: 'changes', description: 'What was changed, by whom and why; proposals that wait for a person.' },
  { name: 'catalog', description: 'What is declared, as YAML files.' },
  { name: 'connect', description: 'Agents that connect from outside.' },
  { name: 'access', description: 'Keys, sessions, identity.' },
  { name: 'settings', description: 'Model providers, prices, bounds and tracing.' },
  { name: 'integrations', description: 'Stored credentials of GitHub.' },
  { name: 'slack', description: 'Slack: its secrets, channels and events.' },
  { name: 'instance', description: 'Health, usage, metrics.' },
]

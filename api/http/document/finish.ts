/**
 * The API document as clients read it, from what the routes say: keywords of our own and patterns that other
 * engines do not know are out, each operation has its body, parameters, refusals and examples. Made when the
 * document is first asked for, never at a start.
 */
import { allSchemas } from '../../../schemas/index.ts'
import { scopeOf } from '../scopes.ts'
import { HEADERS, TAKES, TAKES_NOTHING_TOO } from '../validate.ts'
import { exampleOf, type Schema } from './examples.ts'
import { type HeaderName, headerParameters } from './headers.ts'
import { pathParameters } from './path-parameters.ts'
import { portable } from './patterns.ts'
import { refusalRef, refusals, refusalsOf, sharedResponses } from './refusals.ts'
import { tags } from './tags.ts'
import { HASH_HEADER, isHashed, isVersioned, namedHeaders, UNCHANGED, VERSION_HEADER } from './versions.ts'

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
        return [key, clean(one, key === 'properties')]
      }),
  )
}

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

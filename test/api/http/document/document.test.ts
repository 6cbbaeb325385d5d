/** Issue 16, B1 and B2: what the API document says of each operation, read as a client reads it. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { portable } from '../../../../api/http/document/patterns.ts'
import { allSchemas, check } from '../../../../schemas/index.ts'
import { textOf } from '../../../house/project-files.ts'
import { openDoor, ROOT } from '../door.ts'

interface Media {
  schema?: { $ref?: string; type?: string; items?: object }
  example?: unknown
  examples?: Record<string, { $ref: string }>
}
interface Operation {
  operationId: string
  tags: string[]
  parameters?: { $ref?: string; name: string; in: string; description?: string; schema: Json }[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, { $ref?: string; headers?: object; content?: Record<string, Media> }>
}
type Json = Record<string, unknown>
interface Document {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Json>
    parameters: Record<string, Json>
    responses: Record<string, { content: Record<string, Media> }>
    examples: Record<string, { value: unknown }>
  }
}

const text = textOf('api/http/openapi.json')
const document = JSON.parse(text) as Document
const { components } = document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    call: `${method.toUpperCase()} ${path}`,
    at: `api#/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`,
    ...operation,
  })),
)
const of = (call: string) => operations.find((operation) => operation.call === call)!
const answerOf = ({ responses }: Operation) =>
  Object.entries(responses).filter(([status]) => status.startsWith('2'))
const media = (call: string, status: string) => Object.keys(of(call).responses[status]!.content ?? {})

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
;(addFormatsModule as unknown as (ajv: Ajv2020) => void)(ajv)
ajv.addSchema(document, 'api')

/** Every value under a keyword, where it is a keyword. */
function keyword(name: string, value: unknown = document, isMap = false): unknown[] {
  if (Array.isArray(value)) return value.flatMap((one) => keyword(name, one))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => {
    if (!isMap && ['examples', 'example', 'default', 'enum'].includes(key)) return []
    return [...(key === name && !isMap ? [one] : []), ...keyword(name, one, key === 'properties' && !isMap)]
  })
}

describe('B1: the API document', () => {
  it('declares each tag it uses, with what it is about, and no other', () => {
    const used = new Set(operations.flatMap(({ tags }) => tags))
    expect(document.tags.map(({ name }) => name).sort()).toEqual([...used].sort())
    expect(document.tags.filter(({ description }) => !description)).toEqual([])
  })

  it('has no keyword of ours that changes what a schema means to others', () => {
    expect([...keyword('tsType'), ...keyword('x-optional-body'), ...keyword('x-takes')]).toEqual([])
  })

  it('says nothing in brackets that a reader of Markdown takes for a tag and leaves out', () => {
    const told = [...keyword('description'), (JSON.parse(text) as { info: Json }).info.description].map(
      String,
    )
    expect(told.filter((one) => /<\w/.test(one.replace(/`[^`]*`/g, '')))).toEqual([])
    expect(told).toContain('`source:<name>` or `trigger:<name>`.')
  })

  it('has patterns that engines without lookaround, kinds of characters and \\u take', () => {
    const patterns = [...new Set(keyword('pattern') as string[])]
    expect(patterns.length).toBeGreaterThan(30)
    for (const pattern of patterns) {
      expect(pattern).not.toMatch(/\\p|\\u|\(\?/)
      expect(() => RE2JS.compile(pattern), pattern).not.toThrow()
      expect(() => new RegExp(pattern, 'u'), pattern).not.toThrow()
    }
  })

  it('takes by such a pattern what the server takes, in any script', () => {
    const own = '^[\\p{L}_][\\p{L}\\p{N}_$-]{0,62}$'
    const [there, here] = [RE2JS.compile(portable(own)), new RegExp(own, 'u')]
    for (const name of ['orders', 'bestellungen_ü', '注文', 'a$b-c', '_x9']) {
      expect(here.test(name), name).toBe(true)
      expect(there.matches(name), name).toBe(true)
    }
    for (const name of ['9a', 'a b', 'a;b', '-a', 'a.b', '']) {
      expect(here.test(name), name).toBe(false)
      expect(there.matches(name), name).toBe(false)
    }
  })

  it.each([
    ['GET /api/catalog/export', '200', ['application/yaml', 'application/json']],
    ['POST /api/catalog/export', '200', ['application/yaml']],
    ['GET /metrics', '200', ['text/plain']],
    ['GET /api/tail', '200', ['text/event-stream']],
    ['POST /api/agent/chat', '200', ['text/event-stream']],
    ['GET /api/agent/chat/{turn}', '200', ['text/event-stream']],
    ['GET /api/connect/skill', '200', ['text/markdown']],
    ['GET /api/projects/{id}/skills/{name}/download', '200', ['text/markdown']],
    ['POST /v1/logs', '200', ['application/json', 'application/x-protobuf']],
  ])('says which media types %s %s answers', (call, status, types) => {
    expect(media(call, status)).toEqual(types)
  })

  it('names for each operation a refusal of the caller and a fault of ours, each of the one error form', () => {
    for (const { call, responses } of operations) {
      const statuses = Object.keys(responses)
      expect(
        statuses.filter((status) => !/^[2-5]\d\d$/.test(status)),
        call,
      ).toEqual([])
      expect(statuses.filter((status) => status.startsWith('4')).length, call).toBeGreaterThan(2)
      expect(statuses, call).toEqual(expect.arrayContaining(['400', '403', '500', '503']))
    }
    for (const [name, { content }] of Object.entries(components.responses)) {
      const schema = content['application/json']!.schema!.$ref
      expect(schema, name).toBe(
        `#/components/schemas/${/^Export/.test(name) ? 'OtlpProblem' : /^Oauth/.test(name) ? 'OauthProblem' : 'Problem'}`,
      )
    }
  })

  it.each<[string, boolean, number, string | undefined, string | undefined]>([
    ['POST /oauth/register', true, 400, 'application/json', '{}'],
    ['POST /oauth/token', true, 400, 'application/x-www-form-urlencoded', 'grant_type=password'],
    ['POST /oauth/revoke', true, 400, 'application/x-www-form-urlencoded', 'token=x'],
    ['POST /oauth/token', false, 404, 'application/x-www-form-urlencoded', 'grant_type=password'],
    ['GET /.well-known/oauth-authorization-server', false, 404, undefined, undefined],
    ['GET /api/proposals?before=prop_none', false, 404, undefined, undefined],
    ['POST /api/triggers/errors/pause', false, 413, 'application/json', `{"a":"${'x'.repeat(1_048_576)}"}`],
  ])('has the refusal that is answered: %s, secured %s, %i', async (asked, secured, status, type, body) => {
    const door = await openDoor({ secured })
    const [method, url] = asked.split(' ') as [string, string]
    const answer = await door.call(method, url, body, {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(secured ? door.as(ROOT) : {}),
    })
    const call = asked.replace('/errors/', '/{name}/').replace(/\?.*/, '')
    expect([answer.status, Object.keys(of(call).responses)]).toEqual([
      status,
      expect.arrayContaining([String(status)]),
    ])
    const name = of(call).responses[status]!.$ref!.split('/').at(-1)
    const validate = ajv.compile({
      $ref: `api#/components/responses/${name}/content/application~1json/schema`,
    })
    validate(answer.json())
    expect(validate.errors ?? [], answer.text).toEqual([])
    await door.close()
  })

  it('has an example of what is sent and what is answered of every operation, and each fits its schema', () => {
    for (const operation of operations) {
      const examples = illustrated(operation)
      expect(examples.length, operation.call).toBeGreaterThan(0)
      for (const { at, value } of examples) {
        const validate = ajv.compile({ $ref: at })
        validate(value)
        expect(validate.errors ?? [], `${at} ${JSON.stringify(value)}`).toEqual([])
      }
    }
  })

  it('has examples of bodies that the server takes by its own schemas', () => {
    const ids = new Map(allSchemas().map(({ $id, title }) => [title, $id]))
    for (const { call, requestBody } of operations)
      for (const { examples = {} } of Object.values(requestBody?.content ?? {}))
        for (const title of Object.keys(examples))
          expect(check(ids.get(title)!, components.examples[title]!.value), `${call} ${title}`).toBeNull()
  })

  it('has an example of each call that is refused for nothing that is sent', async () => {
    const door = await openDoor()
    const refused: string[] = []
    // A rename comes last: others name what it is of.
    const calls = operations.toSorted((a, b) => +a.call.endsWith('/rename') - +b.call.endsWith('/rename'))
    for (const { call, operationId, parameters, requestBody } of calls) {
      if (requestBody === undefined || NOT_SENT.has(operationId)) continue
      const [method, path] = call.split(' ') as [string, string]
      const place = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
        const { example } = parameters!.find((one) => one.name === name && one.in === 'path') as Json
        return encodeURIComponent(String(example))
      })
      const [[type, { example, examples }]] = Object.entries(requestBody.content) as [[string, Media]]
      const shared = Object.values(examples ?? {})[0]
        ?.$ref.split('/')
        .at(-1)
      const sent = shared === undefined ? example : components.examples[shared]!.value
      const text = typeof sent === 'string' ? sent : JSON.stringify(sent)
      const answer = await door.call(method, place, text, { 'content-type': type })
      if ([400, 413, 415, 422].includes(answer.status)) refused.push(`${call}: ${answer.text}`)
    }
    await door.close()
    expect(refused).toEqual([])
  })
})

/** Calls that take their example only where there is more: events of a source, a model provider; or that ask GitHub. */
const NOT_SENT = new Set(['discoverSource', 'ask', 'discoverModels', 'testModelProvider', 'createCredential'])

function illustrated({ at, call, requestBody, responses }: (typeof operations)[number]) {
  const all = [
    ...Object.entries(requestBody?.content ?? {}).map((one) => ['requestBody', ...one] as const),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).map((one) => [`responses/${status}`, ...one] as const),
    ),
  ]
  return all
    .filter(([, type]) => type !== 'application/x-protobuf')
    .map(([where, type, { example, examples }]) => {
      const shared = Object.values(examples ?? {})[0]
        ?.$ref.split('/')
        .at(-1)
      const value = shared === undefined ? example : components.examples[shared]?.value
      expect(value, `${call} ${where} ${type} has no example`).toBeDefined()
      return { at: `${at}/${where}/content/${type.replaceAll('/', '~1')}/schema`, value }
    })
}

describe('B2: the API document', () => {
  it('has a body for every operation that is sent one', () => {
    const without = operations.filter(
      ({ call, requestBody }) => /^(POST|PUT|PATCH)/.test(call) && !requestBody,
    )
    expect(without.map(({ call }) => call)).toEqual([])
  })

  it.each([
    ['POST /v1/logs', ['application/json', 'application/x-protobuf']],
    ['POST /v1/traces', ['application/json', 'application/x-protobuf']],
    ['POST /v1/metrics', ['application/json', 'application/x-protobuf']],
    ['POST /api/projects/{id}/skills/upload', ['text/markdown', 'text/plain']],
    ['POST /api/slack/events', ['application/json', 'application/x-www-form-urlencoded']],
  ])('says what %s takes, and that it must be sent', (call, types) => {
    expect(of(call).requestBody).toMatchObject({ required: true })
    expect(Object.keys(of(call).requestBody!.content)).toEqual(types)
  })

  it('says what POST /ingest/{key} takes, and that nothing may be sent: a test of the address', () => {
    const { required, content } = of('POST /ingest/{key}').requestBody!
    expect([required, Object.keys(content)]).toEqual([
      false,
      ['application/json', 'application/x-ndjson', 'application/x-www-form-urlencoded'],
    ])
  })

  it('tells a body that must be sent from one that may be left out', () => {
    expect(of('POST /api/sources').requestBody!.required).toBe(true)
    for (const call of ['POST /api/change-sets/{id}/undo', 'POST /api/change-sets/{id}/rollback'])
      expect(of(call).requestBody!.required, call).toBe(true)
    expect(of('POST /api/runs/{id}/rerun').requestBody!.required).toBe(false)
    expect(of('POST /api/sources/{name}/pause').requestBody!.required).toBe(false)
  })

  it.each([
    ['GET /api/sources', 'Source'],
    ['GET /api/triggers', 'Trigger'],
    ['GET /api/skills', 'SkillSummary'],
    ['GET /api/projects/{id}/skills', 'ProjectSkill'],
    ['GET /api/sources/{name}/events', 'Event'],
    ['GET /api/agents/builtin/{name}/runs', 'Run'],
    ['GET /api/activity/dispatches', 'Dispatch'],
    ['GET /api/mcp/tools', 'OfferedTool'],
  ])('says that %s is a list of %s', (call, title) => {
    expect(of(call).responses['200']!.content!['application/json']!.schema).toEqual({
      type: 'array',
      items: { $ref: `#/components/schemas/${title}` },
    })
  })

  it('has a schema with a name for every answer in JSON', () => {
    const untyped = operations.flatMap((operation) =>
      answerOf(operation)
        .map(([, { content = {} }]) => content['application/json'])
        .filter((one) => one && !one.schema?.$ref && !(one.schema?.items as { $ref?: string })?.$ref)
        .map(() => operation.call),
    )
    expect(untyped).toEqual([])
  })

  it('has a least value of every whole number in a query: none has a list of none, or of fewer', () => {
    const unbounded = operations.flatMap(({ call, parameters = [] }) =>
      parameters
        .filter(({ in: place, schema }) => place === 'query' && schema.type === 'integer')
        .filter(({ name, schema }) => !(Number(schema.minimum) >= (name === 'limit' ? 1 : 0)))
        .map(({ name }) => `${call} ${name}`),
    )
    expect(unbounded).toEqual([])
  })

  it('knows no duration of nothing', () => {
    for (const title of ['TriggerWrite', 'SourceWrite', 'ReadRequest', 'StatsRequest', 'Storm', 'Emit']) {
      const validate = ajv.compile({ $ref: `api#/components/schemas/${title}` })
      const faults = (value: object) => {
        validate(value)
        return (validate.errors ?? []).filter((error) => error.keyword === 'pattern')
      }
      const field =
        { SourceWrite: 'poll', TriggerWrite: 'cooldown', Storm: 'quiet', Emit: 'context_window' }[title] ??
        'window'
      const isFault = (duration: string) => new RegExp(patternOf(title, field)).test(duration)
      for (const duration of ['15m', '0.5h', '00.10s', '007d', '1.0m'])
        expect(isFault(duration), duration).toBe(true)
      for (const duration of ['0s', '0.0m', '00d', '15', 'm', '1.s'])
        expect(isFault(duration), duration).toBe(false)
      expect(faults({ [field]: '0s' })).toHaveLength(1)
    }
  })

  it.each([
    ['GET /api/firings', 'state', ['gathering', 'held', 'fired', 'dropped']],
    ['GET /api/deliveries', 'status', ['running', 'delivered', 'failed']],
    ['GET /api/catalog/dependents', 'kind', ['source', 'mcp_server', 'skill', 'trigger', 'agent']],
  ])('names the values %s takes as %s', (call, name, values) => {
    expect(parameter(call, name).schema.enum).toEqual(values)
  })

  it.each([
    ['GET /api/events/{id}', 'id', '^evt_[0-9]{1,15}$'],
    ['GET /api/firings/{id}/events', 'after', '^evt_[0-9]{1,15}$'],
    ['GET /api/deliveries/{id}', 'id', '^dlv_[0-9a-f]{32}$'],
  ])('says which form %s wants of %s', (call, name, pattern) => {
    expect(parameter(call, name).schema.pattern).toBe(pattern)
  })

  it('names the headers of a write where one is taken: the version that was read, and why', () => {
    const headersOf = ({ parameters = [] }: (typeof operations)[number]) =>
      parameters.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? [])
    const takes = (header: string) =>
      operations.filter((operation) => headersOf(operation).includes(header)).map(({ call }) => call)
    expect(takes('IfMatch').sort()).toEqual([
      'PUT /api/agents/builtin/{name}',
      'PUT /api/entities/joined/{name}',
      'PUT /api/mcp-servers/{name}',
      'PUT /api/projects/{id}',
      'PUT /api/projects/{id}/skills/{name}',
      'PUT /api/projects/{id}/wiring',
      'PUT /api/sources/{name}',
      'PUT /api/triggers/{name}',
      'PUT /api/usecases/{id}',
    ])
    expect(takes('Why')).toEqual(
      expect.arrayContaining([...takes('IfMatch'), 'POST /api/change-sets', 'DELETE /api/sources/{name}']),
    )
    // What can be read with a version can be written with it.
    for (const call of takes('IfMatch').map((put) => put.replace('PUT', 'GET')))
      expect(of(call).responses['200']!.headers, call).toHaveProperty('ETag')
  })

  it('describes each name in a path', () => {
    for (const { call, parameters = [] } of operations)
      for (const { name, in: place, description } of parameters)
        if (place === 'path') expect(description, `${call} ${name}`).toBeTruthy()
  })
})

const parameter = (call: string, name: string) => of(call).parameters!.find((one) => one.name === name)!
const patternOf = (title: string, field: string): string =>
  (components.schemas[title] as { properties: Record<string, { pattern: string }> }).properties[field]!
    .pattern

describe('B3: names in the API document', () => {
  /** As generators for Go, Java and C# write them. */
  const pascal = (name: string) =>
    name.replace(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, _gap, letter: string) => letter.toUpperCase())

  it('differ still when generators have spelt them their way', () => {
    const names = [
      ...Object.keys(components.schemas),
      ...Object.keys(components.parameters),
      ...Object.keys(components.responses),
    ].map((name) => pascal(name).toLowerCase())
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    const ids = operations.map(({ operationId }) => pascal(operationId).toLowerCase())
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })

  it('differ from those generators make of what has none: an enum or an object within another', () => {
    const made: [name: string, at: string][] = Object.keys(components.schemas).map((title) => [title, title])
    const inner = (name: string, value: Json, at: string): void => {
      if ('$ref' in value) return
      if ('enum' in value || 'properties' in value || value.type === 'object') made.push([name, at])
      within(name, value, at)
    }
    const within = (name: string, { properties, items, anyOf, oneOf }: Json, at: string): void => {
      for (const [field, value] of Object.entries((properties ?? {}) as Record<string, Json>))
        inner(name + pascal(field), value, `${at}.${field}`)
      if (items) inner(`${name}Item`, items as Json, `${at}[]`)
      for (const [i, value] of ((anyOf ?? oneOf ?? []) as Json[]).entries())
        inner(`${name}Type${i}`, value, `${at}|${i}`)
    }
    for (const [title, schema] of Object.entries(components.schemas)) within(title, schema, title)
    const places = new Map<string, string[]>()
    for (const [name, at] of made)
      places.set(name.toLowerCase(), [...(places.get(name.toLowerCase()) ?? []), at])
    expect([...places.values()].filter(({ length }) => length > 1)).toEqual([])
  })

  it('are of no enum that has one boolean: a type of its own for what is always true', () => {
    expect(
      keyword('enum').filter((values) => (values as unknown[]).some((value) => typeof value === 'boolean')),
    ).toEqual([])
  })

  it('do not meet the names generators make of operations', () => {
    const made = operations.flatMap(({ operationId }) =>
      [
        'Params',
        'Body',
        'JSONBody',
        'JSONRequestBody',
        'Response',
        'Responses',
        'Data',
        'Errors',
        'Error',
      ].map((end) => pascal(operationId) + end),
    )
    const schemas = new Set(Object.keys(components.schemas))
    expect(made.filter((name) => schemas.has(name))).toEqual([])
  })
})

/**
 * What the API document promises of a call: a status and a body of a schema, and that what was taken is what it
 * says a route takes. A schema that is not true of an answer fails every test that makes the call.
 */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { expect } from 'vitest'

interface Media {
  [type: string]: { schema?: object }
}
interface Operation {
  operationId: string
  parameters?: { $ref?: string; in: string; name: string; schema: { pattern?: string } }[]
  requestBody?: { required: boolean; content: Media }
  responses: Record<string, { $ref?: string; headers?: { ETag?: object }; content?: Media }>
}
interface Answered {
  status: number
  headers: Headers
  text: string
  body: unknown
}

const file = new URL('../../api/http/openapi.json', import.meta.url)
const document = JSON.parse(readFileSync(file, 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { responses: Record<string, { content: Media }> }
}
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, code: { optimize: false } })
;(addFormatsModule as unknown as (ajv: Ajv2020) => void)(ajv)
ajv.addSchema(document, 'api')
const routes = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
}))
const compiled = new Map<string, ValidateFunction>()

/** What of `value` does not fit the schema at these steps of the document; null: it fits. */
function misfit(steps: readonly string[], value: unknown): string | null {
  const at = steps
    .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/')
  const validate = compiled.get(at) ?? ajv.compile({ $ref: `api#/${at}` })
  compiled.set(at, validate)
  return validate(value) ? null : ajv.errorsText(validate.errors?.slice(0, 5))
}

const mediaType = (header: string | null): string => (header ?? '').split(';')[0]!.trim().toLowerCase()

/** @param sent the body of the call; of text and bytes only that there is one is looked at. */
export function expectPromised(method: string, url: string, answer: Answered, sent?: unknown): void {
  const said = `${method} ${url}: ${answer.status} ${answer.text.slice(0, 300)}`
  const path = pathOf(url.split('?')[0]!)
  const verb = method.toLowerCase()
  const operation = document.paths[path ?? '']?.[verb]
  if (answer.status >= 400) expectRefusal(operation, answer, said)
  else {
    expect(operation, `${said} is not in the API document`).toBeDefined()
    expectAnswer(['paths', path!, verb], operation!, answer, said)
    expectTaken(['paths', path!, verb], operation!, url, sent, said)
  }
}

function expectRefusal(operation: Operation | undefined, answer: Answered, said: string): void {
  expect(answer.headers.get('content-type'), said).toBe('application/json; charset=utf-8')
  expect(misfit(['components', 'schemas', 'Problem'], answer.body), said).toBeNull()
  expect((answer.body as { detail: string }).detail, said).not.toMatch(/^(["']).*\1$|\n|^$/)
  expect(answer.status, said).not.toBe(500)
  // A path or method that there is none of has no promise.
  if (operation) expect(Object.keys(operation.responses), said).toContain(String(answer.status))
}

function expectAnswer(at: readonly string[], operation: Operation, answer: Answered, said: string): void {
  const status = String(answer.status)
  const response = operation.responses[status]
  expect(response, `${said}: this status is not in the API document`).toBeDefined()
  expectVersion(response!.headers, answer, said)
  if (answer.status === 304) {
    expect(answer.text, said).toBe('')
    return
  }
  const type = mediaType(answer.headers.get('content-type'))
  expect(Object.keys(response!.content ?? {}), said).toContain(type)
  const value = type.endsWith('json') ? answer.body : answer.text
  expect(misfit([...at, 'responses', status, 'content', type, 'schema'], value), said).toBeNull()
}

/** Issue 16, B: an ETag is named where one is answered, and answered where one is named. */
function expectVersion(
  named: { ETag?: object } | undefined,
  { headers, body }: Answered,
  said: string,
): void {
  const etag = headers.get('etag')
  if (etag !== null)
    expect(named?.ETag, `${said} has an ETag that the API document does not name`).toBeDefined()
  const { version } = (body ?? {}) as { version?: number }
  if (named?.ETag && version !== undefined) expect(etag, said).toBe(`"${version}"`)
}

function expectTaken(
  at: readonly string[],
  operation: Operation,
  url: string,
  sent: unknown,
  said: string,
): void {
  const { requestBody, parameters = [] } = operation
  if (typeof sent === 'string' || sent instanceof Uint8Array) expect(requestBody, said).toBeDefined()
  else if (sent !== undefined)
    expect(
      misfit([...at, 'requestBody', 'content', 'application/json', 'schema'], sent),
      `${said} was made of ${JSON.stringify(sent).slice(0, 300)}`,
    ).toBeNull()
  else expect(requestBody?.required ?? false, `${said} was made of no body`).toBe(false)
  const path = at[1]!
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const values = routes
    .find((route) => route.path === path)!
    .pattern.exec(url.split('?')[0]!)!
    .slice(1)
  for (const { name, in: place, schema } of parameters.filter(({ $ref }) => $ref === undefined))
    if (place === 'path' && schema.pattern !== undefined)
      expect(decodeURIComponent(values[names.indexOf(name)]!), said).toMatch(new RegExp(schema.pattern, 'u'))
}

/** A fixed path wins over one with a parameter in the same place. */
function pathOf(url: string): string | undefined {
  const fitting = routes.filter(({ pattern }) => pattern.test(url)).map(({ path }) => path)
  return fitting.sort((a, b) => a.split('{').length - b.split('{').length)[0]
}

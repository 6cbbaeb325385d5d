/** Input that breaks the rules of every route: each is refused with a sentence, none is a fault of ours. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differing } from '../../differing.ts'
import { openDoor } from './door.ts'

interface Parameter {
  name: string
  in: 'query' | 'path' | 'header'
  schema: { type?: string | string[] }
}
interface Operation {
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { examples?: Record<string, { $ref: string }> }> }
}

const document = JSON.parse(
  readFileSync(new URL('../../../api/http/openapi.json', import.meta.url), 'utf8'),
) as {
  paths: Record<string, Record<string, Operation>>
  components: { examples: Record<string, { value: unknown }> }
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)
const names = ['app', 'nothing-has-this-name', 'Infinity', '%00', '__proto__', 'constructor']
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
type Body = [what: string, body: string | undefined]
const BODIES: Body[] = [
  ['no body', undefined],
  ['an empty body', ''],
  ['null', 'null'],
  ['[]', '[]'],
  ['a text', '"x"'],
  ['a number', '1e999'],
  ['false', 'false'],
  ['{}', '{}'],
  ['an unknown field', '{"__proto__":{"a":1},"constructor":null,"nothing":1}'],
  ['half a body', '{"a":'],
]
/** Sent to one place of each route: a body is read before it is known whether the place is there. */
const DEEP: Body[] = [
  ['100,000 levels of lists', nested(100_000)],
  ['100,000 levels of objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
]
const NUMBERS = [
  'Infinity',
  '-Infinity',
  'NaN',
  '1e308',
  '-1e308',
  '-1',
  '0.5',
  '',
  '9007199254740993',
  '0x10',
]

let door: Awaited<ReturnType<typeof openDoor>>
let project = ''

beforeAll(async () => {
  door = await openDoor()
  const made = await door.call('POST', '/api/projects', { template: 'custom', name: 'Own' })
  project = String(made.json().id)
  await door.source('app', { labels: [{ name: 'service', field: 'service', primary: true }] })
})
afterAll(() => door.close())

/** What may stand where something else is wanted; the last is a name that every object inherits. */
const ODD = [null, 5, [], [null], {}, '', 'constructor']

const exampleOf = ({ requestBody }: Operation): unknown => {
  const [known] = Object.values(requestBody?.content?.['application/json']?.examples ?? {})
  return known && document.components.examples[known.$ref.split('/').at(-1)!]!.value
}

/** Paths with things that are there, and with things that are not. */
const placesOf = (path: string): string[] => {
  const own = /^\/api\/(projects|usecases)\//.test(path) ? path.replace('{id}', project) : path
  const at = (name: string) => own.replaceAll(/\{\w+\}/g, name)
  return [...new Set(names.map(at))]
}

const isSafe = (path: string, method: string): boolean =>
  // These go on until their reader goes, or end what the others need.
  path !== '/api/tail' && !(method === 'DELETE' && path === '/api/projects/{id}')

/** Slack's routes answer 503 where no signing secret is set. */
const isFault = (status: number, path: string): boolean =>
  status === 500 || (status === 503 && !path.startsWith('/api/slack/'))

describe('no route answers with a fault of ours', () => {
  const writing = operations.filter(({ method, path }) => method !== 'GET' && isSafe(path, method))
  it.each(writing.map(({ method, path }) => [method, path] as const))('%s %s', async (method, path) => {
    for (const [n, place] of placesOf(path).entries())
      for (const [what, body] of n === 0 ? [...BODIES, ...DEEP] : BODIES) {
        const answer = await door.call(method, place, body, {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        })
        const said = `${method} ${place} with ${what}: ${answer.status} ${answer.text.slice(0, 200)}`
        expect(isFault(answer.status, place), said).toBe(false)
        if (answer.status >= 400 && answer.text !== '')
          expect(answer.json().detail ?? answer.json().message, said).toMatch(/\w/)
      }
  })

  const taking = writing.flatMap(({ method, path, operation }) => {
    const example = exampleOf(operation)
    return example === undefined ? [] : [[method, path, example] as const]
  })
  it.each(taking)('%s %s, whatever stands in one place of its example', async (method, path, example) => {
    const [place] = placesOf(path)
    for (const body of [example, ...differing(example, ODD)]) {
      const answer = await door.call(method, place!, JSON.stringify(body), {
        'content-type': 'application/json',
      })
      const said = `${method} ${place} with ${JSON.stringify(body).slice(0, 400)}: ${answer.status} ${answer.text.slice(0, 200)}`
      expect(isFault(answer.status, place!), said).toBe(false)
    }
  })

  const NEEDS_A_BODY = [
    'POST /api/triggers/backtest',
    'POST /api/projects',
    'PUT /api/projects/{id}',
    'POST /api/usecases',
    'PUT /api/usecases/{id}',
    'POST /api/projects/{id}/subscribe',
    'POST /api/projects/{id}/skills',
    'PUT /api/projects/{id}/setup',
    'POST /api/projects/{id}/setup/plan',
    'PUT /api/ask/sessions/{id}',
    'PUT /api/settings/providers/{id}',
    'PUT /api/settings/tracing',
    'PUT /api/settings/gateway',
    'PUT /api/integrations/github/{name}',
  ]
  it.each(NEEDS_A_BODY)('%s refuses an empty body and null with the rule', async (route) => {
    const [method, path] = route.split(' ') as [string, string]
    const json = { 'content-type': 'application/json' }
    const empty = await door.call(method, placesOf(path)[0]!, '', json)
    expect([empty.status, empty.json().detail]).toEqual([400, expect.stringMatching(/is required|is empty/)])
    const none = await door.call(method, placesOf(path)[0]!, 'null', json)
    expect([none.status, none.json().detail]).toEqual([400, 'the body must be a JSON object, not null'])
    const deep = await door.call(method, placesOf(path)[0]!, nested(201), json)
    expect([deep.status, deep.json().detail]).toEqual([400, 'the body must not nest more than 200 deep'])
  })

  const reading = operations.filter(({ method, path }) => method === 'GET' && isSafe(path, method))
  it.each(reading.map(({ path, operation }) => [path, operation] as const))(
    'GET %s',
    async (path, operation) => {
      const asked = (operation.parameters ?? []).filter((one) => one.in === 'query')
      for (const place of placesOf(path)) {
        for (const { name } of asked)
          for (const value of [
            ...NUMBERS,
            'x'.repeat(4_000),
            '%00',
            '__proto__',
            'constructor',
            '[]',
            'evt_1',
          ]) {
            const answer = await door.call('GET', `${place}?${name}=${value}`)
            const said = `GET ${place}?${name}=${value.slice(0, 40)}: ${answer.status} ${answer.text.slice(0, 200)}`
            expect(isFault(answer.status, place), said).toBe(false)
          }
        const answer = await door.call('GET', place)
        expect([500], `GET ${place}: ${answer.status} ${answer.text.slice(0, 200)}`).not.toContain(
          answer.status,
        )
      }
    },
  )
})

/** Issue 16, B4: a body that must be sent and is not, or is null, is refused on every route, and nothing is done. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor } from './door.ts'

interface Operation {
  requestBody?: { required: boolean; content: Record<string, object> }
}
const document = JSON.parse(
  readFileSync(new URL('../../../api/http/openapi.json', import.meta.url), 'utf8'),
) as { paths: Record<string, Record<string, Operation>> }
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { requestBody }]) => requestBody?.required)
    // What Slack or the host of a repository signs is refused before it is looked at, with or without a body.
    .filter(() => path !== '/api/slack/events' && path !== '/hooks/catalog')
    // An open instance, such as this one, has no sign-in: test/api/telemetry asks a secured one.
    .filter(() => !path.startsWith('/oauth/'))
    .map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      types: Object.keys(requestBody!.content).filter((type) => type !== 'application/x-protobuf'),
    })),
)

let door: Awaited<ReturnType<typeof openDoor>>
let project = ''
let changeSet = 0

beforeAll(async () => {
  door = await openDoor()
  const made = await door.call('POST', '/api/projects', { template: 'custom', name: 'Own' })
  project = String(made.json().id)
  await door.source('app', { labels: [{ name: 'service', field: 'service', primary: true }] })
  await door.source('otel', {}, 'otlp')
  changeSet = (await changes()).at(0)!.id
})
afterAll(() => door.close())

const changes = async () =>
  ((await door.call('GET', '/api/change-sets')).json() as unknown as { change_sets: { id: number }[] })
    .change_sets

/** The path with things that are there, so that only the body can be what is refused. */
const placeOf = (path: string): string =>
  path
    .replace('/change-sets/{id}', `/change-sets/${changeSet}`)
    .replace(/\/(projects|usecases)\/\{id\}/, `/$1/${project}`)
    .replaceAll(/\{\w+\}/g, 'app')

describe('B4: a body that must be sent', () => {
  it('is one of every write of what is declared, of undo and of rollback', () => {
    const calls = operations.map(({ method, path }) => `${method} ${path}`)
    expect(calls.length).toBeGreaterThan(60)
    expect(calls).toEqual(
      expect.arrayContaining([
        'POST /api/change-sets/{id}/undo',
        'POST /api/change-sets/{id}/rollback',
        'POST /api/sources',
        'POST /v1/logs',
      ]),
    )
  })

  it.each(operations.map(({ method, path, types }) => [method, path, types] as const))(
    '%s %s is refused without one, with an empty one and with null, and does nothing',
    async (method, path, types) => {
      const before = await changes()
      const sent: [what: string, body: string | undefined, type: string | null][] = [
        ['no body', undefined, null],
        ...types.flatMap((type): typeof sent => [
          [`no body of ${type}`, undefined, type],
          [`an empty body of ${type}`, '', type],
        ]),
        ...(types.includes('application/json')
          ? ([
              ['null', 'null', 'application/json'],
              ['null in spaces', ' null\n', 'application/json'],
            ] as typeof sent)
          : []),
      ]
      for (const [what, body, type] of sent) {
        const answer = await door.call(
          method,
          placeOf(path),
          body,
          type === null ? {} : { 'content-type': type },
        )
        const said = `${method} ${placeOf(path)} with ${what}: ${answer.status} ${answer.text.slice(0, 200)}`
        expect(answer.status, said).toBe(400)
        expect(answer.headers['content-type'], said).toBe('application/json; charset=utf-8')
        // What is required is named: the fields, or a body at all.
        expect(answer.json().detail, said).toMatch(
          /is required|is empty|must be|are required|is not an object/,
        )
      }
      expect(await changes()).toEqual(before)
    },
  )
})

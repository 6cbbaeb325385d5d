import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDoor } from './door.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

describe('a body of JSON', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  let project = ''
  beforeAll(async () => {
    door = await openDoor()
    const made = await door.call('POST', '/api/projects', { template: 'custom', name: 'Shop', objects: [] })
    project = String(made.json().id)
  })
  afterAll(() => door.close())

  const refused: [string, () => ReturnType<typeof door.call>, number, string][] = [
    [
      'a field in the body of a call that takes none',
      () => door.call('POST', '/api/projects/any/skills/s/use', { description: 'x' }),
      400,
      'description is not a known field; this call takes no body',
    ],
    [
      'a field in the body of practice',
      () => door.call('POST', '/api/projects/any/setup/practice', { source: 'x' }),
      400,
      'source is not a known field; this call takes no body',
    ],
    [
      'a list as the body of a call that takes none',
      () => door.call('POST', '/api/projects/any/takeover', []),
      400,
      'this call takes no body',
    ],
    [
      'the key __proto__, wherever it is',
      () => door.call('POST', '/api/sources', '{"name":"x","config":{"a":[{"__proto__":{}}]}}', JSON_TYPE),
      400,
      'the body must not have the key __proto__',
    ],
    [
      'a constructor with a prototype',
      () => door.call('POST', '/api/sources', '{"name":"x","constructor":{"prototype":{}}}', JSON_TYPE),
      400,
      'the body must not have the key constructor.prototype',
    ],
    [
      'JSON packed in a way that is not known',
      () => door.call('POST', '/api/sources', '{}', { ...JSON_TYPE, 'content-encoding': 'br' }),
      415,
      'the Content-Encoding must be gzip, deflate or zstd',
    ],
    [
      'JSON that is not packed as it says',
      () => door.call('POST', '/api/sources', '{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }),
      400,
      'gzip',
    ],
    [
      'packed JSON that is larger than its call takes',
      () =>
        door.call('POST', '/api/sources', gzipSync(' '.repeat(2_000_000)), {
          ...JSON_TYPE,
          'content-encoding': 'gzip',
        }),
      413,
      'the body decompresses to more than 1 MiB',
    ],
  ]

  it.each(refused)('is refused: %s', async (_name, ask, status, message) => {
    const answer = await ask()
    expect([answer.status, answer.json().detail]).toEqual([status, expect.stringContaining(message)])
  })

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('is taken packed with %s, of calls that read it as JSON and as bytes', async (coding, pack) => {
    const name = `packed-${coding}`
    const packed = { 'content-encoding': coding }
    const source = Buffer.from(JSON.stringify({ name, connector: 'webhook' }))
    const made = await door.call('POST', '/api/sources', pack(source), { ...JSON_TYPE, ...packed })
    expect([made.status, made.json()]).toEqual([201, expect.objectContaining({ name })])
    const skill = Buffer.from(`---\nname: ${name}\ndescription: d\n---\nDo it.\n`)
    const kept = await door.call('POST', `/api/projects/${project}/skills/upload`, pack(skill), {
      ...{ 'content-type': 'text/markdown', ...packed },
    })
    expect([kept.status, kept.json()]).toEqual([
      expect.any(Number),
      expect.objectContaining({ name, created: true }),
    ])
  })

  it('without a field, or none at all, is taken by a call that takes none', async () => {
    await door.source('app')
    expect((await door.call('POST', '/api/sources/app/pause', {})).status).toBe(200)
    expect((await door.call('POST', '/api/sources/app/resume')).status).toBe(200)
  })
})

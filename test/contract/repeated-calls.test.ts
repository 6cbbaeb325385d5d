/** Calls that are sent again with their Idempotency-Key: done once, and answered as the first time. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { performOver } from '../../engine/engine.ts'
import { SvcError } from '../../engine/errors.ts'
import { operations } from '../../engine/index.ts'
import { type Fields, type Instance, startHere, startInstance } from './instance.ts'

let svc: Instance
const folders: string[] = []
afterEach(async () => {
  await svc.stop()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const key = (word: string) => ({ 'idempotency-key': word })
const keyNames = async () => {
  const { keys } = await svc.get<{ keys: { name: string }[] }>('/api/keys')
  return keys.map(({ name }) => name)
}
const dataFile = () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-repeat-'))
  folders.push(folder)
  return join(folder, 'svc.db')
}

describe('a call with an Idempotency-Key', () => {
  it('is done once, however often it is sent, and answered as it was, a secret that is shown once included', async () => {
    svc = await startInstance({ secured: true })
    const make = (name: string, word: string) =>
      svc.call<Fields>('POST', '/api/keys', { name, scopes: ['read'] }, key(word))
    const [first, again] = [await make('ci', 'k-1'), await make('ci', 'k-1')]
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect(await keyNames()).toEqual(['ci'])
    expect(again.headers.get('cache-control')).toBe('no-store')
    await make('ci', 'k-2')
    expect(await keyNames()).toEqual(['ci', 'ci'])
  })

  it('is refused with another body or path, and is another call of another credential', async () => {
    svc = await startInstance({ secured: true })
    const admin = await svc.post<{ secret: string }>('/api/keys', { name: 'a', scopes: ['admin'] })
    const projects: string[] = []
    for (const name of ['Shop', 'Bank'])
      projects.push((await svc.post<{ id: string }>('/api/projects', { template: 'custom', name })).id)
    const make = (body: Fields, path: string, by: Pick<Instance, 'call'> = svc) =>
      by.call<{ id: string }>('POST', path, body, key('k'))
    const one = await make({ name: 'ci' }, `/api/projects/${projects[0]}/keys`)
    const other = await make({ name: 'cd' }, `/api/projects/${projects[0]}/keys`)
    expect([other.status, other.body]).toEqual([
      422,
      { detail: 'this Idempotency-Key was used with another body; use a new key for a new body' },
    ])
    const elsewhere = await make({ name: 'ci' }, `/api/projects/${projects[1]}/keys`)
    expect(elsewhere.status).toBe(422)
    const theirs = await make({ name: 'ci' }, `/api/projects/${projects[0]}/keys`, svc.as(admin.secret))
    expect([theirs.status, theirs.body.id === one.body.id]).toEqual([201, false])
  })

  it('that was refused is done when it is sent again', async () => {
    svc = await startInstance()
    const make = () =>
      svc.call('POST', '/api/triggers', { name: 't', sources: ['gw'], condition: { event: 'any' } }, key('k'))
    expect((await make()).status).toBe(400)
    await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
    expect((await make()).status).toBe(201)
    expect((await make()).status).toBe(201)
  })

  it('records one finding', async () => {
    svc = await startInstance()
    const { id } = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop' })
    const found = () =>
      svc.call('POST', `/api/projects/${id}/findings`, { entity: 'a', finding: 'It broke.' }, key('f'))
    expect((await found()).body).toEqual((await found()).body)
    expect(await svc.get(`/api/projects/${id}/findings?by=finding`)).toMatchObject({
      findings: [expect.anything()],
    })
  })

  it('answers as the first did after a restart, from a file that does not hold the secret', async () => {
    const file = dataFile()
    svc = await startHere({ secured: true, dataFile: file })
    const make = () =>
      svc.call<{ secret: string }>('POST', '/api/keys', { name: 'ci', scopes: ['read'] }, key('k'))
    const first = await make()
    await svc.stop()
    expect(readFileSync(file).includes(first.body.secret)).toBe(false)
    svc = await startHere({ secured: true, dataFile: file })
    expect((await make()).body).toEqual(first.body)
    expect(await keyNames()).toEqual(['ci'])
  })

  it('is never done a second time where the first was cut off, and told so', async () => {
    const here = await startHere()
    svc = here
    here.engine.claimCall({
      ...{ caller: 'open', operation: 'createKey', key: 'k' },
      said: [{}, {}, { name: 'ci', scopes: ['read'] }],
    })
    const again = await svc.call('POST', '/api/keys', { name: 'ci', scopes: ['read'] }, key('k'))
    expect([again.status, again.body.detail]).toEqual([
      409,
      'the first call with this Idempotency-Key was cut off, and may have been done: look for what it would have made, and use a new key where that is not there',
    ])
    expect(await keyNames()).toEqual([])
  })

  it('is not done beside the first', async () => {
    svc = await startInstance()
    const make = () => svc.call('POST', '/api/keys', { name: 'ci', scopes: ['read'] }, key('k'))
    const both = await Promise.all([make(), make()])
    expect(both.map(({ status }) => status).sort()).not.toContain(500)
    expect(await keyNames()).toEqual(['ci'])
    expect((await make()).status).toBe(201)
  })

  it('is refused where each repeat would be done, and passed over where nothing is written', async () => {
    svc = await startInstance()
    const refused = async (path: string, body: Fields) =>
      (await svc.call('POST', path, body, key('k'))).body.detail
    const NOT = 'this call takes no Idempotency-Key: each repeat is done again'
    expect(await refused('/api/agent/chat', { messages: [{ role: 'user', content: 'Why?' }] })).toBe(NOT)
    expect(await refused('/api/catalog/import', { yaml: 'sources: []' })).toBe(NOT)
    for (const path of ['/api/session', '/api/logins', '/api/logins/exchange', '/api/oauth/decisions'])
      expect(await refused(path, {}), path).toBe(NOT)
    for (const path of ['/oauth/register', '/oauth/token', '/oauth/revoke'])
      expect(await refused(path, {}), path).toBe(NOT)
    expect((await svc.call('POST', '/read', { selector: { a: 'b' } }, key('k'))).status).toBe(200)
    expect(await refused('/api/keys', { name: 'ci', scopes: ['read'] })).toBeUndefined()
    const bad = await svc.call('POST', '/api/keys', { name: 'x', scopes: ['read'] }, key('a b'))
    expect(bad.body.detail).toBe('Idempotency-Key must be 1 to 255 visible ASCII characters')
  })
})

it('a call that was done keeps its key where its answer could not be stored: a repeat must not do it again', async () => {
  svc = await startInstance()
  const { id } = operations.find(({ route }) => route === 'POST /api/keys')!
  const calls: unknown[][] = []
  const writer = async (method: string, args: unknown[]) => {
    calls.push([method, ...(method === 'endCall' ? [args[1]] : [])])
    if (method === 'claimCall') return { claim: 'c1', first: null }
    if (method === 'endCall') throw new SvcError('storage_full', 'no room')
    return { id: 'key_1' }
  }
  const perform = performOver({ writer, short: writer, wide: writer } as never, () => ({}) as never)
  const input = { params: {}, query: {}, body: { name: 'ci' }, caller: { id: 'key:1' }, repeat: 'k' }
  await expect(perform(id, input as never)).rejects.toMatchObject({ code: 'storage_full' })
  expect(calls).toEqual([['claimCall'], ['perform'], ['endCall', { value: { id: 'key_1' } }]])
})

/** Ingest URLs with ways of their own: sessions of coding agents, and log drains of Vercel. */
import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Source } from '../../../schemas/types.ts'
import { openDoor } from './door.ts'

async function door(options: Parameters<typeof openDoor>[0] = {}) {
  const opened = await openDoor(options)
  onTestFinished(() => opened.close())
  return opened
}

const lineOf = (content: string) => JSON.stringify({ sessionId: 's1', type: 'user', message: { content } })
const LINE = lineOf('hello')

it('GET of an ingest URL explains it where there is one, and is 404 where no source has the key', async () => {
  const { call, source } = await door()
  const { url } = await source('app')
  expect((await call('GET', url)).status).toBe(200)
  expect((await call('GET', '/ingest/claude_code')).status).toBe(200)
  const unknown = await call('GET', '/ingest/nothing-has-this')
  expect([unknown.status, unknown.json().detail]).toEqual([404, 'unknown ingest key: no source has it'])
})

describe('POST /ingest/claude_code', () => {
  it('makes its source with the first line, and goes on to it', async () => {
    const { call } = await door()
    expect((await call('POST', '/ingest/claude_code', '{"sessionId"')).status).toBe(400)
    const nothing = await call('POST', '/ingest/claude_code', '{"type":"summary"}')
    expect([nothing.status, nothing.json()]).toEqual([202, { ingested: 0 }])
    expect((await call('GET', '/api/sources')).text).toBe('[]')
    for (let i = 0; i < 2; i++)
      expect((await call('POST', '/ingest/claude_code', lineOf(`${i}`))).json()).toMatchObject({
        ingested: 1,
      })
    const sources = (await call('GET', '/api/sources')).json() as unknown as Source[]
    expect(sources.map(({ name, connector }) => [name, connector])).toEqual([['claude_code', 'claude_code']])
    const labels = sources[0]!.config.labels as { name: string; primary?: boolean }[]
    expect(labels.map(({ name, primary }) => [name, primary === true])).toEqual([
      ['session', true],
      ['repo', false],
      ['branch', false],
      ['model', false],
      ['flow', false],
    ])
    const read = await call('POST', '/read', { selector: { session: 's1' }, window: '1d' })
    expect(read.json()).toMatchObject({ count: 2 })
  })

  it('takes another name where the name is taken', async () => {
    const { call, source } = await door()
    await source('claude_code')
    await call('POST', '/ingest/claude_code', LINE)
    expect((await call('GET', '/api/sources/claude_code_2')).json()).toMatchObject({
      connector: 'claude_code',
    })
  })

  it('wants the scope ingest of a secured instance, and makes nothing with the key of another source', async () => {
    const { call, source, key, as } = await door({ secured: true })
    const { key: bound } = await source('app')
    const read = await key(['read'])
    const ingest = await key(['ingest'])
    const post = async (token?: string) =>
      (await call('POST', '/ingest/claude_code', LINE, token === undefined ? {} : as(token))).status
    expect([await post(), await post(read.secret), await post(bound!.secret)]).toEqual([401, 403, 403])
    expect(await post(ingest.secret)).toBe(202)
    expect(await post(bound!.secret)).toBe(403)
  })
})

describe('the ingest URL of a Vercel drain', () => {
  const entries = '[{"id":"1","source":"lambda","message":"a","projectName":"shop"},{"id":"2","message":"b"}]'
  const sign = (body: string, secret = 'drain') => ({
    'x-vercel-signature': createHmac('sha1', secret).update(body).digest('hex'),
  })

  it('takes arrays and lines, an event for each entry', async () => {
    const { call, source } = await door()
    const { url } = await source('web', {}, 'vercel')
    expect((await call('POST', url, entries)).json()).toMatchObject({ ingested: 2 })
    expect((await call('POST', url, '{"id":"3"}\n{"id":"1"}')).json()).toMatchObject({
      ingested: 1,
      duplicates: 1,
    })
    expect(
      (await call('POST', '/read', { selector: { project: 'shop' }, window: '1d' })).json(),
    ).toMatchObject({
      count: 1,
    })
  })

  it('answers with the code Vercel wants to see, before anything is signed', async () => {
    const { call, source } = await door({ secured: true })
    const { url, key } = await source('web', { signature_secret: 'drain', verify_code: 'abc123' }, 'vercel')
    // The signature is the credential.
    expect(key).toBeUndefined()
    for (const answer of [await call('GET', url), await call('POST', url)])
      expect([answer.status, answer.headers['x-vercel-verify']]).toEqual([200, 'abc123'])
  })

  it('takes with a secret what is signed with it, and nothing else', async () => {
    const { call, source } = await door({ secured: true })
    const config = { signature_secret: 'drain', signature_secret_previous: 'before' }
    const { url } = await source('web', config, 'vercel')
    expect((await call('POST', url, entries, sign(entries))).status).toBe(202)
    expect((await call('POST', url, entries, sign(entries, 'before'))).status).toBe(202)
    const wrong = [{}, sign(entries, 'other'), sign(`${entries} `), { 'x-vercel-signature': 'ab' }]
    for (const headers of wrong) {
      const answer = await call('POST', url, entries, headers)
      expect([answer.status, answer.json().detail]).toEqual([
        401,
        expect.stringContaining('signature check failed (vercel)'),
      ])
    }
  })

  it('refuses everything where its secret refers to what is not there', async () => {
    const { call, source } = await door({ secured: true })
    const { url } = await source('web', { signature_secret: `\${SVC_SECRET_NOT_SET}` }, 'vercel')
    const answer = await call('POST', url, entries)
    expect([answer.status, answer.json().detail]).toEqual([
      401,
      'signature check failed (vercel): no signing secret configured',
    ])
  })
})

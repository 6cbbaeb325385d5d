/** What another side writes of a failure is stored without the secrets it was sent. */
import { describe, expect, it } from 'vitest'
import type { Egress } from '../../../engine/net/fetch.ts'
import { redact, storedFault, withoutSecrets } from '../../../engine/net/redact.ts'
import { sendWriteBack } from '../../../engine/outbox/send-webhook.ts'
import { projectFiles, textOf } from '../../house/project-files.ts'

const TOKEN = 'wb-7f3a9c"51e8/d204'
const dsn = 'postgres://u:p%40ss-word-1@db.example/x'

describe('a text without the secrets that were sent', () => {
  it.each([
    ['whole', `you sent ${TOKEN}`, [TOKEN]],
    ['without the scheme before it', `you sent ${TOKEN}`, [`Bearer ${TOKEN}`]],
    ['in JSON', `you sent ${JSON.stringify({ t: TOKEN }).slice(6, -2)}`, [TOKEN]],
    ['in an address', `you sent ${encodeURIComponent(TOKEN)}`, [TOKEN]],
    ['in base64', `you sent ${btoa(TOKEN)}`, [TOKEN]],
    ['as the password of a connection URL', 'you sent p%40ss-word-1', [dsn]],
    ['as that password, decoded', 'you sent p@ss-word-1', [dsn]],
    ['cut off', `you sent ${TOKEN.slice(0, 12)}…`, [TOKEN]],
  ])('has it %s taken out', (_form, text, secrets) => {
    expect(withoutSecrets(text, secrets).replace(/["…]/g, '')).toBe('you sent ***')
  })

  it('is as it was where there is none', () => {
    expect(storedFault('HTTP 500: no such tenant', [TOKEN, null, undefined, ''])).toBe(
      'HTTP 500: no such tenant',
    )
  })

  it('keeps a text readable where a credential is a letter or two', () => {
    expect(storedFault('HTTP 401: invalid x-api-key', ['x', 'ke'])).toBe('HTTP 401: invalid x-api-key')
    expect(storedFault('no such user pass', ['pass'])).toBe('no such user ***')
  })

  it('is without what looks like the secret of another, too', () => {
    expect(storedFault(`you sent AKIA${'Q'.repeat(16)}`, [])).toBe('you sent [redacted key]')
  })
})

/** What is written in rooms whose sentences about another side are told as `storedFault` leaves them. */
function sentencesOf(rooms: RegExp): string[] {
  const quoted = /'((?:[^'\\]|\\.)*)'|`([^`]*)`/g
  const lines = projectFiles()
    .filter((path) => rooms.test(path))
    .flatMap((path) => textOf(path).split('\n'))
    .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line))
  const texts = lines.flatMap((line) => [...line.matchAll(quoted)].map((match) => match[1] ?? match[2]!))
  return texts.filter((text) => text.includes(' '))
}

describe('a sentence of ours', () => {
  it('is no secret: what to do about a password stays readable', () => {
    const sentences = sentencesOf(/^engine\/(sources|outbox|net|agents|slack|reconcile)\/.*\.ts$/)
    expect(sentences).toContain('PostgreSQL refuses user or password; correct both in dsn')
    expect(sentences.filter((sentence) => redact(sentence) !== sentence)).toEqual([])
  })
})

const written = (status: number, said: (headers: Record<string, string>) => string) =>
  sendWriteBack(
    {
      kind: 'write_back',
      ...{ runId: 'run_1', url: 'https://receiver.example/', token: TOKEN, fault: null, body: '{}' },
    },
    {
      egress: {
        send: async ({ headers }: { headers: Record<string, string> }) => ({
          ...{ ok: true, status, headers: {} },
          body: Buffer.from(said(headers)),
        }),
      } as unknown as Egress,
      situation: () => ({ retry: 'write_back', tries: 1, now: 0, random: () => 0.5 }),
      signal: new AbortController().signal,
    },
  )

describe('a receiver that echoes the headers of a write-back', () => {
  it.each([
    [400, 'a final answer'],
    [500, 'one that is tried again'],
  ])('leaves no token in delivery_error: %i, %s', async (status) => {
    // The token stands across the place where the text is cut.
    const { reason } = await written(
      status,
      ({ authorization }) => `${'x'.repeat(190)} authorization: ${authorization}`,
    )
    expect(reason).toContain(`HTTP ${status}: xxx`)
    expect(reason).not.toContain(TOKEN.slice(0, 4))
  })
})

it.each([
  [404, '\n', 'HTTP 404'],
  [308, '<html>Moved</html>', 'HTTP 308: redirects are not followed; give the address it leads to'],
])('a write-back that is answered %i says no more than is known: %j', async (status, said, reason) => {
  expect(await written(status, () => said)).toMatchObject({ event: 'refuse', reason })
})

/** What is typed and not saved: kept by the place where it is typed, without secrets, the oldest going first. */
import { describe, expect, it } from 'vitest'
import {
  dropDraft,
  keptAddress,
  readDraft,
  type Shelf,
  withoutSecrets,
  writeDraft,
} from '../../console/lib/drafts.ts'

/** A browser's storage with so much room, in characters. */
function shelfOf(room = Number.POSITIVE_INFINITY): Shelf & { rows: Map<string, string> } {
  const rows = new Map<string, string>()
  return {
    rows,
    get length() {
      return rows.size
    },
    key: (index) => [...rows.keys()][index] ?? null,
    getItem: (key) => rows.get(key) ?? null,
    removeItem: (key) => void rows.delete(key),
    setItem: (key, value) => {
      const others = [...rows].filter(([name]) => name !== key)
      if (others.reduce((sum, [, text]) => sum + text.length, value.length) > room) throw new Error('quota')
      rows.set(key, value)
    },
  }
}

const draft = (value: unknown, at = 1_000) => ({ base: 3, at, value })

describe('a draft', () => {
  it('is found again at its place, with the version it changes, until it is dropped', () => {
    const shelf = shelfOf()
    writeDraft(shelf, '/triggers/new#trigger', draft({ name: 'x' }))
    expect(readDraft(shelf, '/triggers/new#trigger')).toEqual(draft({ name: 'x' }))
    expect(readDraft(shelf, '/agents/new#agent')).toBeNull()
    dropDraft(shelf, '/triggers/new#trigger')
    expect(readDraft(shelf, '/triggers/new#trigger')).toBeNull()
  })

  it('is none where something else stands', () => {
    const shelf = shelfOf()
    for (const text of ['', '{', 'null', '{"v":0,"at":1}', '[]']) {
      shelf.setItem('svc:form:x', text)
      expect([text, readDraft(shelf, 'x')]).toEqual([text, null])
    }
  })

  it('pushes the oldest out where the room is full, and never what belongs to others', () => {
    const shelf = shelfOf(150)
    shelf.setItem('other', 'o'.repeat(20))
    writeDraft(shelf, 'old', draft('o', 1))
    writeDraft(shelf, 'new', draft('n', 2))
    writeDraft(shelf, 'large', draft('l'.repeat(40), 3))
    expect([...shelf.rows.keys()]).toEqual(['other', 'svc:form:new', 'svc:form:large'])
    writeDraft(shelf, 'too large', draft('x'.repeat(500), 4))
    expect([...shelf.rows.keys()]).toEqual(['other'])
  })

  it('is one of 50 at most', () => {
    const shelf = shelfOf()
    for (let at = 1; at <= 60; at++) writeDraft(shelf, `p${at}`, draft(at, at))
    expect(shelf.rows.size).toBe(50)
    expect(readDraft(shelf, 'p10')).toBeNull()
    expect(readDraft(shelf, 'p11')).not.toBeNull()
  })
})

it('leaves secrets out, in lists and objects too', () => {
  const schema = {
    properties: {
      url: {},
      token: { 'x-secret': true },
      headers: { items: { properties: { name: {}, value: { 'x-secret': true } } } },
      login: { properties: { user: {}, password: { 'x-secret': true } } },
    },
  }
  const config = {
    url: 'https://x.example',
    from: 'https://x.example/?page=2&api_key=s1',
    hooks: ['https://hooks.example/a', 'https://hooks.example/b?sig=s2'],
    text: 'no address: ?token=1',
    token: 't0k',
    headers: [{ name: 'a', value: 's3' }],
    login: { user: 'u', password: 'p4' },
    other: 1,
  }
  expect(withoutSecrets(config, schema)).toEqual({
    url: 'https://x.example',
    hooks: ['https://hooks.example/a'],
    text: 'no address: ?token=1',
    headers: [{ name: 'a' }],
    login: { user: 'u' },
    other: 1,
  })
})

it('keeps no address with a name, a password or a secret parameter in it', () => {
  const before = 'https://models.example/v1'
  expect(keptAddress('https://user:pw@models.example/v1', before)).toBe(before)
  expect(keptAddress('https://t0k@models.example')).toBe('')
  for (const secret of ['?token=t0k', '?v=1&api_key=k', '?X-Amz-Signature=s', '#access_token=t', '?code=c'])
    expect([secret, keptAddress(`https://models.example/v1${secret}`, before)]).toEqual([secret, before])
  for (const plain of [
    'https://other.example/v1',
    'https://models.example/a@b',
    'http://127.0.0.1:11434/v1',
    'https://models.example/v1?page=2',
    // A mask stands for what is stored.
    'https://models.example/v1?token=••••••••',
  ])
    expect(keptAddress(plain, before)).toBe(plain)
})

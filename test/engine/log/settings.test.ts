import { describe, expect, it } from 'vitest'
import { firstOf, isOfOrigin, layered, openStored, sealedAfter } from '../../../engine/log/settings.ts'
import { memorySecrets } from '../../../engine/net/secrets.ts'

describe('a setting in layers', () => {
  it('is what is stored, else what the environment says, else the default, and says which', () => {
    expect(layered(1, 2, 3)).toEqual({ value: 1, source: 'console' })
    expect(layered(undefined, 2, 3)).toEqual({ value: 2, source: 'env' })
    expect(layered(null, null, 3)).toEqual({ value: 3, source: 'default' })
  })

  it('counts false, zero and an empty text as said', () => {
    expect(layered<boolean>(false, true, true)).toEqual({ value: false, source: 'console' })
    expect(layered(0, 5, 7)).toEqual({ value: 0, source: 'console' })
    expect(layered(undefined, '', 'x')).toEqual({ value: '', source: 'env' })
  })

  it('takes its layers in the order in which they are given', () => {
    const layers = [
      ['env:A', null],
      ['console', 'b'],
      ['env:C', 'c'],
    ] as const
    expect(firstOf<string, string>(layers)).toEqual({ value: 'b', source: 'console' })
    expect(firstOf<string, string>([['env:A', undefined]])).toBeNull()
  })
})

describe('a credential of the environment', () => {
  it.each([
    [null, null, true],
    ['https://a.example/v1', 'https://a.example/v2', true],
    ['https://a.example', 'https://a.example:443/', true],
    ['https://a.example', 'http://a.example', false],
    ['https://a.example', 'https://a.example:8443', false],
    ['https://a.example', 'https://b.example', false],
    [null, 'https://b.example', false],
    ['https://a.example', null, false],
    ['no address', 'none either', false],
  ])('for %s is sent to %s: %s', (of, now, expected) => {
    expect(isOfOrigin(of, now)).toBe(expected)
  })
})

describe('a stored secret', () => {
  const secrets = memorySecrets()
  const write = { field: 'key', place: 'settings/x/key', was: secrets.seal('old', 'settings/x/key') }
  const same = ['https://a.example/1', 'https://a.example/2'] as const
  const opened = (sealed: string | null) => openStored(secrets, sealed, write.place)

  it('is replaced by a text, removed by null, and kept by nothing', () => {
    expect(opened(sealedAfter(secrets, { ...write, given: 'new', addresses: same }))).toBe('new')
    expect(sealedAfter(secrets, { ...write, given: null, addresses: same })).toBeNull()
    expect(sealedAfter(secrets, { ...write, given: undefined, addresses: same })).toBe(write.was)
    expect(sealedAfter(secrets, { ...write, was: null, given: undefined, addresses: same })).toBeNull()
  })

  it('has to be entered again where its address is of another host', () => {
    const moved = ['https://a.example', 'https://b.example'] as const
    expect(() => sealedAfter(secrets, { ...write, given: undefined, addresses: moved })).toThrow(
      'key: enter it again: the address changed',
    )
    expect(opened(sealedAfter(secrets, { ...write, given: 'new', addresses: moved }))).toBe('new')
    expect(sealedAfter(secrets, { ...write, given: null, addresses: moved })).toBeNull()
  })

  it('that does not open here is as none', () => {
    expect(openStored(memorySecrets(), write.was, write.place)).toBeNull()
    expect(openStored(secrets, write.was, 'settings/y/key')).toBeNull()
  })
})

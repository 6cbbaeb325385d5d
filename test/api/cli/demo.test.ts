/** `svc demo` through the command, before the real daemon's server. */
import { expect, it, onTestFinished } from 'vitest'
import { openDoor } from '../http/door.ts'
import { svc } from './cli-harness.ts'

async function open() {
  const door = await openDoor()
  onTestFinished(() => door.close())
  const base = await door.app.listen({ port: 0, host: '127.0.0.1' })
  const demo = async (...words: string[]) => {
    const { code, out, err } = await svc(['demo', ...words, '--svcd', base])
    return { code, out: out.trim(), err: err.trim() }
  }
  const names = async (path: string): Promise<string[]> => {
    const answer = await fetch(base + path)
    return ((await answer.json()) as { name: string }[]).map(({ name }) => name)
  }
  return { demo, names }
}

it('loads it, breaks and mends a service, and removes it with all that it made', async () => {
  const { demo, names } = await open()
  expect((await demo('status')).out).toBe('demo not loaded; load it with svc demo start')
  const started = await demo('start')
  expect(started).toMatchObject({ code: 0, err: '' })
  expect(started.out).toMatch(/^demo loaded \S+; broken: \w+ since \S+; can be broken: /)
  expect(await names('/api/sources')).not.toEqual([])

  expect((await demo('break', 'search')).out).toMatch(/broken: .*search since \S+/)
  expect((await demo('status')).out).toMatch(/broken: .*search since \S+/)
  expect((await demo('mend', 'search')).out).not.toContain('search since')
  expect((await demo('mend')).out).toContain('broken: nothing')

  expect((await demo('remove')).out).toMatch(
    /^demo removed: [1-9][\d,]* events?, [1-9]\d* incidents?, \d+ runs?$/,
  )
  expect((await demo('status')).out).toBe('demo not loaded; load it with svc demo start')
  expect(await names('/api/sources')).toEqual([])
})

it('says what it cannot do: a service that is none, and breaking what is not loaded', async () => {
  const { demo } = await open()
  const none = await demo('break', 'basement')
  expect(none.code).not.toBe(0)
  expect(none.err).toContain('checkout, payments, cart, search')
  const unloaded = await demo('break', 'cart')
  expect(unloaded.code).not.toBe(0)
  expect(unloaded.err).toMatch(/demo/)
})

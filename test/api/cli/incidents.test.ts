/** `svc incidents` before a real server (19, step 2). */
import { expect, it, onTestFinished } from 'vitest'
import { openDoor } from '../http/door.ts'
import { svc } from './cli-harness.ts'

async function open() {
  const door = await openDoor()
  onTestFinished(() => door.close())
  const { url } = await door.source('app', { labels: [{ name: 'service', field: 'service', primary: true }] })
  const trigger = { name: 't', sources: ['app'], condition: { event: 'any' }, cooldown: '1s' }
  await door.call('POST', '/api/triggers', trigger)
  for (const service of ['checkout', 'search']) await door.call('POST', url, { service })
  const base = await door.app.listen({ port: 0, host: '127.0.0.1' })
  const ran = async (...words: string[]) => {
    const { code, out, err } = await svc(['incidents', ...words, '--svcd', base])
    return { code, out: out.trim(), err: err.trim() }
  }
  return { door, ran }
}

it('lists what is not handled, shows one, and says how a list goes on', async () => {
  const { ran } = await open()
  const listed = await ran('list')
  expect(listed.out.split('\n')[0]).toMatch(/^ID +SEVERITY +STATE +ENTITY +LAST FIRED +FIRINGS +WHAT$/)
  expect(listed.out).toContain('service=checkout')
  expect((await ran('--entity', 'service=search')).out).not.toContain('checkout')
  expect((await ran('list', '--limit', '1')).err).toContain('--before')
  expect((await ran('list', '--state', 'handled')).out).toBe('no incidents')
  const { out } = await ran('show', 'inc_1')
  expect(out).toContain('incident inc_1, warning, open')
  expect(out).toMatch(/^fired +once, \S+Z$/m)
  expect(out).toContain('opened by svc')
})

it('acts on one as the name that is given; who comes second is told who was first', async () => {
  const { ran } = await open()
  expect((await ran('ack', '1', '--by', 'mara')).out).toBe('inc_1: acknowledged by mara')
  const late = await ran('ack', 'inc_1', '--by', 'jonas')
  expect(late.code).not.toBe(0)
  expect(late.err).toContain('is acknowledged and does not accept acknowledge')
  expect((await ran('snooze', '1')).out).toBe('inc_1: snoozed by somebody until it changes')
  expect((await ran('snooze', '1', '--until', 'soon')).err).toContain('until')
  expect((await ran('handle', '1', '--by', 'mara')).out).toBe('inc_1: handled by mara')
  expect((await ran('reopen', '1', '--by', 'mara')).out).toBe('inc_1: open')
})

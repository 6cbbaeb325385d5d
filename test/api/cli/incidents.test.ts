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
  const runs =
    (noun: string) =>
    async (...words: string[]) => {
      const { code, out, err } = await svc([noun, ...words, '--svcd', base])
      return { code, out: out.trim(), err: err.trim() }
    }
  return { door, url, ran: runs('incidents'), maintenance: runs('maintenance') }
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

it('plans maintenance, which holds back what fires of it, moves its end and ends it', async () => {
  const { door, url, ran, maintenance } = await open()
  expect((await maintenance()).out).toBe('no maintenance is planned')
  for (const [words, said] of [
    [['--entity', 'service=billing', '--for', '1h'], '--reason must say what the work is'],
    [
      ['--reason', 'Upgrade', '--entity', 'service=billing'],
      'either --until or --for must say how long it lasts',
    ],
  ] as const)
    expect(await maintenance('add', ...words)).toMatchObject({ code: 64, err: expect.stringContaining(said) })
  const typo = await maintenance('add', '--reason', 'Upgrade', '--trigger', 'tt', '--for', '1h')
  expect(typo).toMatchObject({ code: 1, err: expect.stringContaining('triggers[0]: no trigger is named tt') })
  const of = ['--entity', 'service=billing', '--entity', 'service=orders', '--trigger', 't']
  const added = await maintenance('add', '--reason', 'Upgrade', ...of, '--for', '1h', '--by', 'mara')
  expect(added.out).toMatch(
    /^mnt_1 active until \S+: Upgrade \(service=billing, service=orders, trigger t\)$/,
  )
  await door.call('POST', url, { service: 'orders' })
  expect((await ran('show', '3')).out).toMatch(/warning, snoozed by mara until \S+ for maintenance$/m)
  const later = new Date(Date.now() + 7_200_000).toISOString()
  expect((await maintenance('until', 'mnt_1', later)).out).toContain(`active until ${later}`)
  expect((await maintenance('list')).out).toMatch(/^mnt_1 +active .* 1 +service=billing/m)
  expect((await maintenance('end', 'mnt_1')).out).toContain('mnt_1 over since')
  expect((await ran('show', '3')).out).toContain('warning, open')
  expect((await maintenance('list', '--state', 'over')).out).toContain('mnt_1')
  expect((await maintenance('end', '1')).err).toContain('maintenance window mnt_1 is over since')
})

it('plans maintenance that repeats, leaves one out, and ends it for good', async () => {
  const { maintenance } = await open()
  const add = (...words: string[]) =>
    maintenance('add', '--reason', 'Backup', '--entity', 'host=db-1', ...words)
  for (const [words, said] of [
    [
      ['--cron', '0 2 * * 0', '--until', '2098-01-01T00:00:00Z'],
      'with --cron, --for must say how long each lasts',
    ],
    [['--for', '1h', '--time-zone', 'Europe/Paris'], '--time-zone goes with --cron'],
  ] as const)
    expect(await add(...words)).toMatchObject({ code: 64, err: expect.stringContaining(said) })
  const added = await add('--cron', '30 2 * * 0', '--time-zone', 'Europe/Paris', '--for', '1h')
  const planned =
    /^mnt_1 (planned from (\S+)|active) until \S+, every Sunday at 02:30 \(Europe\/Paris\): Backup \(host=db-1\)$/
  expect(added.out).toMatch(planned)
  expect((await maintenance('list')).out).toMatch(/every Sunday at 02:30 \(Europe\/Paris\)$/m)
  const next = (await maintenance('end', 'mnt_1')).out
  expect(next).toMatch(planned)
  expect(planned.exec(next)![2]).not.toBe(planned.exec(added.out)![2])
  expect((await maintenance('end', 'mnt_1', '--stop-repeating')).out).toMatch(/^mnt_1 over since \S+: Backup/)
  expect((await maintenance('list')).out).toBe('no maintenance is planned')
})

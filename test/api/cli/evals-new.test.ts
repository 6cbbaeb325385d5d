/** `svc evals new`: a run of a real engine over the real API; a scripted server is in place of the model. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildServer } from '../../../api/http/server.ts'
import { openRunWorld, type RunWorld } from '../../engine/agents/runs/run-world.ts'
import { svc } from './cli-harness.ts'

let world: RunWorld
let url: string
let run: string
let events: string[]
let stop: () => Promise<unknown>
const folder = mkdtempSync(join(tmpdir(), 'evals-new-'))

beforeAll(async () => {
  world = await openRunWorld()
  await world.trigger({
    condition: { event: 'any' },
    filters: [{ field: 'event_type', op: 'eq', value: 'page' }],
  })
  await world.agent({ name: 'triage', trigger: 't', concludes: true })
  events = await world.post([
    { type: 'deployed', msg: 'deployed v2 for ada@corp.example', service: 'shop', at: at(-600) },
    { type: 'error', msg: 'price is negative', service: 'shop', at: at(-300) },
    { type: 'error', msg: 'price is negative again', service: 'shop', at: at(-200) },
  ])
  const claims = [{ text: 'The price.', events: [events[1]], quote: 'price is negative' }]
  world.models.reply('m1', [
    {
      calls: [
        { name: 'conclude', arguments: { outcome: 'finding', summary: 'The price is wrong.', claims } },
      ],
    },
  ])
  world.pass(1_000)
  await world.post({ type: 'page', msg: 'firing', service: 'shop', at: at(0) })
  run = (await world.settled())[0]!.id
  const config = { host: '127.0.0.1', port: 0, rootToken: null, publicUrl: null, allowedHosts: [] }
  const app = await buildServer({
    engine: world.engine,
    log: pino({ level: 'silent' }),
    config: { ...config, version: '1.0.0', hostedUrls: {}, consoleDir: null },
  })
  url = await app.listen({ host: '127.0.0.1', port: 0 })
  stop = () => app.close()
})
afterAll(async () => {
  await stop()
  await world.close()
})

const at = (seconds: number) => new Date(world.clock.at + seconds * 1000).toISOString()
const make = (...args: string[]) =>
  svc(['evals', 'new', '--run', run, '--out', folder, '--svcd', url, ...args])
const text = (name: string) => readFileSync(join(folder, run, name))

it('a wrong finding becomes a scenario by its run and the event that was the cause', async () => {
  const { code, out, err } = await make(
    '--cause',
    events[0]!,
    '--effect',
    `${events[1]},${events[2]}`,
    '--yes',
  )
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('root: deployed v2 for user-1@example\\.invalid')
  expect(out).toContain('replaced by stand-ins: email 1')
  const truth = JSON.parse(text('truth.json').toString())
  expect(truth).toMatchObject({ entity: 'shop', outcome: 'finding' })
  const lines = gunzipSync(text('events.ndjson.gz')).toString()
  expect(lines).not.toContain('corp.example')
  // What was found of it would tell the answer.
  expect(lines).not.toContain('The price is wrong')
  const scripted = await svc(['evals', 'run', '--pack', folder, '--noise', '0', '--scripted'])
  expect(scripted.out).toMatch(/\n0 +script rules +1 +1 +1\.00/)
})

it('writes over no scenario that somebody edited, unless it is asked and told to', async () => {
  const path = join(folder, run, 'truth.json')
  const made = text('truth.json').toString()
  const again = ['--cause', events[0]!, '--effect', `${events[1]},${events[2]}`]
  expect((await make(...again, '--yes')).code).toBe(0)
  const edited = made.replace('"shop"', '"the shop"')
  writeFileSync(path, edited)
  const { code, err } = await make(...again, '--yes')
  expect([code, err]).toEqual([65, expect.stringContaining('whose truth.json says otherwise')])
  expect(text('truth.json').toString()).toBe(edited)
  const args = ['evals', 'new', '--run', run, '--out', folder, '--svcd', url, ...again]
  expect((await svc(args, { isTerminal: true, confirm: true })).code).toBe(0)
  expect(text('truth.json').toString()).toBe(made)
  rmSync(join(folder, run), { recursive: true })
})

it('replaces a name that only sentences have, where it is named', async () => {
  const { code } = await make('--cause', events[0]!, '--replace', 'negative', '--yes')
  expect(code).toBe(0)
  const lines = gunzipSync(text('events.ndjson.gz')).toString()
  expect(lines).toContain('price is name-1 again')
  expect(lines).not.toContain('negative')
})

it('without a cause takes what the run claimed and what held; nothing is written before somebody says so', async () => {
  const other = mkdtempSync(join(tmpdir(), 'evals-new-'))
  const asked = await svc(['evals', 'new', '--run', run, '--out', other, '--svcd', url])
  expect([asked.code, asked.err]).toEqual([64, expect.stringContaining('say --yes to write it')])
  expect(asked.out).toContain('root: price is negative')
  expect(readdirSync(other)).toEqual([])
  const { code } = await svc(['evals', 'new', '--run', run, '--out', other, '--svcd', url], {
    ...{ isTerminal: true, confirm: true },
  })
  expect([code, readdirSync(other)]).toEqual([0, [run]])
})

it.each([
  [['--cause', 'evt_999999'], 'evt_999999 is none of the events that the run could read', 65],
  [['--run', 'run_none'], 'no run has the id run_none', 1],
])('refuses %j with a sentence', async (args, sentence, exit) => {
  const { code, err } = await make('--yes', ...args)
  expect(err).toContain(sentence)
  expect(code).toBe(exit)
})

it('says where it cannot write, and ends with 74', async () => {
  const out = join(mkdtempSync(join(tmpdir(), 'evals-new-')), 'file')
  writeFileSync(out, '')
  const { code, err } = await make('--cause', events[0]!, '--yes', '--out', out)
  expect([code, err]).toEqual([
    74,
    expect.stringContaining(
      `svc: cannot write ${join(out, run, 'events.ndjson.gz')}: what is above it is no folder`,
    ),
  ])
})

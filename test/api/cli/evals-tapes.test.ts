/** Tapes (issue 17, part 1 and done when 3): answers of a model, a scripted server here, replayed without it. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EvalReport } from '../../../schemas/types.ts'
import { currentDaemon } from '../../../scripts/build.mjs'
import { type ScriptedModels, startScriptedModels } from '../../models/scripted-server.ts'
import { SHORT_LIVED } from '../../short-lived.ts'
import { svc } from './cli-harness.ts'

const SECRET = 'AKIAIOSFODNN7EXAMPLE'
const ONE = ['--only', 'a-certificate-ends', '--noise', '300']
const newFolder = () => mkdtempSync(join(tmpdir(), 'evals-tapes-'))
const tapes = newFolder()
const first: string[] = []
let server: ScriptedModels

beforeAll(async () => {
  server = await startScriptedModels()
  server.reply('m1', ({ body }) => {
    const said = JSON.stringify(body.messages)
    if (body.messages.length === 1) {
      first.push(JSON.stringify({ system: body.system, messages: body.messages }))
      return {
        text: `I look, with ${SECRET}`,
        calls: [{ name: 'read', arguments: { selector: { service: 'auth' } } }],
      }
    }
    const cited = /(evt_\d+) [^\n]*certificate of auth/.exec(said)![1]!
    const claims = [{ text: 'The certificate expired.', events: [cited], quote: 'expired' }]
    return { calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Expired.', claims } }] }
  })
  const env = { PROVIDERA_API_KEY: 'secret-key-of-a', PROVIDERA_BASE_URL: server.url }
  const args = ['evals', 'run', ...ONE, '--model', 'm1', '--repeat', '2', '--max-usd', '1']
  const { code, err } = await svc([...args, '--record', tapes], { env })
  expect([code, err]).toEqual([0, ''])
})
afterAll(() => server.close())

async function reportOf(...args: string[]): Promise<EvalReport> {
  const { out } = await svc(['evals', 'run', ...ONE, '--model', 'm1', '--repeat', '2', '--json', ...args], {
    env: {},
  })
  return (JSON.parse(out) as { report: EvalReport }).report
}
const ofModel = ({ runs }: EvalReport) => runs.filter(({ scripted }) => !scripted)

it('what a model is asked first is the same to the byte, each time', () => {
  expect(first).toHaveLength(2)
  expect(first[0]).toBe(first[1])
})

it('are readable JSON, one file for each scenario, level and agent, with no secret in them', () => {
  const [name] = readdirSync(tapes)
  expect(name).toMatch(/^a-certificate-ends\.300\.m1-brief\.[0-9a-f]{6}\.json$/)
  const text = readFileSync(join(tapes, name!), 'utf8')
  const tape = JSON.parse(text) as { calls: { replies: unknown[] }[] }
  expect(tape.calls.map(({ replies }) => replies.length).reduce((a, b) => a + b)).toBe(4)
  expect(text).not.toMatch(new RegExp(`${SECRET}|secret-key-of-a|127\\.0\\.0\\.1`))
})

it('replay in another folder, as another person, in another time zone and language, and score the same', async () => {
  const before = server.requests.length
  const [here] = ofModel(await reportOf('--tapes', tapes))
  const [cwd, home] = [newFolder(), newFolder()]
  cpSync(tapes, join(cwd, 'copied'), { recursive: true })
  const command = await currentDaemon('dist/test-evals-tapes')
  const args = [command, 'evals', 'run', ...ONE, '--model', 'm1']
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...SHORT_LIVED, ...args, '--repeat', '2', '--tapes', 'copied', '--json'],
    {
      cwd,
      env: { HOME: home, TZ: 'Asia/Kathmandu', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
      maxBuffer: 1 << 26,
    },
  )
  const there = ofModel((JSON.parse(stdout) as { report: EvalReport }).report)
  expect(there).toHaveLength(2)
  for (const { stale, status, score, claims } of there) {
    expect([stale, status, score.cause]).toEqual([null, 'succeeded', 1])
    expect(claims).toEqual(here!.claims)
  }
  expect(server.requests).toHaveLength(before)
})

it('that no longer fit are stale, neither passed nor failed, and name the first difference', async () => {
  const prompt = join(newFolder(), 'prompt.md')
  writeFileSync(prompt, 'You are paged for a service. Find out why.')
  const junit = join(newFolder(), 'a.xml')
  const stale = ofModel(await reportOf('--tapes', tapes, '--prompt-file', prompt, '--junit', junit))
  expect(stale.map((run) => run.stale)).toEqual(
    Array.from({ length: 2 }, () =>
      expect.stringMatching(/^the system prompt differs: at character \d+ it was /),
    ),
  )
  expect(readFileSync(junit, 'utf8')).toMatch(
    /classname="m1 brief\.300"[^>]*><skipped message="stale: the system prompt differs/,
  )
  const once = ofModel(await reportOf('--tapes', tapes, '--repeat', '3'))
  expect(once.map(({ stale: why }) => why)).toEqual([
    null,
    null,
    'what is asked was asked fewer times when it was recorded',
  ])
  expect(ofModel(await reportOf('--tapes', newFolder()))[0]!.stale).toMatch(
    /^there is no tape a-certificate-ends\./,
  )
})

it.each([
  [['--tapes', 'no-such-folder'], 'there is no folder of tapes no-such-folder', 66],
  [['--tapes', 'a', '--record', 'b'], '--record asks models and --tapes does not: say one of them', 64],
])('refuses %j with a sentence', async (args, sentence, exit) => {
  const { code, err } = await svc(['evals', 'run', ...ONE, ...args], { env: {} })
  expect([code, err]).toEqual([exit, expect.stringContaining(sentence)])
})

it('whatever cannot be written, or handed in, is said before a model is asked', async () => {
  const folder = newFolder()
  const [plain, kept] = [join(folder, 'plain'), join(folder, 'kept.json')]
  writeFileSync(plain, '')
  writeFileSync(kept, 'kept')
  const before = server.requests.filter(({ path }) => path.endsWith('/messages')).length
  const env = { PROVIDERA_API_KEY: 'key', PROVIDERA_BASE_URL: server.url }
  const run = (...args: string[]) =>
    svc(['evals', 'run', ...ONE, '--model', 'm1', '--max-usd', '1', ...args], { env })
  for (const args of [
    ['--out', join(plain, 'a.json')],
    ['--junit', folder],
    ['--html', join(folder, 'none', 'a.html')],
    ['--record', join(plain, 'tapes')],
  ]) {
    const { code, err, out } = await run('--out', kept, ...args)
    expect([args, code, out, err]).toEqual([args, 74, '', expect.stringContaining(`cannot write ${args[1]}`)])
  }
  const { code } = await run('--publish', '--svcd', 'http://127.0.0.1:1')
  expect(code).toBe(69)
  expect(server.requests.filter(({ path }) => path.endsWith('/messages'))).toHaveLength(before)
  expect([readFileSync(kept, 'utf8'), readdirSync(folder).sort()]).toEqual(['kept', ['kept.json', 'plain']])
})

it('are no pack where they are a file', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  const { code, err } = await svc(['evals', 'check', '--pack', file])
  expect([code, err]).toEqual([
    66,
    `svc: pack: ${file} holds no incident, a folder with truth.json and events.ndjson.gz\n`,
  ])
})

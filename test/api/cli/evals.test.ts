/** `svc evals`: no daemon; a key only where a model is to run, here of a scripted server in place of a provider. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { EvalReport } from '../../../schemas/types.ts'
import { startScriptedModels } from '../../models/scripted-server.ts'
import { answer, startStub, svc } from './cli-harness.ts'

it('measures the pack of svc itself, brief and plain side by side', async () => {
  const { code, out } = await svc(['evals', 'measure', '--noise', '500', '--budget', '2000'])
  expect(code).toBe(0)
  expect(out).toMatch(
    /^noise +budget +shown +kind +incidents +key facts +a root +root at +suspect 1 3 5 +tokens +a fact +over +ms\n/,
  )
  expect(out).toMatch(
    /\n500 +2000 +brief +all +39 +0\.9\d +32\/32 +\d+ % +[01]\.\d\d [01]\.\d\d [01]\.\d\d +\d+ +\d+ +0 /,
  )
  expect(out).toMatch(/\n500 +2000 +plain +all +39 +0\.\d\d +\d+\/32 /)
  expect(out).toContain('Not shown by brief:')
})

it('prints each measurement as JSON', async () => {
  const { out } = await svc(['evals', 'measure', '--noise', '0', '--budget', '200', '--json'])
  const { measured } = (JSON.parse(out) as { report: EvalReport }).report
  expect(measured).toHaveLength(78)
  expect(measured[0]).toMatchObject({ id: 'a-deploy-breaks-it', noise: 0, budget: 200, way: 'brief' })
})

it('measures what is held out alone', async () => {
  const { out } = await svc(['evals', 'measure', '--held-out', '--noise', '0', '--budget', '2000'])
  expect(out).toMatch(/\n0 +2000 +brief +all +1[12] +/)
})

it('measures a variant of the pack, in which less is known of its events', async () => {
  const asked = ['evals', 'measure', '--noise', '500', '--budget', '2000', '--variant', 'one-source']
  expect((await svc(asked)).out).toMatch(/\n500 +2000 +brief +all +39 +0\.9\d +3[12]\/32 /)
})

it.each([
  [['--noise', '-1'], '--noise takes whole numbers from 0 to 1000000', 64],
  [['--noise', '10,x'], '--noise takes whole numbers', 64],
  [['--budget', '10'], '--budget takes whole numbers from 200 to 100000', 64],
  [['--variant', 'no-labels'], '--variant takes one-source, no-places, one-type, no-history', 64],
  [['--pack', 'no-such-folder'], 'holds no incident', 66],
])('refuses %j with a sentence', async (args, sentence, exit) => {
  const { code, err } = await svc(['evals', 'measure', ...args])
  expect(code).toBe(exit)
  expect(err).toContain(sentence)
})

const ONE = ['--only', 'a-certificate-ends', '--noise', '300']

it('runs the scripted agents without a provider, and says so', async () => {
  const { code, out, err } = await svc(['evals', 'run', ...ONE], { env: {} })
  expect(code).toBe(0)
  expect(err).toContain('No model provider is set (PROVIDERA_API_KEY): only the scripted agents run.')
  expect(out).toMatch(/^noise +agent +scenarios +runs +cause \(95 %\)/)
  expect(out).toMatch(/\n300 +script newest +1 +1 +0\.00/)
  expect(out).toMatch(/\n300 +script rules +1 +1 +1\.00/)
  expect(out).toMatch(/cause by level +level \d/)
  expect(out).toMatch(/\n300 +script rules +1\.00 \(1\)/)
  expect(out).toMatch(
    /level \d, 300 events around: the rules name all causes of 1 of 1, [\d,]+ tokens a run \(goal 11 of 12: reached\)/,
  )
})

it('runs models of a provider, several times each, within what may be spent; reports are compared', async () => {
  const server = await startScriptedModels()
  const folder = mkdtempSync(join(tmpdir(), 'evals-'))
  const file = (name: string) => join(folder, name)
  server.reply('m1', ({ body }) => {
    const cited = /(evt_\d+) [^\n]*certificate of auth/.exec(JSON.stringify(body.messages))![1]!
    const claims = [{ text: 'The certificate expired.', events: [cited], quote: 'expired' }]
    return { calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Expired.', claims } }] }
  })
  const env = { PROVIDERA_API_KEY: 'key', PROVIDERA_BASE_URL: server.url }
  const args = ['evals', 'run', ...ONE, '--model', 'm1', '--repeat', '2']
  try {
    const unsaid = await svc(args, { env })
    expect([unsaid.code, unsaid.err]).toEqual([
      64,
      expect.stringContaining('say what may be spent: --max-usd 5'),
    ])
    expect(server.requests).toHaveLength(0)

    const files = ['--out', file('a.json'), '--junit', file('a.xml'), '--html', file('a.html')]
    const first = await svc([...args, '--max-usd', '1', ...files], { env })
    expect([first.code, first.err]).toEqual([0, ''])
    expect(first.out).toMatch(/\n300 +m1 brief +1 +2 +1\.00 \(1\.00–1\.00\) +100 % +1\/1 +0 /)
    expect(server.requests.filter(({ path }) => path.endsWith('/messages'))).toHaveLength(2)
    expect(readFileSync(file('a.xml'), 'utf8')).toContain(
      'classname="m1 brief.300" name="a-certificate-ends"',
    )
    expect(readFileSync(file('a.html'), 'utf8')).toContain('<th>m1 brief · 300</th>')

    const again = await svc(['evals', 'score', file('a.json'), '--against', file('a.json')])
    expect(again.out).toContain('m1 brief against before, 1 scenario: not shown (+0.00')
  } finally {
    await server.close()
  }
})

it('checks scenarios, and ends with 65 where one is not fit', async () => {
  const { code, out } = await svc(['evals', 'check', ...ONE])
  expect([code, out]).toEqual([0, '1 of 1 scenario is fit\n'])
})

it.each([
  [['run', '--only', 'no-such'], 'the pack has no scenario no-such', 66],
  [['run', '--context', 'all'], '--context takes brief, plain, or both', 64],
  [['run', '--repeat', '0'], '--repeat takes whole numbers from 1 to 50', 64],
  [['run', '--prompt-file', 'no-such-file'], 'cannot read no-such-file', 66],
  [['score', 'no-such-file'], 'cannot read no-such-file', 66],
])('refuses evals %j with a sentence', async (args, sentence, exit) => {
  const { code, err } = await svc(['evals', ...args])
  expect(code).toBe(exit)
  expect(err).toContain(sentence)
})

it('takes no other file for a report', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'evals-')), 'x.json')
  writeFileSync(file, '{"runs": []}')
  const { code, err } = await svc(['evals', 'score', file])
  expect([code, err]).toEqual([
    65,
    expect.stringContaining('is no report of svc evals (write one with --out): '),
  ])
})

it('shows a report before it is handed in: a daemon that refuses it takes no figures away', async () => {
  const daemon = await startStub((seen, response) =>
    seen.url === '/api/whoami'
      ? answer(response, 200, { id: 'key:a', name: 'a', scopes: ['read'], workspace: null })
      : answer(response, 403, { detail: "this credential lacks the 'admin' scope" }),
  )
  const ran = await svc(['evals', 'run', ...ONE, '--scripted', '--publish', '--svcd', daemon.url])
  await daemon.close()
  expect([ran.code, ran.err]).toEqual([77, expect.stringContaining("lacks the 'admin' scope")])
  expect(ran.out).toContain('script rules')
})

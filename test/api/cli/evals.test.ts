/** `svc evals measure`: no daemon, no key, no network. */
import { expect, it } from 'vitest'
import { svc } from './cli-harness.ts'

it('measures the pack of svc itself, brief and plain side by side', async () => {
  const { code, out } = await svc(['evals', 'measure', '--noise', '500', '--budget', '2000'])
  expect(code).toBe(0)
  expect(out).toMatch(/^noise +budget +shown +kind +incidents +key facts +a root +tokens +over +ms\n/)
  expect(out).toMatch(/\n500 +2000 +brief +all +8 +1\.00 +8\/8 +\d+ +0 /)
  expect(out).toMatch(/\n500 +2000 +plain +all +8 +0\.\d\d +\d\/8 /)
  expect(out).toContain('brief shows every fact')
})

it('prints each measurement as JSON', async () => {
  const { out } = await svc(['evals', 'measure', '--noise', '0', '--budget', '200', '--json'])
  const { measured } = JSON.parse(out) as { measured: { way: string; missed: string[] }[] }
  expect(measured).toHaveLength(16)
  expect(measured[0]).toMatchObject({ id: 'a-deploy-breaks-it', noise: 0, budget: 200, way: 'brief' })
})

it.each([
  [['--noise', '-1'], '--noise takes whole numbers from 0 to 1000000', 64],
  [['--noise', '10,x'], '--noise takes whole numbers', 64],
  [['--budget', '10'], '--budget takes whole numbers from 200 to 100000', 64],
  [['--pack', 'no-such-folder'], 'holds no incident', 66],
])('refuses %j with a sentence', async (args, sentence, exit) => {
  const { code, err } = await svc(['evals', 'measure', ...args])
  expect(code).toBe(exit)
  expect(err).toContain(sentence)
})

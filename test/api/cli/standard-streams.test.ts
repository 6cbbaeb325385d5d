/** Issue 16, D: `-` is standard input and output wherever a file is taken. */
import { afterEach, expect, it } from 'vitest'
import { answer, type Stub, startStub, svc } from './cli-harness.ts'

const CHECKED = {
  problems: [],
  warnings: [],
  fingerprint: 'f1',
  plan: {
    creates: 1,
    updates: 0,
    deletes: 0,
    unchanged: 0,
    changes: [{ action: 'create', kind: 'source', name: 'a', fields: [] }],
  },
}
const YAML = 'sources: []\n'

let stub: Stub
afterEach(() => stub.close())
const daemon = async (routes: Record<string, unknown>) => {
  stub = await startStub(({ method, url }, response) =>
    answer(response, 200, routes[`${method} ${url}`] ?? {}),
  )
  return ['--svcd', stub.url]
}
const bodyOf = (n: number) => JSON.parse(stub.requests[n]!.body) as Record<string, unknown>

it('D: a catalog is checked and planned from standard input, and has no name of a file then', async () => {
  const at = await daemon({ 'POST /api/catalog/check': CHECKED })
  const checked = await svc(['catalog', 'check', '-', ...at], { stdin: YAML })
  expect(checked).toMatchObject({ code: 0, out: 'standard input has no problem\n' })
  expect(bodyOf(0)).toEqual({ yaml: YAML })
  const planned = await svc(['catalog', 'plan', '-', ...at], { stdin: YAML })
  expect([planned.code, bodyOf(1)]).toEqual([2, { yaml: YAML }])
})

it('D: a plan saved to standard output is all there is on it, and is applied from standard input', async () => {
  const at = await daemon({
    'POST /api/catalog/check': CHECKED,
    'POST /api/catalog/import': { change_set: 7 },
  })
  const planned = await svc(['catalog', 'plan', '-', '--out', '-', ...at], { stdin: YAML })
  expect(planned.code).toBe(2)
  expect(JSON.parse(planned.out)).toMatchObject({ svc_plan: 1, catalog: YAML, fingerprint: 'f1' })
  expect(planned.err).toContain('1 to create')
  const applied = await svc(['catalog', 'apply', '-', ...at], { stdin: planned.out })
  expect([applied.code, bodyOf(1)]).toEqual([0, { yaml: YAML, fingerprint: 'f1' }])
  const both = await svc(['catalog', 'plan', '-', '--out', '-', '--json', ...at], { stdin: YAML })
  expect([both.code, both.err]).toEqual([64, expect.stringContaining('both write to standard output')])
})

it('D: an export goes to standard output, updated from standard input too', async () => {
  const at = await daemon({
    'GET /api/catalog/export': YAML,
    'POST /api/catalog/export': 'sources: [] # x\n',
  })
  expect(await svc(['catalog', 'export', '-', ...at])).toMatchObject({ code: 0, out: YAML, err: '' })
  const updated = await svc(['catalog', 'export', '--update', '-', ...at], { stdin: YAML })
  expect(updated).toMatchObject({ code: 0, out: 'sources: [] # x\n', err: '' })
  expect(bodyOf(1)).toEqual({ yaml: YAML })
})

it('D: a trigger, a skill and a config are read from standard input', async () => {
  const at = await daemon({ 'POST /api/projects/p/skills/upload': { name: 's', created: true } })
  const trigger = JSON.stringify({ sources: ['a'], condition: { event: 'any' } })
  await svc(['triggers', 'test', '--file', '-', ...at], { stdin: trigger })
  expect(bodyOf(0)).toEqual({ definition: JSON.parse(trigger) })
  await svc(['skills', 'upload', '-', '--project', 'p', ...at], { stdin: '---\nname: s\n---\n' })
  expect(stub.requests.at(-1)!.body).toBe('---\nname: s\n---\n')
  for (const [stdin, code, words] of [
    ['no json', 65, 'standard input is not JSON'],
    ['[]', 65, 'standard input must be a JSON object'],
  ] as const) {
    const ran = await svc(['sources', 'add', 'x', '--connector', 'webhook', '--config', '-', ...at], {
      stdin,
    })
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(words)])
  }
  const missing = await svc(['sources', 'add', 'x', '--connector', 'webhook', '--config', '/no/such', ...at])
  expect(missing.code).toBe(66)
})

it('D: a backup is a file by itself', async () => {
  const at = await daemon({})
  void at
  for (const name of ['backup', 'restore'])
    expect(await svc([name, '-'])).toMatchObject({
      code: 64,
      err: expect.stringContaining(`${name} takes a file by its name`),
    })
})

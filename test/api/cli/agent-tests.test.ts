/** Testing agents by the command, against a real server whose model is scripted. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AgentTest } from '../../../schemas/types.ts'
import { conclude, MINUTE, serveRuns } from '../../contract/served-runs.ts'
import { svc } from './cli-harness.ts'

const fileOf = (text: string, name = 'agents.yaml'): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-agents-')), name)
  writeFileSync(file, text)
  return file
}
const cellsOf = (out: string) => out.split('\n').map((line) => line.trim().split(/\s{2,}/))

/** An agent that looked at checkout and cart; told to be bold it knows the cause of the one, and misses the other. */
async function served() {
  const { world, url } = await serveRuns()
  await world.agent({
    name: 'first-look',
    trigger: 't',
    prompt: 'Be careful.',
    model: 'm1',
    verdicts: [{ verdict: 'investigate' }, { verdict: 'rca' }],
  })
  world.models.reply('m1', ({ body }) => {
    const said = JSON.stringify(body)
    if (!said.includes('Be bold.')) return conclude({ verdict: 'investigate' })
    return said.includes('service=cart')
      ? conclude({ verdict: 'rca', summary: 'The disk is full.' })
      : { calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] }
  })
  for (const service of ['checkout', 'cart']) {
    await world.post({ service, type: 'error', msg: 'cannot pay' })
    await world.settled()
    world.pass(MINUTE)
  }
  const [checkout, cart] = await world.settled()
  const run = (...argv: string[]) => svc([...argv, '--svcd', url])
  const agents = (...argv: string[]) => run('agents', ...argv)
  const add = async () => {
    await agents(
      'example',
      'add',
      'first-look',
      '--run',
      checkout!.id,
      '--name',
      'gateway',
      '--verdict',
      'investigate',
      '--mentions',
      'certificate',
      '/end(ed|s)/',
    )
    await agents(
      'example',
      'add',
      'first-look',
      '--run',
      cart!.id,
      '--name',
      'disk',
      '--verdict',
      'rca',
      '--mentions',
      'disk',
    )
  }
  return { world, agents, add, checkout: checkout!, cart: cart! }
}

describe('svc agents example', () => {
  it('adds, lists and removes what an agent is tested by', async () => {
    const { agents, add, checkout, cart } = await served()
    expect(await agents('examples', 'first-look')).toMatchObject({ code: 0, out: 'no examples\n' })
    await add()
    expect(await agents('example', 'add', 'first-look', '--run', cart.id)).toMatchObject({
      code: 0,
      out: 'added cart 2026-11-20 12:01\n',
    })
    expect(cellsOf((await agents('examples', 'first-look')).out)).toEqual([
      ['NAME', 'EXPECTED', 'MENTIONS', 'ENTITY', 'AS OF', 'RUN'],
      ['cart 2026-11-20 12:01', 'any finding', 'service=cart', cart.as_of, cart.id],
      ['disk', 'rca', 'disk', 'service=cart', cart.as_of, cart.id],
      ['gateway', 'investigate', 'certificate, /end(ed|s)/', 'service=checkout', checkout.as_of, checkout.id],
      [''],
    ])
    expect((await agents('example', 'add', 'first-look', '--run', cart.id, '--name', 'disk')).err).toContain(
      'agent first-look has an example named disk (HTTP 409',
    )
    expect(await agents('example', 'rm', 'first-look', 'disk')).toMatchObject({
      code: 0,
      out: 'removed disk\n',
    })
    expect(await agents('example', 'rm', 'first-look', 'disk')).toMatchObject({
      code: 1,
      err: 'svc: first-look has no example disk\n',
    })
    expect((await agents('example', 'add', 'first-look')).code).toBe(64)
  })
})

describe('svc agents test', () => {
  it('waits, says which pass and why the others did not, and exits with 1', async () => {
    const { agents, add, world } = await served()
    await add()
    const ran = await agents('test', 'first-look')
    expect(ran.code).toBe(1)
    expect(new Set(ran.waits)).toEqual(new Set([1000]))
    const lines = ran.err.split('\n')
    expect([lines[0], lines.at(-2)]).toEqual(['0 of 2 done', 'svc: 1 passed, 1 failed'])
    const { tests } = await world.engine.listAgentTests('first-look', { limit: 1, offset: 0 })
    const failed = tests[0]!.examples[0]!.run_id
    expect(cellsOf(ran.out)).toEqual([
      ['EXAMPLE', 'RESULT', 'COST', 'TIME', 'WHY'],
      [
        'disk',
        'fail',
        '$0.0006',
        '0 ms',
        `verdict was investigate, expected rca; does not mention disk (${failed})`,
      ],
      ['gateway', 'pass', '$0.0006', '0 ms'],
      [''],
      ['1 of 2 passed; $0.0012, 30 tokens, 0 ms'],
      ['no test of another definition to compare with'],
      [''],
    ])
    expect((await agents('test', 'first-look', '--min-pass', '1')).code).toBe(0)
    expect(await agents('test', 'first-look', '--min-pass', '2')).toMatchObject({
      code: 1,
      err: expect.stringContaining('1 passed, 1 failed; 2 must pass'),
    })
  })

  it('tries a prompt that is not saved, and says what it changes', async () => {
    const { agents, add, world } = await served()
    await add()
    await agents('test', 'first-look')
    const ran = await agents('test', 'first-look', '--prompt-file', fileOf('Be bold.\n', 'bold.md'))
    expect([ran.code, ran.out]).toEqual([1, expect.stringMatching(/disk +pass/)])
    expect(ran.out).toContain('verdict was no_op, expected investigate')
    expect(ran.out).toMatch(
      /\nnot saved: another prompt\nagainst [0-9a-f]{12} of 2026-\S+: now passing: disk; now failing: gateway; 1\.00 times the cost\n$/,
    )
    expect(await world.engine.getAgent('first-look')).toMatchObject({ prompt: 'Be careful.' })
    const json = await agents(
      'test',
      'first-look',
      '--prompt-file',
      fileOf('Be bold.'),
      '--json',
      '--min-pass',
      '0',
    )
    expect([json.code, (JSON.parse(json.out) as AgentTest).totals]).toMatchObject([
      0,
      { passed: 1, failed: 1 },
    ])
  })

  it('tries an agent of a file, and says what of it is not tried', async () => {
    const { agents, add } = await served()
    await add()
    const catalog = fileOf(`agents:
  - name: digger
    prompt: Dig.
  - name: first-look
    prompt: Be bold.
    model: m1
    verdicts: [investigate, rca]
`)
    const ran = await agents('test', 'first-look', '--file', catalog, '--min-pass', '1')
    expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('tested as saved')])
    expect(ran.out).toContain('\nnot saved: another prompt\n')
    const alone = fileOf(
      'prompt: Be careful.\nmodel: m1\nmax_rounds: 2\nverdicts: [{ verdict: rca, when: known }]\n',
    )
    const one = fileOf(
      'kind: agent\nname: first-look\nprompt: ((values.how))\nmodel: m1\nvalues: { how: Be shy. }\n',
    )
    const env = fileOf('environment: prod\nvalues: { how: Be bold. }\n')
    const valued = await agents('test', 'first-look', '--file', one, '--env', env, '--min-pass', '1')
    expect([valued.code, valued.out]).toEqual([0, expect.stringContaining('not saved: another prompt')])
    const other = await agents('test', 'first-look', '--file', alone, '--min-pass', '1')
    expect([other.code, other.err]).toEqual([
      0,
      expect.stringMatching(/^tested as saved, though \S+ has something else: verdicts, max_rounds\n/),
    ])
    expect(other.out).not.toContain('not saved')
    expect(await agents('test', 'gone', '--file', catalog)).toMatchObject({
      code: 65,
      err: `svc: ${catalog} has no agent gone; it has digger, first-look\n`,
    })
    expect((await agents('test', 'first-look', '--file', fileOf('name: other\nprompt: x\n'))).err).toContain(
      'has agent other, and not first-look',
    )
    expect((await agents('test', 'first-look', '--file', fileOf('sources: []\n'))).err).toContain(
      'has no prompt of first-look',
    )
  })

  it('refuses what makes no sense', async () => {
    const { agents } = await served()
    const file = fileOf('prompt: x\n')
    expect((await agents('test', 'first-look', '--file', file, '--prompt-file', file)).code).toBe(64)
    expect((await agents('test', 'first-look', '--min-pass', 'some')).code).toBe(64)
    expect((await agents('test', 'first-look')).err).toContain('agent first-look has no examples')
  })
})

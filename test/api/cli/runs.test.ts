/** The command line of runs, against a real server whose model is scripted. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunDetail } from '../../../schemas/types.ts'
import { conclude, MINUTE, serveRuns } from '../../contract/served-runs.ts'
import { svc } from './cli-harness.ts'

const cellsOf = (out: string) => out.split('\n').map((line) => line.trim().split(/\s{2,}/))

/** A run that read, concluded and handed over, and the run that took over and failed. */
async function served() {
  const { world, url } = await serveRuns()
  await world.agent({ name: 'digger', model: 'm2' })
  await world.agent({
    name: 'first-look',
    trigger: 't',
    prompt: 'Look.',
    model: 'm1',
    verdicts: [{ verdict: 'investigate' }],
    handoffs: [{ verdict: 'investigate', agent: 'digger' }],
  })
  // A claim that does not hold is sent back once.
  world.models.reply('m1', ({ body }) =>
    body.messages.length === 1
      ? { text: 'Let me\nsee.', calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }] }
      : conclude({
          verdict: 'investigate',
          headline: 'Gateway\u001b[2J down',
          next_step: 'Call them.',
          claims: [
            { text: 'It cannot pay.', events: ['evt_1'], quote: 'cannot pay' },
            { text: 'It burns.', events: ['evt_1'], quote: 'fire' },
          ],
        }),
  )
  world.models.reply('m2', () => ({ status: 400, error: 'too long' }))
  await world.post({ service: 'checkout', type: 'error', msg: 'cannot pay' })
  const [first, second] = await world.settled()
  world.pass(MINUTE)
  const runs = (...argv: string[]) => svc(['runs', ...argv, '--svcd', url])
  return { world, runs, first: first!, second: second! }
}

describe('svc runs list', () => {
  it('has a line for each, newest first, and narrows', async () => {
    const { runs, first, second, world } = await served()
    const ran = await runs('list')
    expect(cellsOf(ran.out)).toEqual([
      ['ID', 'WHEN', 'AGENT', 'STATUS', 'BY', 'ENTITY', 'TIME', 'COST', 'FOUND'],
      [second.id, second.started_at, 'digger', 'failed', 'handoff', 'checkout', '0 ms', '$0', second.error],
      [
        first.id,
        first.started_at,
        'first-look',
        'succeeded',
        'trigger',
        'checkout',
        '0 ms',
        '$0.0018',
        'investigate: Gateway\\u001b[2J down',
      ],
      [''],
    ])
    const idsOf = async (...argv: string[]) =>
      cellsOf((await runs('list', ...argv)).out).flatMap(([id]) => (id!.startsWith('run_') ? [id] : []))
    expect(await idsOf('--agent', 'digger')).toEqual([second.id])
    expect(await idsOf('--status', 'succeeded')).toEqual([first.id])
    expect(await idsOf('--entity', 'cart')).toEqual([])
    expect(await idsOf('--project', world.project, '--status', 'unsuccessful')).toEqual([second.id])
    expect(await runs('list', '--limit', '1')).toMatchObject({
      err: 'the newest 1 of 2; --limit shows more\n',
    })
    expect((await runs('list', '--status', 'fine')).code).toBe(1)
    expect(await runs('list', '--entity', 'cart')).toMatchObject({ out: 'no runs\n' })
    expect(await runs('list', '--agent', 'none')).toMatchObject({
      code: 1,
      err: expect.stringContaining('none'),
    })
  })
})

describe('svc runs show', () => {
  it('tells what woke it, each step, what it found and who took over', async () => {
    const { runs, first, second } = await served()
    const { code, out } = await runs('show', first.id)
    expect(code).toBe(0)
    const [head, steps, finding] = out.split('\n\n')
    expect(head).toBe(`first-look  succeeded  ${first.id}
woken    trigger t, for service=checkout, firing ${first.dispatch_id}
when     2026-11-20T12:00:00.000Z, took 0 ms
model    providera m1
used     3 of 6 rounds, 1 tools, $0.0018
tokens   30 in, 15 out
verdict  investigate`)
    expect(cellsOf(steps!.trimEnd())).toEqual([
      ['STEP', 'TIME', 'COST', 'WHAT'],
      ['1', 'prompt', '0 ms', expect.stringMatching(/^told \d+ characters, offered \d+ tools$/)],
      ['2', 'model', '0 ms', '$0.0006', 'calls read: Let me see.'],
      ['3', 'tool', '0 ms', expect.stringMatching(/^read \{"selector":\{"service":"checkout"\}\} → /)],
      ['4', 'model', '0 ms', '$0.0006', 'calls conclude'],
      ['5', 'conclude', '0 ms', 'finding, 1 of 2 claims holds'],
      ['6', 'model', '0 ms', '$0.0006', 'calls conclude'],
      ['7', 'conclude', '0 ms', 'finding, 1 of 2 claims holds'],
    ])
    expect(`${finding}\n\n${out.split('\n\n').slice(3).join('\n\n')}`).toBe(`Gateway\\u001b[2J down
The certificate ended.
Next: Call them.

ok  cause: It cannot pay.  evt_1
no  context: It burns.  none of its events has the words "fire"

investigate → digger: done, ${second.id}
`)
    const failed = (await runs('show', second.id)).out
    expect(failed).toContain(`woken    handed over by ${first.id}, for service=checkout`)
    expect(failed).toMatch(/error {4}.*too long/)
  })

  it('shows whole steps, or the answer as it is', async () => {
    const { runs, first, world } = await served()
    const { out } = await runs('show', first.id, '--steps')
    expect(out).toMatch(/\n1 prompt {2}2026-\S+, 0 ms\nsystem:\n {2}Look\./)
    expect(out).toContain('result:\n  ')
    expect(JSON.parse((await runs('show', first.id, '--json')).out)).toEqual(await world.run(first.id))
    expect(await runs('show', 'run_none')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no run has the id run_none'),
    })
  })
})

describe('svc runs rerun and cancel', () => {
  it('repeats one for real, or in practice, with what is asked', async () => {
    const { runs, first, world } = await served()
    const again = async (...argv: string[]): Promise<RunDetail> => {
      const { code, out } = await runs('rerun', first.id, ...argv)
      expect(code).toBe(0)
      await world.settled()
      return world.run(out.trim())
    }
    expect(await again()).toMatchObject({ rerun_of: first.id, practice: false, as_of: first.as_of })
    world.clock.at += 60_000
    const file = join(mkdtempSync(join(tmpdir(), 'svc-runs-')), 'prompt.md')
    writeFileSync(file, 'Look again.\n')
    expect(await again('--practice', '--as-of', 'now', '--prompt-file', file)).toMatchObject({
      practice: true,
      woken_by: 'practice',
      as_of: '2026-11-20T12:02:00.000Z',
      definition: { prompt: 'Look again.' },
    })
    expect(await again('--model', 'm2', '--provider', 'providera')).toMatchObject({
      definition: { model: 'm2', provider: 'providera' },
    })
    expect((await runs('rerun', first.id, '--as-of', 'later')).code).toBe(64)
  })

  it('ends one at work', async () => {
    const { runs, first, world } = await served()
    const asked = new Promise<void>((resolve) => {
      world.models.reply('m1', () => {
        resolve()
        return { delayUntil: new Promise(() => {}) }
      })
    })
    const { out } = await runs('rerun', first.id)
    await asked
    expect(await runs('cancel', out.trim())).toMatchObject({ code: 0, out: `cancelled ${out}` })
    expect(await world.run(out.trim())).toMatchObject({
      status: 'cancelled',
      error: expect.stringMatching(/^cancelled by /),
    })
    expect((await runs('cancel', out.trim())).code).toBe(1)
  })
})

describe('svc runs mark', () => {
  it('issue 17, part 1: marks a finding as right, wrong or partly right, names the cause, and takes the mark away', async () => {
    const { runs, first } = await served()
    const marked = await runs('mark', first.id, 'wrong', '--cause', 'evt_1', '--note', 'not the gateway')
    expect([marked.code, marked.out]).toEqual([
      0,
      `${first.id} is marked as wrong: the cause was evt_1 (not the gateway)\n`,
    ])
    expect((await runs('show', first.id)).out).toContain(
      'marked   wrong: the cause was evt_1 (not the gateway), by ',
    )
    const refused = await runs('mark', first.id, 'wrong', '--cause', 'evt_77')
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('evt_77 is no event that you may read'),
    ])
    expect((await runs('mark', first.id, 'none')).out).toBe(`${first.id} has no mark\n`)
    expect((await runs('mark', first.id, 'good')).code).toBe(64)
  })
})

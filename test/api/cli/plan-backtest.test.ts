/** `svc catalog plan --backtest`: what a change would have done, as text, JSON and Markdown, and in a saved plan. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { planMarkdown } from '../../../api/cli/plan-markdown.ts'
import type { CatalogChecked, ChangePlan, PlanBacktest } from '../../../schemas/types.ts'
import { svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

const run = (...argv: string[]) => svc([...argv, '--svcd', daemon.url])
const folder = mkdtempSync(join(tmpdir(), 'svc-plan-'))
const fileOf = (cooldown: string): string => {
  const file = join(folder, 'shop.yaml')
  writeFileSync(
    file,
    `sources:
  - name: app
    connector: webhook
    config: { labels: [{ name: service, field: service, primary: true }] }
triggers:
  - { name: any, sources: [app], condition: { event: any }, cooldown: ${cooldown} }
`,
  )
  return file
}

/** Four events of two services, one of which has a name that would be Markdown. */
async function sent(): Promise<void> {
  await run('catalog', 'apply', fileOf('1h'), '--yes')
  const { ingest_key } = JSON.parse((await run('sources', 'show', 'app', '--json')).out) as {
    ingest_key: string
  }
  const services = ['@team|`x`', 'pay', '@team|`x`', 'pay']
  // In one body: the clock of the daemon stands still, and what is stored later is not of the past yet.
  for (const body of [JSON.stringify(services.map((service) => ({ service })))]) {
    await fetch(`${daemon.url}/ingest/${ingest_key}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
  }
}

describe('svc catalog plan --backtest', () => {
  it('says what the change would have done, beside the plan that stays as it was', async () => {
    await sent()
    const alone = await run('catalog', 'plan', fileOf('2h'))
    const { code, out } = await run('catalog', 'plan', fileOf('2h'), '--backtest', '1h')
    expect([code, out.startsWith(alone.out)]).toEqual([2, true])
    expect(out).toContain('any (changed): 2 firings before, 2 firings after: all the same\n')
    expect(out).toContain('within a cooldown: 2 before, 2 after')
    expect(out).toMatch(/before {2}·*█/)
    expect(out).toContain('Not known: the oldest stored event is of')
    expect(alone.out).not.toContain('Backtest')
  })

  it('as JSON is what the API says; a saved plan holds it and shows it when it is applied', async () => {
    await sent()
    const json = JSON.parse(
      (await run('catalog', 'plan', fileOf('2h'), '--backtest', '1h', '--json')).out,
    ) as CatalogChecked
    expect(json.backtest!.triggers[0]).toMatchObject({ trigger: 'any', change: 'changed', same: 2 })
    const saved = join(folder, 'plan.json')
    const planned = await run('catalog', 'plan', fileOf('2h'), '--backtest', '1h', '--out', saved)
    expect((JSON.parse(readFileSync(saved, 'utf8')) as { backtest: PlanBacktest }).backtest.scanned).toBe(4)
    const applied = await run('catalog', 'apply', saved)
    expect([applied.code, applied.out]).toEqual([0, planned.out])
  })

  it('as Markdown is short, with its chart, folds the rest, and reads no name as Markdown', async () => {
    await sent()
    const { out } = await run('catalog', 'plan', fileOf('2h'), '--backtest', '1h', '--markdown')
    expect(out).toContain(
      `### Plan of \`${join(folder, 'shop.yaml')}\`\n\n0 to create, 1 to change, 0 to delete.\n`,
    )
    expect(out).toContain('| `any` | changed | 2 | 2 | 0 | 0 |')
    expect(out).toMatch(/```text\nany \(at most 2 in 1m\)\nbefore ·*█\nafter {2}·*█\n/)
    expect(out).toContain('<details><summary>any: 2 firings before, 2 firings after: all the same</summary>')
    expect(out).toContain('| `` @team\\|`x` `` | 1 | 1 |')
    // All but code is free of what GitHub would mention or link.
    expect(out.replace(/`+[^`]*`+/g, '')).not.toContain('@team')
  })

  it('refuses what is no duration, and two forms at once', async () => {
    const wrong = await run('catalog', 'plan', fileOf('2h'), '--backtest', 'week')
    expect([wrong.code, wrong.err]).toEqual([64, expect.stringContaining('--backtest must be a duration')])
    expect((await run('catalog', 'plan', fileOf('2h'), '--json', '--markdown')).code).toBe(64)
  })
})

it('writes a plan without a backtest as Markdown too', () => {
  const plan: ChangePlan = { changes: [], creates: 0, updates: 0, deletes: 0, unchanged: 3 }
  expect(planMarkdown('a`b.yaml', plan)).toBe('### Plan of ``a`b.yaml``\n\nNo change.\n')
})

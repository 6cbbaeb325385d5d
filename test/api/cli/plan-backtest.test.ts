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

describe('the Markdown of a plan', () => {
  const long = (what: string, n: number) => `${what}-${n}-${'x'.repeat(900)}`
  const range = { expected: 1_000, low: 900, high: 1_100 }
  const side = {
    ...{ firings: 9, resolved: 0, cooldown: 1, active: 0, folded: 0, held: 0, dropped: 0 },
    ...{ no_key: 0, no_value: 0, late: 0, errors: 0 },
  }
  const at = '2026-11-20T12:00:00.000Z'
  const of = <T>(n: number, one: (n: number) => T): T[] => Array.from({ length: n }, (_, i) => one(i))

  /** So many of everything, each of it as long as it can be. */
  const backtestOf = (n: number): PlanBacktest => ({
    ...{ from: at, to: at, days: 7, bucket: '6h', scanned: 1_000_000, is_cut: false, unreached: 3 },
    triggers: of(n, (i) => ({
      ...{
        trigger: `trigger-${i}`,
        change: 'changed' as const,
        sentence: long('When', i),
        notes: of(n, (k) => long('note', k)),
      },
      ...{ before: side, after: side, added: 9, gone: 9, same: 0, key_count: n, is_cut: true },
      keys: of(Math.min(n, 50), (k) => ({ key: long('key', k), before: 1, after: 2 })),
      list: of(Math.min(n, 50), (k) => ({
        at,
        key: long('key', k),
        value: 1,
        resolved: false,
        is: 'added' as const,
      })),
      buckets: of(29, () => ({ at, before: 1, after: 2 })),
    })),
    labels: of(n, (i) => ({
      ...{ source: `source-${i}`, events: 9, not_stored: 0, unreadable: 0 },
      labels: [
        {
          label: long('label', i),
          lost: 1,
          gained: 1,
          changed: 1,
          examples: [{ event: 'evt_1', from: long('was', i), to: long('is', i) }],
        },
      ],
    })),
    agents: of(n, (i) => ({
      ...{
        agent: `agent-${i}`,
        triggers: [],
        firings_before: 1,
        firings_after: 1,
        past_runs: 0,
        usd_per_run: null,
      },
      ...{
        runs_before: range,
        runs_after: range,
        usd_before: range,
        usd_after: range,
        basis: long('basis', i),
      },
    })),
    notes: of(n, (i) => long('note', i)),
  })
  const planOf = (n: number): ChangePlan => ({
    changes: of(n, (i) => ({
      ...{ action: 'update' as const, kind: 'trigger' as const, key: `trigger-${i}`, name: `trigger-${i}` },
      fields: [{ path: '/description', from: long('was', i), to: long('is', i) }],
    })),
    ...{ creates: 0, updates: n, deletes: 0, unchanged: 0, warnings: of(n, (i) => long('warning', i)) },
  })

  it('fits in a comment of GitHub, 65,536 characters, whatever there is, and says what it leaves out', () => {
    for (const n of [40, 400]) {
      const text = planMarkdown('shop', planOf(n), backtestOf(n))
      expect(text.length).toBeLessThan(65_536)
      expect(text).toMatch(/_\d+ more sections would not fit in a comment/)
      expect(text).toContain(`and ${n - 30} more triggers`)
      // What stands open is closed again.
      expect(text.match(/<details>/g)!.length).toBe(text.match(/<\/details>/g)!.length)
      expect(text.match(/^`{3,}/gm)!.length % 2).toBe(0)
    }
  })

  it('leaves nothing out of a change that fits', () => {
    const text = planMarkdown('shop', planOf(2), backtestOf(2))
    expect(text).not.toContain('would not fit')
    expect(text.match(/<details>/g)).toHaveLength(4)
    expect(text).toContain('```diff\n')
  })
})

/**
 * Kills the daemon at random instants while agents are at work, and checks that each firing had its
 * chain of two runs exactly once, with one finding of each and what it remembered once, and that each finding was
 * written back and posted to Slack. The model is a scripted server, Slack a stand-in. Run long by `npm run chaos -- runs`, short by test/chaos/runs.test.ts.
 */
import { setTimeout as pause } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { random } from '../engine/log/store/store-harness.ts'
import { type ScriptedReply, startScriptedModels } from '../models/scripted-server.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { ask } from './outage.ts'
import { startToldFindings, type ToldFindings } from './told-findings.ts'

export interface RunReport {
  kills: number
  events: number
  /** Model calls beyond those of a calm daemon: at most one for each kill and run at work. */
  again: number
  /** Orders whose chain is not first, second, each once: must be empty. */
  wrong: string[]
  /** Runs that did not succeed, but for those that were interrupted too often: must be empty. */
  failed: string[]
  /** Runs that were interrupted more often than they are resumed; they say so, and start no other. */
  givenUp: number
  /** Entities without exactly one finding of each agent: must be empty. */
  findings: string[]
  /** Entities not remembered exactly once: must be empty. */
  remembered: string[]
  /** Handoffs that are not done: must be 0. */
  open: number
  /** Findings that were not written back, or not posted: must be empty. */
  untold: string[]
  /** Deliveries of findings that did not end as delivered, or that no finding has: must be empty. */
  astray: string[]
  /** Requests beyond one for each finding: at least once is the promise, and each kill repeats what was under way. */
  toldAgain: number
}

const BATCH = 6
const CALLS = 4

/** Answers by how far the conversation is, as a model does. */
const scripted =
  (next: () => number, replies: ScriptedReply[]) =>
  async ({ body }: { body: Record<string, unknown> }): Promise<ScriptedReply> => {
    const said = (body.messages as { role: string }[]).filter(({ role }) => role === 'assistant').length
    await pause(next() * 40)
    return replies[said] ?? { status: 400, error: 'the script is over' }
  }

/** @param kills how many. @param seed of the load; the timing of the machine is not replayed. */
export async function runAgentKills(dataDir: string, kills: number, seed: number): Promise<RunReport> {
  const next = random(seed)
  const models = await startScriptedModels()
  const conclude = (more: object): ScriptedReply => ({
    calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Seen.', ...more } }],
  })
  models.reply(
    'm1',
    scripted(next, [
      { calls: [{ name: 'stats', arguments: { by: 'order' } }] },
      { calls: [{ name: 'remember', arguments: { content: 'It was here.' } }] },
      conclude({ verdict: 'go' }),
    ]),
  )
  models.reply('m2', scripted(next, [conclude({})]))
  const told = await startToldFindings(() => pause(next() * 300))
  const env = { PROVIDERA_BASE_URL: models.url, PROVIDERA_API_KEY: 'scripted', ...told.env }
  let daemon = await startDaemon(dataDir, [], env)
  const url = await declare(daemon, told.url)
  let counter = 0
  for (let n = 1; n <= kills; n++) {
    const items = Array.from({ length: BATCH }, () => ({ order: `o${counter++}` }))
    await ask(daemon, url, items)
    // The instant is the point of the test; nothing is asserted about time. Each second kill is of a daemon that tells
    // somebody of a finding.
    if (n % 2 === 0) await told.next()
    await pause(20 + next() * 250)
    await daemon.kill()
    daemon = await startDaemon(dataDir, [], env)
  }
  const isOpen = async () => {
    const runs = await fetch(`${daemon.url}/api/runs?status=open&limit=1`)
    if (((await runs.json()) as { total: number }).total > 0) return true
    const sent = await fetch(`${daemon.url}/api/deliveries?status=running&limit=1`)
    return ((await sent.json()) as { deliveries: unknown[] }).deliveries.length > 0
  }
  while (await isOpen()) await pause(50)
  const code = await daemon.stop()
  if (code !== 0) throw new Error(`the daemon ended with ${code}: ${daemon.output.join('\n')}`)
  const asked = models.requests.length
  await models.close()
  await told.close()
  const again = asked - counter * CALLS
  return { kills, events: counter, again, ...inspect(dataDir, counter), ...inspectTold(dataDir, told) }
}

async function declare(daemon: Daemon, webhook_url: string): Promise<string> {
  const tellsTo = { webhook_url, slack_channel: 'C0ALERTS' }
  const { ingest_key } = await ask<{ ingest_key: string }>(daemon, '/api/sources', {
    name: 'orders',
    connector: 'webhook',
    config: { labels: [{ name: 'order', field: 'order', primary: true }] },
  })
  await ask(daemon, '/api/triggers', { name: 'each', sources: ['orders'], condition: { event: 'any' } })
  await ask(daemon, '/api/agents/builtin', {
    name: 'second',
    prompt: 'Dig.',
    model: 'm2',
    concurrency: 50,
    daily_cap: 10_000,
    ...tellsTo,
  })
  await ask(daemon, '/api/agents/builtin', {
    name: 'first',
    prompt: 'Look.',
    model: 'm1',
    trigger: 'each',
    remembers: true,
    concurrency: 50,
    daily_cap: 10_000,
    verdicts: ['go'],
    ...tellsTo,
    handoffs: [{ verdict: 'go', agent: 'second' }],
  })
  await ask(daemon, '/api/agents/builtin/first/enable', {})
  return `/ingest/${ingest_key}`
}

type Told = Pick<RunReport, 'untold' | 'astray' | 'toldAgain'>

function inspectTold(dataDir: string, { writtenBack, posted }: ToldFindings): Told {
  const db = new BetterSqlite3(`${dataDir}/svc.db`, { readonly: true })
  const found = db.prepare("SELECT id FROM runs WHERE state = 'succeeded'").pluck().all() as string[]
  const rows = db
    .prepare(
      'SELECT finding_of AS run, recipient_kind AS kind, state FROM deliveries WHERE finding_of IS NOT NULL',
    )
    .all() as { run: string; kind: string; state: string }[]
  db.close()
  const rowsOf = new Set(rows.map(({ run, kind }) => `${kind} ${run}`))
  const requests = [...writtenBack.values(), ...posted.values()].reduce((sum, times) => sum + times, 0)
  return {
    untold: found.filter((run) => !writtenBack.has(run) || !posted.has(run)),
    astray: [
      ...rows
        .filter(({ state }) => state !== 'delivered')
        .map(({ run, kind, state }) => `${kind} ${run} ${state}`),
      // One of each for each finding.
      ...(rowsOf.size === rows.length && rows.length === 2 * found.length ? [] : [`${rows.length} rows`]),
      ...[...writtenBack.keys(), ...posted.keys()].filter((run) => !found.includes(run)),
    ],
    toldAgain: requests - rows.length,
  }
}

function inspect(
  dataDir: string,
  events: number,
): Omit<RunReport, 'kills' | 'events' | 'again' | keyof Told> {
  const db = new BetterSqlite3(`${dataDir}/svc.db`, { readonly: true })
  const runs = db.prepare('SELECT id, entity, agent, state, error FROM runs ORDER BY seq').all() as {
    id: string
    entity: string
    agent: string
    state: string
    error: string | null
  }[]
  const open = db.prepare("SELECT count(*) FROM handoffs WHERE state <> 'done'").pluck().get() as number
  const raws = (type: string) =>
    (
      db
        .prepare(
          `SELECT CAST(e.raw AS TEXT) FROM events e JOIN sources s ON s.id = e.source_id WHERE s.connector = ?`,
        )
        .pluck()
        .all(type) as string[]
    ).map((raw) => JSON.parse(raw) as { key: string; agent?: string })
  const findings = raws('finding')
  const memories = raws('memory')
  db.close()
  const isGivenUp = ({ error }: { error: string | null }) => error === 'it was interrupted again and again'
  const givenUp = new Set(runs.filter(isGivenUp).map(({ entity }) => entity))
  const orders = Array.from({ length: events }, (_, n) => `o${n}`).filter((order) => !givenUp.has(order))
  const chainOf = (order: string) =>
    runs
      .filter(({ entity }) => entity === order)
      .map(({ agent }) => agent)
      .join(' ')
  return {
    wrong: orders.filter((order) => chainOf(order) !== 'first second'),
    givenUp: givenUp.size,
    failed: runs
      .filter((run) => run.state !== 'succeeded' && !isGivenUp(run))
      .map(({ id, state, error }) => `${id} ${state} ${error}`),
    findings: orders.filter((order) => {
      const agents = findings.filter(({ key }) => key === order).map(({ agent }) => agent)
      return agents.sort().join(' ') !== 'first second'
    }),
    remembered: orders.filter((order) => memories.filter(({ key }) => key === order).length !== 1),
    open,
  }
}

/**
 * `npm run bench [-- --events 10000000 --only store,brief,declared,beside,files,sync,triggers,forecast,agents,mcp,graph,console]`: durable ingest over HTTP and reads, as ratios to bare
 * better-sqlite3 and to the same server without a store, measured in one run. Absolute numbers
 * are this machine's; the ratios and the limits beside them are what to compare.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { buildSync } from 'esbuild'
import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { measureRunCost, measureStorm, memoryMb } from './agents.ts'
import { bareInsertRate } from './bare.ts'
import { measureBrief } from './brief.ts'
import { type FilesMeasure, measureCatalogFiles } from './catalog-files.ts'
import { measureCatalogSync, syncedRepository } from './catalog-sync.ts'
import { measureConsole } from './console.ts'
import { createGenerator, makeBodies, SOURCE } from './data.ts'
import { measureDeclared, measurePostsBeside } from './declared.ts'
import { measureForecast } from './forecast.ts'
import { measureGraphFrames } from './graph.ts'
import { sendAll } from './http.ts'
import { measureMcpCost } from './mcp.ts'
import { measureJoined, measureReads } from './reads.ts'
import { measureTriggerCost, measureWebhookLatency } from './triggers.ts'

const { values } = optionsGiven()

/** An option that is mistyped is told as a sentence. */
function optionsGiven() {
  try {
    return parseArgs({
      options: {
        events: { type: 'string', default: '1000000' },
        seed: { type: 'string', default: '1' },
        only: { type: 'string' },
      },
    })
  } catch (error) {
    console.error(`svc: ${(error as Error).message}`)
    return process.exit(1)
  }
}
/** Events before the first round, for V8 to compile what is hot; then rounds of so many. */
const WARM = 50_000
const ROUNDS = 5
const SAMPLE = 150_000
const total = Math.max(Number(values.events), WARM + ROUNDS * SAMPLE)
const end = Date.now()
const generator = createGenerator(Number(values.seed), end)
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const results: { what: string; value: string; goal: string; ok: boolean | null }[] = []

function report(what: string, value: string, goal = '', ok: boolean | null = null): void {
  results.push({ what, value, goal, ok })
  console.log(`${ok === false ? '✗' : ok ? '✓' : ' '} ${what}: ${value}${goal ? `  (goal ${goal})` : ''}`)
}
const thousands = (n: number): string => Math.round(n).toLocaleString('en')

async function createSource(daemon: Daemon): Promise<string> {
  const answer = await fetch(`${daemon.url}/api/sources`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(SOURCE),
  })
  return `${daemon.url}/ingest/${((await answer.json()) as { ingest_key: string }).ingest_key}`
}

/** After as long unmeasured, for V8 to compile what is hot: with a store that is more code than without. */
async function singlePosts(url: string, line: string): Promise<{ perSecond: number; p99: number }> {
  const options = {
    url,
    connections: 64,
    duration: 6,
    method: 'POST',
    body: line,
    headers: { 'content-type': 'application/json' },
  } as const
  await autocannon(options)
  const run = await autocannon(options)
  if (run.non2xx > 0 || run.errors > 0) throw new Error(`${run.non2xx} refused, ${run.errors} failed`)
  return { perSecond: run.requests.average, p99: run.latency.p99 }
}

const YARDSTICKS = {
  'no-store': new URL('./no-store.ts', import.meta.url),
  'plain-http': new URL('./plain-http.ts', import.meta.url),
}

/** Single posts that each of the addresses of a yardstick answers in a second. @param queries one for each */
async function postsOf(
  yardstick: keyof typeof YARDSTICKS,
  line: string,
  queries: readonly string[] = [''],
): Promise<number[]> {
  const bundle = fileURLToPath(new URL(`../../dist/bench/${yardstick}.mjs`, import.meta.url))
  buildSync({
    entryPoints: [fileURLToPath(YARDSTICKS[yardstick])],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: bundle,
    logLevel: 'error',
  })
  cpSync(
    fileURLToPath(new URL('../../engine/log/store/migrations', import.meta.url)),
    join(dirname(bundle), 'migrations'),
    { recursive: true },
  )
  cpSync(
    fileURLToPath(new URL('../../catalog/presets.json', import.meta.url)),
    join(dirname(bundle), 'catalog/presets.json'),
    { recursive: true },
  )
  const child = spawn(process.execPath, [bundle], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${yardstick} did not start`)
  })
  const [started] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  ended.catch(() => undefined)
  const [, url, key] = /console at (\S+) (\S+)/.exec(started)!
  const rates: number[] = []
  for (const query of queries) rates.push((await singlePosts(`${url}/ingest/${key}${query}`, line)).perSecond)
  child.kill()
  return rates
}

/** The middle one. */
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

async function measureStore(): Promise<void> {
  let daemon = await startDaemon(join(folder, 'data'))
  let url = await createSource(daemon)
  await sendAll(url, makeBodies(generator, 0, WARM / 1_000, total), 4)
  // In turns: what a disk gives changes within seconds, for both alike.
  const rounds = Array.from({ length: ROUNDS }, (_, round) => WARM + round * SAMPLE)
  const bare: number[] = []
  const ndjson: number[] = []
  for (const from of rounds) {
    const bareFile = join(folder, `bare-${from}.db`)
    bare.push(bareInsertRate(bareFile, generator, SAMPLE))
    for (const suffix of ['', '-wal', '-shm']) rmSync(bareFile + suffix, { force: true })
    const bodies = makeBodies(generator, from, SAMPLE / 1_000, total)
    ndjson.push(SAMPLE / (await sendAll(url, bodies, 4)))
  }
  report(
    'bare insert into the events table alone, 1,000 a commit, synchronous=FULL',
    `${bare.map(thousands).join(', ')} rows/s`,
  )
  const ratios = ndjson.map((rate, round) => rate / bare[round]!)
  report(
    'durable NDJSON of 1,000 over HTTP, 4 connections',
    `${ndjson.map(thousands).join(', ')} events/s: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')} of bare, median ${median(ratios).toFixed(2)}`,
    '>= 0.70',
    median(ratios) >= 0.7,
  )

  const line = generator.line(1, total)
  const single = await singlePosts(url, line)
  // A post with a query is left to the web framework (api/http/direct-ingest.ts).
  const [ofFramework, ahead] = await postsOf('no-store', line, ['?by=framework', ''])
  const [bareHttp] = await postsOf('plain-http', line)
  const ofSingle = (rate: number): string => (single.perSecond / rate).toFixed(2)
  report(
    'single posts, 64 connections',
    `${thousands(single.perSecond)}/s, ${ofSingle(ofFramework!)} of the same route of the framework without a store (${thousands(ofFramework!)}/s)`,
    '>= 0.65',
    single.perSecond / ofFramework! >= 0.65,
  )
  report(
    'the same, of posts ahead of the framework without a store',
    `${ofSingle(ahead!)} (${thousands(ahead!)}/s)`,
  )
  report(
    'the same, of a node:http server that only answers',
    `${ofSingle(bareHttp!)} (${thousands(bareHttp!)}/s)`,
  )
  report('single posts, p99', `${single.p99} ms`, '< 30 ms', single.p99 < 30)

  // Fill in slices, so that the bodies of 10 million events are never in memory at once.
  let first = 0
  let last = 0
  const slice = 100_000
  for (let n = WARM + ROUNDS * SAMPLE; n < total; n += slice) {
    const rate = slice / (await sendAll(url, makeBodies(generator, n, slice / 1_000, total), 4))
    if (n + slice <= 1_100_000) first = rate
    last = rate
    if (n % 1_000_000 === 0) console.log(`  ${thousands(n)} events, ${thousands(rate)}/s`)
  }
  if (total > 2_000_000)
    report(
      'ingest at the end against at 1 million',
      (last / first).toFixed(2),
      '>= 0.90',
      last / first >= 0.9,
    )

  // Reads are measured warm: without the kernel still writing out the gigabytes before.
  spawnSync('sync')
  for (const read of await measureReads(join(folder, 'data', 'svc.db'), generator, end)) {
    const goal = total >= 10_000_000 ? read.goalMs : null
    report(
      read.what,
      `p50 ${read.p50.toFixed(2)} ms, p99 ${read.p99.toFixed(2)} ms, ${read.rows.toFixed(0)} rows, ${read.ratio.toFixed(1)} of the bare statement`,
      read.goalMs ? `p99 < ${read.goalMs} ms at 10 million` : '',
      goal === null ? null : read.p99 < goal,
    )
  }
  const { plain, joined, rows } = await measureJoined(join(folder, 'data', 'svc.db'), end)
  report(
    'a joined name, newest 200 of 7 days, against the name alone',
    `${(joined / plain).toFixed(2)} times (p50 ${joined.toFixed(2)} and ${plain.toFixed(2)} ms, ${rows.toFixed(0)} rows)`,
    '≤ 1.5 times',
    joined <= 1.5 * plain,
  )
  await daemon.stop()
  const started = performance.now()
  daemon = await startDaemon(join(folder, 'data'))
  const boot = performance.now() - started
  report('start to listening', `${Math.round(boot)} ms`, '< 1,000 ms', boot < 1_000)
  url = `${daemon.url}/read`
  for (let i = 0; i < 200; i++)
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ selector: { entity: generator.entity() }, window: '7d' }),
    }).then((answer) => answer.text())
  report(
    'resident memory after 200 reads',
    `${Math.round(memoryMb(daemon, 'VmRSS'))} MB`,
    '< 400 MB',
    memoryMb(daemon, 'VmRSS') < 400,
  )
  await daemon.stop()
}

async function measureBriefs(): Promise<void> {
  const { rows, ms, againMs, ratio, cpuMs, cpuAgainMs } = await measureBrief(
    join(folder, 'brief.db'),
    100_000,
  )
  report(
    `the brief of a run over ${thousands(rows)} events`,
    `${Math.round(ms)} ms, ${ratio.toFixed(1)} of the bare read of as many rows`,
    '<= 3.0',
    ratio <= 3,
  )
  report('the same, looked at again', `${Math.round(againMs)} ms`, '< 300 ms', againMs < 300)
  report(
    'processor time of its thread',
    `${Math.round(cpuMs)} ms, looked at again ${Math.round(cpuAgainMs)} ms`,
    '< 300 ms',
    cpuMs < 300,
  )
}

async function measureDeclaredParts(): Promise<void> {
  const daemon = await startDaemon(join(folder, 'declared'))
  for (const { what, ms, ratio, goalMs } of await measureDeclared(daemon, join(folder, 'bare-parts.db')))
    report(
      what,
      `${Math.round(ms)} ms, ${ratio.toFixed(1)} of the bare insert of as many rows`,
      goalMs ? `< ${thousands(goalMs)} ms` : '',
      goalMs ? ms < goalMs : null,
    )
  await daemon.stop()
}

async function measureBeside(): Promise<void> {
  const daemon = await startDaemon(join(folder, 'beside'))
  const { idle, posts, reads } = await measurePostsBeside(daemon)
  report('the longest of single posts with nothing beside them', `${idle.at(-1)!.toFixed(1)} ms`)
  const longest = posts.at(-1)!
  report(
    `the longest of ${posts.length} single posts while ${reads} times 2,000 objects were checked, exported, compared or listed`,
    `${longest.toFixed(1)} ms, p50 ${median(posts).toFixed(1)} ms`,
    '< 50 ms',
    longest < 50,
  )
  await daemon.stop()
}

async function measureFiles(): Promise<void> {
  const daemon = await startDaemon(join(folder, 'catalog-files'))
  tellFiles(measureCatalogFiles(daemon, folder))
  await daemon.stop()
}

async function measureSync(): Promise<void> {
  const { env, commit } = syncedRepository(folder)
  const daemon = await startDaemon(join(folder, 'catalog-sync'), [], env)
  tellFiles(await measureCatalogSync(daemon, commit))
  await daemon.stop()
}

function tellFiles(measures: readonly FilesMeasure[]): void {
  for (const { what, ms, goalMs } of measures)
    report(
      what,
      `${thousands(ms)} ms`,
      goalMs ? `< ${thousands(goalMs)} ms` : '',
      goalMs ? ms < goalMs : null,
    )
}

async function measureTriggers(): Promise<void> {
  const cost = await measureTriggerCost((name) => startDaemon(join(folder, name)))
  report(
    'ingest with 1,000 triggers, of which 5 can match, against none',
    cost.toFixed(2),
    '>= 0.85',
    cost >= 0.85,
  )
  const daemon = await startDaemon(join(folder, 'webhooks'))
  const times = await measureWebhookLatency(daemon)
  const at = (part: number) => times[Math.floor(times.length * part)]!
  report(
    'from the answer to an event to the arrival of its webhook',
    `p50 ${at(0.5).toFixed(1)} ms, p95 ${at(0.95).toFixed(1)} ms`,
    'p95 < 50 ms',
    at(0.95) < 50,
  )
  await daemon.stop()
}

async function measureForecasts(): Promise<void> {
  const { bareMs, idle, measures } = await measureForecast(join(folder, 'forecast'), startDaemon, total)
  report('the longest of single posts with nothing beside them', `${idle.at(-1)!.toFixed(1)} ms`)
  for (const { what, events, triggers, firings, ms, goalMs, told, quietMs, posts } of measures) {
    report(
      `what ${what} would have done in 7 days: ${thousands(events)} events, ${triggers} triggers, ${thousands(firings)} firings`,
      `${(ms / 1_000).toFixed(1)} s, ${(ms / bareMs).toFixed(1)} of the bare read; ${told} times told how far, ${Math.round(quietMs)} ms apart at most`,
      goalMs === null ? '' : `<= ${goalMs / 1_000} s`,
      goalMs === null ? null : ms <= goalMs,
    )
    const longest = posts.at(-1)!
    report(
      `the longest of ${posts.length} single posts meanwhile`,
      `${longest.toFixed(1)} ms, p50 ${median(posts).toFixed(1)} ms`,
      '< 50 ms',
      longest < 50,
    )
  }
}

async function measureAgents(): Promise<void> {
  const { ratio, atWork, calls } = await measureRunCost(join(folder, 'agents'))
  report(
    `ingest while ${atWork} runs of agents are at work, which ask a model ${Math.round(calls)} times a second, against none`,
    ratio.toFixed(2),
    '>= 0.80',
    ratio >= 0.8,
  )
  const { events, grown, first, last } = await measureStorm(join(folder, 'storm'))
  const storm = `200 runs that wake at once over ${thousands(events)} events`
  report(
    `most memory of ${storm}, over what there was before`,
    `${Math.round(grown)} MB`,
    '< 300 MB',
    grown < 300,
  )
  report(
    `the first of ${storm} asks its model`,
    `after ${(first / last).toFixed(2)} of the time that the last takes (${Math.round(first)} and ${Math.round(last)} ms)`,
    '<= 0.40',
    first / last <= 0.4,
  )
}

async function measureMcp(): Promise<void> {
  for (const { transport, direct, through } of await measureMcpCost(join(folder, 'mcp')))
    report(
      `a read through svc mcp over ${transport}, over the same read on the API, p50`,
      `${(through - direct).toFixed(2)} ms (${through.toFixed(2)} and ${direct.toFixed(2)} ms)`,
      '<= 2 ms',
      through - direct <= 2,
    )
}

async function measureGraph(): Promise<void> {
  const daemon = await startDaemon(join(folder, 'graph'))
  const { times, eventsASecond } = await measureGraphFrames(daemon)
  for (const { what, frames, p50, p95, p99, longest, goalMs } of times)
    report(
      `graph at ${thousands(eventsASecond)} events/s, ${what}`,
      `${frames} frames, p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(0)} ms`,
      `p95 < ${goalMs} ms`,
      p95 < goalMs,
    )
  await daemon.stop()
}

/** In a browser, against the built console: `dist` must be there. */
async function measurePages(): Promise<void> {
  for (const { what, value, unit, budget } of await measureConsole())
    report(what, `${value.toFixed(0)} ${unit}`, `<= ${budget} ${unit}`, value <= budget)
}

const parts = {
  store: measureStore,
  brief: measureBriefs,
  declared: measureDeclaredParts,
  beside: measureBeside,
  files: measureFiles,
  sync: measureSync,
  triggers: measureTriggers,
  forecast: measureForecasts,
  agents: measureAgents,
  graph: measureGraph,
  console: measurePages,
  mcp: measureMcp,
}
const only = values.only?.split(',') ?? Object.keys(parts)
console.log(`events ${thousands(total)}, seed ${values.seed}, data in ${folder}`)
for (const [name, measure] of Object.entries(parts)) if (only.includes(name)) await measure()
rmSync(folder, { recursive: true, force: true })
const missed = results.filter((result) => result.ok === false)
console.log(
  missed.length
    ? `${missed.length} goals missed: ${missed.map((result) => result.what).join('; ')}`
    : 'every goal met',
)
process.exit(0)

/** GET /metrics in Prometheus text format: counts only, never an entity. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { Counter, Gauge, Registry } from 'prom-client'
import type { EngineStatus } from '../../../engine/index.ts'
import type { Doors } from '../doors.ts'
import { answers } from '../validate.ts'

const SYNC_STATES = ['following', 'fetching', 'planning', 'applying', 'synced', 'out_of_sync', 'failed']

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge

/** Of the sync of the catalog. @returns what sets them at a scrape */
function syncGauges(gauge: MakeGauge): (status: Pick<EngineStatus, 'catalogSync'>) => void {
  const syncState = gauge('catalog_sync_state', 'One for the state the sync of the catalog is in.', ['state'])
  const syncFetched = gauge(
    'catalog_sync_fetched_seconds',
    'When the repository of the catalog was read last, seconds since 1970; 0: never.',
  )
  return ({ catalogSync: sync }) => {
    syncState.reset()
    for (const state of sync ? SYNC_STATES : []) syncState.set({ state }, Number(sync!.state === state))
    syncFetched.set(Date.parse(sync?.fetched_at ?? '1970-01-01T00:00:00Z') / 1_000)
  }
}

/** Counters of what the writer tallies. */
function tallyCounters(counter: (name: string, help: string, labelNames?: string[]) => Counter) {
  return {
    firings: counter('trigger_firings_total', 'Firings since the daemon started.', ['trigger']),
    runs: counter('agent_runs_total', 'Runs that ended since the daemon started.', ['agent', 'status']),
    catalog_looks: counter(
      'catalog_sync_looks_total',
      'Looks at the repository of the catalog, by what they came to.',
      ['outcome'],
    ),
    slack_requests: counter(
      'slack_requests_total',
      'Commands, mentions and buttons of Slack, by what they came to.',
      ['kind', 'outcome'],
    ),
    model_calls: counter('model_calls_total', 'Calls of models, by runs and turns that ended.', [
      'provider',
      'surface',
    ]),
    model_tokens: counter('model_tokens_total', 'Tokens of those calls.', [
      'provider',
      'surface',
      'direction',
    ]),
    model_spend_usd: counter('model_spend_usd_total', 'What those with a price cost.', ['provider']),
    model_unpriced_calls: counter('model_unpriced_calls_total', 'Those without a price.', ['provider']),
  }
}

/** Of the syslog port; they are read at a scrape. */
function syslogCounters(registers: Registry[], syslog: Doors['syslog']): void {
  const counter = (name: string, help: string, label: string, read: () => Record<string, number>) =>
    new Counter({
      ...{ name: `svc_syslog_${name}`, help, labelNames: [label], registers },
      collect() {
        this.reset()
        if ((syslog().port ?? syslog().tlsPort) !== null)
          for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count)
      },
    })
  counter('messages_total', 'Syslog messages that came.', 'transport', () => syslog().counts.received)
  counter('dropped_total', 'What came by syslog and was not taken.', 'reason', () => syslog().counts.dropped)
}

type Source = EngineStatus['bySource'][number]

/**
 * A counter of sources, by their names. What a source counted stays with it: the series of a name goes with the source
 * that had it, and one that gets a name begins there with what it counts from then on, so that a counter falls by a
 * reset alone and never takes over what another source counted.
 * @param countOf what one counted; undefined: it has no series yet. @param more labels beside the source's name
 * @returns what adds at a scrape what came since the one before
 */
function countBySource(
  metric: Counter,
  countOf: (source: Source) => number | undefined,
  more: Record<string, string> = {},
): (sources: Source[]) => void {
  /** By the source's id. */
  let counted = new Map<number, number>()
  let names = new Map<string, number>()
  return (sources) => {
    const holders = new Map(sources.map(({ source, id }) => [source, id]))
    for (const [source, id] of names) if (holders.get(source) !== id) metric.remove({ source, ...more })
    const counts = new Map<number, number>()
    for (const one of sources) {
      const count = countOf(one)
      if (count === undefined) continue
      metric.inc({ source: one.source, ...more }, Math.max(0, count - (counted.get(one.id) ?? 0)))
      counts.set(one.id, count)
    }
    counted = counts
    names = holders
  }
}

/** Polls of sources, which the writer tallies by their ids. @returns what counts them at a scrape */
function countPolls(metric: Counter): (sources: Source[], tallies: EngineStatus['tallies']) => void {
  let polls = new Map<string, number>()
  const each = ['ok', 'error'].map((outcome) =>
    countBySource(metric, ({ id }) => polls.get(`${id} ${outcome}`), { outcome }),
  )
  return (sources, tallies) => {
    const counted = tallies.filter(({ name }) => name === 'polls')
    polls = new Map(counted.map(({ labels, value }) => [`${labels.source_id} ${labels.outcome}`, value]))
    for (const count of each) count(sources)
  }
}

export function metricsRoutes(app: FastifyInstance, { engine, config, onAnswered, syslog }: Doors): void {
  const registers = [new Registry()]
  syslogCounters(registers, syslog)
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `svc_${name}`, help, labelNames, registers })
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `svc_${name}`, help, labelNames, registers })
  const countIngested = countBySource(
    counter('events_ingested_total', 'Events stored since the daemon started.', ['source']),
    ({ ingested }) => ingested,
  )
  const countRejected = countBySource(
    counter('ingest_rejected_total', 'Items refused since the daemon started.', ['source']),
    ({ rejected }) => rejected,
  )
  const duplicates = counter('duplicates_total', 'Items seen before by their key.')
  const commits = counter('commits_total', 'Transactions of ingest, each one fsync.')
  const reads = counter('reads_total', 'Reads answered.')
  const spans = counter('trace_spans_total', 'Spans of agent runs, sent or dropped.', ['result'])
  const tallies = tallyCounters(counter)
  const countPolled = countPolls(
    counter('polls_total', 'Polls since the daemon started.', ['source', 'outcome']),
  )
  const state = gauge('source_state', 'One for the state a source is in.', ['source', 'state'])
  const stored = gauge('events_stored', 'Events stored.')
  const dbBytes = gauge('db_bytes', 'Data file and write-ahead log.')
  const dbMax = gauge('db_max_bytes', 'Storage limit.')
  const pct = gauge('storage_pct', 'Storage in use, percent of its limit.')
  const paused = gauge('ingest_paused', 'One while ingest is refused for want of storage.')
  const lag = gauge(
    'event_loop_lag_seconds',
    'Delay of the main thread, 99th percentile since the last scrape.',
  )
  const parked = gauge('agent_runs_parked', 'Runs that wait because their model is unavailable.', ['agent'])
  const parkedSince = gauge(
    'agent_runs_parked_since_seconds',
    'Since when the first of them waits, seconds since 1970; 0: none does.',
  )
  const parkedTurns = gauge(
    'ask_turns_parked',
    'Questions to Ask that wait because their model is unavailable.',
  )
  const parkedTurnsSince = gauge(
    'ask_turns_parked_since_seconds',
    'Since when the first of them waits, seconds since 1970; 0: none does.',
  )
  const tellSync = syncGauges(gauge)
  const incidents = gauge('incidents', 'Incidents that are not handled.', ['state', 'severity'])
  const requests = counter('http_requests_total', 'Requests answered.', ['route', 'method', 'status'])
  gauge('info', 'Version.', ['version']).set({ version: config.version }, 1)
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  app.addHook('onClose', async () => {
    delay.disable()
  })
  // The child of each is kept: to find it prom-client writes its labels as text.
  const answered = new Map<string, Counter.Internal>()
  onAnswered((route, method, status) => {
    const name = `${status} ${method} ${route}`
    let one = answered.get(name)
    if (!one) {
      one = requests.labels({ route, method, status: String(status) })
      answered.set(name, one)
    }
    one.inc()
  })
  // The engine counts; a scrape adds what came since the one before, so that counters only grow.
  const seen = new Map<string, number>()
  const set = (metric: Counter, name: string, labels: Record<string, string>, value: number): void => {
    const key = `${name} ${JSON.stringify(labels)}`
    metric.inc(labels, Math.max(0, value - (seen.get(key) ?? 0)))
    seen.set(key, value)
  }
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['instance'],
        operationId: 'getMetrics',
        summary: 'Counters in Prometheus text format',
        response: answers(200, { media: { 'text/plain': null } }),
      },
    },
    async (_request, reply) => {
      const status = await engine.status()
      state.reset()
      countIngested(status.bySource)
      countRejected(status.bySource)
      for (const source of status.bySource) {
        for (const name of ['active', 'paused'])
          state.set({ source: source.source, state: name }, Number(source.state === name))
      }
      countPolled(status.bySource, status.tallies)
      for (const { name, labels, value } of status.tallies)
        if (name !== 'polls') set(tallies[name], name, labels, value)
      parked.reset()
      for (const [agent, runs] of Object.entries(status.parked?.byAgent ?? {})) parked.set({ agent }, runs)
      parkedSince.set((status.parked?.since ?? 0) / 1_000)
      parkedTurns.set(status.parkedTurns?.turns ?? 0)
      parkedTurnsSince.set((status.parkedTurns?.since ?? 0) / 1_000)
      tellSync(status)
      for (const state of ['open', 'acknowledged', 'snoozed'])
        for (const severity of ['critical', 'warning', 'info']) incidents.set({ state, severity }, 0)
      for (const { state, severity, n } of status.incidents) incidents.set({ state, severity }, n)
      set(duplicates, 'duplicates', {}, status.counters.duplicates)
      set(commits, 'commits', {}, status.counters.commits)
      set(reads, 'reads', {}, status.counters.reads)
      for (const [result, count] of Object.entries(await engine.tracingCounts()))
        set(spans, 'spans', { result }, count)
      stored.set(status.eventsStored)
      dbBytes.set(status.dbBytes + status.walBytes)
      dbMax.set(status.maxBytes)
      pct.set(status.pctUsed)
      paused.set(Number(status.ingestPaused))
      lag.set(delay.count ? delay.percentile(99) / 1e9 : 0)
      delay.reset()
      return reply.type(registers[0]!.contentType).send(await registers[0]!.metrics())
    },
  )
}

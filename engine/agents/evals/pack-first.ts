/** The first scenarios of the pack, one of each way in which a cause shows, and the world that all scenarios are made in. */
import type { Fact, IncidentEvent, Outcome } from './incident.ts'

export interface World {
  /** From 0 to 1, by the seed. */
  random(): number
  add(event: IncidentEvent): void
  fact(fact: Fact): void
  /** An innocent event that one could take for the cause: patterns that one line must match. */
  decoy(id: string, line: string[]): void
}

export interface Scenario {
  id: string
  /** Row of the report. */
  kind: string
  /** Service that the trigger fires for. */
  entity: string
  /** What a run should come to; a finding when absent. */
  outcome?: Outcome
  /** Kept apart: nothing is tuned on it. */
  heldOut?: true
  make(world: World): void
}

type Labels = Record<string, string>

/** A line of a log. @param t seconds before the firing, at most 0 */
export const log = (
  service: string,
  type: string,
  t: number,
  text: string,
  more: Labels = {},
): IncidentEvent => ({
  ...{ source: 'logs', type, t, text },
  labels: { service, ...more },
})

/** What somebody or something did. */
export const did = (
  source: string,
  type: string,
  t: number,
  service: string,
  text: string,
  more: Labels = {},
): IncidentEvent => ({ ...{ source, type, t, text }, labels: { ...(service ? { service } : {}), ...more } })

/** So many of an event over a time, evenly with some unrest. */
export function spread(
  { random }: Pick<World, 'random'>,
  from: number,
  to: number,
  count: number,
  each: (t: number, i: number) => void,
): void {
  for (let i = 0; i < count; i++) each(from + ((i + random()) / count) * (to - from), i)
}

/** A number of a service that goes from usual to abnormal at a time, and back where `until` says so. */
export function shifted(
  world: Pick<World, 'random' | 'add'>,
  service: string,
  type: string,
  at: number,
  usual: number,
  now: number,
  { until = 0, every = 60, more = {} }: { until?: number; every?: number; more?: Labels } = {},
): void {
  for (let t = -10_800; t <= -1; t += every) {
    const middle = t < at || (until < 0 && t > until) ? usual : now
    const value = +(middle * (0.95 + 0.1 * world.random())).toFixed(1)
    world.add({ source: 'metrics', type, t, text: `${type}=${value}`, labels: { service, ...more }, value })
  }
}

/** Values that count as one middle. */
const band = (middle: number): [number, number] => [middle * 0.9, middle * 1.1]

/** The fact of a number that moved. */
export const moved = (id: string, role: Fact['role'], names: string[], usual: number, now: number): Fact => ({
  id,
  role,
  num: { names, usual: band(usual), abnormal: band(now) },
})

function deploy(world: World): void {
  const { add, fact } = world
  add({
    ...{ source: 'deploys', type: 'deployed', t: -1_320, labels: { service: 'checkout' } },
    text: 'deployed checkout v2.15.1 by ci, commit 9f31c2e: tax rules by region',
  })
  spread(world, -1_260, -2, 140, (t, i) =>
    add(log('checkout', 'error', t, `tax lookup timed out after 2000 ms for basket ${4_000 + i * 7}`)),
  )
  shifted(world, 'checkout', 'request_p99_ms', -1_260, 120, 2_300)
  fact({ id: 'deploy', role: 'root', line: ['deployed checkout v2\\.15\\.1'] })
  fact({ id: 'timeouts', role: 'effect', line: ['tax lookup timed out'] })
  const num = { names: ['request_p99_ms'], usual: band(120), abnormal: band(2_300) }
  fact({ id: 'p99', role: 'effect', num })
}

function elsewhere(world: World): void {
  const { add, fact } = world
  add({
    ...{ source: 'config', type: 'parameter_set', t: -780, labels: { service: 'payments' } },
    text: 'pool_size of payments set from 40 to 4 by terraform',
  })
  spread(world, -720, -2, 60, (t) =>
    add(
      log(
        'checkout',
        'error',
        t,
        `call of payments failed: deadline exceeded after ${Math.round(3_000 + t)} ms`,
      ),
    ),
  )
  shifted(world, 'payments', 'pool_waiting', -740, 2, 190)
  fact({ id: 'config', role: 'root', line: ['pool_size of payments set from 40 to 4'] })
  fact({ id: 'failed calls', role: 'effect', line: ['call of payments failed'] })
  fact({
    id: 'waiting',
    role: 'effect',
    num: { names: ['pool_waiting'], usual: band(2), abnormal: band(190) },
  })
}

function stopped(world: World): void {
  const { add, fact } = world
  spread(world, -10_800, -560, 340, (t, i) =>
    add(log('mail', 'info', t, `worker 3 took mail ${i} from the queue`)),
  )
  shifted(world, 'checkout', 'unsent_receipts', -500, 5, 400)
  fact({
    ...{ id: 'worker', role: 'root', line: ['took mail'], gone: true },
    and: 'STOPPED|stopped|last at|no longer',
  })
  const num = { names: ['unsent_receipts'], usual: band(5), abnormal: band(400) }
  fact({ id: 'unsent', role: 'effect', num })
}

function neighbour(world: World): void {
  const { add, fact } = world
  shifted(world, 'reports', 'node_cpu_percent', -420, 30, 97)
  spread(world, -400, -2, 30, (t) =>
    add(log('search', 'warn', t, 'query slow: waited for a processor on node-4')),
  )
  const num = { names: ['node_cpu_percent'], usual: band(30), abnormal: band(97) }
  fact({ id: 'cpu of reports', role: 'root', num: { ...num, names: [...num.names, 'reports'] } })
  fact({ id: 'slow queries', role: 'effect', line: ['query slow: waited for a processor'] })
}

function leak(world: World): void {
  const { add, fact, random } = world
  for (let t = -108_000; t <= -1; t += 300) {
    const value = Math.round(310 + (690 * (t + 108_000)) / 108_000 + 8 * random())
    const text = `heap_used_mb=${value}`
    add({ source: 'metrics', type: 'heap_used_mb', t, text, labels: { service: 'cart' }, value })
  }
  add({
    ...{ source: 'k8s', type: 'OOMKilled', t: -95, labels: { service: 'cart' } },
    text: 'container cart killed: out of memory, limit 1024 Mi',
  })
  fact({
    id: 'heap',
    role: 'root',
    num: { names: ['heap_used_mb'], usual: [300, 560], abnormal: [950, 1_020] },
  })
  fact({ id: 'killed', role: 'effect', line: ['out of memory'] })
}

/** Requests over four services; lately stock answers with an error, and its reservation no longer comes. */
function requests(world: World): void {
  const { add, fact, random } = world
  spread(world, -5_400, -3, 220, (t, i) => {
    const trace = (0x1_0000_0000 + i * 7_919).toString(16).padStart(32, '0')
    const isBad = t > -200
    const say = (dt: number, service: string, type: string, text: string) =>
      add(log(service, type, t + dt, text, { trace_id: trace }))
    say(0, 'checkout', 'info', `Checkout.java:41 order of basket ${i} began`)
    say(0.02, 'cart', 'info', `Cart.java:88 basket ${i} priced`)
    say(0.05 + random() / 100, 'stock', 'info', 'Stock.java:12 asked for a reservation')
    if (isBad) say(0.09, 'stock', 'error', 'Stock.java:77 no warehouse answers, reservation given up')
    else say(0.09, 'stock', 'info', 'Stock.java:31 reservation made')
    say(
      0.2,
      'checkout',
      isBad ? 'error' : 'info',
      isBad ? 'Checkout.java:97 order refused' : 'Checkout.java:60 order done',
    )
  })
  fact({ id: 'stock fails', role: 'root', line: ['Stock\\.java:77', 'no warehouse answers'] })
  fact({ id: 'no reservation', role: 'effect', line: ['Stock\\.java:31'] })
}

function certificate(world: World): void {
  const { add, fact } = world
  add({
    ...{ source: 'infra', type: 'certificate_expired', t: -610, labels: { service: 'auth' } },
    text: 'certificate of auth.internal expired, issued 90 days ago',
  })
  spread(world, -600, -2, 80, (t) =>
    add(
      log('cart', 'error', t, 'login of session refused: x509: certificate has expired or is not yet valid'),
    ),
  )
  fact({ id: 'expired', role: 'root', line: ['certificate of auth\\.internal expired'] })
  fact({ id: 'refused', role: 'effect', line: ['x509'] })
}

function region(world: World): void {
  const { add, fact } = world
  for (const name of ['eu-1', 'eu-2', 'us-1'])
    spread(world, -10_800, -2, 300, (t) =>
      add(log('search', 'info', t, 'answered a query', { region: name })),
    )
  spread(world, -540, -2, 50, (t, i) =>
    add(log('search', 'error', t, `index shard ${i % 7} unreachable`, { region: 'eu-2' })),
  )
  fact({ id: 'shards of eu-2', role: 'root', line: ['index shard', 'eu-2'] })
}

export const first: readonly Scenario[] = [
  { id: 'a-deploy-breaks-it', kind: 'change', entity: 'checkout', make: deploy },
  { id: 'a-change-elsewhere', kind: 'change', entity: 'checkout', make: elsewhere },
  { id: 'a-worker-stops', kind: 'stopped', entity: 'checkout', make: stopped },
  { id: 'a-busy-neighbour', kind: 'numbers', entity: 'search', make: neighbour },
  { id: 'a-slow-leak', kind: 'numbers', entity: 'cart', make: leak },
  { id: 'a-path-breaks', kind: 'requests', entity: 'checkout', make: requests },
  { id: 'a-certificate-ends', kind: 'change', entity: 'cart', make: certificate },
  { id: 'one-region-alone', kind: 'lines', entity: 'search', make: region },
]

/* No cause is to be found: because nothing is wrong, or because what happened is not in the events. */

/** The alert alone: everything is as usual. */
function falseAlarm({ add, decoy }: World): void {
  add(did('deploys', 'deployed', -2_900, 'search', 'deployed search v3.70.1'))
  decoy('deploy', ['deployed search v3\\.70\\.1'])
}

/** It was slow for two minutes and is well again for ten. */
function recovered(world: World): void {
  const { add, fact } = world
  shifted(world, 'cart', 'cart_p95_ms', -840, 70, 900, { until: -700 })
  add(did('alerts', 'resolved', -620, 'cart', 'resolved: cart_p95_ms is under 200 again'))
  fact({ id: 'resolved', role: 'effect', line: ['resolved: cart_p95_ms'] })
}

/** It fires every day at this time for a minute, and was always resolved by itself. */
function flapping(world: World): void {
  const { add, fact } = world
  for (let hour = 1; hour <= 29; hour += 2) {
    add(did('alerts', 'firing', -hour * 3_600, 'mail', 'firing: bounce rate of mail over 2 %'))
    add(did('alerts', 'resolved', -hour * 3_600 + 70, 'mail', 'resolved: bounce rate of mail, flapping'))
  }
  fact({ id: 'flapping', role: 'effect', line: ['bounce rate of mail'] })
}

function maintenance(world: World): void {
  const { add, fact } = world
  add(
    did(
      'calendar',
      'maintenance_announced',
      -3_500,
      'reports',
      'maintenance of reports from 09:45 to 10:30 announced by operations, alerts are expected',
    ),
  )
  spread(world, -880, -2, 60, (t) =>
    add(log('reports', 'warn', t, 'reports is in maintenance, answered 503')),
  )
  fact({ id: 'announced', role: 'effect', line: ['maintenance of reports from 09:45'] })
}

/** The same was found an hour ago and nothing is new. */
function duplicate(world: World): void {
  const { add, fact } = world
  add(
    did(
      'findings',
      'finding',
      -3_000,
      'stock',
      'finding: import of supplier 12 is late again, the supplier was told, stock is short until the afternoon',
    ),
  )
  spread(world, -9_000, -2, 150, (t) => add(log('stock', 'warn', t, 'file of supplier 12 has not come')))
  fact({ id: 'found', role: 'effect', line: ['finding: import of supplier 12 is late'] })
}

/** Errors of one service, and nothing says why. */
function noReason(world: World): void {
  const { add, fact } = world
  spread(world, -600, -2, 70, (t) => add(log('payments', 'error', t, 'bank answered 500 without a body')))
  fact({ id: 'bank', role: 'effect', line: ['bank answered 500 without a body'] })
}

function noLogs(world: World): void {
  const { fact } = world
  shifted(world, 'auth', 'login_failures_per_min', -700, 6, 480)
  fact(moved('failures', 'effect', ['login_failures_per_min'], 6, 480))
}

function noNumbers(world: World): void {
  const { add, fact } = world
  spread(world, -500, -2, 30, (t, i) =>
    add(log('checkout', 'error', t, `order ${i} of the app failed: error code E-17`)),
  )
  fact({ id: 'code', role: 'effect', line: ['error code E-17'] })
}

export const calm: readonly Scenario[] = [
  { id: 'nothing-is-wrong', kind: 'no cause', entity: 'search', outcome: 'no_op', make: falseAlarm },
  { id: 'well-again', kind: 'no cause', entity: 'cart', outcome: 'no_op', make: recovered },
  {
    id: 'every-other-hour',
    kind: 'no cause',
    entity: 'mail',
    outcome: 'no_op',
    heldOut: true,
    make: flapping,
  },
  { id: 'it-was-announced', kind: 'no cause', entity: 'reports', outcome: 'no_op', make: maintenance },
  {
    id: 'it-was-found-before',
    kind: 'no cause',
    entity: 'stock',
    outcome: 'no_op',
    heldOut: true,
    make: duplicate,
  },
  { id: 'nothing-says-why', kind: 'unknown', entity: 'payments', outcome: 'unknown', make: noReason },
  { id: 'a-number-alone', kind: 'unknown', entity: 'auth', outcome: 'unknown', heldOut: true, make: noLogs },
  { id: 'a-code-alone', kind: 'unknown', entity: 'checkout', outcome: 'unknown', make: noNumbers },
]

/* Something was changed, and it broke something: of the entity itself, or of another. */

function flag(world: World): void {
  const { add, fact, decoy } = world
  add(did('flags', 'flag.updated', -1_500, 'cart', 'flag gift-wrap of cart set to 5 % by lena'))
  add(
    did('flags', 'flag.updated', -700, 'cart', 'flag new-price-engine of cart set from 0 to 100 % by jonas'),
  )
  spread(world, -680, -2, 90, (t, i) =>
    add(log('cart', 'error', t, `price of line ${i * 3} is negative, basket refused`)),
  )
  fact({ id: 'flag', role: 'root', line: ['new-price-engine of cart set from 0 to 100'] })
  fact({ id: 'refused', role: 'effect', line: ['price of line', 'is negative'] })
  decoy('the other flag', ['gift-wrap of cart'])
}

function twoAtOnce(world: World): void {
  const { add, fact } = world
  add(
    did(
      'deploys',
      'deployed',
      -840,
      'checkout',
      'deployed checkout v2.20.0: coupons are read from the new table',
    ),
  )
  add(
    did(
      'infra',
      'failover',
      -660,
      'stock',
      'primary of stock-db moved from node-2 to node-5: disk of node-2 failed',
    ),
  )
  spread(world, -820, -2, 70, (t, i) =>
    add(log('checkout', 'error', t, `reading coupon ${900 + i} failed: relation coupons_v2 does not exist`)),
  )
  spread(world, -650, -2, 60, (t) =>
    add(log('checkout', 'error', t, 'stock answered 503: read only until the replica has caught up')),
  )
  shifted(world, 'stock', 'replica_lag_seconds', -650, 1, 340)
  fact({ id: 'deploy', role: 'root', cause: 'deploy', line: ['deployed checkout v2\\.20\\.0'] })
  fact({ id: 'failover', role: 'root', cause: 'failover', line: ['primary of stock-db moved'] })
  fact({ id: 'coupons', role: 'effect', line: ['reading coupon'] })
  fact({ id: 'read only', role: 'effect', line: ['read only until the replica'] })
  fact(moved('lag', 'effect', ['replica_lag_seconds'], 1, 340))
}

function migration(world: World): void {
  const { add, fact } = world
  add(
    did(
      'migrations',
      'migration_started',
      -520,
      'payments',
      'migration 0412 began: add index on invoices(customer), table locked',
    ),
  )
  spread(world, -510, -2, 45, (t, i) =>
    add(log('payments', 'warn', t, `waited ${4_000 + i * 90} ms for a lock on invoices`)),
  )
  shifted(world, 'payments', 'lock_waiters', -520, 1, 64)
  shifted(world, 'checkout', 'payment_p95_ms', -500, 180, 5_600)
  fact({ id: 'migration', role: 'root', line: ['migration 0412 began'] })
  fact({ id: 'locks', role: 'effect', line: ['for a lock on invoices'] })
  fact(moved('waiters', 'effect', ['lock_waiters'], 1, 64))
  fact(moved('payments are slow', 'effect', ['payment_p95_ms'], 180, 5_600))
}

function keyRenewed(world: World): void {
  const { add, fact } = world
  add(
    did(
      'vault',
      'key.renewed',
      -930,
      'auth',
      'signing key of auth renewed, the former one is no longer served',
    ),
  )
  spread(world, -900, -2, 85, (t) => add(log('cart', 'error', t, 'token refused: no key has the id 7c1d')))
  fact({ id: 'key', role: 'root', line: ['signing key of auth renewed'] })
  fact({ id: 'refused', role: 'effect', line: ['no key has the id'] })
}

function ruleAdded(world: World): void {
  const { add, fact, decoy } = world
  add(
    did('network', 'rule.added', -640, '', 'rule 88 added: deny 10.4.0.0/16 to port 6379', { host: 'gw-1' }),
  )
  add(did('deploys', 'deployed', -5_400, 'search', 'deployed search v3.91.0'))
  spread(world, -630, -2, 75, (t) =>
    add(log('search', 'error', t, 'cache unreachable: connect to 10.4.0.17:6379 timed out')),
  )
  shifted(world, 'search', 'cache_hit_percent', -630, 94, 3)
  fact({ id: 'rule', role: 'root', line: ['rule 88 added', '6379'] })
  fact({ id: 'unreachable', role: 'effect', line: ['cache unreachable'] })
  fact(moved('hits', 'effect', ['cache_hit_percent'], 94, 3))
  decoy('deploy of the morning', ['deployed search v3\\.91\\.0'])
}

function quota(world: World): void {
  const { add, fact } = world
  add(
    did(
      'config',
      'quota_set',
      -1_080,
      'mail',
      'quota of mail at the relay set from 20000 to 200 an hour by import',
    ),
  )
  spread(world, -900, -2, 110, (t, i) =>
    add(log('mail', 'warn', t, `relay refused message ${i}: 452 too many messages this hour`)),
  )
  shifted(world, 'mail', 'queue_depth', -900, 40, 6_200)
  fact({ id: 'quota', role: 'root', line: ['quota of mail at the relay set from 20000 to 200'] })
  fact({ id: 'refused', role: 'effect', line: ['452 too many messages'] })
  fact(moved('queue', 'effect', ['queue_depth'], 40, 6_200))
}

function record(world: World): void {
  const { add, fact } = world
  add(did('dns', 'record_changed', -760, '', 'stock.internal changed from 10.2.0.9 to 10.9.0.9 by zone sync'))
  spread(world, -700, -2, 66, (t) =>
    add(log('checkout', 'error', t, 'stock.internal: no route to host 10.9.0.9')),
  )
  fact({ id: 'record', role: 'root', line: ['stock\\.internal changed from 10\\.2\\.0\\.9'] })
  fact({ id: 'no route', role: 'effect', line: ['no route to host'] })
}

function rolled(world: World): void {
  const { add, fact, decoy } = world
  add(
    did(
      'k8s',
      'RolledOut',
      -980,
      'reports',
      'image of reports is registry/reports:latest@sha256:77ab (was sha256:10fe)',
    ),
  )
  add(did('k8s', 'RolledOut', -9_000, 'mail', 'image of mail is registry/mail:v7 (was v6)'))
  spread(world, -940, -2, 24, (t) =>
    add(log('reports', 'fatal', t, 'cannot load font renderer: GLIBC_2.38 not found')),
  )
  spread(world, -930, -2, 18, (t, i) =>
    add(did('k8s', 'BackOff', t, 'reports', `restarting failed container reports, restart ${i + 1}`)),
  )
  fact({ id: 'image', role: 'root', line: ['image of reports is', '77ab'] })
  fact({ id: 'fatal', role: 'effect', line: ['GLIBC_2\\.38 not found'] })
  decoy('image of mail', ['image of mail is'])
}

function job(world: World): void {
  const { add, fact } = world
  add(
    did(
      'jobs',
      'job_rescheduled',
      -5_200,
      'reports',
      'job monthly-totals of reports moved from 02:00 to 09:50 by calendar import',
    ),
  )
  add(did('jobs', 'job_started', -600, 'reports', 'job monthly-totals of reports began: full scan of orders'))
  shifted(world, 'payments', 'db_read_mb_s', -600, 12, 410)
  spread(world, -560, -2, 52, (t) =>
    add(log('payments', 'error', t, 'query canceled after 3000 ms: orders by customer')),
  )
  fact({ id: 'job began', role: 'root', line: ['job monthly-totals of reports began'] })
  fact({ id: 'job moved', role: 'root', line: ['monthly-totals of reports moved from 02:00'] })
  fact(moved('reads', 'effect', ['db_read_mb_s'], 12, 410))
  fact({ id: 'canceled', role: 'effect', line: ['query canceled after 3000 ms'] })
}

/** A cause that is two services away: the deploy of auth breaks cart, which checkout calls. */
function twoAway(world: World): void {
  const { add, fact, decoy } = world
  add(
    did(
      'deploys',
      'deployed',
      -900,
      'auth',
      'deployed auth v5.4.0: sessions are read with the strict parser',
    ),
  )
  add(did('deploys', 'deployed', -4_000, 'checkout', 'deployed checkout v2.33.0'))
  spread(world, -880, -2, 60, (t) => add(log('auth', 'error', t, 'session refused: unknown field region')))
  spread(world, -870, -2, 60, (t) => add(log('cart', 'error', t, 'auth answered 400 for a session')))
  spread(world, -860, -2, 60, (t) =>
    add(log('checkout', 'error', t, 'basket could not be read: cart answered 502')),
  )
  fact({ id: 'deploy', role: 'root', line: ['deployed auth v5\\.4\\.0'] })
  fact({ id: 'auth', role: 'effect', line: ['unknown field region'] })
  fact({ id: 'cart', role: 'effect', line: ['auth answered 400'] })
  fact({ id: 'checkout', role: 'effect', line: ['basket could not be read'] })
  decoy('own deploy', ['deployed checkout v2\\.33\\.0'])
}

export const changes: readonly Scenario[] = [
  { id: 'a-flag-for-all', kind: 'change', entity: 'cart', make: flag },
  { id: 'two-at-once', kind: 'overlap', entity: 'checkout', make: twoAtOnce },
  { id: 'a-table-is-locked', kind: 'change', entity: 'checkout', make: migration },
  { id: 'a-key-is-new', kind: 'change', entity: 'cart', make: keyRenewed },
  { id: 'a-rule-more', kind: 'change', entity: 'search', heldOut: true, make: ruleAdded },
  { id: 'a-quota-of-a-hundredth', kind: 'change', entity: 'mail', make: quota },
  { id: 'an-address-changes', kind: 'change', entity: 'checkout', heldOut: true, make: record },
  { id: 'an-image-without-a-library', kind: 'change', entity: 'reports', make: rolled },
  { id: 'a-job-at-the-wrong-hour', kind: 'change', entity: 'payments', heldOut: true, make: job },
  { id: 'two-services-away', kind: 'change', entity: 'checkout', make: twoAway },
]

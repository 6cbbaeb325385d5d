/** Nobody changed anything that was recorded: the cause shows in numbers, in lines, or in what no longer comes. */
import { did, log, moved, type Scenario, shifted, spread, type World } from './world.ts'

function crowd(world: World): void {
  const { add, fact } = world
  shifted(world, 'search', 'requests_per_s', -480, 220, 3_900)
  spread(world, -470, -2, 240, (t, i) =>
    add(log('search', 'warn', t, `429 for client 203.0.113.7, query ${i}`, { customer: 'cust-4471' })),
  )
  shifted(world, 'search', 'search_p95_ms', -460, 90, 2_800)
  fact(moved('requests', 'root', ['requests_per_s'], 220, 3_900))
  fact({ id: 'one client', role: 'root', line: ['203\\.0\\.113\\.7', 'cust-4471'] })
  fact(moved('slow', 'effect', ['search_p95_ms'], 90, 2_800))
}

function poolLeak(world: World): void {
  const { add, fact, random } = world
  for (let t = -21_600; t <= -1; t += 60) {
    const value = Math.min(100, Math.round(12 + (88 * (t + 21_600)) / 21_000 + 2 * random()))
    const text = `pool_in_use=${value}`
    add({ source: 'metrics', type: 'pool_in_use', t, text, labels: { service: 'reports' }, value })
  }
  spread(world, -420, -2, 48, (t) =>
    add(log('reports', 'error', t, 'no connection free within 5000 ms, pool of 100 is in use')),
  )
  fact({ id: 'pool', role: 'root', num: { names: ['pool_in_use'], usual: [10, 75], abnormal: [93, 102] } })
  fact({ id: 'none free', role: 'effect', line: ['no connection free'] })
}

function partner(world: World): void {
  const { add, fact } = world
  shifted(world, 'payments', 'acquirer_p95_ms', -540, 240, 9_200)
  spread(world, -520, -2, 57, (t, i) =>
    add(log('payments', 'warn', t, `acquirer answered after ${8_000 + i * 11} ms, tried again`)),
  )
  spread(world, -500, -2, 33, (t) => add(log('checkout', 'error', t, 'payment not confirmed in time')))
  fact(moved('acquirer', 'root', ['acquirer_p95_ms'], 240, 9_200))
  fact({ id: 'answered late', role: 'root', line: ['acquirer answered after'] })
  fact({ id: 'not confirmed', role: 'effect', line: ['payment not confirmed in time'] })
}

function clockSkew(world: World): void {
  const { add, fact } = world
  shifted(world, 'auth', 'clock_offset_ms', -780, 3, 71_000, { more: { host: 'node-3' } })
  spread(world, -760, -2, 70, (t) =>
    add(log('cart', 'error', t, 'token refused: it is not valid yet', { host: 'node-1' })),
  )
  fact(moved('offset', 'root', ['clock_offset_ms'], 3, 71_000))
  fact({ id: 'not yet', role: 'effect', line: ['it is not valid yet'] })
}

function silent(world: World): void {
  const { add, fact } = world
  spread(world, -10_800, -900, 990, (t, i) =>
    add(log('stock', 'info', t, `consumer orders-3 committed offset ${40_000 + i * 12}`)),
  )
  shifted(world, 'stock', 'consumer_lag', -880, 30, 18_500)
  spread(world, -700, -2, 20, (t, i) =>
    add(log('checkout', 'warn', t, `order ${7_000 + i} not reserved after 60 s`)),
  )
  fact({
    ...{ id: 'consumer', role: 'root', line: ['consumer orders-3 committed'], gone: true },
    and: 'STOPPED|stopped|last at|no longer',
  })
  fact(moved('lag', 'effect', ['consumer_lag'], 30, 18_500))
  fact({ id: 'not reserved', role: 'effect', line: ['not reserved after 60 s'] })
}

/** Of three kinds of requests one takes long: a call that was not there before. */
function newCall(world: World): void {
  const { add, fact, random } = world
  spread(world, -5_400, -3, 260, (t, i) => {
    const trace = (0x9_0000_0000 + i * 6_151).toString(16).padStart(32, '0')
    const isBad = t > -260
    const say = (dt: number, service: string, text: string) =>
      add(log(service, 'info', t + dt, text, { trace_id: trace }))
    say(0, 'cart', `Basket.ts:20 basket ${i} asked for`)
    say(0.03, 'stock', 'Shelf.ts:14 shelf read')
    if (isBad)
      for (let k = 0; k < 4; k++)
        say(0.1 + k * 0.4 + random() / 10, 'stock', 'Shelf.ts:52 shelf read again without the cache')
    say(isBad ? 2.4 : 0.08, 'cart', 'Basket.ts:31 basket answered')
  })
  fact({ id: 'without cache', role: 'root', line: ['Shelf\\.ts:52'] })
}

/** The alert is of a service that only passes on what another one breaks. */
function partition(world: World): void {
  const { add, fact } = world
  spread(world, -10_800, -2, 700, (t, i) =>
    add(log('payments', 'info', t, `heartbeat of payments-db from node-${i % 3}`, { host: `node-${i % 3}` })),
  )
  spread(world, -450, -2, 44, (t) =>
    add(log('payments', 'error', t, 'lost node-2: heartbeats stopped, quorum 2 of 3', { host: 'node-0' })),
  )
  add(did('network', 'link_down', -470, '', 'switch sw-7 port 12 down: link of node-2', { host: 'node-2' }))
  spread(world, -440, -2, 31, (t) => add(log('checkout', 'error', t, 'payments answered 503')))
  fact({ id: 'link', role: 'root', line: ['switch sw-7 port 12 down'] })
  fact({ id: 'lost', role: 'effect', line: ['lost node-2'] })
  fact({ id: '503', role: 'effect', line: ['payments answered 503'] })
}

export const symptoms: readonly Scenario[] = [
  { id: 'one-client-asks-much', kind: 'numbers', entity: 'search', heldOut: true, make: crowd },
  { id: 'a-pool-runs-dry', kind: 'numbers', entity: 'reports', make: poolLeak },
  { id: 'a-partner-is-slow', kind: 'numbers', entity: 'checkout', make: partner },
  { id: 'a-clock-is-wrong', kind: 'numbers', entity: 'cart', heldOut: true, make: clockSkew },
  { id: 'a-consumer-is-silent', kind: 'stopped', entity: 'checkout', heldOut: true, make: silent },
  { id: 'a-call-more', kind: 'requests', entity: 'cart', make: newCall },
  { id: 'a-link-is-down', kind: 'lines', entity: 'checkout', heldOut: true, make: partition },
]

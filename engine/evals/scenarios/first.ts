/** The first scenarios of the pack: one of each way in which a cause shows. */
import { band, log, type Scenario, shifted, spread, type World } from './world.ts'

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

/** No cause is to be found: because nothing is wrong, or because what happened is not in the events. */
import { did, log, moved, type Scenario, shifted, spread, type World } from './world.ts'

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

/** Something was changed, and it broke something: of the entity itself, or of another. */
import { did, log, moved, type Scenario, shifted, spread, type World } from './world.ts'

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

/**
 * 18.2: one composition. The engine with its roles on one thread and the engine with a thread for each answer the same
 * for every operation that can be called without preparation: also where it is refused.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Engine,
  type Fields,
  type NetworkInput,
  type Operation,
  operations,
} from '../../../engine/index.ts'
import { createEngine } from '../../../engine/local.ts'
import { networkRoles, openRole } from '../../../engine/roles/network.ts'
import { outcomeOf } from '../threads/split.ts'
import { openThreaded } from './threaded.ts'

const T0 = Date.parse('2026-11-20T12:00:00Z')
const ME = { id: 'key:1', name: 'maria' }
const NOBODY = 'nobody-has-it'

/** What is asked of another system, or of the machine itself, is other each time. */
const OUTSIDE = ['discoverEnvironment']

const clockAt = (at: number) => {
  const clock = { at, now: () => clock.at }
  return clock
}

let here: Engine
let threads: Engine
beforeAll(async () => {
  const env = { SVC_SECRET_TOKEN: 'given' }
  here = createEngine({ dataFile: null, clock: clockAt(T0), env })
  threads = await openThreaded({ dataFile: null, clock: clockAt(T0), env })
})
afterAll(() => Promise.all([here?.close(), threads?.close()]))

/** What needs a body needs somebody to write it: those of reads are asked in test/engine/threads/who-answers.test.ts. */
const asked = operations.filter((one) => !one.body && !one.takes && !OUTSIDE.includes(one.id))

/** The defaults of a query, as doors fill them in; what has none and is required is named after nobody. */
const valuesOf = (fields: Fields = {}): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { type, default: given, required, enum: words }]) =>
      given !== undefined
        ? [[name, given]]
        : required
          ? [[name, words?.[0] ?? (type === 'integer' ? 1 : NOBODY)]]
          : [],
    ),
  )

const inputOf = ({ route, params = {}, query }: Operation): NetworkInput => ({
  params: Object.fromEntries(
    [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => [
      name!,
      params[name!]?.type === 'integer' ? 1 : NOBODY,
    ]),
  ),
  query: valuesOf(query),
  body: null,
  by: { caller: ME, origin: 'api' as const },
  caller: { ...ME, scopes: ['admin'] },
  project: null,
  secured: true,
  asked: { by: ME.id, gone: new AbortController().signal },
})

/** Without what each instance makes up for itself: ids, secrets, sizes of its file, figures of its machine. */
const MADE_UP =
  /^(id|run|project|change_set|version|.*_key|.*_bytes|free_bytes|disk_.*|max_bytes|pct_used|secret|hash|instance|at)$/
const comparable = (outcome: unknown): unknown =>
  JSON.parse(
    JSON.stringify(outcome, (key, value) =>
      MADE_UP.test(key) && typeof value !== 'object' ? typeof value : value,
    ) ?? 'null',
  )

describe('an operation called without preparation', () => {
  it.each(asked.map((one) => [one.id, one] as const))(
    '%s answers the same here and on threads',
    async (id, operation) => {
      const there = comparable(await outcomeOf(() => threads.perform(id, inputOf(operation))))
      expect(there).toEqual(comparable(await outcomeOf(() => here.perform(id, inputOf(operation)))))
      expect(there).not.toMatchObject({ code: 'internal' })
    },
  )

  it('is most of them', () => {
    expect(asked.length).toBeGreaterThan(120)
  })
})

describe('a role', () => {
  it.each(Object.entries(networkRoles))('%s is given what it declares, and nothing else', (_name, one) => {
    const world = Object.fromEntries([...one.needs, 'secret'].map((name) => [name, name]))
    const opened = openRole({ needs: one.needs, open: (given: object) => Object.keys(given) }, world as never)
    expect(opened).toEqual([...one.needs])
  })
})

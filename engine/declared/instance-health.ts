/** What is wrong with the whole instance beside its storage, for GET /health; docs/health.md lists it. */
import type { LiveSource } from '../sources/live.ts'
import type { Declared } from './declared.ts'
import { parkedRuns, parkedSentence } from './parked-runs.ts'
import { allRunsFail, wakesAnyAgent } from './recent-failures.ts'

/** Fewer may fail for reasons of their own. */
const LEAST_SOURCES = 2

/** @returns sentences, none when it is well. @param hasProvider whether there is a model provider */
export function instanceFaults(declared: Declared, hasProvider: boolean): string[] {
  const { db } = declared.store
  const faults: string[] = []
  if (!hasProvider && wakesAnyAgent(db))
    faults.push('agents are switched on and no model provider is set, so none of them can run')
  const failing = allRunsFail(db, declared.clock.now())
  if (failing !== null) faults.push(failing)
  const parked = parkedRuns(db)
  if (parked !== null) faults.push(parkedSentence(parked))
  const all = allSourcesFail(declared)
  if (all !== null) faults.push(all)
  return faults
}

/** Asked by whoever watches the instance, so that it costs what the sources in memory do, and one statement. */
function allSourcesFail({ sources, store }: Declared): string | null {
  const asked = sources
    .live()
    .filter(({ paused, connector }) => !paused && connector.mode !== 'reference' && !connector.internal)
  if (asked.length < LEAST_SOURCES) return null
  const isUnset = ({ unreadable, unresolved }: LiveSource) => unreadable.length + unresolved.length > 0
  const failing = new Set(
    store.db.prepare<[], number>('SELECT source_id FROM polls WHERE last_error IS NOT NULL').pluck().all(),
  )
  const isWell = (source: LiveSource) =>
    !isUnset(source) &&
    !(source.connector.mode === 'poll' && failing.has(source.id)) &&
    source.signature?.secrets.length !== 0
  return asked.some(isWell) ? null : `none of the ${asked.length} sources takes events`
}

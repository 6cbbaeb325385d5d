/** What is wrong with the whole instance beside its storage, for GET /health; docs/health.md lists it. */
import type { Declared } from './declared.ts'
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
  const health = declared.sources
    .list(() => ({ owned_by: null, customized: false, projects: [] }))
    .filter(({ mode, health: { status } }) => mode !== 'reference' && status !== 'paused')
    .map((source) => source.health.status)
  if (health.length >= LEAST_SOURCES && health.every((status) => status === 'error'))
    faults.push(`none of the ${health.length} sources takes events`)
  return faults
}

/** An engine in memory with a clock the test moves, a source, and triggers over it. */
import { SvcError } from '../../../engine/errors.ts'
import { createEngine, type EngineOptions, type LocalEngine } from '../../../engine/local.ts'
import type { Firing, TriggerWrite } from '../../../schemas/types.ts'

export const T0 = Date.parse('2026-11-20T12:00:00Z')
export const BY = { caller: { id: 'open', name: 'test' }, origin: 'api' as const }
export const MINUTE = 60_000

export interface World {
  engine: LocalEngine
  clock: { at: number; now(): number; elapsed?(): number }
  /** Posts one item, or several in one body. @returns ids of the events */
  post(items: object | object[], how?: { bypass?: boolean; source?: string }): Promise<string[]>
  trigger(write: Partial<TriggerWrite> & Pick<TriggerWrite, 'condition'>): Promise<void>
  /** Moves the clock, doing what is due on the way. */
  pass(ms: number): void
  /** Firings of a trigger, or of all, oldest first. */
  firings(trigger?: string): Promise<Firing[]>
  pending: number
}

/** @param options of the engine; with a data file and the clock of an earlier world, that world goes on. */
export async function openWorld(
  options: Partial<Omit<EngineOptions, 'clock'>> & { clock?: World['clock'] } = {},
): Promise<World> {
  const clock: World['clock'] = options.clock ?? { at: T0, now: () => clock.at }
  const keys = new Map<string, string>()
  const engine = createEngine({
    dataFile: null,
    ...options,
    clock,
    onPending: () => {
      world.pending++
      options.onPending?.()
    },
  })
  for (const { name, ingest_key } of await engine.listSources()) if (ingest_key) keys.set(name, ingest_key)
  const source = async (name: string) => {
    const known = keys.get(name)
    if (known) return known
    const { ingest_key } = await engine.createSource(
      {
        name,
        connector: 'webhook',
        config: {
          event_type_field: 'type',
          event_time_field: 'at',
          text_template: '{msg}',
          labels: [
            { name: 'service', field: 'service', primary: true },
            { name: 'region', field: 'region' },
            { name: 'state', field: 'state' },
            { name: 'ms', field: 'ms', type: 'number' },
          ],
        },
      },
      BY,
      false,
    )
    keys.set(name, ingest_key!)
    return ingest_key!
  }
  await source('app')
  const world: World = {
    engine,
    clock,
    pending: 0,
    post: async (items, { bypass = false, source: name = 'app' } = {}) => {
      const key = await source(name)
      const { ids = [], ingested } = await engine.ingest({
        ingestKey: key,
        body: Buffer.from(JSON.stringify(items)),
        bypassCooldown: bypass,
        caller: 'open',
      })
      const first = Number(ids[0]?.slice(4) ?? 0)
      return Array.from({ length: ingested }, (_, n) => `evt_${first + n}`)
    },
    trigger: async (write) => {
      await engine.createTrigger({ name: 't', sources: ['app'], ...write } as TriggerWrite, BY)
    },
    pass: (ms) => {
      const end = clock.at + ms
      for (let due = engine.nextDue(); due !== null && due <= end; due = engine.nextDue()) {
        clock.at = Math.max(clock.at, due)
        engine.tick()
      }
      clock.at = end
      engine.tick()
    },
    firings: async (trigger) => {
      try {
        return (await engine.listFirings({ trigger, limit: 500 })).firings.reverse()
      } catch (error) {
        // Of a trigger that never was: none.
        if (error instanceof SvcError && error.code === 'not_found') return []
        throw error
      }
    },
  }
  return world
}

/** The demo loaded, broken, mended and removed, on the writing connection; what it is now, on any. */
import type { Demo, DemoRemoved } from '../../schemas/types.ts'
import type { CatalogFiles } from '../catalog/catalog.ts'
import { kindWord } from '../changes/declared.ts'
import { DEMO_HISTORY_MS } from '../connectors/demo/demo.ts'
import { BREAKABLE } from '../connectors/demo/faults.ts'
import { demoEvents } from '../connectors/demo/generator.ts'
import type { Declared } from '../declared/declared.ts'
import { makeFindingsSource } from '../declared/findings-source.ts'
import type { WriteBy } from '../declared/write.ts'
import { fail } from '../errors.ts'
import type { PollPort } from '../polling/types.ts'
import { DEMO_SETTING } from '../settings/demo-key.ts'
import { openSettings } from '../settings/settings.ts'
import { eventRemoval } from '../store/remove.ts'
import type { ReadContext } from '../timeline/context.ts'
import { DEMO_PARTS, DEMO_PROJECT, DEMO_SOURCES, DEMO_TRIGGER, demoCatalog } from './catalog.ts'
import { removeAll } from './remove.ts'
import { broken, type DemoState, mended, openFaults, readDemo } from './state.ts'

export interface DemoReads {
  demoStatus(): Promise<Demo>
}

export interface DemoWrites {
  /** @throws SvcError conflict: it is loaded already, or one of its names is taken */
  startDemo(by: WriteBy): Promise<Demo>
  /** @throws SvcError not_found: it is not loaded; conflict: something else uses a part of it */
  removeDemo(by: WriteBy): Promise<DemoRemoved>
  /** One that is broken already stays so. @throws SvcError not_found: it is not loaded */
  breakDemo(service: string): Promise<Demo>
  /** @param service absent: all. @throws SvcError not_found: it is not loaded */
  mendDemo(service?: string): Promise<Demo>
}

export type DemoCalls = DemoReads & DemoWrites

/** What is broken from the start, and since how long before, ms: its first errors are in the window of the trigger. */
const FIRST = 'checkout'
const FIRST_MS = 25_000
const SEED = 1

export function demoReads({ store, clock }: Pick<Declared, 'store' | 'clock'>): DemoReads {
  const settings = openSettings(store, clock)
  return { demoStatus: async () => present(readDemo(settings)) }
}

export interface DemoParts {
  declared: Declared
  catalog: Pick<CatalogFiles, 'import'>
  settlePoll: PollPort['settlePoll']
  /** Of the writing connection. */
  ctx: ReadContext
}

export function demoCalls({ declared, catalog, settlePoll, ctx }: DemoParts): DemoCalls {
  const { store, clock } = declared
  const settings = openSettings(store, clock)
  const events = eventRemoval(store, ctx.index, ctx.dictionary)
  const { demoStatus } = demoReads(declared)
  const required = (): DemoState =>
    readDemo(settings) ?? fail('not_found', 'the demo is not loaded; load it with POST /api/demo')

  /** What is declared, and that it is a demo: all or nothing. */
  function declare(by: WriteBy, now: number): DemoState {
    requireNamesFree(declared)
    const { db } = store
    catalog.import({ yaml: demoCatalog() }, { ...by, origin: 'catalog', mintKeys: false, why: 'Demo' })
    const project = declared.kinds.project.list().find(({ name }) => name === DEMO_PROJECT)!.key
    // Kept in the demo's project, so that it goes with it where nothing else is in it.
    const madeFindings = makeFindingsSource(declared, project)
    const idOf = (table: 'sources' | 'triggers', name: string) =>
      db.prepare(`SELECT id FROM ${table} WHERE name = ? AND state <> 'deleted'`).pluck().get(name) as number
    const state: DemoState = {
      ...{ seed: SEED, at: now, project },
      findings: madeFindings === null ? null : idOf('sources', madeFindings),
      faults: [{ service: FIRST, n: 1, from: now - FIRST_MS, to: null }],
      sources: DEMO_SOURCES.map(({ name }) => idOf('sources', name)),
      triggers: [idOf('triggers', DEMO_TRIGGER)],
    }
    settings.put(DEMO_SETTING, state)
    return state
  }

  /**
   * The history, source by source, as their first polls: the one that wakes the agent comes last, so that it finds
   * what the others brought. Polls make what a crash leaves out.
   */
  async function backfill({ seed, faults, sources }: DemoState, now: number): Promise<void> {
    for (const [i, { stream }] of DEMO_SOURCES.entries()) {
      const sourceId = sources[i]!
      const version = declared.sources.store.polls.versionOf(sourceId)
      if (version === undefined) continue
      const items = demoEvents({ seed, faults }, stream, now - DEMO_HISTORY_MS, now)
      await settlePoll({
        ...{ sourceId, version, cursor: null, began: now, ended: now },
        ...{
          items: items.map((event) => JSON.stringify(event)),
          newCursor: String(now),
          more: false,
          notice: null,
        },
      })
    }
  }

  const change = async (make: (state: DemoState, now: number) => DemoState): Promise<Demo> => {
    store.tx(() => settings.put(DEMO_SETTING, make(required(), clock.now())))
    return demoStatus()
  }

  return {
    demoStatus,
    async startDemo(by) {
      const now = clock.now()
      const state = store.tx(() => declare(by, now))
      await backfill(state, now)
      return demoStatus()
    },
    removeDemo: async (by) => store.tx(() => removeAll({ declared, settings, events }, required(), by)),
    breakDemo: (service) => change((state, now) => broken(state, service, now)),
    mendDemo: (service) => change((state, now) => mended(state, service, now)),
  }
}

function requireNamesFree({ kinds, store, clock }: Declared): void {
  if (readDemo(openSettings(store, clock))) fail('conflict', 'the demo is loaded already')
  const taken = DEMO_PARTS.find(({ kind, name }) => kinds[kind].find(name) !== undefined)
  if (taken)
    fail(
      'conflict',
      `the demo was not loaded: the ${kindWord(taken.kind)} ${taken.name} is not its own; rename or delete it`,
    )
  if (kinds.project.list().some(({ name }) => name === DEMO_PROJECT))
    fail(
      'conflict',
      `the demo was not loaded: the project ${DEMO_PROJECT} is not its own; rename or delete it`,
    )
}

function present(state: DemoState | undefined): Demo {
  return {
    loaded: state !== undefined,
    since: state ? new Date(state.at).toISOString() : null,
    project: state?.project ?? null,
    services: BREAKABLE,
    faults: state
      ? openFaults(state).map(({ service, from }) => ({ service, since: new Date(from).toISOString() }))
      : [],
  }
}

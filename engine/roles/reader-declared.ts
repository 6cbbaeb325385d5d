/**
 * What a reader answers of what is declared and set, on a connection that cannot write. It answers as the writer does:
 * what is held in memory of sources is read again where a change-set came since, and what only the writer counts
 * lies in shared memory (log/figures.ts). What a call would write with is missing here.
 */

import { createMaking } from '../agents/runs/making.ts'
import { type Clock, systemTimers } from '../clock.ts'
import type { BootCatalog } from '../declared/catalog/catalog.ts'
import { watchSealedSecrets } from '../declared/credentials.ts'
import { type GraphWrites, graphCalls } from '../graph/graph.ts'
import type { Figures } from '../log/figures.ts'
import { Tallies } from '../log/figures.ts'
import type { Snapshot } from '../log/steps.ts'
import { readingStore, rehearsingStore, type StoreHandle } from '../log/store/handle.ts'
import { Capacity } from '../log/store/maintenance.ts'
import { openReading } from '../log/store/open.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { createEgress } from '../net/fetch.ts'
import { keyFileOf, openSecrets } from '../net/secrets.ts'
import { type Effects, findingNeeds, type Held, openHeld, runNeeds, type Surroundings } from './needs.ts'
import { storeCalls } from './store-calls.ts'

/** Functions by name, as messages ask for them. */
export type ByName = Record<string, (...args: never[]) => Promise<unknown>>

/** What an instance is started with, as far as reads depend on it. */
export interface ReadingOptions extends Partial<Surroundings> {
  /** Path of the data file; its secret.key lies beside it. */
  dataFile: string
  maxDbSize?: number | null
  /** Memory of what is counted (log/figures.ts). */
  figures: SharedArrayBuffer
  boot?: BootCatalog
}

interface ReadingParts {
  options: ReadingOptions
  ctx: ReadContext
  clock: Clock
  /** Of the connection of `ctx`. */
  snapshot: Snapshot
  figures: Figures
  /** Of the instance. */
  secret: string
}

/** @returns calls by name, each on one snapshot; those that would write are among them, and fail. */
export function openDeclaredReads(parts: ReadingParts): ByName {
  const { options, ctx, clock, figures, secret, snapshot } = parts
  const held = heldBy(parts, readingStore(ctx.db), NONE)
  const { declared } = held
  const capacity = new Capacity(
    { db: ctx.db, file: options.dataFile, foldLog: never },
    options.maxDbSize ?? null,
  )
  const findings = findingNeeds(declared, ctx, never, never, never)
  const runs = runNeeds({
    ...{ declared, ctx, clock, findings, secret, tallies: new Tallies(), closeInstant: never },
    ...{ markerSeed: undefined, limits: never, usage: never, incidents: { ended: never }, onPending: never },
  })
  const calls: ByName = {
    ...storeCalls({
      ...{ held, clock, figures, findings, runs, making: createMaking(runs), view: snapshot },
      storage: { measure: (now) => capacity.measure(now), refusal: () => figures.refusal },
      sealed: watchSealedSecrets(ctx.db, held.secrets, keyFileOf(options.dataFile)),
      boot: options.boot ?? {},
      ...{
        egress: createEgress({ allowPrivate: false, timers: systemTimers }),
        startRun: never,
        remember: never,
        onCredentials: never,
        onProposal: never,
      },
    }),
    previewDraft: previewsOf(parts),
  }
  return onSnapshots(calls, snapshot, catchingUp(held))
}

const heldBy = ({ options, ctx, clock, figures }: ReadingParts, store: StoreHandle, effects: Effects): Held =>
  openHeld({
    ...{ store, clock, ctx, figures, effects, tallies: new Tallies() },
    secrets: openSecrets(keyFileOf(options.dataFile)),
    surroundings: {
      ...{ env: options.env ?? {}, models: options.models, tracing: options.tracing, slack: options.slack },
    },
    storageReason: () => figures.refusal,
  })

/**
 * Previews of drafts: each is rehearsed on a connection of its own, which is opened with the first; what happened
 * is filled in from that of the reader.
 */
function previewsOf(parts: ReadingParts): GraphWrites['previewDraft'] {
  const { options, ctx, snapshot } = parts
  const open = (): GraphWrites => {
    const store = rehearsingStore(openReading(options.dataFile), () => upToDate())
    const held = heldBy(parts, store, REHEARSED)
    const upToDate = catchingUp(held)
    const { declared, catalog, positions } = held
    return graphCalls({ declared, catalog, positions, ctx, snapshot, boot: options.boot ?? {} })
  }
  let opened: GraphWrites | null = null
  return (...of) => {
    opened ??= open()
    return opened.previewDraft(...of)
  }
}

/** Reads again what is held of sources, where a change-set came since; inside a snapshot. */
function catchingUp({ declared, sources }: Held): () => void {
  let seen = -1
  return () => {
    const version = declared.changes.version()
    if (version !== seen) sources.reload()
    seen = version
  }
}

/** What a call does before it first waits, which is all of it where nobody is asked, sees one snapshot. */
const onSnapshots = (calls: Readonly<ByName>, snapshot: Snapshot, upToDate: () => void): ByName =>
  Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      async (...args: never[]) => {
        const { answer } = await snapshot(() => {
          upToDate()
          return { answer: call(...args) }
        })
        return answer
      },
    ]),
  )

/** What only writes are made with. */
const never = (): never => {
  throw new Error('a call that writes was asked of a reader')
}
const NONE: Effects = {
  ...{ documents: never, purge: never, gone: never, back: never, changed: never, revoked: never },
}
/** A preview shows none of it: the graph has neither documents, nor events to be removed, nor what was subscribed to what is gone. */
const REHEARSED: Effects = {
  documents: () => {},
  purge: () => 0,
  gone: () => {},
  back: () => {},
  changed: () => {},
  revoked: () => {},
}

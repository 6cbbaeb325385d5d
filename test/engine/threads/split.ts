/**
 * An engine and beside it a reader on a connection that cannot write, as the daemon has them in threads:
 * calls go where the daemon sends them, and where each went is noted.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { Figures, figuresMemory } from '../../../engine/figures.ts'
import { createEngine, type LocalEngine } from '../../../engine/local.ts'
import type { NetworkInput } from '../../../engine/operations/input.ts'
import type { NetworkCalls } from '../../../engine/operations/network.ts'
import { openReading } from '../../../engine/store/open.ts'
import { performOver } from '../../../engine/threads/performing.ts'
import { readerCalls } from '../../../engine/threads/reader-calls.ts'
import { callsOver } from '../../../engine/threads/who-answers.ts'

type Call = (...args: unknown[]) => Promise<unknown>

export interface Split {
  engine: LocalEngine
  clock: { at: number; now(): number }
  /** All that a reader answers. */
  reader: Record<string, Call>
  /** Calls of the engine and of its ports as the daemon passes them on. */
  calls: Record<string, Call>
  /** An operation as the daemon runs it. */
  perform(id: string, input: NetworkInput): Promise<unknown>
  /** Names of the calls of the engine alone. */
  names: string[]
  /** Where calls went since this was asked last. */
  went(): string[]
  /** Changes with each commit. */
  commits(): number
  figures: Figures
  /** Ends the writer; the reader goes on. */
  endWriter(): Promise<void>
  close(): Promise<void>
}

export const NOW = Date.parse('2026-11-20T12:00:00Z')

export function openSplit(more: { maxDbSize?: number } = {}): Split {
  const folder = mkdtempSync(join(tmpdir(), 'svc-split-'))
  const clock = { at: NOW, now: () => clock.at }
  const shared = {
    dataFile: join(folder, 'svc.db'),
    maxDbSize: more.maxDbSize ?? null,
    figures: figuresMemory(),
    env: { SVC_SECRET_TOKEN: 'given' },
    boot: {},
  }
  const engine = createEngine({ ...shared, clock })
  const db = openReading(shared.dataFile)
  const reader = readerCalls(db, shared, clock) as Record<string, Call>
  const watch = new BetterSqlite3(shared.dataFile, { readonly: true })
  const own = engine as unknown as Record<string, Call>
  let went: string[] = []
  const noting = (where: string, on: Record<string, Call>) => (name: string, args: unknown[]) => {
    went.push(where)
    return on[name]!(...args)
  }
  const answering = {
    writer: noting('writer', own),
    short: noting('reader', reader),
    wide: noting('wide', reader),
  }
  const over = callsOver(answering) as unknown as Record<'calls' | 'ports', Record<string, Call>>
  const network = { ...engine, ...over.calls } as unknown as NetworkCalls
  let isOpen = true
  const endWriter = async () => {
    if (isOpen) await engine.close()
    isOpen = false
  }
  return {
    ...{ engine, clock, reader, endWriter, figures: new Figures(shared.figures) },
    calls: { ...over.calls, ...over.ports },
    perform: performOver(answering, () => network),
    names: Object.keys(over.calls),
    went: () => {
      const gone = went
      went = []
      return gone
    },
    commits: () => watch.pragma('data_version', { simple: true }) as number,
    close: async () => {
      await endWriter()
      db.close()
      watch.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** What a call comes to: its answer, or the code and sentence it is refused with. */
export async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await call() }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { code, message }
  }
}

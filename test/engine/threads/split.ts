/**
 * An engine and beside it a reader on a connection that cannot write, as the daemon has them in threads:
 * calls go where the daemon sends them, and where each went is noted.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { createEngine } from '../../../engine/engine.ts'
import type { LocalEngine } from '../../../engine/local.ts'
import { Figures, figuresMemory } from '../../../engine/log/figures.ts'
import { openReading } from '../../../engine/log/store/open.ts'
import type { NetworkInput } from '../../../engine/operations/input.ts'
import type { Writer } from '../../../engine/roles/calls.ts'
import { rolesHere } from '../../../engine/roles/here.ts'
import { openReader } from '../../../engine/roles/reader.ts'
import { callsOver } from '../../../engine/roles/who-answers.ts'

type Call = (...args: unknown[]) => Promise<unknown>

export interface Split {
  engine: LocalEngine
  writer: Writer
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
  const { roles, writer } = rolesHere({ ...shared, clock })
  const options = { clock, works: false, webhookAllowPrivate: false, env: shared.env, publicUrl: null }
  const onFault = (_role: string, error: Error) => {
    throw error
  }
  const engine = { ...writer, ...createEngine({ ...options, roles, onFault }) }
  const db = openReading(shared.dataFile)
  const reader = openReader(db, shared, clock) as Record<string, Call>
  const watch = new BetterSqlite3(shared.dataFile, { readonly: true })
  let went: string[] = []
  const noting = (where: string, on: Record<string, unknown>) => (name: string, args: unknown[]) => {
    went.push(where)
    return (on[name] as Call)(...args)
  }
  const answering = {
    writer: noting('writer', { ...writer }),
    short: noting('reader', reader),
    wide: noting('wide', reader),
  }
  const threaded = createEngine({ ...options, roles: { ...roles, ...answering }, onFault })
  const over = callsOver(answering)
  let isOpen = true
  const endWriter = async () => {
    if (isOpen) await engine.close()
    isOpen = false
  }
  return {
    ...{ engine, writer, clock, reader, endWriter, figures: new Figures(shared.figures) },
    calls: { ...over.calls, ...over.ports } as Record<string, Call>,
    perform: threaded.perform,
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

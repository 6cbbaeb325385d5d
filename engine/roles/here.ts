/** All roles on the caller's thread: calls between them are direct. For tests, tools, and engines in memory. */
import { systemClock } from '../clock.ts'
import { createEngine, performOver, type Signals, type StoreRoles } from '../engine.ts'
import type { LocalEngine } from '../operations/operation.ts'
import type { EngineOptions, Writer } from './calls.ts'

import { openWriter } from './writer.ts'

/** The roles of the store, of which the writer is all: in memory there is one connection. @throws StartError */
export function rolesHere(options: EngineOptions): { roles: StoreRoles; writer: Writer } {
  let signals: Signals | null = null
  const writer = openWriter(
    {
      ...options,
      onPending: () => {
        signals?.pending()
        options.onPending?.()
      },
      onSourcesChanged: () => {
        signals?.sourcesChanged()
        options.onSourcesChanged?.()
      },
    },
    async () => openEngineHere,
  )
  const named: Record<string, unknown> = { ...writer }
  const answer = async (method: string, args: unknown[]): Promise<unknown> =>
    (named[method] as (...args: unknown[]) => unknown)(...args)
  return {
    writer,
    roles: {
      ...{ writer: answer, short: answer },
      wide: (method, args, { asked }) => answer(method, asked?.told ? [...args, asked.told] : args),
      ingest: (post) => writer.ingest(post),
      listen: async (filter, send) => writer.listen(filter, send),
      closeInstant: async (instant) => writer.closeInstant(instant),
      writerSilence: () => writer.writerSilence(),
      tallies: () => writer.tallies(),
      signal: (to) => {
        signals = to
      },
      close: () => writer.close(),
    },
  }
}

/**
 * An engine on this thread that does nothing by itself: whoever opens it sends, runs and polls by its calls.
 * @throws StartError when the file cannot be opened.
 */
export function openEngineHere(options: EngineOptions): LocalEngine {
  const { roles, writer } = rolesHere(options)
  const engine = createEngine({
    roles,
    works: false,
    clock: options.clock ?? systemClock,
    webhookAllowPrivate: options.webhookAllowPrivate ?? false,
    env: options.env ?? {},
    publicUrl: options.slack?.publicUrl ?? null,
    repository: options.repository ?? null,
    repositoryHome: options.repositoryHome ?? null,
    onFault: (_role, error) => void writer.onFault(error),
  })
  // An operation of the network role calls what the caller holds.
  const local: LocalEngine = { ...writer, ...engine, perform: performOver(roles, () => local) }
  return local
}

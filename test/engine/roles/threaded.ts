/**
 * The engine as the daemon has it, a thread for each role of the store, under a test's eye: its clock is set by hand,
 * and nothing is sent, run or polled but by calls. The threads run what is built (dist/), as the daemon's do.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { emptyModelEnvironment } from '../../../engine/agents/models/providers.ts'
import { emptyTracingEnvironment } from '../../../engine/agents/telemetry/tracing-settings.ts'
import { createEngine } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import type { EngineOptions } from '../../../engine/local.ts'
import { emptySlackEnvironment } from '../../../engine/outbox/slack-api.ts'
import { rolesInThreads } from '../../../engine/threads/start.ts'

const DIST = new URL('../../../dist/', import.meta.url)
const ENTRY = new URL('engine-worker.mjs', DIST)
// A thread reads what V8 compiled of it, which is most of its start. By the environment, which threads alone go by: told to
// keep what it compiles itself, this process would write all it has loaded as it ends, 3.4 s (2026-11-29).
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.compiled', DIST))

type Options = Pick<
  EngineOptions,
  'env' | 'models' | 'tracing' | 'slack' | 'webhookAllowPrivate' | 'onPending'
>

/** @param clock whose `at` is what the threads see too. @param dataFile null: one of its own, which goes with it */
export async function openThreaded({
  dataFile,
  clock,
  ...options
}: Options & { dataFile: string | null; clock: { at: number; now(): number } }): Promise<Engine> {
  if (!existsSync(fileURLToPath(ENTRY))) throw new Error(`${ENTRY} is missing: run npm run setup`)
  const folder = dataFile === null ? mkdtempSync(join(tmpdir(), 'svc-threads-')) : null
  const time = sharedTime(clock)
  const { env = {}, slack = emptySlackEnvironment, webhookAllowPrivate = false } = options
  const failed = (error: Error) => {
    throw error
  }
  const roles = await rolesInThreads(
    {
      ...{ env, slack, webhookAllowPrivate, boot: {}, maxDbSize: null, acceptLoss: false },
      dataFile: dataFile ?? join(folder!, 'svc.db'),
      models: options.models ?? emptyModelEnvironment,
      tracing: options.tracing ?? emptyTracingEnvironment,
      retention: { maxAgeMs: null, maxBytes: null },
      onBooted: () => {},
      onStorage: () => {},
      onFatal: failed,
      onFault: (id, stack) => failed(new Error(`${id}: ${stack}`)),
    },
    { entry: ENTRY, time },
  )
  const publicUrl = slack.publicUrl
  const engine = createEngine({
    ...{ roles, clock, env, publicUrl, webhookAllowPrivate, works: false },
    onFault: (_role, error) => failed(error),
  })
  return {
    ...engine,
    close: async () => {
      await engine.close()
      if (folder !== null) rmSync(folder, { recursive: true })
    },
  }
}

/** Moves `at` of a clock into memory that threads share. */
function sharedTime(clock: { at: number }): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
  const time = new Float64Array(memory)
  time[0] = clock.at
  Object.defineProperty(clock, 'at', { get: () => time[0], set: (at: number) => time.set([at]) })
  return memory
}

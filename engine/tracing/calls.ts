/** Tracing as callers see it, and what it needs of the store. */
import type { TracingSettings, TracingTested, TracingWrite } from '../../schemas/types.ts'
import type { Access } from '../access.ts'
import type { StoredTracing, TracingConfig, TracingSettingsStore } from './settings.ts'

export interface TracingCalls {
  getTracing(): Promise<TracingSettings>
  /** @throws SvcError invalid */
  saveTracing(body: TracingWrite): Promise<TracingSettings>
  /** Sends one span to where traces go, switched on or not. */
  testTracing(): Promise<TracingTested>
  /** Spans since the process started. */
  tracingCounts(): Promise<{ exported: number; dropped: number }>
}

/** What exports need of the store; not for doors: credentials are in it. */
export interface TracingPort {
  tracingConfig(): Promise<TracingConfig>
  storedTracing(): Promise<StoredTracing>
  /** @throws SvcError invalid */
  storeTracing(body: TracingWrite): Promise<StoredTracing>
}

export function tracingPort(settings: TracingSettingsStore): TracingPort {
  return {
    tracingConfig: async () => settings.config(),
    storedTracing: async () => settings.list(),
    storeTracing: async (body) => settings.save(body),
  }
}

/** For what passes them on to the thread that answers. */
export const tracingPortAccess: Record<keyof TracingPort, Access> = {
  tracingConfig: 'reads',
  storedTracing: 'reads',
  storeTracing: 'writes',
}

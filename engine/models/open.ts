/** Models put together: the part that calls providers, and the part that is with the store. */

import type { AgentSettings } from '../../schemas/types.ts'
import { type Clock, systemTimers } from '../clock.ts'
import { createEgress, createEgressFetch } from '../egress/index.ts'
import type { Secrets } from '../secrets.ts'
import { openSettings } from '../settings/settings.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { Tallies } from '../tallies.ts'
import {
  type ModelNetworkCalls,
  type ModelPort,
  type ModelWrites,
  modelNetworkCalls,
  modelWrites,
} from './calls.ts'
import { emptyModelEnvironment, type ModelEnvironment } from './environment.ts'
import { createModels } from './models.ts'
import { type AgentModels, createModelSettings } from './settings.ts'
import type { Models } from './types.ts'
import { type UsageEntry, usageRecorder } from './usage.ts'

export interface ModelsOverNetwork {
  /** For runs and Ask. */
  models: Models
  calls: ModelNetworkCalls
  /** Closes the idle connections and cuts off the others. */
  close(): void
}

/** Calls of providers, wherever the store is. Its addresses are an operator's: they may be private. */
export function openModels(
  port: ModelPort & Pick<ModelWrites, 'listModelProviders'>,
  clock: Clock,
): ModelsOverNetwork {
  const { fetch: http, close } = createEgressFetch({ audience: 'operator' })
  const { checkTarget } = createEgress({ allowPrivate: false, timers: systemTimers })
  const models = createModels({
    config: () => port.modelConfig(),
    keepModels: (id, listed) => port.keepModels(id, listed),
    http,
    clock,
    timers: systemTimers,
    random: Math.random,
  })
  return {
    models,
    calls: modelNetworkCalls({ port, models, checkTarget: (url) => checkTarget(url, 'operator') }),
    close,
  }
}

export interface StoredModels {
  calls: ModelWrites & ModelPort
  ofAgents(): AgentModels
  /** Bounds of agents as they are now. */
  agents(): AgentSettings
  record(entry: UsageEntry): void
}

/** What is stored of models, on the writing connection. @param env none when absent */
export function openStoredModels(
  store: StoreHandle,
  secrets: Secrets,
  clock: Clock,
  tallies: Tallies,
  env: ModelEnvironment = emptyModelEnvironment,
): StoredModels {
  const settings = createModelSettings({ env, settings: openSettings(store, clock), secrets })
  const record = usageRecorder(store, tallies)
  const { ofAgents, agents } = settings
  return { calls: modelWrites(settings, record), ofAgents, agents, record }
}

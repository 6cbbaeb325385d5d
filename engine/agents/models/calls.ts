/**
 * Models as callers see them: what is written and read of them, which runs with the store, and what asks
 * a provider over the network, which runs where runs do.
 */
import type {
  AgentSettings,
  AgentSettingsWrite,
  ModelPrices,
  ModelProviderSaved,
  ModelProvidersResult,
  ModelProviderTested,
  ModelUsageResult,
  PricesWrite,
  ProviderWrite,
} from '../../../schemas/types.ts'
import type { Access } from '../../calls.ts'
import { type Clock, systemTimers } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { openSettings } from '../../log/settings.ts'
import type { StoreHandle } from '../../log/store/handle.ts'
import type { Tallies } from '../../log/tallies.ts'
import { createEgress, type Egress, fetchOver } from '../../net/fetch.ts'
import type { Secrets } from '../../net/secrets.ts'
import type { Provider, ProviderConfig } from './adapter.ts'
import { REPLY_BYTES } from './faults.ts'
import { createModels, type ModelsAndLists } from './models.ts'
import { emptyModelEnvironment, type ModelEnvironment } from './providers.ts'
import { type AgentModels, createModelSettings, type ModelSettings } from './settings.ts'
import { ModelFault, type Models } from './types.ts'
import { type UsageEntry, usageRecorder } from './usage.ts'

interface ModelWrites {
  listModelProviders(): Promise<ModelProvidersResult>
  /** @throws SvcError not_found; conflict for one of the environment alone */
  removeModelProvider(id: string): Promise<ModelProvidersResult>
  /** @throws SvcError not_found; invalid for one without a credential */
  chooseModelProvider(id: string): Promise<ModelProvidersResult>
  modelPrices(): Promise<ModelPrices>
  /** @throws SvcError invalid */
  saveModelPrices(body: PricesWrite): Promise<ModelPrices>
  agentSettings(): Promise<AgentSettings>
  saveAgentSettings(body: AgentSettingsWrite): Promise<AgentSettings>
  recordModelUsage(entry: UsageEntry): Promise<void>
}

export interface ModelReads {
  /** @param days 1 to 366 */
  modelUsage(days: number): Promise<ModelUsageResult>
}

export interface ModelNetworkCalls {
  /** Saves a provider and asks it for its models. @throws SvcError invalid, not_found, conflict */
  saveModelProvider(id: string, body: ProviderWrite): Promise<ModelProviderSaved>
  /** Asks a provider for its models anew. @throws SvcError not_found; invalid for one without a credential */
  discoverModels(id: string): Promise<ModelProviderSaved>
  /** One small call. @throws SvcError not_found; invalid for one without a credential */
  testModelProvider(id: string, model: string): Promise<ModelProviderTested>
}

export type ModelCalls = ModelWrites & ModelReads & ModelNetworkCalls

/** What the network calls need of the store; not for doors: credentials are in it. */
export interface ModelPort {
  modelConfig(): Promise<ProviderConfig>
  /** @returns its id */
  storeModelProvider(id: string, body: ProviderWrite): Promise<string>
  keepModels(id: string, models: string[]): Promise<void>
}

function modelWrites(settings: ModelSettings, record: (entry: UsageEntry) => void): ModelWrites & ModelPort {
  return {
    listModelProviders: async () => settings.list(),
    removeModelProvider: async (id) => {
      settings.remove(id)
      return settings.list()
    },
    chooseModelProvider: async (id) => {
      settings.choose(id)
      return settings.list()
    },
    modelPrices: async () => settings.prices(),
    saveModelPrices: async (body) => settings.savePrices(body),
    agentSettings: async () => settings.agents(),
    saveAgentSettings: async (body) => settings.saveAgents(body),
    recordModelUsage: async (entry) => record(entry),
    modelConfig: async () => settings.config(),
    storeModelProvider: async (id, body) => settings.save(id, body),
    keepModels: async (id, models) => settings.keepModels(id, models),
  }
}

const TEST_MS = 20_000
/** Models that think before they write need some room for it. */
const TEST_TOKENS = 64

function modelNetworkCalls(parts: {
  port: ModelPort & Pick<ModelWrites, 'listModelProviders'>
  models: ModelsAndLists
  /** @returns why an address may not be asked; null when it may */
  checkTarget(url: string): Promise<string | null>
}): ModelNetworkCalls {
  const { port, models } = parts

  const callable = async (id: string): Promise<Provider> => {
    const { providers } = await port.listModelProviders()
    if (!providers.some((one) => one.id === id)) fail('not_found', `no model provider has the id ${id}`)
    const found = (await port.modelConfig()).providers.find((one) => one.id === id)
    return found ?? fail('invalid', `provider ${id} has no credential; enter one first`, { field: 'key' })
  }

  const discover = async (id: string): Promise<ModelProviderSaved> => {
    const provider = await callable(id)
    let discovery: ModelProviderSaved['discovery']
    try {
      const listed = await models.list(provider)
      await port.keepModels(id, listed)
      discovery = { models: listed, error: null }
    } catch (error) {
      if (!(error instanceof ModelFault)) throw error
      discovery = { models: [], error: error.message }
    }
    return { ok: true, id, discovery, ...(await port.listModelProviders()) }
  }

  return {
    async saveModelProvider(id, body) {
      const fault = body.base_url ? await parts.checkTarget(body.base_url) : null
      if (fault) fail('invalid', `base_url: ${fault}`, { field: 'base_url' })
      const saved = await port.storeModelProvider(id, body)
      const listing = await port.listModelProviders()
      // One whose credential was taken away has nothing to be asked with.
      if (!listing.providers.find((one) => one.id === saved)?.configured)
        return { ok: true, id: saved, discovery: { models: [], error: 'no credential' }, ...listing }
      return discover(saved)
    },
    discoverModels: discover,
    async testModelProvider(id, model) {
      await callable(id)
      let asked: string | null = null
      try {
        asked = (await models.resolve(id, model)).model
        const reply = await models.call({
          provider: id,
          model,
          system: '',
          messages: [{ role: 'user', text: 'Answer with the word ok.' }],
          tools: [],
          choice: 'auto',
          maxTokens: TEST_TOKENS,
          timeoutMs: TEST_MS,
        })
        return { ok: true, model: reply.model, ms: reply.ms }
      } catch (error) {
        if (!(error instanceof ModelFault)) throw error
        return { ok: false, model: asked, ms: 0, failed: failedOf(error), error: error.message }
      }
    },
  }
}

/** What to look at, from how a call failed. */
function failedOf({ code, status, message }: ModelFault): ModelProviderTested['failed'] {
  if (code === 'no_model') return 'model'
  if (code === 'malformed') return 'format'
  if (code === 'overloaded') return 'provider'
  if (code !== 'refused') return 'address'
  if (status === 401 || status === 403) return 'credential'
  if (status === 402 || status === 429) return 'provider'
  if (/\bmodel\b/i.test(message)) return 'model'
  return status === 404 || (status !== null && status < 400) ? 'address' : 'format'
}

/** For what passes them on to the thread that answers. */
export const modelPortAccess: Record<keyof ModelPort, Access> = {
  modelConfig: 'reads',
  storeModelProvider: 'writes',
  keepModels: 'writes',
}

/* Models put together: the part that calls providers, and the part that is with the store. */

interface ModelsOverNetwork {
  /** For runs and Ask. */
  models: Models
  calls: ModelNetworkCalls
  /** Closes the idle connections and cuts off the others. */
  close(): void
}

/** Answers that are read as they come hold their connection for minutes. */
const CONNECTIONS = 32

/**
 * The way out to providers: their addresses are an operator's and may be private. How long a try may take, and how
 * long it may be silent, is said by the call.
 */
export const modelFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: null, maxResponseBytes: REPLY_BYTES })

/** Calls of providers, wherever the store is. */
export function openModels(
  port: ModelPort & Pick<ModelWrites, 'listModelProviders'>,
  clock: Clock,
): ModelsOverNetwork {
  const egress = createEgress({ allowPrivate: false, timers: systemTimers, connections: CONNECTIONS })
  const models = createModels({
    config: () => port.modelConfig(),
    keepModels: (id, listed) => port.keepModels(id, listed),
    http: modelFetch(egress),
    clock,
    timers: systemTimers,
    random: Math.random,
  })
  return {
    models,
    calls: modelNetworkCalls({ port, models, checkTarget: (url) => egress.checkTarget(url, 'operator') }),
    close: egress.close,
  }
}

interface StoredModels {
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

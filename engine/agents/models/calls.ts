/**
 * Models as callers see them: what is written and read of them, which runs with the store, and what asks
 * a provider over the network, which runs where runs do. Settings of providers, prices and the bounds of agents are stored here: secrets go in and
 * never out.
 */
import type {
  AgentSettings,
  AgentSettingsWrite,
  AgentsResult,
  ModelPrices,
  ModelProvider,
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
import type { Tallies } from '../../log/figures.ts'
import { isOfOrigin, layered, openSettings, sealedAfter } from '../../log/settings.ts'
import type { StoreHandle } from '../../log/store/handle.ts'
import type { OutboundProxy } from '../../net/address.ts'
import { connectionsPerTarget, createEgress, type Egress, fetchOver, handleLimit } from '../../net/fetch.ts'
import { addressFault, type Secrets } from '../../net/secrets.ts'
import { type Provider, type ProviderConfig, REPLY_BYTES } from './adapter.ts'
import { createModels, type ModelsAndLists } from './models.ts'
import {
  CHOSEN_MODEL,
  configOf,
  type DefaultModel,
  defaultAndSourceOf,
  defaultModelsOf,
  defaultOf,
  type Entry,
  emptyModelEnvironment,
  entriesOf,
  fallbackFault,
  idOf,
  isReserved,
  type Known,
  type ModelEnvironment,
  type ModelsAsked,
  NAMES,
  OWN_ADDRESS_OF_A,
  otherDefault,
  ownPrices,
  placeOf,
  SETTING,
  type StoredProvider,
  toolsTaken,
} from './providers.ts'
import { ModelFault, type Models, type OwnedKind } from './types.ts'
import { shippedPrices, type UsageEntry, usageRecorder } from './usage.ts'

const DAILY_CAP = 50
/** Stands for the address a provider has where none is named; the client of provider B knows it. */
const OWN_ADDRESS_OF_OTHERS = 'own:address'
const KINDS: ModelProvidersResult['kinds'] = [
  { id: 'providera', label: 'Provider A' },
  { id: 'providerb', label: 'Provider B' },
  { id: 'compatible', label: 'Chat-completions endpoint' },
]

export type AgentModels = Pick<
  AgentsResult,
  | 'key_configured'
  | 'key_source'
  | 'models'
  | 'default_model'
  | 'providers'
  | 'default_provider'
  | 'default_models'
>

export interface ModelSettings {
  /** What calls are made with, credentials opened: for the process itself, never for an answer. */
  config(): ProviderConfig
  list(): ModelProvidersResult
  /** What the list of agents says of models. */
  ofAgents(): AgentModels
  /** @param id `new` makes one. @returns its id. @throws SvcError invalid, not_found, conflict */
  save(id: string, body: ProviderWrite): string
  /** @throws SvcError not_found; conflict for one of the environment alone */
  remove(id: string): void
  /** @param id empty: the environment or the rule chooses. @throws SvcError not_found; invalid for one without a credential */
  choose(id: string): void
  /** Keeps what a provider listed. */
  keepModels(id: string, models: readonly string[]): void
  prices(): ModelPrices
  /** @throws SvcError invalid */
  savePrices(body: PricesWrite): ModelPrices
  agents(): AgentSettings
  saveAgents(body: AgentSettingsWrite): AgentSettings
}

/** Whether a person may choose it. */
const isOwned = (provider: Provider): provider is Provider & { kind: OwnedKind } =>
  provider.kind !== 'scripted'

function createModelSettings(known: Known): ModelSettings {
  const { settings, env } = known
  const find = (id: string): Entry =>
    entriesOf(known).find((entry) => entry.id === id) ??
    fail('not_found', `no model provider has the id ${id}`)
  return {
    config: () => configOf(known),
    list() {
      const entries = entriesOf(known)
      const { entry: chosen, source } = defaultAndSourceOf(known, entries)
      const modelOf = defaultModelsOf(known, entries)
      return {
        providers: entries.map((entry) => present(entry, entry.id === chosen?.id, modelOf(entry))),
        default: chosen?.id ?? null,
        default_source: source,
        kinds: KINDS,
      }
    },
    ofAgents() {
      const { providers: callable, defaultProvider } = configOf(known)
      const providers = callable.filter(isOwned)
      const chosen = providers.find(({ id }) => id === defaultProvider)
      return {
        key_configured: chosen !== undefined,
        key_source: chosen?.keySource ?? '',
        models: chosen?.models ?? [],
        default_model: chosen?.defaultModel ?? null,
        providers: providers.map(({ id, name, kind, models }) => ({ id, name, kind, models })),
        default_provider: defaultProvider,
        default_models: Object.fromEntries(
          providers.flatMap(({ id, defaultModel }) => (defaultModel === null ? [] : [[id, defaultModel]])),
        ),
      }
    },
    save(id, body) {
      const entries = entriesOf(known)
      if (isModelAlone(body) && id !== 'new') {
        chooseModel(settings, find(id).id, body)
        return id
      }
      const hadDefault = defaultOf(known, entries) !== null
      const target = targetOf(id, body, entries)
      const next = merged(known, target, body)
      settings.together(() => {
        settings.put(SETTING.provider + target.id, saysNothing(next) ? undefined : next)
        chooseModel(settings, target.id, body)
        const now = entriesOf(known)
        checkUsable(now.find((entry) => entry.id === target.id)!, env)
        // Models of another address, or another account, are others.
        if (next.base_url !== (target.entry?.stored?.base_url ?? null))
          settings.put(SETTING.models + target.id, undefined)
        if (!hadDefault && defaultOf(known, now)?.id === target.id) settings.put(SETTING.chosen, target.id)
      })
      return target.id
    },
    remove(id) {
      const entry = find(id)
      if (!entry.stored)
        fail(
          'conflict',
          `provider ${id} is set by the environment alone: unset its variables and start again`,
        )
      settings.together(() => {
        settings.put(SETTING.provider + id, undefined)
        settings.put(SETTING.models + id, undefined)
        settings.put(CHOSEN_MODEL + id, undefined)
        if (settings.get(SETTING.chosen) === id) settings.put(SETTING.chosen, undefined)
      })
    },
    choose(id) {
      if (id === '') return settings.put(SETTING.chosen, undefined)
      if (!find(id).configured)
        fail('invalid', `id: provider ${id} has no credential; enter one first`, { field: 'id' })
      settings.put(SETTING.chosen, id)
    },
    keepModels(id, models) {
      find(id)
      settings.put(SETTING.models + id, models)
    },
    prices: () => pricesNow(known),
    savePrices({ prices }) {
      prices.forEach(({ prefix }, i) => {
        if (prices.findIndex((other) => other.prefix === prefix) !== i)
          fail('invalid', `prices[${i}].prefix ${prefix} is listed twice`, { field: `prices[${i}]` })
      })
      settings.put(SETTING.prices, prices.length ? prices : undefined)
      return pricesNow(known)
    },
    agents: () => agentsNow(known),
    saveAgents(body) {
      const { fallback_provider: wanted } = body
      if (wanted && !entriesOf(known).some(({ id }) => id === wanted))
        fail('invalid', `fallback_provider: no model provider has the id ${wanted}`, {
          field: 'fallback_provider',
        })
      const now = settings.get<StoredAgents>(SETTING.agents) ?? {}
      const next = Object.fromEntries(Object.entries({ ...now, ...body }).filter(([, value]) => value !== ''))
      settings.put(SETTING.agents, Object.keys(next).length ? next : undefined)
      return agentsNow(known)
    },
  }
}

function present(entry: Entry, isDefault: boolean, { model, source }: DefaultModel): ModelProvider {
  const { id, kind, name, baseUrl, baseSource, configured, keySource, stored, editable, models } = entry
  return {
    id,
    kind,
    name,
    base_url: baseUrl ?? '',
    base_source: baseSource,
    configured,
    source: configured ? keySource : '',
    stored: stored !== null,
    key_stored: stored !== null && stored.key !== null,
    editable,
    default: isDefault,
    default_model: configured ? model : null,
    default_model_source: configured ? source : '',
    models,
    ...(kind === 'providera'
      ? {
          gateway_stored: stored !== null && stored.base_url !== null,
          gateway_token_stored: stored !== null && stored.gateway_token !== null,
          default_url: OWN_ADDRESS_OF_A,
        }
      : {}),
  }
}

/** Which model is the default may be chosen of every provider, also of one the environment alone sets up. */
const isModelAlone = (body: ProviderWrite): boolean =>
  body.default_model !== undefined && Object.keys(body).length === 1

/** Empty text goes back to the rule; absent changes nothing. */
function chooseModel(settings: Known['settings'], id: string, { default_model }: ProviderWrite): void {
  if (default_model !== undefined) settings.put(CHOSEN_MODEL + id, default_model.trim() || undefined)
}

interface Target {
  id: string
  kind: StoredProvider['kind']
  name: string
  /** Null: it is made. */
  entry: Entry | null
}

/** Which provider a write is of. @throws SvcError */
function targetOf(id: string, { kind, name }: ProviderWrite, entries: readonly Entry[]): Target {
  const given = (entry: Entry): Target => {
    if (!entry.editable)
      fail('conflict', `provider ${entry.id} is set by the environment, and cannot be changed here`)
    if (kind !== undefined && kind !== entry.kind)
      fail('invalid', `kind: provider ${entry.id} is ${entry.kind}; its kind cannot be changed`, {
        field: 'kind',
      })
    return { id: entry.id, kind: entry.kind, name: name ?? entry.name, entry }
  }
  const found = entries.find((entry) => entry.id === id)
  if (id !== 'new') return given(found ?? fail('not_found', `no model provider has the id ${id}`))
  if (kind === undefined) fail('invalid', 'kind is required', { field: 'kind' })
  if (kind !== 'compatible') return given(entries.find((entry) => entry.id === kind)!)
  if (name === undefined) fail('invalid', 'name is required', { field: 'name' })
  const made = idOf(name)
  if (made === '' || isReserved(made))
    fail('invalid', `name ${name} makes no id of its own; take letters and digits that say which it is`, {
      field: 'name',
    })
  if (entries.some((entry) => entry.id === made))
    fail('conflict', `a model provider has the id ${made}; take another name, or change that one`, {
      field: 'name',
    })
  return { id: made, kind, name, entry: null }
}

/** The stored provider after a write. @throws SvcError invalid */
function merged({ env, secrets }: Known, target: Target, body: ProviderWrite): StoredProvider {
  const { id, kind, name, entry } = target
  const was = entry?.stored ?? null
  if (kind !== 'providera' && (body.gateway_token || body.gateway_token_clear))
    fail('invalid', 'gateway_token: only provider A has one; this kind takes a key', {
      field: 'gateway_token',
    })
  const base_url = body.base_url === undefined ? (was?.base_url ?? null) : addressOf(body.base_url)
  if (kind === 'compatible' && base_url === null)
    fail('invalid', 'base_url is required: an http or https address with the version in it', {
      field: 'base_url',
    })
  const inEnvironment = kind === 'compatible' ? null : env[kind].baseUrl
  const ownAddress = kind === 'providera' ? OWN_ADDRESS_OF_A : OWN_ADDRESS_OF_OTHERS
  const address = base_url ?? inEnvironment ?? ownAddress
  const before = entry?.baseUrl ?? ownAddress
  const givenOf = (field: 'key' | 'gateway_token') =>
    body[field] || (body[`${field}_clear`] ? null : undefined)
  const secret = (field: 'key' | 'gateway_token', enteredFor: string) => {
    const write = { field, place: placeOf(id, field), given: givenOf(field), was: was?.[field] }
    return sealedAfter(secrets, { ...write, addresses: [enteredFor, address] })
  }
  const keyFor = was?.key_for ?? before
  const stored = { kind, name, base_url, gateway_token: secret('gateway_token', before) }
  // Beside a gateway's token the key is not asked for again: it stays for the address it was entered for.
  const isOfGateway = stored.gateway_token !== null || givenOf('gateway_token') === null
  if (was?.key && givenOf('key') === undefined && isOfGateway && !isOfOrigin(keyFor, address))
    return { ...stored, key: was.key, key_for: keyFor }
  return { ...stored, key: secret('key', keyFor) }
}

/** Whether a stored provider is as one of which nothing is stored: the environment alone holds. */
const saysNothing = ({ kind, name, base_url, key, gateway_token }: StoredProvider): boolean =>
  kind !== 'compatible' && name === NAMES[kind] && (base_url ?? key ?? gateway_token) === null

/** An address without a trailing slash; null for none. @throws SvcError invalid */
function addressOf(text: string): string | null {
  if (text.trim() === '') return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    fail('invalid', 'base_url must be an absolute http or https address', { field: 'base_url' })
  if (url.username || url.password || url.search || text.includes('#'))
    fail('invalid', 'base_url must have no user, query or fragment', { field: 'base_url' })
  const fault = addressFault(text)
  if (fault !== null) fail('invalid', `base_url: ${fault}`, { field: 'base_url' })
  return url.href.replace(/\/+$/, '')
}

/** @throws SvcError invalid where only the environment's credential is there, for another address */
function checkUsable({ id, configured, baseSource }: Entry, env: Known['env']): void {
  if (configured || baseSource !== 'console') return
  const inEnvironment = id === 'providera' ? env.providera.token || env.providera.key : env.providerb.key
  if (inEnvironment)
    fail(
      'invalid',
      'key: enter one for this address: the credential of the environment is sent to the address of the environment alone',
      { field: 'key' },
    )
}

function pricesNow({ settings }: Known): ModelPrices {
  const { updated, prices } = shippedPrices
  return { updated, shipped: [...prices], own: ownPrices(settings) }
}

/** Runs of all agents at once: each holds a conversation in memory, and a provider has limits of its own. */
const CONCURRENCY = 8

interface StoredAgents {
  daily_cap?: number
  daily_budget_usd?: number
  concurrency?: number
  fallback_provider?: string
  fallback_model?: string
}

function agentsNow({ settings, env }: Known): AgentSettings {
  const stored = settings.get<StoredAgents>(SETTING.agents) ?? {}
  const { daily_cap, daily_budget_usd, concurrency } = stored
  const cap = layered(daily_cap, env.dailyCap, DAILY_CAP)
  return {
    daily_cap: cap.value,
    daily_cap_source: cap.source,
    default: DAILY_CAP,
    env: env.dailyCap,
    daily_budget_usd: daily_budget_usd ?? null,
    concurrency: concurrency ?? CONCURRENCY,
    fallback_provider: stored.fallback_provider ?? '',
    fallback_model: stored.fallback_model ?? '',
  }
}

interface ModelWrites {
  listModelProviders(): Promise<ModelProvidersResult>
  /** @throws SvcError not_found; conflict for one of the environment alone */
  removeModelProvider(id: string): Promise<ModelProvidersResult>
  /** @param id empty: the environment or the rule chooses. @throws SvcError not_found; invalid for one without a credential */
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

/**
 * The way out to providers: their addresses are an operator's and may be private. How long a try may take, and how
 * long it may be silent, is said by the call.
 */
export const modelFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: null, maxResponseBytes: REPLY_BYTES })

/** Calls of providers, wherever the store is. @param proxy that they go out through; null: none */
export function openModels(
  port: ModelPort & Pick<ModelWrites, 'listModelProviders'>,
  clock: Clock,
  proxy: OutboundProxy | null,
): ModelsOverNetwork {
  const egress = createEgress({
    allowPrivate: false,
    timers: systemTimers,
    connections: connectionsPerTarget(handleLimit()),
    proxy,
  })
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
  /** What is asked in place of the default that the environment names and that is not there; null: it is. */
  otherDefault(): string | null
  ofAgents(): AgentModels
  /** Bounds of agents as they are now. */
  agents(): AgentSettings
  /** Why the fallback of an agent would answer nothing; null: it would, or there is none. */
  fallbackFault(asked: ModelsAsked): string | null
  toolsTaken(asked: ModelsAsked): ReturnType<typeof toolsTaken>
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
  const known = { env, settings: openSettings(store, clock), secrets }
  const settings = createModelSettings(known)
  const record = usageRecorder(store, tallies)
  const { ofAgents, agents } = settings
  return {
    ...{ calls: modelWrites(settings, record), ofAgents, agents, record },
    otherDefault: () => otherDefault(known),
    // An agent without a fallback asks nothing of what is stored.
    fallbackFault: (asked) =>
      asked.fallback_provider || asked.fallback_model ? fallbackFault(settings.config(), asked) : null,
    toolsTaken: (asked) => toolsTaken(settings.config(), asked),
  }
}

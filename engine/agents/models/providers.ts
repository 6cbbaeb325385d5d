/**
 * The providers there are: what the console stores over what the environment says (SPEC.md, Model
 * providers 2 and 3), and which of them is the default.
 */

import { didYouMean } from '../../../schemas/near-names.ts'
import { DEMO_SETTING, firstOf, isOfOrigin, openStored, type Settings } from '../../log/settings.ts'
import type { Secrets } from '../../net/secrets.ts'
import { type Credential, chosenOf, type Provider, type ProviderConfig } from './adapter.ts'
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER } from './scripted.ts'
import { ModelFault, type OwnedKind, type ProviderKind, toolsMaxOf } from './types.ts'
import { type Price, priceOf, shippedPrices, withOwnPrices } from './usage.ts'

/** As stored: secrets sealed, null where there is none. */
export interface StoredProvider {
  kind: OwnedKind
  name: string
  base_url: string | null
  key: string | null
  /** The address the key was entered for, where it is another than that of now: there it is not sent. */
  key_for?: string
  gateway_token: string | null
}

/** A provider as it is now, whether it can be called or not. */
export interface Entry extends Omit<Provider, 'defaultModel' | 'kind'> {
  kind: OwnedKind
  baseSource: string
  configured: boolean
  /** Null: nothing of it is stored. */
  stored: StoredProvider | null
  editable: boolean
}

/** Keys of the settings. */
export const SETTING = {
  provider: 'model_provider:',
  models: 'models_of:',
  chosen: 'default_model_provider',
  prices: 'model_prices',
  agents: 'agents',
} as const

/** Where provider A is asked when no address is named. */
export const OWN_ADDRESS_OF_A = 'https://api.anthropic.com'
/** What the fixed ones are called where nobody named them. */
export const NAMES: Record<'providera' | 'providerb', string> = {
  providera: 'Provider A',
  providerb: 'Provider B',
}

export const placeOf = (id: string, field: 'key' | 'gateway_token') =>
  `settings/model_provider/${id}/${field}`

export interface Known {
  env: ModelEnvironment
  settings: Settings
  secrets: Secrets
}

/**
 * Provider A, provider B, the deployment's, then the stored ones by id. A secret that does not open here,
 * such as one of a file restored without its key, is as none: it has to be entered again.
 */
export function entriesOf({ env, settings, secrets }: Known): Entry[] {
  const stored = new Map(
    settings
      .under<StoredProvider>(SETTING.provider)
      .map(([key, value]) => [key.slice(SETTING.provider.length), value]),
  )
  const open = (id: string, field: 'key' | 'gateway_token', as: Credential['as']): Credential | null =>
    credential(as, openStored(secrets, stored.get(id)?.[field], placeOf(id, field)))
  const models = (id: string) => settings.get<string[]>(SETTING.models + id) ?? []
  const named = (id: 'providera' | 'providerb', from: FromEnvironment): Entry => {
    const own = stored.get(id) ?? null
    const baseUrl = own?.base_url ?? from.baseUrl
    // The environment's credential is for the environment's address; another would be told it.
    const fits = isOfOrigin(from.baseUrl, baseUrl)
    const found = firstOf<Credential, string>([
      ['console:gateway', open(id, 'gateway_token', 'bearer')],
      ['console', own?.key_for === undefined ? open(id, 'key', 'key') : null],
      ...(fits ? from.credentials : []),
    ])
    return {
      id,
      kind: id,
      name: own?.name ?? NAMES[id],
      baseUrl,
      baseSource: own?.base_url ? 'console' : from.baseUrl === null ? '' : `env:${from.baseFrom}`,
      credential: found?.value ?? null,
      keySource: found?.source ?? '',
      configured: found !== null,
      stored: own,
      editable: true,
      models: models(id),
    }
  }
  const entries = [named('providera', ofA(env)), named('providerb', ofB(env))]
  const platform = platformOf(env)
  if (platform) entries.push({ ...platform, models: models(platform.id) })
  for (const [id, own] of stored) {
    if (entries.some((entry) => entry.id === id)) continue
    const key = open(id, 'key', 'key')
    entries.push({
      id,
      kind: 'compatible',
      name: own.name,
      baseUrl: own.base_url,
      baseSource: 'console',
      credential: key,
      keySource: 'console',
      configured: own.key === null || key !== null,
      stored: own,
      editable: true,
      models: models(id),
    })
  }
  return entries
}

interface FromEnvironment {
  baseUrl: string | null
  baseFrom: string
  /** The first that is there is used. */
  credentials: [source: string, credential: Credential | null][]
}

const credential = (as: Credential['as'], value: string | null): Credential | null =>
  value === null ? null : { as, value }

const ofA = ({ providera: { token, key, baseUrl, baseFrom } }: ModelEnvironment): FromEnvironment => ({
  baseUrl,
  baseFrom,
  credentials: [
    ['env:PROVIDERA_AUTH_TOKEN', credential('bearer', token)],
    ['env:PROVIDERA_API_KEY', credential('key', key)],
  ],
})

const ofB = ({ providerb: { key, baseUrl } }: ModelEnvironment): FromEnvironment => ({
  baseUrl,
  baseFrom: 'PROVIDERB_BASE_URL',
  credentials: [['env:PROVIDERB_API_KEY', credential('key', key)]],
})

function platformOf({ platform }: ModelEnvironment): Entry | null {
  if (!platform) return null
  const from = platform.key === null ? 'URL' : 'KEY'
  return {
    id: platformId(platform.name),
    kind: 'compatible',
    name: platform.name,
    baseUrl: platform.url,
    baseSource: 'env:SVC_PLATFORM_PROVIDER_URL',
    credential: credential('key', platform.key),
    keySource: `env:SVC_PLATFORM_PROVIDER_${from}`,
    configured: true,
    stored: null,
    editable: false,
    models: [],
  }
}

/** A slug of a name that is none of the fixed ids; the id of a compatible endpoint. */
export function idOf(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '')
}

const RESERVED = ['new', 'default', 'providera', 'providerb', SCRIPTED_PROVIDER]
export const isReserved = (id: string): boolean => RESERVED.includes(id)

const platformId = (name: string): string => {
  const id = idOf(name)
  return id === '' || isReserved(id) ? 'platform' : id
}

/**
 * The default provider: the console's choice, SVC_MODEL_PROVIDER, the deployment's, provider A, then the
 * first that can be called.
 */
export const defaultOf = (known: Known, entries: readonly Entry[]): Entry | null =>
  defaultAndSourceOf(known, entries).entry

/** @returns the default provider with what made it so; an empty source: there is none */
export function defaultAndSourceOf(
  { env, settings }: Known,
  entries: readonly Entry[],
): { entry: Entry | null; source: string } {
  const usable = entries.filter(({ configured }) => configured)
  const order = [
    ['console', settings.get<string>(SETTING.chosen)],
    ['env:SVC_MODEL_PROVIDER', env.defaultProvider],
    ['env:SVC_PLATFORM_PROVIDER_URL', env.platform && platformId(env.platform.name)],
    ['rule', 'providera'],
    ['rule', usable[0]?.id],
  ] as const
  for (const [source, id] of order) {
    const entry = usable.find((one) => one.id === id)
    if (entry) return { entry, source }
  }
  return { entry: null, source: '' }
}

/**
 * What is asked where the environment names a default that is not there, such as a mistyped id: another may cost more, and what it
 * is shown goes elsewhere.
 * @returns a sentence; null: the one that is named is asked, none is named, or the console's choice wins
 */
export function otherDefault(known: Known): string | null {
  const { defaultProvider: named } = known.env
  const entries = entriesOf(known)
  const { entry, source } = defaultAndSourceOf(known, entries)
  if (!named || entry === null || source === 'console' || source === 'env:SVC_MODEL_PROVIDER') return null
  const ids = entries.filter(({ configured }) => configured).map(({ id }) => id)
  return `SVC_MODEL_PROVIDER names ${named}, and no model provider that can be called has this id${didYouMean(named, ids)}; ${entry.id} is asked in its place`
}

/** @returns the default model of each provider, by the providers and the choice there are now */
export function defaultModelsOf(known: Known, entries: readonly Entry[]): (entry: Entry) => DefaultModel {
  const { env } = known
  const platform = env.platform && platformId(env.platform.name)
  const owner = ownerOfAgentModel(env, platform, defaultOf(known, entries)?.id ?? null)
  return (entry) => defaultModelOf(known, entry, owner)
}

/** What a call is made with. */
export function configOf(known: Known): ProviderConfig {
  const entries = entriesOf(known)
  const chosen = defaultOf(known, entries)
  const modelOf = defaultModelsOf(known, entries)
  const providers = entries
    .filter(({ configured }) => configured)
    .map((entry): Provider => {
      const { id, kind, name, baseUrl, credential, keySource, models } = entry
      const defaultModel = modelOf(entry).model
      return { id, kind, name, baseUrl, credential, keySource, models, defaultModel }
    })
  // In no list that a person chooses from, and never the default: its agents name it.
  if (known.settings.get(DEMO_SETTING) !== undefined) providers.push(SCRIPTED)
  const { fallback_provider: provider = '', fallback_model: model = '' } =
    known.settings.get<Record<string, string>>(SETTING.agents) ?? {}
  return {
    providers,
    defaultProvider: chosen?.id ?? null,
    fallback: { provider, model },
    prices: withOwnPrices(ownPrices(known.settings)),
  }
}

/** What an agent asks, and what in its place. */
export interface ModelsAsked {
  provider?: string
  model?: string
  fallback_provider?: string
  fallback_model?: string
}

/**
 * Why the fallback that an agent names would answer nothing: a call that needs it passes over it, so that it has to be
 * known before. @returns null: it would, or none is named
 */
export function fallbackFault(config: ProviderConfig, asked: ModelsAsked): string | null {
  const { provider = '', model = '', fallback_provider: other = '', fallback_model: name = '' } = asked
  if (!other && !name) return null
  const ids = config.providers.map(({ id }) => id)
  if (other && !ids.includes(other))
    return `fallback_provider ${other} is no model provider that is set up here (${ids.join(', ') || 'there is none'})`
  try {
    const own = chosenOf(config, provider, model)
    const { provider: found, model: chosen } = chosenOf(config, other || own.provider.id, name)
    if (found.id === own.provider.id && chosen === own.model)
      return `its fallback is what it asks first, ${chosen} of ${found.id}`
    return name && found.models.length && !found.models.includes(name)
      ? `fallback_model ${name} is not in the list of models of ${found.id}`
      : null
  } catch (error) {
    if (!(error instanceof ModelFault)) throw error
    // Without a provider of its own it cannot run at all, and says so.
    return error.provider === other && other ? `fallback_provider: ${error.message}` : null
  }
}

/** How many tools a request of an agent may name, and to whom it goes; null: there is no provider. */
export function toolsTaken(
  config: ProviderConfig,
  { provider = '' }: ModelsAsked,
): { provider: string; most: number } | null {
  const byId = (id: string | null) => config.providers.find((one) => one.id === id)
  // The scripted model of the demo is there without being the default of anybody.
  const asked = byId(provider) ?? byId(config.defaultProvider)
  return asked ? { provider: asked.id, most: toolsMaxOf(asked.kind) } : null
}

/** The scripted model, where the demo is loaded. */
const SCRIPTED: Provider = {
  ...{ id: SCRIPTED_PROVIDER, kind: 'scripted', name: SCRIPTED_MODEL, baseUrl: null, credential: null },
  ...{ keySource: 'none', models: [SCRIPTED_MODEL], defaultModel: SCRIPTED_MODEL },
}

export const ownPrices = (settings: Settings): Price[] => settings.get<Price[]>(SETTING.prices) ?? []

/** What the environment says of model providers: read when the daemon starts, never again. */
export interface ModelEnvironment {
  providera: {
    token: string | null
    key: string | null
    baseUrl: string | null
    /** Variable the address is from. */
    baseFrom: 'PROVIDERA_BASE_URL' | 'SVC_PROVIDERA_BASE'
  }
  providerb: { key: string | null; baseUrl: string | null }
  /** A chat-completions endpoint given by a deployment. */
  platform: { url: string; key: string | null; name: string } | null
  /** SVC_MODEL_PROVIDER */
  defaultProvider: string | null
  /** SVC_AGENT_MODEL */
  agentModel: string | null
  /** SVC_AGENT_DAILY_CAP */
  dailyCap: number | null
}

export const emptyModelEnvironment: ModelEnvironment = Object.freeze({
  providera: { token: null, key: null, baseUrl: null, baseFrom: 'PROVIDERA_BASE_URL' as const },
  providerb: { key: null, baseUrl: null },
  platform: null,
  defaultProvider: null,
  agentModel: null,
  dailyCap: null,
})

/*
 * The model of a provider where none is named (SPEC.md, Deployment: SVC_AGENT_MODEL; Model providers 1).
 * The rule is written for users in docs/models.md, section "The default model".
 */

/** Setting that holds the model a person chose for a provider, by the provider's id. */
export const CHOSEN_MODEL = 'default_model_of:'

/** The middle model of each provider that svc knows by name. */
const MIDDLE: Record<ProviderKind, string | null> = {
  providera: 'claude-sonnet-5-5',
  providerb: 'gpt-6-sol',
  compatible: null,
  scripted: null,
}

/** Models that a listing of chat completions holds besides those that answer in text. */
const NO_TEXT = /embed|rerank|whisper|tts|transcri|audio|image|moderation|realtime|dall|sora/i

export interface DefaultModel {
  /** Null: none is known until the provider lists its models. */
  model: string | null
  /** console, env:SVC_AGENT_MODEL, rule; empty without a model. */
  source: string
}

interface Asked {
  id: string
  kind: ProviderKind
  baseUrl: string | null
  /** As last listed; may be empty. */
  models: readonly string[]
}

/**
 * The first of these that is there: the model chosen in the console; SVC_AGENT_MODEL, for the one provider
 * it belongs to; the provider's middle model, which is taken unseen where svc knows the address; the first
 * listed model with a known price; the first listed one that answers in text.
 * @param owner id of the provider SVC_AGENT_MODEL belongs to
 */
function defaultModelOf(
  { env, settings }: { env: ModelEnvironment; settings: Settings },
  { id, kind, baseUrl, models }: Asked,
  owner: string | null,
): DefaultModel {
  const chosen = firstOf([
    ['console', settings.get<string>(CHOSEN_MODEL + id)],
    ['env:SVC_AGENT_MODEL', id === owner ? env.agentModel : null],
  ])
  if (chosen) return { model: chosen.value, source: chosen.source }
  const model = models.length === 0 ? unseen(kind, baseUrl) : listed(kind, models)
  return { model, source: model === null ? '' : 'rule' }
}

/** A gateway in provider A's format serves its models; a proxy of chat completions may serve any. */
const unseen = (kind: ProviderKind, baseUrl: string | null): string | null =>
  kind === 'providera' || baseUrl === null ? MIDDLE[kind] : null

function listed(kind: ProviderKind, models: readonly string[]): string {
  const middle = MIDDLE[kind]
  if (middle !== null && models.includes(middle)) return middle
  return (
    models.find((model) => priceOf(shippedPrices.prices, model) !== null && !NO_TEXT.test(model)) ??
    models.find((model) => !NO_TEXT.test(model)) ??
    models[0]!
  )
}

/**
 * The provider SVC_AGENT_MODEL belongs to, so that a model of one provider is never sent to another: the one
 * the environment makes the default, whatever the console chooses; where it sets none up, the default one.
 * @param platform id of the deployment's provider. @param chosen id of the default provider
 */
function ownerOfAgentModel(
  env: ModelEnvironment,
  platform: string | null,
  chosen: string | null,
): string | null {
  const { token, key } = env.providera
  return (
    env.defaultProvider ??
    platform ??
    ((token ?? key) !== null ? 'providera' : env.providerb.key !== null ? 'providerb' : chosen)
  )
}

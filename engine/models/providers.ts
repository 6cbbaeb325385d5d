/**
 * The providers there are: what the console stores over what the environment says (SPEC.md, Model
 * providers 2 and 3), and which of them is the default.
 */
import type { Secrets } from '../secrets.ts'
import { DEMO_SETTING } from '../settings/demo-key.ts'
import type { Settings } from '../settings/settings.ts'
import type { Credential, Provider, ProviderConfig } from './config.ts'
import { type DefaultModel, defaultModelOf, ownerOfAgentModel } from './default-model.ts'
import type { ModelEnvironment } from './environment.ts'
import { type Price, withOwnPrices } from './prices.ts'
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER } from './scripted.ts'
import type { OwnedKind } from './types.ts'

/** As stored: secrets sealed, null where there is none. */
export interface StoredProvider {
  kind: OwnedKind
  name: string
  base_url: string | null
  key: string | null
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
const NAMES: Record<'providera' | 'providerb', string> = { providera: 'Provider A', providerb: 'Provider B' }

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
  const open = (id: string, field: 'key' | 'gateway_token', as: Credential['as']): Credential | null => {
    const sealed = stored.get(id)?.[field]
    if (!sealed) return null
    try {
      return { as, value: secrets.open(sealed, placeOf(id, field)) }
    } catch {
      return null
    }
  }
  const models = (id: string) => settings.get<string[]>(SETTING.models + id) ?? []
  const named = (id: 'providera' | 'providerb', from: FromEnvironment): Entry => {
    const own = stored.get(id) ?? null
    const baseUrl = own?.base_url ?? from.baseUrl
    // The environment's credential is for the environment's address; another would be told it.
    const fits = baseUrl === from.baseUrl
    const credentials: [Credential | null, string][] = [
      [open(id, 'gateway_token', 'bearer'), 'console:gateway'],
      [open(id, 'key', 'key'), 'console'],
      ...(fits ? from.credentials : []),
    ]
    const [credential, keySource] = credentials.find(([one]) => one !== null) ?? [null, '']
    return {
      id,
      kind: id,
      name: own?.name ?? NAMES[id],
      baseUrl,
      baseSource: own?.base_url ? 'console' : from.baseUrl === null ? '' : `env:${from.baseFrom}`,
      credential,
      keySource,
      configured: credential !== null,
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
  credentials: [Credential | null, string][]
}

const credential = (as: Credential['as'], value: string | null): Credential | null =>
  value === null ? null : { as, value }

const ofA = ({ providera: { token, key, baseUrl, baseFrom } }: ModelEnvironment): FromEnvironment => ({
  baseUrl,
  baseFrom,
  credentials: [
    [credential('bearer', token), 'env:PROVIDERA_AUTH_TOKEN'],
    [credential('key', key), 'env:PROVIDERA_API_KEY'],
  ],
})

const ofB = ({ providerb: { key, baseUrl } }: ModelEnvironment): FromEnvironment => ({
  baseUrl,
  baseFrom: 'PROVIDERB_BASE_URL',
  credentials: [[credential('key', key), 'env:PROVIDERB_API_KEY']],
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
export function defaultOf({ env, settings }: Known, entries: readonly Entry[]): Entry | null {
  const usable = entries.filter(({ configured }) => configured)
  const order = [
    settings.get<string>(SETTING.chosen),
    env.defaultProvider,
    env.platform && platformId(env.platform.name),
    'providera',
  ]
  for (const id of order) {
    const found = usable.find((entry) => entry.id === id)
    if (found) return found
  }
  return usable[0] ?? null
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

/** The scripted model, where the demo is loaded. */
const SCRIPTED: Provider = {
  ...{ id: SCRIPTED_PROVIDER, kind: 'scripted', name: SCRIPTED_MODEL, baseUrl: null, credential: null },
  ...{ keySource: 'none', models: [SCRIPTED_MODEL], defaultModel: SCRIPTED_MODEL },
}

export const ownPrices = (settings: Settings): Price[] => settings.get<Price[]>(SETTING.prices) ?? []

/** The providers of one moment, and which of them a request goes to. */
import type { Price } from './prices.ts'
import { type ModelChoice, ModelFault, type ProviderKind } from './types.ts'

export interface Credential {
  /** A key goes where the provider's format has keys, a gateway's token is a bearer token. */
  as: 'key' | 'bearer'
  value: string
}

/** A provider that can be called. */
export interface Provider {
  id: string
  kind: ProviderKind
  name: string
  /** Null: the provider's own public address. Without a trailing slash. */
  baseUrl: string | null
  /** Null: the endpoint asks for none. */
  credential: Credential | null
  /** console:gateway, console, or env:<VARIABLE>. */
  keySource: string
  /** As last listed by it; may be empty. */
  models: string[]
  /** Null: none is known. */
  defaultModel: string | null
}

export interface ProviderConfig {
  providers: Provider[]
  /** Id; null: there is no provider. */
  defaultProvider: string | null
  /** Asked where another is unavailable and the request names none; null: there is none. */
  fallback?: ModelChoice | null
  prices: Price[]
}

export const NO_PROVIDER =
  'no model provider is set: add one under Settings, Model providers, or set PROVIDERA_API_KEY and start again'

/**
 * The provider of a request (SPEC.md, Model providers 1): one that the instance lacks is the default one.
 * @throws ModelFault no_provider
 */
export function providerOf(config: ProviderConfig, provider: string): Provider {
  const byId = (id: string | null) => config.providers.find((one) => one.id === id)
  const found = (provider === '' ? undefined : byId(provider)) ?? byId(config.defaultProvider)
  if (!found) throw new ModelFault('no_provider', NO_PROVIDER)
  return found
}

/**
 * The provider and the model of a request. The model named for a provider that is lacking is used only
 * where the default one lists it: a model of one provider is never sent to another.
 * @throws ModelFault no_provider; no_model where none is known until the provider lists its models
 */
export function chosenOf(
  config: ProviderConfig,
  provider: string,
  model: string,
): { provider: Provider; model: string } {
  const found = providerOf(config, provider)
  const isMeant = provider === '' || found.id === provider || found.models.includes(model)
  const chosen = (isMeant ? model : '') || found.defaultModel
  if (!chosen)
    throw new ModelFault(
      'no_model',
      `provider ${found.id} has no default model: choose one under Settings, Model providers, or name one in the agent`,
      found.id,
    )
  return { provider: found, model: chosen }
}

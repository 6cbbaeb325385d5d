/**
 * The model of a provider where none is named (SPEC.md, Deployment: SVC_AGENT_MODEL; Model providers 1).
 * The rule is written for users in docs/models.md, section "The default model".
 */
import type { Settings } from '../settings/settings.ts'
import type { ModelEnvironment } from './environment.ts'
import { priceOf, shippedPrices } from './prices.ts'
import type { ProviderKind } from './types.ts'

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
export function defaultModelOf(
  { env, settings }: { env: ModelEnvironment; settings: Settings },
  { id, kind, baseUrl, models }: Asked,
  owner: string | null,
): DefaultModel {
  const chosen = settings.get<string>(CHOSEN_MODEL + id)
  if (chosen) return { model: chosen, source: 'console' }
  if (env.agentModel !== null && id === owner) return { model: env.agentModel, source: 'env:SVC_AGENT_MODEL' }
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
export function ownerOfAgentModel(
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

/** Model providers, prices and bounds of agents as their forms edit them. */
import type {
  AgentSettings,
  AgentSettingsWrite,
  ModelPrice,
  ModelProvider,
  ModelProviderTested,
  ProviderWrite,
} from '../../schemas/types.ts'

/** Where a credential is from, in words. */
export function originWords({ source, configured }: Pick<ModelProvider, 'source' | 'configured'>): string {
  if (source === 'console:gateway') return 'stored here: token of a gateway'
  if (source === 'console') return 'stored here'
  if (source.startsWith('env:')) return `environment: ${source.slice(4)}`
  return configured ? 'none is needed' : 'none'
}

/** Where an address is from, in words. */
export function addressWords({
  base_url,
  base_source,
}: Pick<ModelProvider, 'base_url' | 'base_source'>): string {
  if (base_url === '') return 'the provider’s own'
  return base_source.startsWith('env:') ? `${base_url} (environment: ${base_source.slice(4)})` : base_url
}

/** Which model is used where none is named, and why that one. */
export function defaultModelWords({
  default_model,
  default_model_source,
}: Pick<ModelProvider, 'default_model' | 'default_model_source'>): string {
  if (default_model === null) return 'None known yet. The first call lists the models and picks one.'
  if (default_model_source === 'console') return `${default_model}, set here. Empty: picked by svc`
  if (default_model_source.startsWith('env:'))
    return `${default_model}, environment: ${default_model_source.slice(4)}. A model chosen here wins.`
  return `${default_model}, picked by svc. A model set here wins.`
}

const LOOK_AT: Record<NonNullable<ModelProviderTested['failed']>, string> = {
  address: 'Check the address',
  credential: 'Check the credential',
  model: 'Check the model',
  format: 'Check the kind: the answer has another format',
  provider: 'The provider is overloaded or out of quota',
}

/** What came of a test: a title, and what the provider said. */
export function testWords({ ok, model, ms, failed, error }: ModelProviderTested): {
  title: string
  text: string
} {
  if (ok) return { title: 'The provider answers', text: `${model ?? 'The model'} answered within ${ms} ms.` }
  return {
    title: failed ? LOOK_AT[failed] : 'No answer',
    text: error ?? `${model ?? 'It'} gave no answer within ${ms} ms.`,
  }
}

export interface ProviderDraft {
  kind: ModelProvider['kind']
  name: string
  base_url: string
  /** Blank keeps the stored one. */
  key: string
  gateway_token: string
  key_clear: boolean
  gateway_token_clear: boolean
}

export const NEW_PROVIDER: ProviderDraft = {
  kind: 'providera',
  name: '',
  base_url: '',
  key: '',
  gateway_token: '',
  key_clear: false,
  gateway_token_clear: false,
}

/** An address of the environment is no part of what is stored: it shows as a placeholder only. */
export function providerDraft({ kind, name, base_url, base_source }: ModelProvider): ProviderDraft {
  return { ...NEW_PROVIDER, kind, name, base_url: base_source.startsWith('env:') ? '' : base_url }
}

/** The draft as the API takes it: only what was changed. */
export function providerWrite(draft: ProviderDraft, stored: ModelProvider | null): ProviderWrite {
  const { kind, key, gateway_token, key_clear, gateway_token_clear } = draft
  const name = draft.name.trim()
  const address = draft.base_url.trim()
  const before = stored ? providerDraft(stored) : null
  return {
    ...(stored ? {} : { kind }),
    ...(name && name !== before?.name ? { name } : {}),
    ...(address === (before?.base_url ?? '') ? {} : { base_url: address }),
    ...(key.trim() ? { key: key.trim() } : {}),
    ...(kind === 'providera' && gateway_token.trim() ? { gateway_token: gateway_token.trim() } : {}),
    ...(key_clear ? { key_clear } : {}),
    ...(gateway_token_clear ? { gateway_token_clear } : {}),
  }
}

/** What still has to be filled in; null: it can be saved. */
export function providerFault(draft: ProviderDraft, stored: ModelProvider | null): string | null {
  if (draft.kind === 'compatible' && draft.name.trim() === '')
    return 'A chat-completions endpoint needs a name'
  if (draft.kind === 'compatible' && draft.base_url.trim() === '')
    return 'A chat-completions endpoint needs its address, with the version in it'
  if (draft.kind !== 'compatible' && !stored && draft.key.trim() === '' && draft.gateway_token.trim() === '')
    return 'A key is required'
  return null
}

/** A row of the form of prices; blanks while it is filled in. */
export interface PriceRow {
  prefix: string
  input: number | null
  output: number | null
  cached: number | null
}

export const priceRow = ({ prefix, input, output, cached }: ModelPrice): PriceRow => ({
  prefix,
  input,
  output,
  cached: cached ?? null,
})

/** Rows as the API takes them; null: one of them is not filled in. Rows that are all blank are left out. */
export function pricesOf(rows: readonly PriceRow[]): ModelPrice[] | null {
  const begun = rows.filter(({ prefix, input, output }) => prefix.trim() || input !== null || output !== null)
  const whole = begun.flatMap(({ prefix, input, output, cached }) =>
    prefix.trim() && input !== null && output !== null
      ? [{ prefix: prefix.trim(), input, output, ...(cached === null ? {} : { cached }) }]
      : [],
  )
  return whole.length === begun.length ? whole : null
}

export interface LimitsDraft {
  /** Null: the default, or the environment's. */
  daily_cap: number | null
  daily_budget_usd: number | null
  concurrency: number | null
  /** Empty: none. */
  fallback_provider: string
  fallback_model: string
}

export function limitsDraft(stored: AgentSettings): LimitsDraft {
  return {
    daily_cap: stored.daily_cap_source === 'console' ? stored.daily_cap : null,
    daily_budget_usd: stored.daily_budget_usd,
    concurrency: stored.concurrency,
    fallback_provider: stored.fallback_provider,
    fallback_model: stored.fallback_model,
  }
}

/** Only what was changed; empty text goes back to the default. */
export function limitsWrite(draft: LimitsDraft, before: LimitsDraft): AgentSettingsWrite {
  return Object.fromEntries(
    (Object.keys(draft) as (keyof LimitsDraft)[])
      .filter((field) => draft[field] !== before[field])
      .map((field) => [field, draft[field] ?? '']),
  ) as AgentSettingsWrite
}

/** "50, the default" or where else the cap of a day is from. */
export function capWords({ default: fallback, env }: Pick<AgentSettings, 'default' | 'env'>): string {
  return env === null ? `Default: ${fallback}` : `Default: ${env}, of SVC_AGENT_DAILY_CAP`
}

/** Providers and models an agent may name. */
import type { AgentsResult } from '../../schemas/types.ts'

type Offered = Pick<
  AgentsResult,
  'models' | 'default_model' | 'default_models' | 'providers' | 'default_provider'
>

export interface ModelChoices {
  providers: { value: string; label: string }[]
  /** Of the chosen provider, else of the default one. */
  models: string[]
  /** Model that is used where none is named; empty: none is known. */
  fallback: string
}

export function modelChoices(
  answer: Offered | undefined,
  { provider, model }: { provider: string; model: string },
): ModelChoices {
  const known = (answer?.providers ?? []).map(({ id, name }) => ({ value: id, label: name || id }))
  const chosen = answer?.providers.find(({ id }) => id === provider)
  const models = chosen?.models ?? (provider ? [] : (answer?.models ?? []))
  return {
    providers:
      known.length > 0 && provider && !chosen
        ? [...known, { value: provider, label: unlisted(provider) }]
        : known,
    models: [...new Set([...models, ...(model ? [model] : [])])],
    fallback: (provider ? answer?.default_models[provider] : answer?.default_model) ?? '',
  }
}

/** The demo's, which is in no list, since nobody may choose it (docs/demo.md). */
const SCRIPTED = 'svc-demo'

/** An agent may name one that the instance does not have any more. */
const unlisted = (provider: string): string =>
  provider === SCRIPTED ? 'scripted model (demo)' : `${provider} (not there)`

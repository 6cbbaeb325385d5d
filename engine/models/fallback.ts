/** The second provider or model of a call: which one it is, and when it is asked. */
import { chosenOf, type Provider, type ProviderConfig } from './config.ts'
import { type ModelChoice, ModelFault } from './types.ts'

interface Chosen {
  provider: Provider
  model: string
}

/**
 * What a call falls back to: what it names, else what the settings name. One without a provider is another
 * model of the same; one without a model is the default of that provider.
 * @returns null: there is none, it is no other, or it is not known here (a fallback refuses no call)
 */
export function fallbackOf(
  known: ProviderConfig,
  named: ModelChoice | undefined,
  first: Chosen,
): Chosen | null {
  const { provider = '', model = '' } = isNamed(named) ? named : (known.fallback ?? {})
  if (!provider && !model) return null
  if (provider && !known.providers.some(({ id }) => id === provider)) return null
  try {
    const chosen = chosenOf(known, provider || first.provider.id, model)
    return chosen.provider.id === first.provider.id && chosen.model === first.model ? null : chosen
  } catch (error) {
    if (error instanceof ModelFault) return null
    throw error
  }
}

const isNamed = (choice: ModelChoice | undefined): choice is ModelChoice =>
  Boolean(choice?.provider || choice?.model)

/** Statuses by which a provider says that this account or model of it is not to be had. */
const WITHOUT = [401, 402, 403, 404, 429]

/**
 * Whether another provider may do what this one did not: it is away, overloaded or breaks its format, or
 * its credential, quota or model is refused. What is wrong with the request is wrong with every provider.
 */
export function isUnavailable({ code, status, later }: ModelFault): boolean {
  return later !== null || code === 'malformed' || (code === 'refused' && WITHOUT.includes(status ?? 0))
}

/** Neither answered: what the first says stands, and it may go well later where it may with either. */
export function bothFailed(first: ModelFault, second: ModelFault): ModelFault {
  if (second.code === 'aborted' || second.code === 'overflow') return second
  const waits = [first.later?.waitMs, second.later?.waitMs].filter((ms) => typeof ms === 'number')
  const later = first.later || second.later ? { waitMs: waits.length ? Math.min(...waits) : null } : null
  return new ModelFault(
    first.code,
    `${first.message}; fallback ${second.message}`,
    first.provider,
    first.status,
    later,
  )
}

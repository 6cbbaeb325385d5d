/** The provider and the model of a call; a provider that never listed its models is asked for them first. */
import { chosenOf, type Provider, type ProviderConfig } from './config.ts'
import { ModelFault } from './types.ts'

export interface Chosen {
  known: ProviderConfig
  provider: Provider
  model: string
}

/**
 * What a request goes to. A provider whose default model is taken from its list, and which has listed
 * nothing yet, is usable at once: it is asked for its list once, however many calls wait for it.
 * @param list asks a provider for its models. @throws ModelFault, of choosing or of the listing
 */
export function chooser(
  parts: { config(): Promise<ProviderConfig>; keepModels(id: string, models: string[]): Promise<void> },
  list: (provider: Provider) => Promise<string[]>,
): (provider: string, model: string) => Promise<Chosen> {
  const underWay = new Map<string, Promise<void>>()
  const learn = async (provider: Provider): Promise<void> => {
    const models = await list(provider).catch((error: unknown) => {
      if (!(error instanceof ModelFault)) throw error
      throw new ModelFault(
        error.code,
        `${error.message} (its models were asked for, to take one by default; choose one under Settings, Model providers)`,
        provider.id,
        error.status,
      )
    })
    await parts.keepModels(provider.id, models)
  }
  return async (provider, model) => {
    const known = await parts.config()
    try {
      return { known, ...chosenOf(known, provider, model) }
    } catch (error) {
      const unlisted =
        error instanceof ModelFault && error.code === 'no_model'
          ? known.providers.find(({ id, models }) => id === error.provider && models.length === 0)
          : undefined
      if (!unlisted) throw error
      const asked = underWay.get(unlisted.id) ?? learn(unlisted)
      underWay.set(unlisted.id, asked)
      await asked.finally(() => underWay.delete(unlisted.id))
      const now = await parts.config()
      return { known: now, ...chosenOf(now, provider, model) }
    }
  }
}

/** Models of the providers that an environment names, without a daemon. */
import { systemClock } from '../clock.ts'
import type { ModelEnvironment } from '../models/environment.ts'
import { openModels } from '../models/open.ts'
import type { Models } from '../models/types.ts'
import type { OpenEngine } from './world.ts'

export interface ProviderModels {
  models: Models
  close(): Promise<void>
}

/** @param environment as `loadModels` reads it */
export function openProviderModels(open: OpenEngine, environment: ModelEnvironment): ProviderModels {
  const engine = open({ dataFile: null, models: environment })
  const { models, close } = openModels(engine, systemClock)
  return {
    models,
    close: async () => {
      close()
      await engine.close()
    },
  }
}

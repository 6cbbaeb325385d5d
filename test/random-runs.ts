/** Properties are tried with the values of this run's seed (`vitest.config.ts`). */
import fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env.CHAOS_SEED) })

/** The engine in the caller's own thread, copies of its file, and what is measured of first messages: for tools and tests. */
export { createEngine } from './create-engine.ts'
export { checkPack } from './evals/check.ts'
export { type Frozen, type FrozenRow, freezeRun } from './evals/freeze.ts'
export { type Pack, readPack } from './evals/incident.ts'
export { figuresOf, groupedBy, type Measured, measure } from './evals/measure.ts'
export { ownPack } from './evals/own-pack.ts'
export { openProviderModels } from './evals/provider-models.ts'
export {
  compareRuns,
  type EvalReport,
  figuresByVariant,
  htmlOf,
  junitOf,
  type VariantFigures,
} from './evals/report.ts'
export { type EvalRun, PROMPT, runEvals, type Variant } from './evals/run.ts'
export { SCRIPTED } from './evals/scripted.ts'
export { VARIANTS, type VariantName } from './evals/variants.ts'
export type { EngineOptions, LocalEngine } from './local-engine.ts'
export { backupDatabase, restoreDatabase } from './store/backup.ts'

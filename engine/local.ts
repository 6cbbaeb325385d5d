/** The engine in the caller's own thread, copies of its file, and what is measured of first messages: for tools and tests. */

export { type Pack, readPack, VARIANTS, type VariantName } from './agents/evals/incident.ts'
export { htmlOf, junitOf, measure } from './agents/evals/measure.ts'
export { ownPack } from './agents/evals/own-pack.ts'
export { checkPack, openProviderModels, PROMPT, runEvals, type Variant } from './agents/evals/run.ts'
export { type Frozen, type FrozenRow, freezeRun, proposedCauses } from './agents/evals/scenario-of-run.ts'
export { SCRIPTED } from './agents/evals/scripted.ts'
export { recorded, replayed, type TapeFile, type TapeOf, tapeName } from './agents/evals/tapes.ts'
export {
  type PlannedTest,
  planTests,
  type ReadBeside,
  runTest,
  type TestOutcome,
  type TestWorld,
} from './agents/evals/test-run.ts'
export { formatCatalog, lintCatalog } from './declared/catalog/lint.ts'
export type { RecordedEvents } from './declared/setup/events.ts'
export { backupDatabase, restoreDatabase } from './log/store/backup.ts'
export { environmentElsewhere, keyFileOf } from './net/secrets.ts'
export type { LocalEngine } from './operations/operation.ts'
export type { EngineOptions } from './roles/calls.ts'
export { openEngineHere as createEngine } from './roles/here.ts'

/** The engine in the caller's own thread, copies of its file, and what is measured of first messages: for tools and tests. */
export { createEngine } from './create-engine.ts'
export { type Pack, readPack } from './evals/incident.ts'
export { figuresOf, groupedBy, type Measured, measure } from './evals/measure.ts'
export { ownPack } from './evals/own-pack.ts'
export type { EngineOptions, LocalEngine } from './local-engine.ts'
export { backupDatabase, restoreDatabase } from './store/backup.ts'

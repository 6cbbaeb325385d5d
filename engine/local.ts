/** The engine in the caller's own thread, and copies of its file: for tools and tests. */
export { createEngine } from './create-engine.ts'
export type { EngineOptions, LocalEngine } from './local-engine.ts'
export { backupDatabase, restoreDatabase } from './store/backup.ts'

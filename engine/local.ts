/** The engine in the caller's own thread, and copies of its file: for tools and tests. */
export { createEngine, type EngineOptions, type LocalEngine } from './create-engine.ts'
export { backupDatabase, restoreDatabase } from './store/backup.ts'

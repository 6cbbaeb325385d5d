/** What the doors may import of the engine. */

export { readCatalogFile } from './catalog/catalog.ts'
export { type Clock, systemClock } from './clock.ts'
export { createEngine, type EngineOptions, type LocalEngine } from './create-engine.ts'
export type { WriteBy } from './declared/write.ts'
export type {
  Caller,
  Directory,
  EngineStatus,
  IngestCall,
  IngestRoute,
  KeyRecord,
  ReadAnswer,
  Row,
  SessionRecord,
  TailFilter,
  TailMessage,
} from './engine.ts'
export { type ErrorCode, errorTable, fail, SvcError } from './errors.ts'
export { backupDatabase, restoreDatabase } from './store/backup.ts'
export { type StartOptions, startEngine } from './threads/start.ts'
export type { Engine } from './whole-engine.ts'

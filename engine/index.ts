/** What the doors may import of the engine. */
export { systemClock, type Clock } from './clock.ts'
export { createEngine, type EngineOptions, type LocalEngine } from './create-engine.ts'
export type {
  Caller,
  Directory,
  Engine,
  EngineStatus,
  IngestCall,
  IngestRoute,
  KeyRecord,
  ReadAnswer,
  Row,
  TailFilter,
  TailMessage,
} from './engine.ts'
export { SvcError, StartError, errorTable, fail, type ErrorCode } from './errors.ts'
export { backupDatabase, restoreDatabase } from './store/backup.ts'
export { startEngine, type StartOptions } from './threads/start.ts'

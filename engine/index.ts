/**
 * What the doors may import of the engine. Nothing here loads the engine itself: it runs in threads, and
 * loading it a second time held every start up. Tools that run it in process import local.ts.
 */

export type { AskCaller } from './ask/types.ts'
export type {
  Asked,
  Caller,
  Directory,
  EngineStatus,
  IngestCall,
  IngestPost,
  IngestRoute,
  KeyRecord,
  ReadAnswer,
  Row,
  SessionRecord,
  TailFilter,
  TailMessage,
} from './calls.ts'
export { readCatalogFile } from './catalog/read-file.ts'
export { type Clock, systemClock } from './clock.ts'
export type { WriteBy } from './declared/write.ts'
export { type ErrorCode, type ErrorExtra, errorTable, fail, SvcError } from './errors.ts'
export type { FindingsAsked, ResultsAsked } from './findings/findings.ts'
export type { OtlpForm, OtlpSignal } from './ingest/otlp/form.ts'
export { LoginGrants } from './logins/grants.ts'
export type { ModelEnvironment } from './models/environment.ts'
export { nouns, operations, routeOf } from './operations/index.ts'
export type { NetworkInput, OperationInput } from './operations/input.ts'
export type { ServedEngine as Engine } from './operations/network.ts'
export type { Fields, Operation, OperationScope } from './operations/operation.ts'
export { rowJson } from './operations/rows.ts'
export { isOwnVariable } from './secret-variables.ts'
export { bundledSkillFile } from './skills/bundled.ts'
export type { SlackEnvironment } from './slack/environment.ts'
export { type StartOptions, startEngine } from './threads/start.ts'
export { parseTraceHeaders, TRACING_PRESETS, type TracingEnvironment } from './tracing/environment.ts'

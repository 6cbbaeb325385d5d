/**
 * What the doors may import of the engine. Nothing here loads the engine itself: it runs in threads, and
 * loading it a second time held every start up. Tools that run it in process import local.ts.
 */
import { readFileSync } from 'node:fs'

export type { AskCaller } from './agents/ask/calls.ts'
export type { AllFindingsAsked, FindingsAsked, ResultsAsked } from './agents/findings.ts'
export type { ModelEnvironment } from './agents/models/providers.ts'
export {
  parseTraceHeaders,
  TRACING_PRESETS,
  type TracingEnvironment,
} from './agents/telemetry/tracing-settings.ts'
export type {
  Asked,
  Caller,
  Directory,
  EngineStatus,
  IngestCall,
  IngestPost,
  IngestRoute,
  KeyRecord,
  OauthTokenRecord,
  ReadAnswer,
  Row,
  SessionRecord,
  TailFilter,
  TailMessage,
  Tell,
} from './calls.ts'
export { type Clock, systemClock } from './clock.ts'
export type { WriteBy } from './declared/declared.ts'
export type { OauthClient } from './declared/oauth.ts'
export { LoginGrants } from './declared/oauth.ts'
export { bundledSkillFile } from './documents/skill.ts'
export { type ErrorCode, type ErrorExtra, errorTable, fail, SvcError } from './errors.ts'
export type { OtlpForm, OtlpSignal } from './log/ingest/otlp-protobuf.ts'
export { type OutboundProxy, outboundProxy } from './net/address.ts'
export { handleLimit } from './net/fetch.ts'
export { PROGRAMS, parsePrograms } from './net/programs.ts'
export { isOwnVariable } from './net/secrets.ts'
export { isRepeatable, isTextAlone, nouns, operations, routeOf } from './operations/index.ts'
export type { NetworkInput, OperationInput } from './operations/input.ts'
export type {
  Fields,
  Operation,
  OperationScope,
  ServedEngine as Engine,
} from './operations/operation.ts'
export { rowJson } from './operations/operation.ts'
export type { SlackEnvironment } from './outbox/slack-api.ts'
export {
  addressFaultOf,
  type Policy,
  pathFaultOf,
  pathIn,
  type Repository,
  type RepositoryHome,
  refFaultOf,
} from './reconcile/git.ts'
export { type StartOptions, startEngine } from './threads/start.ts'

/* The catalog file on the machine, as text. */

/** Reads a catalog file of the machine; null when there is none. @throws Error when it cannot be read */
export function readCatalogFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

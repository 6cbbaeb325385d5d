/** Messages between the daemon's main thread and the engine's threads. */

import type { BootCatalog } from '../catalog/boot.ts'
import type { IngestCall, TailFilter, TailMessage } from '../engine.ts'
import type { ErrorCode, ErrorExtra } from '../errors.ts'
import type { Retention } from '../store/maintenance.ts'

export interface ThreadOptions {
  role: 'writer' | 'reader'
  dataFile: string
  maxDbSize: number | null
  retention: Retention
  env?: Record<string, string | undefined>
  boot?: BootCatalog
}

export interface WireError {
  code: ErrorCode
  message: string
  extra: ErrorExtra
}

/** An ingest call without its bytes: they lie in one of the transferred buffers. */
export interface CallMeta extends Omit<IngestCall, 'body' | 'wireBody'> {
  id: number
  buffer: number
  start: number
  end: number
  wire?: { buffer: number; start: number; end: number }
}

export type ToThread =
  | { t: 'ingest'; calls: CallMeta[]; buffers: ArrayBuffer[] }
  | { t: 'call'; id: number; method: string; args: unknown[] }
  | { t: 'listen'; id: number; filter: TailFilter }
  | { t: 'unlisten'; id: number }

export type Settled = { id: number; value: unknown } | { id: number; error: WireError }

export type FromThread =
  | { t: 'ready' }
  | { t: 'not_started'; message: string; exitCode: number }
  | { t: 'settled'; results: Settled[] }
  | { t: 'tail'; id: number; message: TailMessage }
  | { t: 'fatal'; message: string }
  | { t: 'fault'; id: string; stack: string }

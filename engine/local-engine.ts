/** The engine in process: what it is made of, and what it has beyond what its callers see. */
import type { IngestResult } from '../schemas/types.ts'
import type { BootCatalog, BootReport } from './catalog/boot.ts'
import type { Clock } from './clock.ts'
import type { TailFilter, TailMessage } from './engine.ts'
import type { SvcError } from './errors.ts'
import type { ModelEnvironment } from './models/environment.ts'
import type { OperationInput } from './operations/input.ts'
import type { PreparedCall } from './pipeline.ts'
import type { EnginePorts } from './ports.ts'
import type { Reads } from './reads.ts'
import type { SlackEnvironment } from './slack/environment.ts'
import type { SourceSpec } from './sources/live.ts'
import type { AppendedBatch } from './store/append.ts'
import type { Checkpointer } from './store/checkpoints.ts'
import type { Retention } from './store/maintenance.ts'
import type { WriterState } from './store/writer-state.ts'
import type { Tally } from './tallies.ts'
import type { TracingEnvironment } from './tracing/environment.ts'
import type { EngineCalls } from './whole-engine.ts'

export interface EngineOptions {
  /** Path of the data file; null keeps everything in memory (tests). */
  dataFile: string | null
  clock?: Clock
  /**
   * In place of the secret that a new file is given by chance, in hexadecimal: what signs the cursors of reads and names
   * the markers around data, which are then the same for every run. For evals and tests, whose stores are to tell an agent
   * the same to the byte; no configuration of the daemon reaches it, since whoever knows it could make markers up.
   */
  fixedSecret?: string
  /** Storage limit in bytes; null: the volume's size. */
  maxDbSize?: number | null
  retention?: Retention
  /** Read for `${NAME}` references and templates; none when absent. */
  env?: Readonly<Record<string, string | undefined>>
  /** Model providers of the environment; none when absent. */
  models?: ModelEnvironment
  /** Tracing as the environment says it; none when absent. */
  tracing?: TracingEnvironment
  /** Slack as the environment says it; none when absent. */
  slack?: SlackEnvironment
  /** The catalog file and the project to begin with. */
  boot?: BootCatalog
  /** Calls of template actions and detection go through it. */
  http?: typeof fetch
  /** Addresses subscribed by a key without scope admin may be private too. */
  webhookAllowPrivate?: boolean
  /** The disk failed while writing: the process must stop and reopen the file. */
  onFatal?: (error: Error) => void
  /** A fault of ours, with the id its caller was told. */
  onFault?: (error: Error, id: string) => void
  /** After a commit that left deliveries to be sent. */
  onPending?: () => void
  /** After a commit that made, changed or deleted sources. */
  onSourcesChanged?: () => void
  /** Copies the log beside the writer; absent: the writer does. */
  checkpointer?: Checkpointer
  /** Open a data file although commits that were acknowledged are missing. */
  acceptLoss?: boolean
  /** Where what is counted lies, for threads that read; in memory of its own when absent. */
  figures?: SharedArrayBuffer
  /** What other threads see of how writing goes; of its own when absent. */
  state?: WriterState
  /** What a commit stored. */
  onStored?: (batches: readonly AppendedBatch[]) => void
}

/** The engine in process, with what its thread host needs beyond the Engine interface. */
export interface LocalEngine extends EngineCalls, EnginePorts {
  /** An operation by its id (operations/index.ts). @throws SvcError as it does */
  perform(id: string, input: OperationInput): Promise<unknown>
  /** Commits the calls in one transaction. */
  ingestMany(calls: readonly PreparedCall[]): (IngestResult | SvcError)[]
  /** What preparing a body for this ingest key needs; null where nothing can be pushed to it. */
  sourceSpec(ingestKey: string): SourceSpec | null
  /** Promises that what is stored later has a later time of ingest than `instant` (epoch ms). */
  closeInstant(instant: number): void
  /** What was counted since this was asked last. */
  newTallies(): Tally[]
  /** One step of background work. @returns true when there is more to do at once. */
  maintain(): boolean
  /** Does what triggers have due by the clock. */
  tick(): void
  /** When `tick` has something to do, epoch ms; null: nothing waits. */
  nextDue(): number | null
  /** Registers a live listener without its backlog. */
  listen(filter: TailFilter, send: (message: TailMessage) => void): () => void
  /** Reads from `afterId` for a tail that resumes. */
  backlog: Reads['backlog']
  cursorSecret: string
  /** What the boot did with the catalog. */
  bootReport(): Promise<BootReport>
}

/**
 * What the roles of an engine answer, in types: all its calls by name, those of the store, and what passes
 * between the roles and no door.
 */

import type { IngestResult } from '../../schemas/types.ts'
import type { AgentTestCalls } from '../agents/agent-tests.ts'
import type { AskCalls, AskPort, AskTurnCalls } from '../agents/ask/calls.ts'
import type { EvalReportCalls, ScenarioReads } from '../agents/evals/reports.ts'
import type { McpToolCalls, McpToolTests } from '../agents/mcp-pins.ts'
import type { ModelCalls, ModelNetworkCalls, ModelPort } from '../agents/models/calls.ts'
import type { ModelEnvironment } from '../agents/models/providers.ts'
import type { RunCalls } from '../agents/runs/calls.ts'
import type { TracingCalls, TracingEnvironment, TracingPort } from '../agents/telemetry/tracing-settings.ts'
import type { EngineCore, TailFilter, TailMessage, Tell } from '../calls.ts'
import type { Clock } from '../clock.ts'
import type { DeclaredCalls } from '../declared/calls.ts'
import type { BootCatalog, BootReport } from '../declared/catalog/catalog.ts'
import type { CredentialCalls, CredentialPort, CredentialWrites } from '../declared/credential-calls.ts'
import type { ClientDocumentCalls, OauthCalls } from '../declared/oauth.ts'
import type { TriggerSaves } from '../declared/part-writes.ts'
import type { SetupCalls } from '../declared/setup/calls.ts'
import type { DemoCalls } from '../declared/setup/demo.ts'
import type { PlanningPort } from '../declared/setup/drafts.ts'
import type { ForecastCalls } from '../declared/setup/forecast.ts'
import type { ProposalCalls } from '../declared/setup/proposals.ts'
import type { SvcError } from '../errors.ts'
import type { GraphCalls } from '../graph/graph.ts'
import type { ReplayReads } from '../graph/replay.ts'
import type { IncidentWrites } from '../incidents/incidents.ts'
import type { MaintenanceReads, MaintenanceWrites } from '../incidents/maintenance.ts'
import type { IncidentReads } from '../incidents/reads.ts'
import type { Tally } from '../log/figures.ts'
import type { PreparedCall } from '../log/pipeline.ts'
import type { AppendedBatch } from '../log/store/append.ts'
import type { Checkpointer } from '../log/store/checkpoints.ts'
import type { Retention, StorageTurn } from '../log/store/maintenance.ts'
import type { WriterState } from '../log/store/writer-state.ts'
import type { Reads } from '../log/timeline/reads.ts'
import type { OperationInput } from '../operations/input.ts'
import type { FetchCalls } from '../outbox/fetching.ts'
import type { FindingPort, OutboxWrites } from '../outbox/queue.ts'
import type { SlackEnvironment } from '../outbox/slack-api.ts'
import type { SubscriptionCalls } from '../outbox/subscriptions.ts'
import type { Repository, RepositoryHome } from '../reconcile/git.ts'
import type { SyncPort, SyncReads } from '../reconcile/port.ts'
import type { SyncCalls } from '../reconcile/worker.ts'
import type { SlackCalls, SlackPort, SlackWrites } from '../slack/calls.ts'
import type { SnsCalls } from '../sources/connectors/preset.ts'
import type { SourceSpec } from '../sources/live.ts'
import type { PollPort, TrialPort, Trials } from '../sources/poller.ts'
import type { EnvironmentCalls } from '../sources/upstreams/docker-environment.ts'
import type { EvidenceCalls } from '../triggers/message.ts'
import type { TriggerReads } from '../triggers/reads.ts'
import type { FollowCalls, WorkspaceCalls } from './follow-repository.ts'

/** Every call by its name, as operations make them. */
export interface EngineCalls
  extends EngineCore,
    OauthCalls,
    ClientDocumentCalls,
    DeclaredCalls,
    TriggerSaves,
    ProposalCalls,
    SetupCalls,
    SubscriptionCalls,
    TriggerReads,
    EvidenceCalls,
    IncidentReads,
    IncidentWrites,
    MaintenanceReads,
    MaintenanceWrites,
    OutboxWrites,
    FetchCalls,
    McpToolCalls,
    RunCalls,
    AgentTestCalls,
    ReplayReads,
    ScenarioReads,
    EvalReportCalls,
    GraphCalls,
    ForecastCalls,
    ModelCalls,
    EnvironmentCalls,
    SnsCalls,
    CredentialCalls,
    TracingCalls,
    AskCalls,
    SlackCalls,
    SyncReads,
    SyncCalls,
    FollowCalls,
    WorkspaceCalls,
    DemoCalls {}

/** Calls that the network role alone answers: they ask another system, wait for somebody, or start there. */
export type NetworkOnly =
  | keyof (ModelNetworkCalls &
      McpToolTests &
      EnvironmentCalls &
      Trials &
      SnsCalls &
      TracingCalls &
      AskTurnCalls)
  | Exclude<keyof SlackCalls, keyof SlackWrites>
  | Exclude<keyof CredentialCalls, keyof CredentialWrites>
  | keyof SyncCalls
  | keyof FollowCalls
  | keyof WorkspaceCalls
  | keyof ClientDocumentCalls
  | 'tail'
  | 'fetchFiring'
  | 'writerSilence'

/** Calls that the roles of the store answer: those that write the writer alone, the others a reader too. */
export type StoreCalls = Omit<EngineCalls, NetworkOnly>

/** What the network role needs of the store beside calls: secrets are in it, so it is not for doors. */
export interface EnginePorts
  extends ModelPort,
    TracingPort,
    PollPort,
    TrialPort,
    CredentialPort,
    PlanningPort,
    AskPort,
    SlackPort,
    SlackWrites,
    SyncPort,
    FindingPort {}

/** A call of a run that shares the commit of others: a flush for each would take half of the writer's time. */
export interface JoinedCall {
  method: (typeof JOINED)[number]
  args: unknown[]
  settle(outcome: { value: unknown } | { error: Error }): void
}

export const JOINED = ['recordSteps', 'beginCall'] as const satisfies (keyof RunCalls)[]

/** A call that came with an Idempotency-Key. */
export interface KeyedCall {
  /** Id of the caller: keys of two credentials never meet. */
  caller: string
  /** Id of the operation. */
  operation: string
  key: string
  /** All that it says: with this alone it is the same call. */
  said: unknown
}

/** `claim` names it to `endCall`; `first` is the call that has the key: its answer, or null while there is none. */
export interface ClaimedCall {
  claim: string
  first: { answer: { value: unknown } | null } | null
}

/** What the writer has beyond calls, for the thread or the process it runs in. */
export interface WriterOwn {
  /**
   * Commits the calls in one transaction, and with them what runs at work write down.
   * @param joined stored in the same transaction; each is settled with its own value or error after the commit
   */
  ingestMany(calls: readonly PreparedCall[], joined?: readonly JoinedCall[]): (IngestResult | SvcError)[]
  /** What preparing a body for this ingest key needs; null where nothing can be pushed to it. */
  sourceSpec(ingestKey: string): SourceSpec | null
  /** Promises that what is stored later has a later time of ingest than `instant` (epoch ms). */
  closeInstant(instant: number): void
  /** What was counted since this was asked last. */
  newTallies(): Tally[]
  /** What was counted since it was opened. */
  tallies(): Tally[]
  /** For how long it has been at work without getting anything written, ms; 0: it is not at work. */
  writerSilence(): number
  /** Tells of a fault of ours. @returns what its caller is told, with its id */
  onFault(error: Error): SvcError
  /** One step of background work. @returns true when there is more to do at once. */
  maintain(): boolean
  /** Does what triggers have due by the clock. */
  tick(): void
  /** Copies the log into the data file, where nothing is in the way. */
  foldLog(): void
  /** When `tick` has something to do, epoch ms; null: nothing waits. */
  nextDue(): number | null
  /** Registers a live listener without its backlog. */
  listen(filter: TailFilter, send: (message: TailMessage) => void): () => void
  /** Reads from `afterId` for a tail that resumes. */
  backlog: Reads['backlog']
  cursorSecret: string
  /** What the boot did with the catalog. */
  bootReport(): Promise<BootReport>
  /** Claims the Idempotency-Key of a call, before it is done. @throws SvcError key_reused */
  claimCall(call: KeyedCall): ClaimedCall
  /** Keeps what a claimed call answered, or frees its key where it changed nothing (null). @param claim its `claim` */
  endCall(claim: string, answer: { value: unknown } | null): void
  /** An operation of the roles of the store, by its id. @throws SvcError as it does */
  perform(id: string, input: OperationInput, told?: Tell): Promise<unknown>
}

/** The role that holds the one writing connection. */
export type Writer = StoreCalls & EnginePorts & WriterOwn

/** What an engine on one thread is opened with, and the writer in its own. */
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
  /** The repository that the catalog is synced with; none when absent. */
  repository?: Repository | null
  /** What a stored repository is followed with; none may be when absent. */
  repositoryHome?: RepositoryHome | null
  /** Addresses subscribed by a key without scope admin may be private too. */
  webhookAllowPrivate?: boolean
  /** The disk failed while writing: the process must stop and reopen the file. */
  onFatal?: (error: Error) => void
  /** A fault of ours, with the id its caller was told. */
  onFault?: (error: Error, id: string) => void
  /** Ingest begins to be refused for want of storage, or is taken again. */
  onStorage?: (turn: StorageTurn) => void
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

/** A run as the loop that takes it knows it, and what it needs of the store. */
import type {
  AgentSpec,
  AskProposal,
  CheckedClaim,
  FindingIncident,
  HandoffRule,
  InspectResult,
  ReadRequest,
  RememberRequest,
  StatsRequest,
  StatsResult,
} from '../../../schemas/types.ts'
import type { ReadAnswer, Row } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import { SvcError } from '../../errors.ts'
import type { FiringIncidents } from '../../incidents/present.ts'
import type { Shown } from '../../log/brief/brief.ts'
import type { Tallies } from '../../log/figures.ts'
import type { StoreHandle } from '../../log/store/handle.ts'
import type { InspectQuestion } from '../../log/timeline/inspect-pages.ts'
import type { FindingItem } from '../../sources/connectors/written.ts'
import type { ModelReply, ToolCall, ToolImage, ToolSpec } from '../models/types.ts'
import type { CallRefusal, UsageEntry } from '../models/usage.ts'
import type { MarkRow, RunQueries, RunRow } from './queries.ts'

export type { Shown }

/** What a step holds, by its kind. Steps are the tape: all that a loop needs to be understood and repeated. */
export interface StepData {
  prompt: { system: string; message: string; tools: ToolSpec[]; marker: string; shown: Shown }
  /** `reply` is absent while it is asked, and where it failed; `again`: it was cut off, and is asked for again whole. */
  model: {
    asked: {
      choice: 'auto' | 'none' | 'any' | { tool: string }
      max_tokens: number
      ceiling_usd: number | null
    }
    reply?: StoredReply
    error?: { code: string; message: string }
    again?: true
  }
  /** `result` is absent while an external tool is asked. */
  tool: {
    call: ToolCall
    server: string | null
    result?: string
    /** What an external tool showed besides. */
    images?: ToolImage[]
    is_error?: boolean
    shown?: Shown
    /** Of Ask: what the call proposed. */
    proposal?: AskProposal
  }
  refused: { call: ToolCall; reason: string }
  conclude: { call: ToolCall; fault: string | null; claims: CheckedClaim[] }
  /**
   * `say` is what the model was told besides; `resumed`: a stop of the service, or a wait for the model,
   * came before it; `cut`: it goes on after a reply that was cut off, `blank`: that said nothing; `compacted`: answers of tools up to
   * the step of this number are told in short from here on; of Ask, `parked`: it waits for its model, `forgot`: so many
   * messages of what was said before its question are told no more. `narrow`: shorter replies are asked for from here
   * on. `tools`: offered from here on, besides those before.
   * `aside`: the reply before it is still to be weighed.
   */
  note: {
    text: string
    say?: string
    resumed?: true
    cut?: true
    blank?: true
    compacted?: number
    parked?: Parked
    forgot?: number
    narrow?: true
    tools?: ToolSpec[]
    aside?: true
  }
}

/** A wait for a model, as it is told to who reads the answer. */
export interface Parked {
  reason: string
  /** Epoch ms of the first fault since a reply. */
  since: number
  /** Epoch ms of the next try. */
  until: number
  /** Waits since then, this one included. */
  tries: number
  /** Whether the provider itself said until when. */
  asked: boolean
}

export type StepKind = keyof StepData
/** As it is kept of a reply. */
export type StoredReply = Omit<ModelReply, 'ms'>

export type Step = {
  [K in StepKind]: {
    n: number
    kind: K
    round: number
    /** Epoch ms. */
    at: number
    /** Null: not completed. */
    ms: number | null
    data: StepData[K]
  }
}[StepKind]

/** What woke a run, as it is told in its first message. */
export interface Origin {
  kind: 'trigger' | 'schedule' | 'handoff'
  trigger: string | null
  dispatchId: string | null
  /** Of the firing: why, value and evidence. Null of a handoff without one. */
  firing: {
    firedAt: number
    reason: string
    key: string
    events: number
    evidence: string[]
    keys: { key: string; events: number }[]
    heldBack: number
    /** Planned work on it, then or shortly before; epoch ms. */
    maintenance: { reason: string; from: number; until: number }[]
    /** Of a schedule: its summary. */
    summary: string | null
    /** Milliseconds of timeline to show. */
    window: number
  } | null
  /** Findings of its chain, first to last. */
  chain: {
    agent: string
    verdict: string | null
    headline: string | null
    finding: string
    eventId: string | null
  }[]
}

/** A run that has been started, with all that follows from rows. */
/** A finding of the same agent and entity, from before the run. */
export interface EarlierFinding {
  run: string
  /** Epoch ms. */
  at: number
  verdict: string | null
  headline: string | null
  finding: string
  /** Of the same incident: what was found of it by then, by all. Absent: of another one. */
  history?: FindingIncident
  /** How it was marked by then; absent: nobody had. */
  marked?: Pick<MarkRow, 'mark' | 'mark_note' | 'mark_cause'>
}

export interface StartedRun {
  id: string
  agent: string
  definition: AgentSpec
  label: string
  entity: string
  /** Ids; none: it reads everything. */
  projects: string[]
  /** What it reads had been ingested by then, epoch ms. */
  asOf: number
  /** Epoch ms. */
  deadlineAt: number
  maxRounds: number
  practice: boolean
  origin: Origin
  /** What this agent found of the entity before. */
  earlier: EarlierFinding | null
  skills: { name: string; description: string }[]
  /** Fences its data. */
  marker: string
  steps: Step[]
  /** It is answered by the tape of another run; null: by a model. */
  tape: { run: string; steps: Step[] } | null
  /** What the run of its example was told, from that run's tape; null: it is told what there is. */
  told: Pick<StepData['prompt'], 'message' | 'shown'> | null
}

/** What a run asks, to be shown the brief. */
export interface BriefQuestion {
  label: string
  entity: string
  /** End of the window, and what had been ingested by then; epoch ms. */
  to: number
  asOf: number
  /** Events that tripped the trigger. */
  fired: string[]
  /** Tokens of all that is shown, its fence included. */
  budget: number
}

/** The brief as a run is shown it. */
export interface BriefAnswer {
  /** Without the fence. */
  text: string
  /** Epoch ms. */
  from: number
  to: number
  shown: Shown
}

/** A step to be written: under the number of one that is there it completes that. */
export type StepWrite = Pick<Step, 'n' | 'kind' | 'round' | 'at' | 'ms' | 'data'>

export type RunEnd =
  | {
      event: 'succeed'
      outcome: 'finding' | 'no_op'
      note: string
      verdict: string | null
      headline: string | null
      nextStep: string | null
      entity: { label: string | null; key: string } | null
      claims: CheckedClaim[]
    }
  | { event: 'empty' | 'exhaust' | 'cap' | 'fail' | 'deadline'; reason: string; note: string | null }

/** What a run cannot go on without for now. */
export interface Unavailable {
  reason: string
  /** As the provider asks, from now; null: it did not say. */
  waitMs: number | null
}

/** What the loop comes to: an end, or a wait, with the end where no wait is left. */
export type LoopEnd = RunEnd | { event: 'park'; why: Unavailable; otherwise: RunEnd }

export interface Claimed {
  started: StartedRun[]
  /** Ids of those that ended instead: a cap or a budget does not let them start. */
  ended: string[]
  /** Epoch ms at which one that is parked is due; null: none is. */
  nextAt: number | null
}

/** Whether a call of the loop was refused because its run was ended meanwhile; a state of something else is no such end. */
export const isEndedMeanwhile = (error: unknown): boolean =>
  error instanceof SvcError && error.code === 'wrong_state' && error.extra.about === undefined

/** What the loop asks of the store. Any call may throw SvcError wrong_state: the run was ended meanwhile. */
export interface RunPort {
  /** Starts what may start, at most so many, and gives back what a stopped daemon left running. */
  claimRuns(limit: number, underWay: readonly string[]): Promise<Claimed>
  /** Writes steps, their tokens and cost; gives back what was reserved for a call that is complete. */
  recordSteps(run: string, steps: readonly StepWrite[]): Promise<void>
  /**
   * Reserves what a call may cost, and writes its step. @returns why it must not be made; null: it may
   * @param before steps written in any case, as `recordSteps` writes them
   */
  beginCall(
    run: string,
    step: StepWrite,
    ceilingUsd: number | null,
    before?: readonly StepWrite[],
  ): Promise<CallRefusal | null>
  /**
   * Its model is unavailable: it waits on its tape, and is claimed again when it is tried anew.
   * @returns why it must not wait any longer; null: it waits
   */
  parkRun(run: string, why: Unavailable): Promise<string | null>
  finishRun(
    run: string,
    end: RunEnd,
    servers: readonly { server: string; skipped: string | null }[],
  ): Promise<void>
  /** Within the projects of a run. */
  readFor(projects: readonly string[], request: Omit<ReadRequest, 'project'>): Promise<ReadAnswer>
  /** What a run is shown first; others have their turn while it is read. */
  briefFor(projects: readonly string[], question: BriefQuestion): Promise<BriefAnswer>
  statsFor(
    projects: readonly string[],
    request: Omit<StatsRequest, 'project'>,
    asOf: number,
  ): Promise<StatsResult>
  /** One of the tools that look, as of `now`; what looks like a secret is taken out. */
  inspectFor(projects: readonly string[], question: InspectQuestion, now: number): Promise<InspectResult>
  /** Events with payloads; those that do not exist are absent. */
  eventsOf(ids: readonly string[]): Promise<Row[]>
  /** Body of a skill one of the projects uses, also by the name it had before; null: there is none. */
  skillOf(projects: readonly string[], name: string): Promise<string | null>
  rememberFor(agent: string, request: RememberRequest, key: string): Promise<void>
}

/* What runs need of the rest of the engine, on the connection that writes. */

/** Limits of the instance. */
export interface RunLimits {
  /** Runs of an agent in 24 hours, where it says none of its own. */
  dailyCap: number
  /** Spend of 24 hours over all agents, US dollars; null: no limit. */
  dailyBudgetUsd: number | null
  /** Runs of all agents at once. */
  concurrency: number
}

export interface RunsParts {
  store: StoreHandle
  clock: Clock
  tallies: Tallies
  /** What `${NAME}` refers to. */
  env: Readonly<Record<string, string | undefined>>
  queries: RunQueries
  /**
   * Promises that nothing is stored any more with a time of ingest up to this one, epoch ms.
   * @returns it, or that of the newest event where that is later, as after a clock was set back
   */
  closeInstant(at: number): number
  /** The agent as it is, secrets in the clear; null: there is none of that name. */
  agent(name: string): AgentSpec | null
  /** Who takes over on a verdict, by project. */
  handoffs(projects: readonly string[], agent: string): (HandoffRule & { project: string })[]
  /** The longest cooldown of the handoffs of all projects, ms. */
  longestHandoffMs(): number
  /** Those of the projects that are there, with what each wakes. */
  wirings(projects: readonly string[]): {
    isPaused: boolean
    wakes: readonly { trigger: string; agent: string; enabled: boolean }[]
  }[]
  /** Skills that any of the projects uses. */
  skills(projects: readonly string[]): { name: string; description: string }[]
  /** What a firing says of itself; null when it is gone. */
  firing(id: number, project: string | null): Pick<Origin, 'trigger' | 'dispatchId' | 'firing'> | null
  /** Labels of the event that woke a run; of one that no firing woke its entity alone. */
  eventLabels(run: RunRow): Record<string, string | number>
  limits(): RunLimits
  usage(entry: UsageEntry): void
  /** What the end of a run does to the incidents it looked at. */
  incidents: Pick<FiringIncidents, 'ended'>
  /** Stores the finding as an event and calls `alongside` in the same transaction. */
  append(item: FindingItem, alongside: (eventId: string) => void): Promise<void>
  /** Fences data with it. */
  secret: string
  /** What every marker is made from where runs of several stores are to be told the same; else each has its own. */
  markerSeed: string | undefined
  /** After a commit that left something to be started or sent. */
  onPending(): void
}

/**
 * Agents at work as callers see them: what is written, and the names of what is read.
 *
 * Runs are started in this order: those that a stopped daemon left first, then those that waited for a model,
 * then those that wait, in turn.
 */
import { ownField } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { AgentPreview, AgentSpec, RememberRequest, RerunResult } from '../../../schemas/types.ts'
import type { Caller } from '../../calls.ts'
import { ROUNDS } from '../../documents/agent.ts'
import { fail } from '../../errors.ts'
import { atOnce } from '../../log/steps.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { tokensOf } from '../../log/timeline/fit.ts'
import { parseEventId, presentRow } from '../../log/timeline/present.ts'
import { answerRead } from '../../log/timeline/read.ts'
import type { CredentialLookup } from '../../model/credentials.ts'
import { DAY_MS } from '../../model/units.ts'
import { hasMaskedSecret } from '../../net/address-secrets.ts'
import { openVariable, variableIn } from '../../net/secrets.ts'
import { type GithubPost, githubPlaceOf } from '../../outbox/send-github.ts'
import type { WriteBack } from '../../outbox/send-webhook.ts'
import { incidentQueries, storedClaims } from '../finding-queries.ts'
import { nextTry } from '../models/adapter.ts'
import { boundsOf, createFinishing, createJournal, type Finishing } from './finishing.ts'
import type { Making } from './making.ts'
import { ownTools } from './own-tools.ts'
import { askedFirst } from './policy.ts'
import { concludeTool, type FirstView, firstMessage, markerOf, renderRow, systemOf } from './prompt.ts'
import { noAgentNamed, type RunRow, type StepRow, type WaitingRow } from './queries.ts'
import { briefInSteps, type RunReads } from './run-reads.ts'
import type { Claimed, Origin, RunPort, RunsParts, StartedRun, Step, StepData, Unavailable } from './types.ts'

/** Who cancelled a run where nobody has to sign in. */
const NOBODY_KNOWN = 'somebody, without signing in'

interface Rerun {
  asOf: 'same' | 'now'
  practice: boolean
  /** Only a run of this agent. */
  agent?: string
  tape?: boolean
  prompt?: string
  provider?: string
  model?: string
}

interface RunWrites
  extends Pick<RunPort, 'claimRuns' | 'recordSteps' | 'beginCall' | 'parkRun' | 'finishRun' | 'rememberFor'> {
  /** @throws SvcError not_found; wrong_state; conflict */
  rerun(run: string, how: Rerun): Promise<RerunResult>
  /** @throws SvcError not_found; wrong_state */
  cancelRun(run: string, by: Caller): Promise<{ ok: true }>
  /** What an agent would be told of a firing. @throws SvcError not_found */
  previewAgent(agent: string, dispatchId: string): Promise<AgentPreview>
}

export type RunCalls = RunWrites & RunReads

export function runWrites(
  parts: RunsParts & {
    making: Making
    ctx: ReadContext
    /** Row id of a firing. @throws SvcError not_found */
    firingId(dispatchId: string): { id: number; label: string | null; entity: string; project: string | null }
    remember(agent: string, request: RememberRequest, key: string): Promise<void>
  },
): RunWrites {
  const { clock, making, ctx } = parts
  const finishing = createFinishing(parts, making)
  const parking = createParking(parts, finishing)
  const starting = createStarting(parts, finishing)
  const journal = createJournal(parts, finishing)

  /** A run that never was, as it would be started now. */
  function supposed(agent: string, dispatchId: string): StartedRun {
    const definition = parts.agent(agent) ?? fail('not_found', noAgentNamed(ctx.db, agent))
    const { id, label, entity, project } = parts.firingId(dispatchId)
    const told = parts.firing(id, project)
    // As it was then: what was found since is not told.
    const then = told?.firing?.firedAt ?? clock.now()
    const row = {
      id: 'run_preview',
      agent,
      definition: JSON.stringify(definition),
      firing_id: id,
      dispatch_id: dispatchId,
      trigger_name: null,
      label: label ?? 'key',
      entity,
      root_run_id: 'run_preview',
      depth: 0,
      practice: 1,
      tape: 0,
      as_of: then,
      deadline_at: then,
    } as RunRow
    const run = starting.startedOf(row, [])
    return { ...run, origin: { ...run.origin, trigger: told?.trigger ?? null } }
  }

  return {
    claimRuns: async (limit, underWay) => starting.claimRuns(limit, underWay),
    recordSteps: async (run, steps) => journal.recordSteps(run, steps),
    beginCall: async (...call) => journal.beginCall(...call),
    parkRun: async (run, why) => parking.park(run, why),
    finishRun: (run, end, servers) => finishing.finishRun(run, end, servers),
    rerun: async (run, how) => {
      const again = making.repeat(run, how)
      parts.onPending()
      return { ok: true, run_id: again, rerun_of: run }
    },
    cancelRun: async (run, by) => {
      finishing.cancelRun(run, by.isAnybody ? NOBODY_KNOWN : by.name)
      return { ok: true }
    },
    previewAgent: async (agent, dispatchId) => {
      const run = supposed(agent, dispatchId)
      const view = viewOf(ctx, run, clock.now())
      const system = systemOf(run)
      const { message } = firstMessage(run, view)
      const tools = [...ownTools(run), concludeTool(run.definition)]
      return {
        system,
        message,
        tools: tools.map(({ name, description }) => ({ name, description })),
        tokens: tokensOf(system) + tokensOf(message) + tokensOf(JSON.stringify(tools)),
      }
    },
    rememberFor: (agent, request, key) => parts.remember(agent, request, key),
  }
}

/** What a run would be shown, in the snapshot of the caller; a preview is of a firing. */
function viewOf(ctx: ReadContext, run: StartedRun, now: number): FirstView | null {
  const asked = run.origin.firing ? askedFirst(run) : null
  if (!asked) return null
  const { projects } = run
  if ('brief' in asked) return { brief: atOnce(briefInSteps(ctx, projects, asked.brief)) }
  const scope = projects.length ? { project: projects } : {}
  return { timeline: answerRead(ctx, { ...asked.timeline, ...scope }, now, undefined, renderRow) }
}

/* What is posted to the receiver of an agent's findings (reference: key and labels are the specification's). */

/**
 * The address and token are those of the agent as it is: a receiver that moved gets what waits.
 * @returns null: the run is gone
 */
export function writeBackOfRun(
  parts: Pick<RunsParts, 'agent' | 'eventLabels' | 'env' | 'queries'>,
  run: string,
): WriteBack | null {
  const row = parts.queries.byId.get(run)
  if (!row) return null
  const then = JSON.parse(row.definition) as { webhook_url?: string; webhook_key_label?: string }
  const now = parts.agent(row.agent)
  const labels = parts.eventLabels(row)
  const keyLabel = then.webhook_key_label
  const body = {
    event: 'finding',
    agent: row.agent,
    trigger: row.trigger_name,
    key: String((keyLabel ? ownField(labels, keyLabel) : undefined) ?? row.entity),
    labels,
    finding: row.note ?? '',
    verdict: row.verdict,
    headline: row.headline,
    next_step: row.next_step,
    claims: storedClaims(row.claims),
    verified: row.verified_total === null ? null : { ok: row.verified_ok, total: row.verified_total },
    event_id: row.event_id,
    run_id: row.id,
    dispatch_id: row.dispatch_id,
    model: row.model,
    rounds: row.rounds,
    tool_calls: row.tool_calls,
    usage: {
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cache_creation_input_tokens: row.cache_creation_input_tokens,
      cache_read_input_tokens: row.cache_read_input_tokens,
    },
    cost_usd: row.uncosted_calls === 0 ? row.cost_usd : null,
    started_at: new Date(row.started_at!).toISOString(),
    finished_at: new Date(row.finished_at!).toISOString(),
    duration_s: (row.finished_at! - row.started_at!) / 1_000,
    prompt_hash: row.definition_hash,
  }
  const url = now?.webhook_url || then.webhook_url || ''
  const lost = hasMaskedSecret(url) ? 'webhook_url: the secret in it cannot be had; enter it again' : null
  const { token, fault } = tokenOf(now?.webhook_token || null, parts.env)
  return {
    kind: 'write_back',
    runId: row.id,
    url,
    token,
    fault: lost ?? fault,
    body: JSON.stringify(body),
  }
}

/** A token that refers to a variable is what the variable says, or a fault where it cannot be had. */
function tokenOf(given: string | null, env: RunsParts['env']): Pick<WriteBack, 'token' | 'fault'> {
  const variable = variableIn(given)
  const found = variable === null ? null : openVariable(variable, env)
  if (typeof found === 'string') return { token: null, fault: `webhook_token: ${found}` }
  return { token: found === null ? given : found.value, fault: null }
}

/** Labels of the event that tripped the firing of a run. */
export function eventLabelsOf(
  parts: Pick<RunsParts, 'firing'>,
  ctx: ReadContext,
  row: RunRow,
): Record<string, string | number> {
  const evidence = row.firing_id === null ? [] : (parts.firing(row.firing_id, null)?.firing?.evidence ?? [])
  const id = parseEventId(evidence[0] ?? '')
  const stored = id === null ? undefined : ctx.rows.read([id], false)[0]
  const labels = stored ? presentRow(stored, ctx.dictionary, ctx.names, stored.ts).labels : {}
  return { ...labels, [row.label]: row.entity }
}

/* What is written on GitHub of a finding. */

/**
 * What is written, with the credential of the agent as it is now. @returns null: the run is gone
 */
export function githubPostOfRun(
  parts: Pick<RunsParts, 'agent' | 'eventLabels' | 'queries'>,
  credentials: CredentialLookup,
  run: string,
): GithubPost | null {
  const row = parts.queries.byId.get(run)
  if (!row) return null
  const then = JSON.parse(row.definition) as AgentSpec
  const { github: name = then.github ?? '', github_writes: writes = [] } = parts.agent(row.agent) ?? then
  const place = githubPlaceOf(parts.eventLabels(row), writes)
  const credential = name === '' ? 'the agent names no credential of GitHub any more' : credentials.find(name)
  const fault = typeof credential === 'string' ? credential : place === null ? NO_PLACE : null
  const { check = 'neutral' } = then.verdicts?.find(({ verdict }) => verdict === row.verdict) ?? {}
  return {
    ...{ kind: 'github', runId: row.id, incident: row.incident, agent: row.agent, fault, writes },
    credential: typeof credential === 'string' ? null : credential,
    ...(place ?? { repo: '', number: null, sha: null }),
    ...{ verdict: row.verdict, headline: row.headline, nextStep: row.next_step, note: row.note ?? '' },
    verified: row.verified_total === null ? null : { ok: row.verified_ok ?? 0, total: row.verified_total },
    conclusion: check,
    startedAt: row.started_at!,
    finishedAt: row.finished_at!,
  }
}

const NO_PLACE = 'the agent writes nothing on GitHub any more, or its event names no place there'

/** Runs of a chain after its first (SPEC.md, Limits: handoff chain). */
const CHAIN_MAX = 3

const stepOf = ({ data, ...step }: StepRow): Step => ({ ...step, data: JSON.parse(data) }) as Step

/** How runs come about that their project can take back while they wait. */
const BY_TRIGGER: ReadonlySet<RunRow['woken_by']> = new Set(['trigger', 'schedule'])
const BY_WIRING: ReadonlySet<RunRow['woken_by']> = new Set([...BY_TRIGGER, 'handoff', 'manual'])

export function createStarting(parts: RunsParts, finishing: Finishing) {
  const { store, clock, queries } = parts
  const incidents = incidentQueries(store.db)

  function startedOf(row: RunRow, steps: readonly StepRow[]): StartedRun {
    const definition = JSON.parse(row.definition) as AgentSpec
    const projects = queries.projectsOf.all(row.id)
    // Later findings are not told, also where the clock was set back: the instant that it reads as of is ahead of it then.
    const before = Math.min(row.as_of!, firstOf(row).started_at!)
    const [inIncident, told] = [foundBefore(row, before), toldBefore(row)]
    const earlier = inIncident ?? queries.earlier.get(row.agent, row.label, row.entity, before)
    return {
      id: row.id,
      agent: row.agent,
      definition,
      label: row.label,
      entity: row.entity,
      projects,
      asOf: row.as_of!,
      deadlineAt: row.deadline_at!,
      maxRounds: definition.max_rounds ?? (definition.mcp_servers?.length ? ROUNDS.withMcp : ROUNDS.plain),
      practice: row.practice === 1,
      origin: originOf(row, projects),
      earlier:
        earlier && earlier.root_run_id !== row.root_run_id
          ? {
              run: earlier.id,
              at: earlier.finished_at!,
              verdict: earlier.verdict,
              headline: earlier.headline,
              finding: earlier.note ?? '',
              ...(inIncident ? historyOf(inIncident, before, projects) : {}),
              // What was marked later is not told: a run repeated is told the same.
              ...(earlier.mark !== null && earlier.marked_at! <= before ? { marked: earlier } : {}),
            }
          : null,
      skills: parts.skills(projects),
      marker: told?.marker ?? markerOf(parts.secret, parts.markerSeed ?? row.dispatch_id ?? row.root_run_id),
      steps: steps.map(stepOf),
      tape:
        row.tape && row.rerun_of !== null
          ? { run: row.rerun_of, steps: queries.steps.all(row.rerun_of).map(stepOf) }
          : null,
      told,
    }
  }

  /** The run that it repeats as of the same instant, or itself. */
  function firstOf(row: RunRow): RunRow {
    const repeated = row.rerun_of === null ? undefined : queries.byId.get(row.rerun_of)
    return repeated?.as_of === row.as_of ? repeated! : row
  }

  /** Nothing, where it is not a run of an incident that goes on. One that is repeated is told what the first was told. */
  function foundBefore(row: RunRow, before: number): RunRow | undefined {
    const { incident, root_run_id: root } = row.practice ? firstOf(row) : row
    if ((row.practice && row.rerun_of === null) || !incident) return undefined
    return queries.foundBefore.get({ agent: row.agent, incident, root, before })
  }

  function historyOf({ incident }: RunRow, before: number, projects: readonly string[]) {
    const history = incidents.of(incident, projects.length ? projects : null, before)
    return history ? { history } : {}
  }

  /**
   * A test tells the agent the same as the run of its example was told, although the events, and what was
   * fired and found of them, may be gone by retention: that run stays, and its tape with it.
   */
  function toldBefore({ woken_by, rerun_of }: RunRow): StepData['prompt'] | null {
    if (woken_by !== 'test' || rerun_of === null) return null
    const prompt = queries.steps.all(rerun_of).find(({ kind }) => kind === 'prompt')
    return prompt === undefined ? null : (JSON.parse(prompt.data) as StepData['prompt'])
  }

  function originOf(row: RunRow, projects: readonly string[]): Origin {
    const told = row.firing_id === null ? null : parts.firing(row.firing_id, projects[0] ?? null)
    // One that is repeated in practice is told of the chain it was in, and is in none.
    const parent = row.parent_run_id === null ? undefined : queries.byId.get(row.parent_run_id)
    // What an outside agent found is written after the run that it woke is made.
    const upTo = Math.max(row.seq, parent?.seq ?? 0)
    const chain = row.depth
      ? queries.chain
          .all(parent?.root_run_id ?? row.root_run_id, upTo)
          .filter(
            (one) =>
              one.id !== row.id &&
              one.id !== row.rerun_of &&
              one.outcome === 'finding' &&
              one.depth < row.depth,
          )
      : []
    const isSchedule = told?.firing?.summary !== null && told?.firing !== undefined && told?.firing !== null
    return {
      kind: row.depth > 0 ? 'handoff' : isSchedule ? 'schedule' : 'trigger',
      trigger: row.trigger_name,
      dispatchId: row.dispatch_id,
      firing: told?.firing ?? null,
      chain: chain.map(({ agent, verdict, headline, note, event_id }) => ({
        agent,
        verdict,
        headline,
        finding: note ?? '',
        eventId: event_id,
      })),
    }
  }

  /**
   * Why a run that waits must not begin any more: what woke it was taken away meanwhile; null: it may. What a person
   * asked for by itself, such as a rerun or a test, needs no wiring that is on.
   */
  function withdrawn({ id, agent, woken_by, trigger_name, practice }: RunRow): string | null {
    if (!parts.agent(agent)) return `agent ${agent} was deleted before the turn of this run came`
    const ids = queries.projectsOf.all(id)
    if (practice || ids.length === 0 || !BY_WIRING.has(woken_by)) return null
    const running = parts.wirings(ids).filter(({ isPaused }) => !isPaused)
    if (running.length === 0)
      return `${ids.length === 1 ? 'its project was' : 'its projects were'} paused or deleted before the turn of this run came`
    // It may answer firings of several triggers, of which it names the last.
    const triggers = new Set([trigger_name, ...queries.wokenBy.all(id)])
    const own = running.flatMap(({ wakes }) =>
      wakes.filter((wake) => wake.agent === agent && triggers.has(wake.trigger)),
    )
    if (own.some(({ enabled }) => enabled) || !BY_TRIGGER.has(woken_by)) return null
    return own.length
      ? `agent ${agent} was switched off for ${trigger_name} before the turn of this run came`
      : `trigger ${trigger_name} was deleted or taken from agent ${agent} before the turn of this run came`
  }

  /** Why a run must not be started at all; null: it may. */
  function refusal(row: RunRow, agent: ReturnType<typeof boundsOf>, now: number): string | null {
    const limits = parts.limits()
    const cap = agent.daily_cap ?? limits.dailyCap
    if (queries.startedSince.get(row.agent, now - DAY_MS, now + DAY_MS)! >= cap)
      return `agent ${row.agent} has had ${countWords(cap, 'run')} in 24 hours, all it may; raise ${agent.daily_cap == null ? 'daily_cap of the agent, or the runs in 24 hours under Settings, Agents' : 'daily_cap of the agent'}`
    const budget = agent.budget_usd ?? null
    // What calls under way hold is not used yet: those that are started wait for it.
    const used = () => queries.spentBy.get({ agent: row.agent })! - queries.heldBy.get(row.agent)!
    if (budget !== null && used() >= budget)
      return `agent ${row.agent} has used its budget of $${budget}; raise budget_usd`
    return null
  }

  /** By an event of its machine. @returns null: it has ended instead */
  function takenUp(id: string, type: 'start' | 'interrupted' | 'go_on', at: number): StartedRun | null {
    const state = finishing.step(id, { type, at })
    return state === 'running' ? startedOf(queries.byId.get(id)!, queries.steps.all(id)) : null
  }

  /** A run that a finding woke goes on that finding's chain; known only once the finding's run has ended. */
  function joinChain(row: RunRow): RunRow {
    const firing =
      row.depth === 0 && row.firing_id !== null ? parts.firing(row.firing_id, null)?.firing : null
    const from = firing?.evidence.flatMap((id) => queries.byEvent.get(id) ?? []).at(-1)
    if (!from || row.rerun_of !== null) return row
    const { root_run_id: root, incident } = from
    queries.join.run({ id: row.id, parent: from.id, root, incident, depth: from.depth + 1 })
    return queries.byId.get(row.id)!
  }

  function start(waiting: RunRow, now: number): StartedRun | null {
    const withdrew = withdrawn(waiting)
    if (withdrew !== null) {
      finishing.step(waiting.id, { type: 'cancel', at: now, reason: withdrew })
      return null
    }
    const agent = boundsOf(waiting, parts)
    const row = joinChain(waiting)
    const reason =
      row.depth > CHAIN_MAX
        ? `its chain has had ${CHAIN_MAX} runs after the first: agents wake one another by their findings`
        : refusal(row, agent, now)
    if (reason !== null) {
      finishing.step(row.id, { type: 'cap', at: now, reason })
      return null
    }
    return takenUp(row.id, 'start', now)
  }

  return {
    /** @param underWay runs that somebody follows already */
    claimRuns: (limit: number, underWay: readonly string[]): Claimed => {
      const claimed: Claimed = { started: [], ended: [], nextAt: null }
      if (!queries.hasOpen.get()) return claimed
      return store.tx(() => {
        const now = clock.now()
        const followed = new Set(underWay)
        const running = queries.running.all()
        const most = Math.min(
          limit,
          parts.limits().concurrency - running.filter(({ id }) => followed.has(id)).length,
        )
        const add = (row: Pick<RunRow, 'id'>, run: StartedRun | null) => {
          if (run) claimed.started.push(run)
          else claimed.ended.push(row.id)
        }
        for (const row of running) {
          if (followed.has(row.id) || claimed.started.length >= most) continue
          add(row, takenUp(row.id, 'interrupted', now))
        }
        claimed.nextAt = queries.nextParked.get(now) ?? null
        const parked = queries.parked.all()
        const atWork = [...running]
        for (const row of queries.dueParked.all({ now })) {
          if (claimed.started.length >= most) break
          if (atWork.filter(({ agent }) => agent === row.agent).length >= mostAtOnce(row, parts)) continue
          atWork.push(row)
          add(row, takenUp(row.id, 'go_on', now))
        }
        if (claimed.started.length >= most) return claimed
        for (const row of inTurn(parts, atWork, parked)) {
          add(row, start(row, now))
          if (claimed.started.length >= most) break
        }
        return claimed
      })
    },
    /** As a run would be told, without being one: for a preview. */
    startedOf,
  }
}

/*
 * Whose turn it is: of the runs that wait, the agent with the fewest at work comes first, and of those who
 * waited longest. Each agent and each entity stays within its bounds.
 *
 * Runs that wait stand in one line for each agent as it was when they were made. Only the first of each line is looked at, so that a claim costs what it takes and not what waits:
 * 8 of 5,000 took 230 to 640 ms when all were looked at, and 6 to 30 ms since (2026-11-22).
 */

/** Of one agent at once, where it says nothing else. */
const CONCURRENCY = 4

/** Runs of the agent of a run at once. */
const mostAtOnce = (run: Pick<RunRow, 'agent' | 'definition'>, parts: Pick<RunsParts, 'agent'>): number =>
  boundsOf(run, parts).concurrency ?? CONCURRENCY

type Taken = Pick<RunRow, 'agent' | 'label' | 'entity' | 'practice'>

interface Line {
  agent: string
  hash: string
  /** Runs of the agent at once. */
  most: number
  /** The first that waits; null: nobody is left. */
  head: WaitingRow | null
}

const entityOf = ({ agent, label, entity }: Taken): string => JSON.stringify([agent, label, entity])

/**
 * Runs in the order of their turns, each counted at work once it is given. While they are taken, those given
 * may change state and others may come.
 * @param running those at work already. @param parked those that wait for a model: their entities are busy
 */
function* inTurn(
  parts: Pick<RunsParts, 'queries' | 'agent'>,
  running: readonly Taken[],
  parked: readonly Taken[],
): Generator<RunRow> {
  const { queries } = parts
  const atWork = new Map<string, number>()
  const busy = new Set<string>()
  const countOf = (agent: string) => atWork.get(agent) ?? 0
  const take = (run: Taken) => {
    atWork.set(run.agent, countOf(run.agent) + 1)
    // A practice run is nobody's turn.
    if (!run.practice) busy.add(entityOf(run))
  }
  for (const run of running) take(run)
  for (const run of parked) if (!run.practice) busy.add(entityOf(run))
  const lines = linesOf(parts)
  /** The first of the line whose entity is free; an entity that is busy stays so until the claim ends. */
  const headOf = (line: Line): WaitingRow | null => {
    while (line.head && !line.head.practice && busy.has(entityOf(line.head)))
      line.head = queries.waitingAfter.get(line.agent, line.hash, line.head.seq) ?? null
    return line.head
  }
  for (;;) {
    let first: { line: Line; head: WaitingRow } | null = null
    for (const line of lines) {
      if (countOf(line.agent) >= line.most) continue
      const head = headOf(line)
      if (head && (!first || isBefore(head, first.head))) first = { line, head }
    }
    if (!first) return
    const { line, head } = first
    take(head)
    // Before it is given: then it waits no more.
    line.head = queries.waitingAfter.get(line.agent, line.hash, head.seq) ?? null
    yield queries.bySeq.get(head.seq)!
  }

  function isBefore(a: WaitingRow, b: WaitingRow): boolean {
    const [atWorkA, atWorkB] = [countOf(a.agent), countOf(b.agent)]
    return atWorkA === atWorkB ? a.seq < b.seq : atWorkA < atWorkB
  }
}

/** The lines, each with its first: one step of the index for each. */
function linesOf(parts: Pick<RunsParts, 'queries' | 'agent'>): Line[] {
  const lines: Line[] = []
  let last: { agent: string; hash: string } = { agent: '', hash: '' }
  for (;;) {
    const head = parts.queries.nextLine.get(last.agent, last.hash)
    if (!head) return lines
    last = { agent: head.agent, hash: head.definition_hash }
    lines.push({ ...last, most: mostAtOnce(head, parts), head })
  }
}

/*
 * Runs whose model is unavailable. Such a run waits on its tape, with its place and what was reserved
 * for its call given back, and is taken up again when its model is tried anew, after a restart too: when
 * that is stands in its row. How long it waits is models/adapter.ts.
 */

function createParking({ store, clock, queries }: RunsParts, { step }: Finishing) {
  return {
    /**
     * @returns why it must not wait any longer; null: it waits
     * @throws SvcError not_found; wrong_state: it was ended meanwhile
     */
    park: (id: string, { reason, waitMs }: Unavailable): string | null =>
      store.tx(() => {
        const run = queries.byId.get(id) ?? fail('not_found', `no run has the id ${id}`)
        const now = clock.now()
        const next = nextTry({ since: run.parked_since, tries: run.parked_times }, now, waitMs, 'a run')
        if ('refusal' in next) return next.refusal
        step(id, { type: 'park', at: now, ...next, why: reason })
        return null
      }),
  }
}

/** Runs as they are made: woken by a firing, handed over, repeated. Inside the caller's transaction. */
import { createHash, randomBytes } from 'node:crypto'
import type { Agent, AgentSpec, TriggerSpec } from '../../../schemas/types.ts'
import { ROUNDS } from '../../documents/agent.ts'
import { TRIGGER_DEFAULTS } from '../../documents/trigger.ts'
import { fail } from '../../errors.ts'
import { incidentQueries } from '../../incidents/steps.ts'
import { firstSnapshot } from '../../log/lifecycle.ts'
import type { Database } from '../../log/store/handle.ts'
import { dollars, dollarsSql, iso, parseDuration } from '../../model/units.ts'
import { maskAddresses } from '../../net/address-secrets.ts'
import { noteRun } from '../../outbox/rows.ts'
import { isOpen, type NewRun, type RunQueries, type RunRow, runQueries } from './queries.ts'
import type { RunsParts } from './types.ts'

/** A firing as it wakes an agent. */
interface Wake {
  agent: string
  projects: readonly string[]
  deliveryId: string
  firingId: number
  dispatchId: string
  trigger: string
  isSchedule: boolean
  label: string | null
  entity: string
  at: number
  /** The firing is practice. */
  practice?: boolean
  /** As `quietMs` says of its trigger. */
  quietMs: number
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

export type Making = ReturnType<typeof createMaking>

export function createMaking(parts: Pick<RunsParts, 'store' | 'queries' | 'agent' | 'clock'>) {
  const { queries, store } = parts

  /** Agents read and write as they were when the run was made. */
  function definitionOf(agent: AgentSpec): Pick<NewRun, 'definition' | 'definition_hash'> {
    const { slack_webhook: _hook, webhook_token: _token, ...spec } = agent
    // In the order of the names: an agent that was edited back, or tried and then saved, is the same one.
    // What is secret in the receiver's address is the agent's own, and is read from there when it is sent.
    const shown = { ...spec, ...(spec.webhook_url ? { webhook_url: maskAddresses(spec.webhook_url) } : {}) }
    const fields = Object.entries(shown).filter(([, value]) => value !== '')
    const definition = JSON.stringify(Object.fromEntries(fields.sort(byName)))
    return { definition, definition_hash: hashOf(definition) }
  }

  function roundsOf({ max_rounds, mcp_servers }: AgentSpec): number {
    return max_rounds ?? (mcp_servers?.length ? ROUNDS.withMcp : ROUNDS.plain)
  }

  function insert(
    run: Omit<NewRun, 'definition' | 'definition_hash' | 'snapshot'>,
    agent: AgentSpec,
    projects: readonly string[],
  ) {
    const snapshot = firstSnapshot('run', { max_rounds: roundsOf(agent) })
    queries.insert({ ...run, ...definitionOf(agent), snapshot }, projects)
  }

  /** The incident a firing belongs to: one that goes on, or one that begins with this run. */
  function incidentOf(
    { practice, isSchedule, trigger, entity, at, quietMs }: Wake,
    label: string,
    id: string,
  ) {
    if (practice || isSchedule) return { ...alone(id), woke_at: at }
    const wake_key = wakeKeyOf(trigger, label, entity)
    const last = queries.lastWake.get(wake_key)
    const incident = last && goesOn(last.woke_at, at, quietMs) ? last.incident : id
    return { incident, wake_key, woke_at: at }
  }

  return {
    /**
     * A firing wakes an agent; while a run of the same entity waits, that one answers it too.
     * @returns id of the run; null: there is no such agent
     */
    wake: (wake: Wake): string | null => {
      const agent = parts.agent(wake.agent)
      if (!agent) return null
      const label = wake.label ?? NO_LABEL
      const waiting = wake.practice ? undefined : queries.waiting.get(wake.agent, label, wake.entity)
      if (waiting) {
        queries.fold.run({
          ...{ id: waiting.id, firing: wake.firingId, dispatch: wake.dispatchId, trigger: wake.trigger },
          ...{ key: wakeKeyOf(wake.trigger, label, wake.entity), at: wake.at },
        })
        for (const project of wake.projects) queries.addProject(waiting.id, project)
        noteRun(store.db, wake.deliveryId, waiting.id)
        return waiting.id
      }
      const id = newRunId(wake.at)
      insert(
        {
          id,
          agent: wake.agent,
          woken_by: wake.practice ? 'practice' : wake.isSchedule ? 'schedule' : 'trigger',
          trigger_name: wake.trigger,
          firing_id: wake.firingId,
          dispatch_id: wake.dispatchId,
          label,
          entity: wake.entity,
          parent_run_id: null,
          root_run_id: id,
          depth: 0,
          rerun_of: null,
          practice: wake.practice ? 1 : 0,
          tape: 0,
          made_at: wake.at,
          as_of: null,
          ...incidentOf(wake, label, id),
        },
        agent,
        wake.projects,
      )
      noteRun(store.db, wake.deliveryId, id)
      return id
    },

    /** Another agent takes over the entity a run concluded on. @returns id of its run */
    takeOver: (
      from: RunRow,
      to: string,
      entity: { label: string; key: string },
      projects: readonly string[],
      /** Its depth in the chain, as the machine of the handoff counts it. */
      { at, depth }: { at: number; depth: number },
    ) => {
      const agent = parts.agent(to)
      if (!agent) return null
      const id = newRunId(at)
      insert(
        {
          id,
          agent: to,
          woken_by: 'handoff',
          trigger_name: from.trigger_name,
          firing_id: from.firing_id,
          dispatch_id: from.dispatch_id,
          label: entity.label,
          entity: entity.key,
          parent_run_id: from.id,
          root_run_id: from.root_run_id,
          depth,
          rerun_of: null,
          practice: from.practice,
          tape: 0,
          made_at: at,
          as_of: null,
          ...alone(from.incident),
        },
        agent,
        projects,
      )
      if (!from.practice) incidentQueries(store.db).copyRuns.run(id, from.id)
      return id
    },

    /** A person has an agent look at an entity. @returns id of its run; null: there is no such agent */
    ask: (name: string, of: { label: string; entity: string }, project: string): string | null => {
      const agent = parts.agent(name)
      if (!agent) return null
      const at = parts.clock.now()
      const id = newRunId(at)
      insert(
        {
          id,
          agent: name,
          woken_by: 'manual',
          trigger_name: null,
          firing_id: null,
          dispatch_id: null,
          ...of,
          parent_run_id: null,
          root_run_id: id,
          depth: 0,
          rerun_of: null,
          practice: 0,
          tape: 0,
          made_at: at,
          as_of: null,
          ...alone(id),
        },
        agent,
        [project],
      )
      incidentQueries(store.db).addRunOfEntity.run(id, of.label, of.entity)
      return id
    },

    /**
     * Repeats a finished run against its agent as it is now.
     * @throws SvcError not_found; wrong_state while it is not finished; conflict when the agent is gone; invalid
     */
    repeat: (
      id: string,
      how: {
        asOf: 'same' | 'now'
        practice: boolean
        /** Only a run of this agent. */
        agent?: string
        /** Of an example: nobody takes over from it. */
        isTest?: boolean
        /** Answered by the tape of the run instead of a model; only in practice. */
        tape?: boolean
        prompt?: string
        provider?: string
        model?: string
      },
    ): string =>
      store.tx(() => {
        const run = queries.byId.get(id) ?? fail('not_found', `no run has the id ${id}`)
        if (how.agent !== undefined && how.agent !== run.agent)
          fail('not_found', `agent ${how.agent} has no run ${id}`)
        if (isOpen(run.state))
          fail('wrong_state', `run ${id} is ${run.state}; wait until it has ended, or cancel it`, {
            state: run.state,
            accepts: ['cancel'],
          })
        if (how.tape && !how.practice)
          fail('invalid', 'tape needs practice: what it would say was said already', { field: 'tape' })
        if (run.woken_by === 'external')
          fail('conflict', `run ${id} was made by an outside agent, which this service cannot run`)
        const now =
          parts.agent(run.agent) ?? fail('conflict', `agent ${run.agent} is no longer there to run it again`)
        const agent = {
          ...now,
          ...(how.prompt === undefined ? {} : { prompt: how.prompt }),
          ...(how.provider === undefined ? {} : { provider: how.provider }),
          ...(how.model === undefined ? {} : { model: how.model }),
        }
        const asOf = how.asOf === 'same' ? run.as_of : null
        // What was asked for twice is paid once; practice may be repeated to see how replies differ.
        const { definition_hash: hash } = definitionOf(agent)
        const asked = { of: run.id, root: run.root_run_id, hash, asOf }
        const waiting = how.practice ? undefined : queries.openRerun.get(asked)
        if (waiting !== undefined) return waiting
        const at = parts.clock.now()
        const again = newRunId(at)
        insert(
          {
            id: again,
            agent: run.agent,
            woken_by: how.isTest ? 'test' : how.practice ? 'practice' : 'rerun',
            trigger_name: run.trigger_name,
            firing_id: run.firing_id,
            dispatch_id: run.dispatch_id,
            ...wokenFor(queries, run),
            parent_run_id: run.parent_run_id,
            root_run_id: how.practice ? again : run.root_run_id,
            depth: run.depth,
            rerun_of: run.id,
            practice: how.practice ? 1 : 0,
            tape: how.tape ? 1 : 0,
            made_at: at,
            as_of: asOf,
            ...alone(how.practice ? again : run.incident),
          },
          agent,
          queries.projectsOf.all(run.id),
        )
        if (!how.practice) incidentQueries(store.db).copyRuns.run(again, run.id)
        return again
      }),
  }
}

/** Of a run that no firing of a trigger woke: none goes on in it. */
const alone = (incident: string) => ({ incident, wake_key: null, woke_at: null })

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** Sorts by time. @param at epoch ms */
export function newRunId(at: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(at, 0, 6)
  return `run_${bytes.toString('hex')}`
}

/* The entity a run was woken for: one that has ended has that of its conclusion, which may be another. */

interface Entity {
  label: string
  entity: string
}

/** The key of a firing that is of no single entity. */
const NO_LABEL = 'key'

/** Follows repeats to the run they repeat, then asks what woke that. */
export function wokenFor(queries: RunQueries, run: RunRow): Entity {
  let first = run
  for (let before = run; before.rerun_of !== null; ) {
    const repeated = queries.byId.get(before.rerun_of)
    if (!repeated) break
    first = before = repeated
  }
  const handedOver = queries.handedOver.get(first.id)
  if (handedOver) return handedOver
  const firing = first.depth === 0 && first.firing_id !== null ? queries.firingOf.get(first.firing_id) : null
  return firing
    ? { label: firing.label ?? NO_LABEL, entity: firing.entity }
    : { label: first.label, entity: first.entity }
}

/*
 * Which runs are of one incident; nothing else says it. An incident is what one trigger wakes for one entity
 * until that has been quiet: from the last firing its cooldown passes, in which it could not fire, and then
 * its context window, which is how far back a firing looks, without another firing. Runs that take over or
 * repeat are of the incident of their chain. Schedules, practice and people begin none that goes on.
 */

/** Milliseconds without a firing of an entity, after which its next one is another incident. */
export function quietMs({ cooldown, emit }: Pick<TriggerSpec, 'cooldown' | 'emit'>): number {
  return (
    parseDuration(cooldown ?? TRIGGER_DEFAULTS.cooldown, 'cooldown') +
    parseDuration(emit?.context_window ?? TRIGGER_DEFAULTS.context_window, 'emit.context_window')
  )
}

/** What incidents are told apart by, before time is looked at. */
const wakeKeyOf = (trigger: string, label: string, entity: string): string =>
  JSON.stringify([trigger, label, entity])

/** @param last the last firing, epoch ms. @param at the one now */
const goesOn = (last: number, at: number, quiet: number): boolean => at - last <= quiet

/* What agents did. */

export type Work = Pick<Agent, 'stats' | 'last_run' | 'spent_usd'>

const NOTHING: Work['stats'] = {
  runs: 0,
  finished: 0,
  ok: 0,
  avg_duration_ms: null,
  cost_usd: 0,
  input_tokens: 0,
  output_tokens: 0,
  uncosted_runs: 0,
  newest_finished: 0,
  newest_ok: 0,
}
/** How many of the newest runs tell how an agent fares now. */
const NEWEST = 10
/** Practice is left out, and so are findings of outside agents. */
const COUNTED = "practice = 0 AND woken_by <> 'external'"

/** @param only the one agent that is asked for; null: any. @returns what an agent did, by its name */
export function workOfAgents(db: Database, only: string | null = null): (agent: string) => Work {
  const counted = only === null ? COUNTED : `agent = @only AND ${COUNTED}`
  const asked = only === null ? [] : [{ only }]
  const stats = new Map(
    db
      .prepare<{ only: string }[], Omit<Work['stats'], 'newest_finished' | 'newest_ok'> & { agent: string }>(
        `SELECT agent, count(*) AS runs, count(finished_at) AS finished, sum(state = 'succeeded') AS ok,
           CAST(avg(finished_at - started_at) AS INTEGER) AS avg_duration_ms, ${dollarsSql('sum(cost_usd)')} AS cost_usd,
           sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
           sum(uncosted_calls > 0) AS uncosted_runs
         FROM runs WHERE ${counted} GROUP BY agent`,
      )
      .all(...asked)
      .map(({ agent, ...rest }) => [agent, rest]),
  )
  const last = db.prepare<[string], Omit<NonNullable<Work['last_run']>, 'at'> & { made_at: number }>(
    `SELECT id, state AS status, made_at, outcome FROM runs WHERE agent = ? AND ${COUNTED} ORDER BY seq DESC LIMIT 1`,
  )
  const newest = db.prepare<[string], { newest_finished: number; newest_ok: number }>(
    `SELECT count(*) AS newest_finished, coalesce(sum(state = 'succeeded'), 0) AS newest_ok
     FROM (SELECT state FROM runs WHERE agent = ? AND finished_at IS NOT NULL AND ${COUNTED}
           ORDER BY seq DESC LIMIT ${NEWEST})`,
  )
  const { spentBy } = runQueries(db)
  return (agent) => {
    const spent_usd = dollars(spentBy.get({ agent })!)
    const own = stats.get(agent)
    if (!own) return { stats: NOTHING, last_run: null, spent_usd }
    const { made_at, ...run } = last.get(agent)!
    return {
      stats: { ...own, ...newest.get(agent)! },
      last_run: { ...run, at: iso(made_at) },
      spent_usd,
    }
  }
}

/** Turns of Ask as they happen, on the writing connection: begun, step by step, what they cost, ended. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { carryOut, type Executors, firstSnapshot, move } from '../../log/lifecycle.ts'
import type { StoreHandle } from '../../log/store/handle.ts'
import { DAY_MS } from '../../model/units.ts'
import type { ModelMessage } from '../models/types.ts'
import { dailyBudgets, refusalOf, type UsageEntry } from '../models/usage.ts'
import { markerOf } from '../runs/prompt.ts'
import { runQueries } from '../runs/queries.ts'
import type { StepData, StepWrite } from '../runs/types.ts'
import type { AskPort, AskSessionCalls, BegunTurn, ClaimedTurn, NewTurn, TurnEnd } from './calls.ts'

import {
  type AskedAs,
  type AskQueries,
  answerIn,
  askQueries,
  asRest,
  createSessions,
  isKept,
  presentTurn,
  SESSION_MAX,
  stepsOf,
  type TurnRow,
  toldBefore,
} from './queries.ts'

/** Turns of no conversation that a credential has. */
const LOOSE_KEPT = 20

export interface AskStoreParts {
  store: StoreHandle
  clock: Clock
  /** Fences data with it. */
  secret: string
  /** Time of ingest that no event is past, epoch ms. */
  newest(): number
  /** Spend of 24 hours, US dollars; null: no limit. */
  dailyBudgetUsd(): number | null
  usage(entry: UsageEntry): void
  /** What a credential may now that could do this when it asked; null: it is no longer there. */
  scopesOf(owner: string, then: readonly string[]): readonly string[] | null
}

/** What each effect of the machine of a turn writes. */
export const turnEffects: Executors<{ queries: AskQueries; id: string; at: number }> = {
  resume_turn: ({ queries, id, at }) => {
    assumePaid(queries, id, at)
    queries.reserve.run(0, id)
    const last = queries.steps.all(id).at(-1)
    const data: StepData['note'] = {
      text: 'the service stopped; the answer goes on from here',
      resumed: true,
    }
    queries.saveStep.run(id, (last?.n ?? 0) + 1, 'note', last?.round ?? 0, at, 0, JSON.stringify(data))
  },
  end_turn: ({ queries, id, at }, { answer, error }: { answer: string; error: string | null }) => {
    assumePaid(queries, id, at)
    queries.finish.run({ id, answer, error, at })
  },
}

/** Of a call that was cut off in the middle. */
function assumePaid(queries: AskQueries, id: string, at: number): void {
  queries.forgetCut.run(at - DAY_MS)
  queries.assume.run({ id, at })
}

/** Opens what is stored of Ask. */
export function openAskStore(parts: AskStoreParts): AskSessionCalls & Omit<AskPort, 'planProposal'> {
  const { store, clock, secret } = parts
  const queries = askQueries(store.db)
  const runs = runQueries(store.db)
  const { enter, ...sessions } = createSessions(store, clock, queries)
  const require = (id: string) => queries.turn.get(id) ?? fail('not_found', `no turn has the id ${id}`)

  /** One step by its machine, with what that asks for; inside the caller's transaction. @returns its state */
  function step(id: string, event: Pick<TurnEnd, 'answer' | 'error'> & { type: string }): string {
    const at = clock.now()
    const { state, effects } = move(store.db, { kind: 'ask_turn', id, name: id }, { ...event, at })
    carryOut('ask_turn', turnEffects, effects, { queries, id, at })
    return state
  }

  /** @returns null: it has ended, since nobody may go on with it */
  function takeUp(row: TurnRow): ClaimedTurn | null {
    const asked = row.asked_as === null ? null : (JSON.parse(row.asked_as) as AskedAs)
    const scopes = asked && parts.scopesOf(row.owner, asked.asker.scopes)
    if (!asked || !scopes) {
      const error = asked
        ? 'the service stopped while this was answered, and the key it was asked with is no longer there'
        : 'the service stopped while this was answered; ask again'
      step(row.id, { type: 'fail', answer: answerIn(stepsOf(queries.steps.all(row.id))), error })
      return null
    }
    const answer = answerIn(stepsOf(queries.steps.all(row.id)))
    if (step(row.id, { type: 'interrupted', answer, error: null }) !== 'running') return null
    const { owner, session, mode, step: of, question, provider, model } = row
    const { asker, given } = asked
    const turn = { owner, session, replaces: null, mode, step: of, question, given, provider, model }
    const earlier = earlierTo(queries, { owner, id: session ?? '' }, given, row.seq)
    const begun = {
      ...{ id: row.id, marker: markerOf(secret, row.id), earlier, askedAt: row.asked_at },
      newest: parts.newest(),
      steps: stepsOf(queries.steps.all(row.id)),
    }
    return { begun, turn: { ...turn, asker: { ...asker, scopes } } }
  }

  function save(turn: TurnRow, { n, kind, round, at, ms, data }: StepWrite): void {
    const text = JSON.stringify(data)
    queries.saveStep.run(turn.id, n, kind, round, at, ms, text)
    queries.grow.run(Buffer.byteLength(text), turn.id)
    if (kind === 'tool' || kind === 'refused') queries.countTool.run(turn.id)
    if (kind === 'model' && ms !== null) account(turn, n, (data as StepData['model']).reply)
  }

  function account(turn: TurnRow, n: number, reply: StepData['model']['reply']): void {
    // A call that failed may have been billed in part; nobody says how much.
    if (!reply) return void queries.reserve.run(0, turn.id)
    const { usage, costUsd, provider, model, keySource } = reply
    queries.addUsage.run({
      id: turn.id,
      provider,
      model,
      input: usage.input_tokens,
      output: usage.output_tokens,
      cost: costUsd ?? 0,
      uncosted: costUsd === null ? 1 : 0,
    })
    parts.usage({
      id: `${turn.id}/${n}`,
      at: clock.now(),
      surface: 'ask',
      agent: null,
      runId: null,
      practice: false,
      model,
      provider,
      keySource,
      calls: 1,
      usage,
      costUsd,
    })
  }

  return {
    ...sessions,
    beginTurn: async (turn) =>
      store.tx(() => ({
        ...begin(queries, { secret, now: clock.now(), enter }, turn),
        newest: parts.newest(),
      })),
    claimTurns: async () => store.tx(() => queries.running.all().flatMap((row) => takeUp(row) ?? [])),
    recordAskSteps: async (id, steps) =>
      store.tx(() => {
        const turn = require(id)
        for (const step of steps) save(turn, step)
      }),
    beginAskCall: async (id, step, ceiling) =>
      store.tx(() => {
        const turn = require(id)
        const refusal = refusalOf(dailyBudgets(runs, clock.now(), parts.dailyBudgetUsd()), ceiling)
        if (refusal !== null) return refusal
        queries.reserve.run(ceiling ?? 0, id)
        queries.saveStep.run(turn.id, step.n, step.kind, step.round, step.at, null, JSON.stringify(step.data))
        return null
      }),
    endTurn: async (id, { event, answer, error }) =>
      store.tx(() => {
        step(id, { type: event, answer, error })
        return presentTurn(require(id), queries.steps.all(id))
      }),
    askTurn: async (id, owner) => {
      const turn = queries.turn.get(id)
      // That another's is there is not told.
      if (!turn || turn.owner !== owner) return fail('not_found', `no turn has the id ${id}`)
      return presentTurn(turn, queries.steps.all(id))
    },
  }
}

function begin(
  queries: AskQueries,
  world: { secret: string; now: number; enter: ReturnType<typeof createSessions>['enter'] },
  turn: NewTurn,
): Omit<BegunTurn, 'newest'> {
  const { owner, session, question, given, replaces, asker, ...rest } = turn
  const { secret, now, enter } = world
  const of = { owner, id: session ?? '' }
  const kept = isKept(session)
  if (replaces !== null) {
    const old = queries.turnsOf.all(of).find(({ id }) => id === replaces)
    if (!old || !kept)
      return fail('not_found', `replaces: the conversation has no turn ${replaces}`, { field: 'replaces' })
    refuseBusy(queries, of)
    queries.removeFrom.run({ ...of, seq: old.seq })
  }
  if (kept) {
    refuseBusy(queries, of)
    if (queries.bytesOf.get(of)! > SESSION_MAX)
      fail('too_large', 'this conversation has grown over 2 MB; begin a new one', { field: 'session' })
    enter(owner, session, question)
  } else queries.removeLoose.run(owner, owner, LOOSE_KEPT)
  const earlier = earlierTo(queries, of, given, null)
  const askedAs = JSON.stringify({ asker, given } satisfies AskedAs)
  const id = `ask_${randomBytes(16).toString('hex')}`
  queries.insertTurn({
    ...rest,
    id,
    owner,
    session,
    kept: kept ? 1 : 0,
    question,
    bytes: Buffer.byteLength(question) + (given.length ? Buffer.byteLength(askedAs) : 0),
    asked_at: now,
    asked_as: askedAs,
    snapshot: firstSnapshot('ask_turn'),
  })
  return { id, marker: markerOf(secret, id), earlier, askedAt: now, steps: [] }
}

function refuseBusy(queries: AskQueries, of: { owner: string; id: string }): void {
  const running = queries.session.get(of)?.running
  if (running)
    fail('wrong_state', 'this conversation is being answered; wait for it, or stop it', {
      state: 'running',
      accepts: ['cancel'],
    })
}

const said = (role: string, text: string): ModelMessage =>
  role === 'user' ? { role: 'user', text } : { role: 'assistant', text, calls: [] }

/**
 * What was said before a turn, first to last: as its caller gave it, else the newest turns that came to an answer.
 * @param before the place of the turn among all; null: it is not there yet
 */
function earlierTo(
  queries: AskQueries,
  of: { owner: string; id: string },
  given: NewTurn['given'],
  before: number | null,
): ModelMessage[] {
  if (given.length > 0 || !isKept(of.id)) return given.map(({ role, content }) => said(role, content))
  const turns = queries.turnsOf.all(of).filter(({ seq }) => before === null || seq < before)
  const { told, leftOut } = toldBefore(queries, turns)
  const messages = told.flatMap(({ question, answer }) => [said('user', question), said('assistant', answer)])
  return leftOut === 0 ? messages : asRest(messages)
}

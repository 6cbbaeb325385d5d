/** Turns of Ask as they happen, on the writing connection: begun, step by step, what they cost, ended. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { firstSnapshot, move } from '../../log/lifecycle.ts'
import type { StoreHandle } from '../../log/store/handle.ts'
import { dailyBudgets, refusalOf } from '../models/reserving.ts'
import type { ModelMessage } from '../models/types.ts'
import type { UsageEntry } from '../models/usage.ts'
import { markerOf } from '../runs/prompt.ts'
import { runQueries } from '../runs/queries.ts'
import type { StepData, StepWrite } from '../runs/types.ts'
import { type AskPort, type AskSessionCalls, type BegunTurn, interruptedIn, type NewTurn } from './calls.ts'

import {
  type AskQueries,
  askQueries,
  createSessions,
  isKept,
  presentTurn,
  SESSION_MAX,
  stepsOf,
  type TurnRow,
} from './queries.ts'

/** Of what was said before: so many turns, and so many characters, from the newest. */
const EARLIER_TURNS = 20
const EARLIER_MAX = 60_000
/** Turns of no conversation that a credential has. */
const LOOSE_KEPT = 20

export interface AskStoreParts {
  store: StoreHandle
  clock: Clock
  /** Fences data with it. */
  secret: string
  /** Spend of 24 hours, US dollars; null: no limit. */
  dailyBudgetUsd(): number | null
  usage(entry: UsageEntry): void
}

/** Opens what is stored of Ask; turns that a stop came between have failed. */
export function openAskStore(parts: AskStoreParts): AskSessionCalls & Omit<AskPort, 'planProposal'> {
  const { store, clock, secret } = parts
  const queries = askQueries(store.db)
  const runs = runQueries(store.db)
  const { enter, ...sessions } = createSessions(store, clock, queries)
  const require = (id: string) => queries.turn.get(id) ?? fail('not_found', `no turn has the id ${id}`)

  function end(id: string, event: string, answer: string, error: string | null): void {
    const at = clock.now()
    move(store.db, { kind: 'ask_turn', id, name: id }, { type: event, at })
    queries.finish.run({ id, answer, error, at })
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

  store.tx(() => {
    for (const { id } of queries.running.all())
      end(id, 'fail', '', interruptedIn(stepsOf(queries.steps.all(id))))
  })

  return {
    ...sessions,
    beginTurn: async (turn) => store.tx(() => begin(queries, { secret, now: clock.now(), enter }, turn)),
    recordAskSteps: async (id, steps) =>
      store.tx(() => {
        const turn = require(id)
        for (const step of steps) save(turn, step)
      }),
    beginAskCall: async (id, step, ceiling) =>
      store.tx(() => {
        const turn = require(id)
        const refusal =
          ceiling === null
            ? null
            : refusalOf(dailyBudgets(runs, clock.now(), parts.dailyBudgetUsd()), ceiling)
        if (refusal !== null) return refusal
        queries.reserve.run(ceiling ?? 0, id)
        queries.saveStep.run(turn.id, step.n, step.kind, step.round, step.at, null, JSON.stringify(step.data))
        return null
      }),
    endTurn: async (id, { event, answer, error }) =>
      store.tx(() => {
        end(id, event, answer, error)
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
): BegunTurn {
  const { owner, session, question, given, replaces, ...rest } = turn
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
  const earlier =
    kept && given.length === 0
      ? earlierOf(queries, of)
      : given.map(({ role, content }) => said(role, content))
  const id = `ask_${randomBytes(16).toString('hex')}`
  queries.insertTurn({
    ...rest,
    id,
    owner,
    session,
    kept: kept ? 1 : 0,
    question,
    bytes: Buffer.byteLength(question),
    asked_at: now,
    snapshot: firstSnapshot('ask_turn'),
  })
  return { id, marker: markerOf(secret, id), earlier, askedAt: now }
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

/** The newest turns that came to an answer, first to last. */
function earlierOf(queries: AskQueries, of: { owner: string; id: string }): ModelMessage[] {
  const messages: ModelMessage[] = []
  let left = EARLIER_MAX
  for (const turn of queries.turnsOf.all(of).slice(-EARLIER_TURNS).reverse()) {
    const answer = [turn.answer, ...cardsOf(queries, turn.id)].filter(Boolean).join('\n\n')
    if (!answer) continue
    left -= turn.question.length + answer.length
    if (left < 0) break
    messages.unshift(said('user', turn.question), said('assistant', answer))
  }
  return messages
}

/** Cards are no text of an answer, and are told so that they can be spoken of. */
function cardsOf(queries: AskQueries, turn: string): string[] {
  return queries.steps.all(turn).flatMap(({ kind, data }) => {
    const proposal = kind === 'tool' ? (JSON.parse(data) as StepData['tool']).proposal : undefined
    return proposal ? [`(Shown as a card: ${proposal.kind} ${proposal.name}.)`] : []
  })
}

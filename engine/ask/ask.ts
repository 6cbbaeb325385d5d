/**
 * Ask: questions answered by a model over reads of the instance, each as the credential that asks. It
 * runs where models are asked; what is kept goes through the port to the store. A turn is told to whoever
 * reads it, and cut off when it is cancelled or nobody reads it any more.
 */
import type { AskRequest } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock, Timers } from '../clock.ts'
import { within } from '../egress/index.ts'
import { fail, SvcError } from '../errors.ts'
import { ModelFault, type Models } from '../models/types.ts'
import { createFreed, type Freed } from '../runs/freed.ts'
import type { AskTurnCalls } from './calls.ts'
import { allFrames, firstFrame, lastFrame } from './frames.ts'
import { LiveTurn } from './live.ts'
import { interruptedIn } from './parked.ts'
import { systemOf } from './prompt.ts'
import { toolsOf } from './tools/index.ts'
import type { AskReads } from './tools/tool.ts'
import { Turn } from './turn.ts'
import type { AskCaller, AskPort, BegunTurn, EndedTurn, NewTurn, TurnEnd } from './types.ts'

/** Turns at once: of one credential, and in all. */
const TURNS_PER_CALLER = 4
const TURNS_MAX = 16
const OPEN = 'open'
/** Characters of a conversation. */
const MESSAGES_MAX = 200_000
const TURN_MS = 5 * 60_000
const STOP_MS = 3_000

const CANCELLED = 'cancelled'
const DEADLINE = 'deadline'
const STOPPED = 'stopped'

export interface AskParts {
  port: AskPort
  reads: AskReads
  models: Models
  clock: Clock
  timers: Timers
  onError(error: Error): void
  /** Told of each turn that has ended; must not take long, and is not waited for. */
  finished?(ended: EndedTurn): void
}

export interface Ask {
  calls: AskTurnCalls
  /** Cuts off what is asked, and waits until that is written. Never rejects. */
  stop(): Promise<void>
}

interface AtWork {
  live: LiveTurn
  controller: AbortController
  done: Promise<void>
}

export function createAsk(parts: AskParts): Ask {
  const { port, models, timers } = parts
  const atWork = new Map<string, AtWork>()
  /** Places that are taken while a turn is begun. */
  const begun = new Map<string, number>()
  const freed = createFreed(timers)
  let isStopped = false

  function take(owner: string): () => void {
    const own = [...atWork.values()].filter(({ live }) => live.owner === owner).length
    const inAll = atWork.size + [...begun.values()].reduce((sum, count) => sum + count, 0)
    if (isStopped) throw new SvcError('unavailable', 'the daemon is stopping', { retryAfter: 5 })
    if (owner !== OPEN && own + (begun.get(owner) ?? 0) >= TURNS_PER_CALLER)
      throw new SvcError(
        'too_many',
        `this credential has ${TURNS_PER_CALLER} questions under way; wait, or stop one`,
        {
          retryAfter: 5,
        },
      )
    if (inAll >= TURNS_MAX)
      throw new SvcError('too_many', `${TURNS_MAX} questions are under way; ask again in a moment`, {
        retryAfter: 5,
      })
    begun.set(owner, (begun.get(owner) ?? 0) + 1)
    return () => void begun.set(owner, begun.get(owner)! - 1)
  }

  async function ask(body: AskRequest, caller: AskCaller): Promise<{ turn: string }> {
    const turn = await newTurn(body, caller, models)
    const give = take(caller.id)
    try {
      const started = await port.beginTurn(turn)
      start(started, turn, caller)
      return { turn: started.id }
    } finally {
      give()
    }
  }

  function start(started: BegunTurn, turn: NewTurn, caller: AskCaller): void {
    const { id } = started
    const controller = new AbortController()
    const live = new LiveTurn(caller.id, timers, () => controller.abort(CANCELLED))
    live.tell(
      firstFrame({ id, session: turn.session, mode: turn.mode, provider: turn.provider, model: turn.model }),
    )
    const done = follow({ ...parts, freed }, { started, turn, caller, live, controller }).finally(() =>
      atWork.delete(id),
    )
    atWork.set(id, { live, controller, done })
  }

  return {
    calls: {
      ask,
      followAsk: async (id, after, caller, reader) => {
        const now = atWork.get(id)
        if (now?.live.owner === caller.id) return now.live.follow(after, reader)
        const turn = await port.askTurn(id, caller.id)
        allFrames(turn).forEach((frame, i) => {
          reader.frame(i + 1, frame)
        })
        reader.end()
        return { stop: () => {} }
      },
      cancelAsk: async (id, caller) => {
        const now = atWork.get(id)
        if (now?.live.owner !== caller.id) return refuseCancel(port, id, caller)
        now.controller.abort(CANCELLED)
        await now.done
        return { ok: true, turn: id }
      },
    },
    stop: async () => {
      isStopped = true
      for (const { controller } of atWork.values()) controller.abort(STOPPED)
      const all = Promise.allSettled([...atWork.values()].map(({ done }) => done))
      await new Promise<void>((resolve) => {
        const cancel = timers.after(STOP_MS, resolve)
        void all.then(() => {
          cancel()
          resolve()
        })
      })
    },
  }
}

async function refuseCancel(port: AskPort, id: string, caller: Caller): Promise<never> {
  const { state, accepts } = await port.askTurn(id, caller.id)
  return fail('wrong_state', `turn ${id} is ${state} and does not accept cancel`, { state, accepts })
}

/** @throws SvcError invalid; forbidden; too_large */
async function newTurn(body: AskRequest, caller: AskCaller, models: Models): Promise<NewTurn> {
  const { messages, mode = 'ask', step, session = null, replaces = null, model = '' } = body
  if (mode === 'build' && !caller.scopes.includes('admin'))
    fail('forbidden', "this credential lacks the 'admin' scope")
  if (mode === 'build' && !step)
    fail('invalid', 'step must be sources, watch or agent in mode build', { field: 'step' })
  if (mode === 'ask' && step) fail('invalid', 'step is for mode build', { field: 'step' })
  const last = messages.at(-1)!
  if (last.role !== 'user')
    fail('invalid', 'messages: the last one must be the question of a user', { field: 'messages' })
  if (messages.reduce((sum, { content }) => sum + content.length, 0) > MESSAGES_MAX)
    fail(
      'too_large',
      `messages are over ${MESSAGES_MAX.toLocaleString('en')} characters; begin a new conversation`,
      {
        field: 'messages',
      },
    )
  try {
    const chosen = await models.resolve('', model)
    return {
      owner: caller.id,
      session,
      replaces,
      mode,
      step: step ?? null,
      question: last.content,
      given: messages.slice(0, -1),
      provider: chosen.provider,
      model: chosen.model,
    }
  } catch (error) {
    // What to set is in the message.
    if (error instanceof ModelFault) return fail('invalid', error.message)
    throw error
  }
}

interface Following {
  started: BegunTurn
  turn: NewTurn
  caller: AskCaller
  live: LiveTurn
  controller: AbortController
}

/** Takes a turn to its end, writes that, and tells it. Never rejects. */
async function follow(
  parts: AskParts & { freed: Freed },
  { started, turn, caller, live, controller }: Following,
): Promise<void> {
  const { port, models, reads, clock, timers } = parts
  const { signal } = controller
  const begin = () => timers.after(TURN_MS, () => controller.abort(DEADLINE))
  let cancel = begin()
  const running = new Turn(started, turn, {
    port,
    models,
    tools: toolsOf(turn.mode, turn.step),
    world: { reads, port, caller, marker: started.marker, now: () => clock.now() },
    clock,
    signal,
    system: systemOf(turn.mode, turn.step, started.askedAt),
    tell: (frame) => live.tell(frame),
    moneyFreed: () => parts.freed.wait(signal),
    waitUntil: async (at) => {
      // Those who wait for money may have what was reserved, and its own time begins anew after the wait.
      parts.freed.tell()
      cancel()
      await within(timers, Math.max(0, at - clock.now()), signal, new Promise<never>(() => {}))
      signal.throwIfAborted()
      cancel = begin()
    },
  })
  try {
    const end = await running.go().catch((error: unknown) => endOf(error, signal, running, parts.onError))
    const ended = await port.endTurn(started.id, end)
    live.tell(lastFrame(ended))
    parts.finished?.({ turn: ended, steps: running.steps, earlier: running.earlier })
  } catch (error) {
    parts.onError(error as Error)
    live.tell({ type: 'error', detail: 'a fault of ours: how it ended could not be written' })
  } finally {
    cancel()
    parts.freed.tell()
    live.end()
  }
}

/** What a turn that could not go on comes to. */
function endOf(
  error: unknown,
  { aborted, reason }: AbortSignal,
  { answer, steps }: Pick<Turn, 'answer' | 'steps'>,
  onError: (error: Error) => void,
): TurnEnd {
  if (aborted && reason === CANCELLED) return { event: 'cancel', answer, error: null }
  if (aborted)
    return {
      event: 'fail',
      answer,
      error:
        reason === DEADLINE ? 'it took longer than 5 minutes; ask for less at a time' : interruptedIn(steps),
    }
  onError(error as Error)
  const said = error instanceof SvcError ? error.message : 'the log of the daemon has it'
  return { event: 'fail', answer, error: `a fault of ours: ${said}` }
}

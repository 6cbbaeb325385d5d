/** Calls about Ask: conversations, and the stream of an answer, which is taken up again where it broke. */
import * as calls from '../api/client/calls.ts'
import { readEvents } from '../api/client/sse.ts'
import type { AskFrame, AskRequest, AskSessionWrite, ChangeSetCreate } from '../schemas/types.ts'
import { ApiError, ask as call, send } from './client.ts'

export const ask = {
  /** Questions to begin with. */
  starters: async () => (await call(calls.listAskStarters)).starters,
  sessions: async () => (await call(calls.listAskSessions)).sessions,
  session: (id: string) => call(calls.getAskSession, { id }),
  saveSession: (id: string, body: AskSessionWrite) => call(calls.saveAskSession, { id, body }),
  deleteSession: (id: string) => call(calls.deleteAskSession, { id }),
  cancel: (turn: string) => call(calls.cancelAsk, { turn }),
  /** Applies what was planned. @throws ApiError conflict when others changed it since */
  change: (body: ChangeSetCreate) => call(calls.applyChangeSet, { body }),
  /** Leaves it to somebody who may apply it. */
  propose: (operations: ChangeSetCreate['operations'], why: string) =>
    call(calls.propose, { body: { operations, why } }),
}

/** Query keys, in one place. */
export const akeys = {
  starters: ['ask-starters'],
  sessions: ['ask'],
  session: (id: string) => ['ask', id],
} as const

/** A broken stream is taken up again so often in a row, each time after a longer wait. */
const TRIES = 6
const WAIT_MS = 500

export interface Following {
  onFrame(frame: AskFrame): void
  signal: AbortSignal
}

/** Asks, and tells each frame until the last. @throws ApiError; an AbortError */
export async function askStream(body: AskRequest, following: Following): Promise<void> {
  await follow(null, () => send(calls.ask, { body }, { signal: following.signal }), following)
}

/** Takes up a turn that is being answered, from its beginning. @throws ApiError; an AbortError */
export async function resumeStream(id: string, following: Following): Promise<void> {
  await follow(id, () => send(calls.resumeAsk, { turn: id }, { signal: following.signal }), following)
}

async function follow(
  known: string | null,
  open: () => Promise<Response>,
  { onFrame, signal }: Following,
): Promise<void> {
  let id = known
  let last = 0
  let failures = 0
  for (let answer = open; ; answer = () => again(id!, last, signal)) {
    try {
      for await (const { n, frame } of framesOf(await answer())) {
        last = n
        failures = 0
        if (frame.type === 'start') id = frame.turn
        onFrame(frame)
        if (frame.type === 'done' || frame.type === 'error') return
      }
    } catch (error) {
      // A refusal stays one; what broke is taken up again, also from a daemon that is stopping or starting.
      if (signal.aborted || id === null || (error instanceof ApiError && ![0, 503].includes(error.status)))
        throw error
    }
    if (id === null || ++failures > TRIES)
      throw new ApiError('The connection to the daemon was lost, and did not come back.', 0)
    await pause(WAIT_MS * 2 ** (failures - 1), signal)
  }
}

const again = (turn: string, last: number, signal: AbortSignal): Promise<Response> =>
  send(calls.resumeAsk, { turn }, { signal, headers: { 'last-event-id': String(last) } })

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })

/** Frames of a stream of server-sent events. */
async function* framesOf({ body }: Response): AsyncGenerator<{ n: number; frame: AskFrame }> {
  if (!body) return
  for await (const { id, data } of readEvents(body))
    yield { n: Number(id), frame: JSON.parse(data) as AskFrame }
}

/**
 * Ask in process: a real engine with events in it, the real loop and tools, the providers' own clients
 * over HTTP, and a scripted server in place of the model. Time is moved by hand.
 */
import { onTestFinished } from 'vitest'
import { type Ask, createAsk } from '../../../../engine/agents/ask/ask.ts'
import type { AskCaller, EndedTurn } from '../../../../engine/agents/ask/calls.ts'
import type { AskReads } from '../../../../engine/agents/ask/tool-calls.ts'
import { modelFetch } from '../../../../engine/agents/models/calls.ts'
import { createModels } from '../../../../engine/agents/models/models.ts'
import type { ProviderKind } from '../../../../engine/agents/models/types.ts'
import { withOwnPrices } from '../../../../engine/agents/models/usage.ts'
import { createEgress } from '../../../../engine/net/fetch.ts'
import type { AskFrame, AskRequest } from '../../../../schemas/types.ts'
import { type ScriptedModels, startScriptedModels } from '../../../models/scripted-server.ts'
import { providerAt } from '../../../models/setup.ts'
import { type ManualTime, manualTime } from '../../net/egress/manual-time.ts'
import { openWorld, type World } from '../../triggers/trigger-world.ts'

export const MARIA: AskCaller = { id: 'key:1', name: 'maria', scopes: ['read', 'admin', 'ingest'] }
export const READER: AskCaller = { id: 'key:2', name: 'reader', scopes: ['read'] }
export const SESSION = '0123456789abcdef'
/** US dollars per million tokens. */
const PRICE = { input: 10, output: 100 }

export interface AskWorld extends World {
  models: ScriptedModels
  ask: Ask
  time: ManualTime
  ended: EndedTurn[]
  errors: Error[]
  /** As a stop of the service; without it, with the end of the test. */
  close(): Promise<void>
  /** Asks, and waits for the end. @returns the frames, with texts that follow one another as one */
  asked(question: string, more?: Partial<AskRequest>, caller?: AskCaller): Promise<AskFrame[]>
  /** Frames of a turn from number `after` on, until it ends. */
  frames(turn: string, after?: number, caller?: AskCaller): Promise<{ n: number; frame: AskFrame }[]>
}

/** Ends with the test. */
export async function openAskWorld(
  options: Parameters<typeof openWorld>[0] & {
    kind?: ProviderKind
    provider?: boolean
    /** Reads in place of those of the engine. */
    reads?: Partial<AskReads>
  } = {},
): Promise<AskWorld> {
  const { kind = 'providera', provider = true, reads = {}, ...more } = options
  const models = await startScriptedModels()
  const world = await openWorld(more)
  const { engine, clock } = world
  const time = manualTime()
  const out = createEgress({ allowPrivate: false, timers: time })
  const errors: Error[] = []
  const ended: EndedTurn[] = []
  const known = { ...providerAt(models, kind), models: ['m1'], defaultModel: 'm1' }
  const ask = createAsk({
    port: engine,
    reads: { ...engine, ...reads },
    models: createModels({
      keepModels: async () => {},
      config: async () => ({
        providers: provider ? [known] : [],
        defaultProvider: provider ? known.id : null,
        prices: withOwnPrices([{ prefix: 'm', ...PRICE }]),
      }),
      http: modelFetch(out),
      clock,
      timers: time,
      random: () => 0,
    }),
    clock,
    timers: time,
    onError: (error) => void errors.push(error),
    finished: (turn) => void ended.push(turn),
  })
  let closed: Promise<void> | null = null
  const close = () => {
    closed ??= (async () => {
      await ask.stop()
      out.close()
      await engine.close()
      await models.close()
    })()
    return closed
  }
  onTestFinished(close)
  const frames: AskWorld['frames'] = async (turn, after = 0, caller = MARIA) => {
    const told: { n: number; frame: AskFrame }[] = []
    await new Promise<void>((resolve, reject) => {
      ask.calls
        .followAsk(turn, after, caller, { frame: (n, frame) => void told.push({ n, frame }), end: resolve })
        .catch(reject)
    })
    return told
  }
  return {
    ...world,
    models,
    ask,
    time,
    ended,
    errors,
    close,
    frames,
    asked: async (question, body = {}, caller = MARIA) => {
      const { turn } = await ask.calls.ask(
        { messages: [{ role: 'user', content: question }], ...body },
        caller,
      )
      return merged((await frames(turn, 0, caller)).map(({ frame }) => frame))
    },
  }
}

/** Texts that follow one another as one. */
export function merged(frames: readonly AskFrame[]): AskFrame[] {
  const all: AskFrame[] = []
  for (const frame of frames) {
    const last = all.at(-1)
    if (frame.type === 'text' && last?.type === 'text')
      all[all.length - 1] = { type: 'text', text: last.text + frame.text }
    else all.push(frame)
  }
  return all
}

export const error = { service: 'checkout', type: 'error', msg: 'cannot pay' }

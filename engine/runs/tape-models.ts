/**
 * The tape of a run in place of a model: each call is answered as it was then, at no cost. It says so when
 * what is asked is no longer what was asked, instead of answering something else.
 */
import { ModelFault, type ModelMessage, type ModelReply, type Models } from '../models/types.ts'
import { Tape } from './tape.ts'
import type { Step } from './types.ts'

/** No reply of a tape is made longer by it. */
const MOST_TOKENS = 1_000_000
/** Named as the source of the key that no call had. */
const KEY_SOURCE = 'tape'

/** @param run id that the tape is of. @param steps of it, as they were */
export function tapeModels({ run, steps }: { run: string; steps: readonly Step[] }): Models {
  const prompt = new Tape([...steps]).prompt
  const calls = steps.flatMap((step, at) =>
    step.kind === 'model' && (step.data.reply || step.data.error?.code === 'overflow')
      ? [{ ...step.data, before: steps.slice(0, at) }]
      : [],
  )
  let next = 0
  const unfit = (why: string) => new ModelFault('malformed', `the tape of ${run} no longer fits: ${why}`)
  return {
    call: async ({ system, messages }): Promise<ModelReply> => {
      const call = calls[next]
      if (!call) throw unfit(`it ends after ${calls.length} calls`)
      if (prompt && system !== prompt.system) throw unfit(differing('the prompt', prompt.system, system))
      const then = new Tape([...call.before]).messages()
      for (const [i, message] of messages.entries()) {
        const [was, is] = [textOf(then[i]), textOf(message)]
        if (was !== is) throw unfit(differing(`message ${i + 1}`, was, is))
      }
      next++
      // What it was told in short since depends on it.
      if (!call.reply) throw new ModelFault('overflow', call.error?.message ?? '')
      const nothing = {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      }
      return {
        ...call.reply,
        usage: nothing,
        costUsd: 0,
        costFrom: null,
        keySource: KEY_SOURCE,
        ms: 0,
        tries: 1,
      }
    },
    ceilingUsd: async () => 0,
    resolve: async (provider, model) => ({ provider, kind: KEY_SOURCE, model, outputTokens: MOST_TOKENS }),
  }
}

/** What was said: a provider's own blocks say nothing more. */
function textOf(message: ModelMessage | undefined): string {
  if (!message) return ''
  if (message.role !== 'assistant') return JSON.stringify(message)
  const { role, text, calls } = message
  return JSON.stringify({ role, text, calls })
}

function differing(what: string, was: string, is: string): string {
  let at = 0
  while (at < was.length && was[at] === is[at]) at++
  return `${what} differs from character ${at + 1} on`
}

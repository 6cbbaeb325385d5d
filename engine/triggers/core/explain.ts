/** What a trigger makes of one event, worked out anew: all that came before is read back. */
import type { Seen, TriggerDefinition, Verdict } from '../types.ts'
import { compile, isEventful } from './compile.ts'
import { EventCursor } from './cursor.ts'
import { HistoryReader } from './history-reader.ts'
import type { EvaluatorPorts } from './ports.ts'
import { Runtime } from './runtime.ts'
import { verdictOf } from './verdicts.ts'

/**
 * @param event as stored; the history is read up to it. @param ports the ledger as it was then.
 * @returns one verdict; of reason `error` when it cannot be judged
 */
export function explain(definition: TriggerDefinition, event: Seen, ports: EvaluatorPorts): Verdict {
  const about = { eventId: event.id, key: null, at: event.ingestedAt }
  if (!isEventful(definition.spec)) {
    const text = 'it fires by the clock, whatever the events'
    return verdictOf(definition, { ...about, reason: 'waiting', text })
  }
  let verdict: Verdict | null = null
  const cursor = new EventCursor(ports.labels, ports.sourceName)
  cursor.setSeen(event)
  try {
    const runtime = new Runtime(compile(definition), ports, new HistoryReader(ports))
    runtime.judge(
      cursor,
      () => true,
      (decision) => {
        if ('verdict' in decision) verdict = decision.verdict
      },
    )
  } catch (error) {
    const text = `cannot be evaluated: ${error instanceof Error ? error.message : String(error)}`
    return verdictOf(definition, { ...about, reason: 'error', text })
  }
  if (!verdict) throw new Error(`trigger ${definition.name} came to no verdict`)
  return verdict
}

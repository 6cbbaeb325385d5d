/** The evaluator of triggers. It reads through ports and writes nothing. */
import { ownField } from '../../../schemas/fields-of.ts'
import type { Filter } from '../../../schemas/types.ts'
import type { Seen, TriggerDefinition, Verdict } from '../types.ts'
import {
  compile,
  compileFilters,
  type EvaluatorPorts,
  failing,
  isEventful,
  verdictOf,
  windowOf,
} from './condition.ts'
import { EventCursor } from './entries.ts'
import { Runtime } from './runtime.ts'
import { HistoryReader } from './windows.ts'

export { Backtest, MemoryLedger, Recorder, TimeBuckets } from './backtest.ts'
export { createEvaluator } from './evaluator.ts'
export { activeText } from './runtime.ts'

/** Whether all filters of a list hold of an event. @throws Error when a pattern is not supported */
export function matcherOf(
  filters: readonly Filter[],
  { labels, sourceName }: Pick<EvaluatorPorts, 'labels' | 'sourceName'>,
): (event: Seen) => boolean {
  const compiled = compileFilters(filters)
  const cursor = new EventCursor(labels, sourceName)
  return (event) => {
    cursor.setSeen(event)
    return failing(compiled, cursor) === null
  }
}

/**
 * Whether filters could hold of an event of which some labels are known; those of other fields may.
 * @throws Error when a pattern is not supported
 */
export const mayHold = (filters: readonly Filter[], labels: Readonly<Record<string, string>>): boolean =>
  compileFilters(filters).every(({ field, testText }) => {
    const text = ownField(labels, field.name)
    return text === undefined || testText(text)
  })

export { holdOf, windowOf } from './condition.ts'

/** How far before a span its events matter: windows, cooldowns, bursts and limits, in milliseconds. */
export function reachOf(definition: TriggerDefinition): number {
  if (!isEventful(definition.spec)) return 0
  const { cooldownMs, gather, limits } = compile(definition)
  const limited = Math.max(0, ...limits.map(({ perMs }) => perMs))
  return windowOf(definition.spec.condition) + cooldownMs + (gather?.maxWaitMs ?? 0) + limited
}

/* What a trigger makes of one event, worked out anew: all that came before is read back. */

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

/** The evaluator of triggers. It reads through ports and writes nothing. */
import type { Filter } from '../../../schemas/types.ts'
import type { Seen, TriggerDefinition } from '../types.ts'
import { compile, isEventful, windowOf } from './compile.ts'
import { EventCursor } from './cursor.ts'
import { compileFilters, failing } from './filters.ts'
import type { EvaluatorPorts } from './ports.ts'

export { Backtest } from './backtest.ts'
export { createEvaluator } from './evaluator.ts'
export { explain } from './explain.ts'
export { Recorder } from './recorder.ts'

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

/** Longest span of event time a condition looks back over, in milliseconds. */
export { windowOf } from './compile.ts'

/** How far before a span its events matter: windows, cooldowns, bursts and limits, in milliseconds. */
export function reachOf(definition: TriggerDefinition): number {
  if (!isEventful(definition.spec)) return 0
  const { cooldownMs, gather, limits } = compile(definition)
  const limited = Math.max(0, ...limits.map(({ perMs }) => perMs))
  return windowOf(definition.spec.condition) + cooldownMs + (gather?.maxWaitMs ?? 0) + limited
}

/** Which agents of a project run at all. */
import { wiringOf } from '../../wiring/wires.ts'
import type { GraphWorld } from '../world.ts'

/** Agents that a wire which is on wakes, and those that these hand over to, however far. */
export function reachedAgents({ doc }: Pick<GraphWorld, 'doc'>): Set<string> {
  const { wakes, handoffs } = wiringOf(doc)
  const reached = new Set(wakes.filter(({ enabled }) => enabled).map(({ agent }) => agent))
  // A set that grows while it is walked is walked to its end.
  for (const agent of reached) for (const row of handoffs) if (row.agent === agent) reached.add(row.to)
  return reached
}

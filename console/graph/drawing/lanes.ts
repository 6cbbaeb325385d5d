/** How far down a node reaches together with what hangs under it: lines that run back pass below that. */
import type { Layout } from '../layout.ts'
import type { Drawn } from './fold.ts'

/** @returns the lower end of each node with its attachments, in pixels of the drawing */
export function lowerEnds(drawn: Drawn, layout: Pick<Layout, 'boxes'>): Map<string, number> {
  const ends = new Map([...layout.boxes].map(([id, box]) => [id, box.y + box.height]))
  const attached = new Set(drawn.nodes.filter((node) => node.attached).map((node) => node.id))
  for (const edge of drawn.edges) {
    const [agent, under] = [layout.boxes.get(edge.from), layout.boxes.get(edge.to)]
    if (edge.kind !== 'uses' || !attached.has(edge.to) || !agent || !under) continue
    // One that was put elsewhere does not hang there any more.
    if (under.x > agent.x + agent.width || under.y < agent.y) continue
    ends.set(edge.from, Math.max(ends.get(edge.from)!, under.y + under.height))
  }
  return ends
}

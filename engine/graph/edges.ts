/** An edge as the structure makes it: nothing has passed it yet. */
import type { GraphEdge } from '../../schemas/types.ts'

/** @param from,to ids of nodes. */
export function edgeOf(
  kind: GraphEdge['kind'],
  id: string,
  from: string,
  to: string,
  more: Partial<Pick<GraphEdge, 'enabled' | 'verdict' | 'cooldown' | 'all'>> = {},
): GraphEdge {
  return {
    id,
    kind,
    from,
    to,
    enabled: true,
    verdict: null,
    cooldown: null,
    all: false,
    ...more,
    last_at: null,
    today: null,
  }
}

/** Names in a field of a document; none where it is left out. */
export const listOf = (field: unknown): readonly string[] => (Array.isArray(field) ? (field as string[]) : [])

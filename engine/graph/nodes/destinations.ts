/** Whom a project tells: addresses subscribed to its triggers, and where its agents send their findings. */
import type { GraphEdge, GraphNode } from '../../../schemas/types.ts'
import { maskedUrl } from '../../moved-secret.ts'
import { edgeOf } from '../edges.ts'
import { edgeIds, nodeId } from '../ids.ts'
import type { GraphWorld, PartNames } from '../world.ts'

/** Where an agent's findings go. */
interface Outlet {
  agent: string
  /** What follows `destination:` in the id of the node. */
  id: string
  name: string
  detail: string
}

export function destinationNodes(world: GraphWorld, names: PartNames): GraphNode[] {
  const subscribed = world.destinations.map(({ id, name, disabled }) =>
    destination(id, name, 'firings', disabled),
  )
  const outlets = new Map(outletsOf(world, names).map((outlet) => [outlet.id, outlet]))
  return [
    ...subscribed,
    ...[...outlets.values()].map(({ id, name, detail }) => destination(id, name, detail)),
  ]
}

export function tellsEdges(world: GraphWorld, names: PartNames): GraphEdge[] {
  const subscribed = world.destinations.flatMap(({ id, trigger }) =>
    (trigger === null ? [...names.trigger] : [trigger]).map((name) =>
      edgeOf('tells', edgeIds.tells('trigger', name, id), nodeId('trigger', name), nodeId('destination', id)),
    ),
  )
  const findings = outletsOf(world, names).map(({ agent, id }) =>
    edgeOf('tells', edgeIds.tells('agent', agent, id), nodeId('agent', agent), nodeId('destination', id)),
  )
  return [...subscribed, ...findings]
}

function outletsOf(world: GraphWorld, names: PartNames): Outlet[] {
  return [...names.agent].flatMap((agent) => {
    const { webhook_url: url, slack_channel: channel } = world.part('agent', agent) ?? {}
    const outlets: Outlet[] = []
    if (typeof url === 'string' && url !== '')
      outlets.push({ agent, id: `write_back:${agent}`, name: shownUrl(url), detail: 'findings' })
    if (typeof channel === 'string' && channel !== '')
      outlets.push({ agent, id: `slack:${channel}`, name: channel, detail: 'findings, to Slack' })
    return outlets
  })
}

/** The rule of agents lets text pass that only looks like an address. */
const shownUrl = (url: string): string => (URL.canParse(url) ? maskedUrl(url) : 'an address that is none')

function destination(id: string, name: string, detail: string, disabled = false): GraphNode {
  return {
    id: nodeId('destination', id),
    kind: 'destination',
    name,
    detail,
    state: disabled ? 'off' : 'active',
    health: disabled ? 'attention' : 'ok',
    reason: disabled ? 'the recipient said that it is gone; subscribe it again' : null,
    customized: false,
    shared_with: [],
    last_at: null,
    today: null,
    running: 0,
    queued: 0,
    spend_today_usd: null,
    verdicts: [],
  }
}

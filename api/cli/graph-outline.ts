/** The graph of a project as lines of text, from its sources on; each node is told once. */
import { kindWord } from '../../schemas/kinds.ts'
import type { GraphEdge, GraphNode, ProjectGraph } from '../../schemas/types.ts'
import { escapeLine } from './terminal.ts'

/** @returns lines without line breaks */
export function graphOutline(graph: ProjectGraph): string[] {
  const { project, nodes } = graph
  const told = new Set<string>()
  const lines = [`${escapeLine(project.name)} (${project.id}) is ${project.status}`]
  if (nodes.length === 0) return [...lines, 'nothing is in it yet']
  // What nothing leads to is told after what is led to from the sources.
  for (const kind of ['source', 'trigger', 'agent', 'mcp_server'] as const)
    for (const node of nodes)
      if (node.kind === kind && !told.has(node.id)) lines.push(...branch(graph, node, '', told))
  const skills = nodes.filter(({ kind }) => kind === 'skill')
  return [...lines, ...skills.map((node) => `skill ${textOf(node)}`)]
}

function branch(graph: ProjectGraph, node: GraphNode, lead: string, told: Set<string>): string[] {
  const indent = ' '.repeat(lead.search(/\S|$/) + (lead ? 2 : 0))
  if (told.has(node.id)) return [`${lead}${kindWord(node.kind)} ${escapeLine(node.name)}, as above`]
  told.add(node.id)
  const from = graph.edges.filter((edge) => edge.from === node.id)
  return [
    `${lead}${kindWord(node.kind)} ${textOf(node)}`,
    ...from.flatMap((edge) => {
      const to = graph.nodes.find(({ id }) => id === edge.to)
      return to ? branch(graph, to, `${indent}${leadOf(edge)}`, told) : []
    }),
  ]
}

/** What leads on: an arrow where work is handed on, a word where it is not. */
function leadOf({ kind, enabled, verdict, cooldown }: GraphEdge): string {
  if (kind === 'feeds') return '> '
  if (kind === 'wakes') return enabled ? '> wakes ' : '> would wake (off) '
  if (kind === 'hands_off') return `> on ${verdict}, at most once every ${cooldown}, hands over to `
  return kind === 'uses' ? '- uses ' : '- tells '
}

function textOf(node: GraphNode): string {
  const facts = [
    ...(node.state === 'active' ? [] : [node.state]),
    ...(node.detail && node.kind !== 'destination' ? [node.detail] : []),
    ...(node.customized ? ['edited by hand'] : []),
    ...(node.shared_with.length
      ? [`shared with ${node.shared_with.map(({ name }) => name).join(', ')}`]
      : []),
    ...(node.running ? [`${node.running} running`] : []),
    ...(node.queued ? [`${node.queued} waiting`] : []),
    ...(node.today === null ? [] : [`${node.today} today`]),
    ...(node.spend_today_usd === null ? [] : [`$${node.spend_today_usd.toFixed(4)} today`]),
    ...(node.last_at ? [`last ${node.last_at}`] : []),
    ...(node.reason ? [`look at it: ${node.reason}`] : []),
  ]
  return escapeLine([node.name, ...facts].join('; '))
}

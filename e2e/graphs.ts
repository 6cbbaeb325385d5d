/** Projects of any size for tests of their drawing. */
import { expect, type Page } from '@playwright/test'
import type { RunningDaemon } from './daemon.ts'

const three = (n: number): string => String(n).padStart(3, '0')
export const each = <T>(n: number, make: (i: number) => T): T[] =>
  Array.from({ length: n }, (_, i) => make(i))

const LABELS = [
  { name: 'service', field: 'service', primary: true },
  { name: 'status', field: 'status', type: 'number' },
]
export const source = (name: string) => ({
  name,
  connector: 'webhook',
  config: { event_type: 'request', labels: LABELS },
})
export const trigger = (name: string, sources: string[], project = 'Shop') => ({
  name,
  project,
  sources,
  condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
})
export const partsOf = (sources: { name: string }[], project = 'Shop') => ({
  template: 'custom',
  name: project,
  objects: sources.map(({ name }) => ({ kind: 'source', name })),
})
export const verdicts = [
  { verdict: 'investigate', when: 'a deploy looks guilty' },
  { verdict: 'dismiss', when: 'it is over' },
]

/** Imports a catalog, as JSON, which is YAML. @returns the id of its project */
export async function imported(daemon: RunningDaemon, catalog: unknown, project = 'Shop'): Promise<string> {
  const answer = await daemon.call('POST', '/api/catalog/import', { yaml: JSON.stringify(catalog) })
  expect(answer.status, await answer.text()).toBe(200)
  return projectNamed(daemon, project)
}

/** Takes away all that is declared, for the next test of those that share a daemon. */
export async function removeAll(daemon: RunningDaemon): Promise<void> {
  const answer = await daemon.call('POST', '/api/catalog/import', {
    ...{ yaml: '{}', prune: true, allow_empty: true, max_deletions: 1_000 },
  })
  expect(answer.status, await answer.text()).toBe(200)
}

/** The id of the project of this name. */
export async function projectNamed(daemon: RunningDaemon, name: string): Promise<string> {
  const { projects } = await daemon.ask<{ projects: { id: string; name: string }[] }>('GET', '/api/projects')
  return projects.find((project) => project.name === name)!.id
}

type Counts = { sources: number; triggers: number; agents: number; servers: number }

/**
 * So many of each; every trigger watches a source, agents hand over in pairs and share the servers.
 * @param tag in the names of its parts, such as trigger-a003, so that several can be in one instance
 */
function shop(project: string, tag: string, counts: Counts) {
  const named = (kind: string, i: number): string => `${kind}-${tag}${three(i)}`
  const sources = each(counts.sources, (i) => source(named('source', i)))
  return {
    sources,
    triggers: each(counts.triggers, (i) =>
      trigger(named('trigger', i), [named('source', i % counts.sources)], project),
    ),
    mcp_servers: each(counts.servers, (i) => ({
      name: named('server', i),
      url: `https://mcp${i}.example.com`,
      project,
    })),
    agents: each(counts.agents, (i) => ({
      name: named('agent', i),
      project,
      prompt: 'Look.',
      trigger: named('trigger', i),
      enabled: true,
      verdicts,
      mcp_servers: [named('server', i % counts.servers)],
      ...(i % 2 ? {} : { handoffs: [{ verdict: 'investigate', agent: named('agent', i + 1) }] }),
    })),
    projects: [partsOf(sources, project)],
  }
}

/** Projects of 1, 16, 60 and 300 parts, or nearly so, by their number. */
export const SIZES = {
  1: { sources: [source('app-logs')], projects: [partsOf([source('app-logs')], 'Shop 1')] },
  16: shop('Shop 16', 'a', { sources: 3, triggers: 6, agents: 6, servers: 1 }),
  60: shop('Shop 60', 'b', { sources: 12, triggers: 24, agents: 20, servers: 4 }),
  300: shop('Shop 300', 'c', { sources: 60, triggers: 140, agents: 90, servers: 10 }),
} as const

/** Height in pixels of the smallest name that is drawn, and how many there are. */
export const nameHeights = (page: Page) =>
  page.evaluate<{ least: number; names: number }>(`(() => {
    const drawing = document.querySelector('.react-flow__viewport')
    const zoom = drawing ? new DOMMatrix(getComputedStyle(drawing).transform).a : 1
    const names = [
      ...[...document.querySelectorAll('.graph-node-name')].map((one) => [one, zoom]),
      ...[...document.querySelectorAll('.graph-flow-name, .graph-strip-chip > span')].map((one) => [one, 1]),
    ]
    return {
      names: names.length,
      least: Math.min(...names.map(([one, by]) => parseFloat(getComputedStyle(one).fontSize) * by)),
    }
  })()`)

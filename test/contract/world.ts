/** What is declared on an instance, as leaves by path, to be compared and changed leaf by leaf. */
import type { Fields, Instance } from './instance.ts'

/** Values as JSON text, by kind/name/field. */
export type Leaves = Map<string, string>

interface Project {
  id: string
  name: string
  goal: string
  state: string
  objects: { kind: string; name: string }[]
  wiring: {
    wakes: { trigger: string; agent: string; enabled: boolean }[]
    handoffs: { agent: string; verdict: string; to: string; cooldown?: string }[]
  }
}

/** Who uses what, and to whom it belongs, follows in part from the rest: it is under this prefix. */
export const USES = 'uses/'

export async function leavesOf(svc: Instance): Promise<Leaves> {
  const leaves: Leaves = new Map()
  const set = (path: string, value: unknown) => leaves.set(path, JSON.stringify(value))
  const all = (kind: string, objects: Fields[], fields: string[]) => {
    for (const object of objects)
      for (const field of fields)
        for (const [path, value] of flat(field, object[field])) set(`${kind}/${object.name}/${path}`, value)
  }
  const [{ projects }, triggers, { agents }, { servers }, skills, sources] = await Promise.all([
    svc.get<{ projects: Project[] }>('/api/projects'),
    svc.get<Fields[]>('/api/triggers'),
    svc.get<{ agents: Fields[] }>('/api/agents/builtin'),
    svc.get<{ servers: Fields[] }>('/api/mcp-servers'),
    svc.get<Fields[]>('/api/skills'),
    svc.get<Fields[]>('/api/sources'),
  ])
  all('trigger', triggers, ['sources', 'filters', 'condition', 'cooldown', 'description', 'paused'])
  all('agent', agents, ['prompt', 'model', 'budget_usd', 'mcp_servers', 'concludes'])
  all('mcp_server', servers, ['url', 'headers'])
  all('skill', skills, ['description', 'size'])
  all('source', sources, ['config', 'paused', 'ingest_key'])
  const owners = new Map(
    Object.entries({ trigger: triggers, agent: agents, mcp_server: servers, source: sources }).flatMap(
      ([kind, parts]) => parts.map((part) => [`${kind}/${part.name}`, part.owned_by] as const),
    ),
  )
  for (const { id, name, goal, state, objects, wiring } of projects) {
    set(`project/${id}/name`, name)
    set(`project/${id}/goal`, goal)
    set(`project/${id}/state`, state)
    for (const wake of wiring.wakes) set(`project/${id}/wakes/${wake.trigger}/${wake.agent}`, wake.enabled)
    for (const { agent, verdict, to, cooldown } of wiring.handoffs)
      set(`project/${id}/handoffs/${agent}/${verdict}/${to}`, cooldown)
    for (const { kind, name } of objects)
      set(`${USES}${id}/${kind}/${name}`, owners.get(`${kind}/${name}`) === id ? 'owned' : 'used')
  }
  return leaves
}

function flat(path: string, value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, value]]
  return Object.entries(value).flatMap(([key, inner]) => flat(`${path}/${key}`, inner))
}

/** Paths whose leaf differs between two worlds. */
export function changedPaths(before: Leaves, after: Leaves): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  )
}

/** `now`, with these leaves as they are in `then`. */
export function withLeaves(now: Leaves, then: Leaves, paths: readonly string[]): Leaves {
  const out = new Map(now)
  for (const path of paths) {
    const value = then.get(path)
    if (value === undefined) out.delete(path)
    else out.set(path, value)
  }
  return out
}

/**
 * Applies to `leaves` what a pause does: the wakes of a paused project are off, and a trigger is paused if all projects
 * that use it are. @param now tells which projects are paused, and which project uses which trigger
 */
export function withPauses(leaves: Leaves, now: Leaves): Leaves {
  const isPaused = (project: string) => now.get(`project/${project}/state`) === '"paused"'
  const users = (trigger: string) =>
    [...now.keys()]
      .filter((path) => path.startsWith(USES) && path.endsWith(`/trigger/${trigger}`))
      .map((path) => path.slice(USES.length).split('/')[0]!)
  const settled = (path: string, value: string) => {
    const [kind, name, field] = path.split('/') as [string, string, string]
    if (kind === 'project' && field === 'wakes' && isPaused(name)) return 'false'
    if (kind === 'trigger' && field === 'paused' && users(name).length && users(name).every(isPaused))
      return 'true'
    return value
  }
  return new Map([...leaves].map(([path, value]) => [path, settled(path, value)]))
}

/** For comparing: without who uses what, in the order of paths. */
export const sorted = (leaves: Leaves, uses: boolean): [string, string][] =>
  [...leaves].filter(([path]) => uses || !path.startsWith(USES)).sort()

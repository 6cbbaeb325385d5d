/** A catalog of many objects, as a large team may have it: 40 projects of their own parts, and parts of nobody. */
import { stringify } from 'yaml'

type Objects = { kind: 'source' | 'trigger' | 'agent' | 'mcp_server'; name: string }[]

export interface BenchCatalog {
  yaml: string
  /** The same with 100 entries changed. */
  edited: string
  /** Parts that no project but the Default one uses. */
  loose: Objects
}

const PROJECTS = 40
/** Of 50 objects in a row, 10 are sources, 15 triggers, 15 agents, 5 MCP servers and 5 skills. */
const KINDS = [...'sssssssssstttttttttttttttaaaaaaaaaaaaaaammmmmkkkkk']

/** @param loose how many of the parts belong to no project; never skills. */
export function catalogOf(objects: number, loose: number): BenchCatalog {
  const catalog = {
    sources: [] as object[],
    triggers: [] as object[],
    agents: [] as object[],
    mcp_servers: [] as object[],
    projects: [] as object[],
    skills: [] as object[],
  }
  const free: Objects = []
  const groups = Math.ceil((objects - PROJECTS) / KINDS.length)
  for (let p = 0; p < PROJECTS; p++)
    catalog.projects.push({ template: 'custom', name: `Project ${p}`, goal: `What team ${p} watches` })
  let made = PROJECTS
  for (let g = 0; g < groups; g++)
    KINDS.forEach((kind, i) => {
      if (made === objects) return
      const isFree = kind !== 'k' && free.length < loose
      if (isFree) free.push({ kind: WORDS[kind]!, name: nameOf(kind, g, i) })
      const project = isFree ? {} : { project: `Project ${g % PROJECTS}` }
      catalog[SECTIONS[kind]!].push(entryOf(kind, g, i, project))
      made++
    })
  const yaml = stringify(catalog)
  let changed = 0
  const edited = yaml.replaceAll(/cooldown: 10m/g, (text) => (changed++ < 100 ? 'cooldown: 20m' : text))
  if (changed < 100) throw new Error(`only ${changed} entries were changed`)
  return { yaml, edited, loose: free }
}

const SECTIONS: Record<string, 'sources' | 'triggers' | 'agents' | 'mcp_servers' | 'skills'> = {
  s: 'sources',
  t: 'triggers',
  a: 'agents',
  m: 'mcp_servers',
  k: 'skills',
}
const WORDS: Record<string, Objects[number]['kind']> = {
  s: 'source',
  t: 'trigger',
  a: 'agent',
  m: 'mcp_server',
}
const nameOf = (kind: string, group: number, i: number): string => `${kind}-${group}-${i}`

function entryOf(kind: string, g: number, i: number, project: { project?: string }): object {
  const name = nameOf(kind, g, i)
  if (kind === 's')
    return {
      name,
      connector: 'webhook',
      ...(project.project ? { projects: [project.project] } : {}),
      config: {
        event_type_field: 'level',
        text_template: '{method} {path} {status}',
        labels: [
          { name: 'service', field: 'service', primary: true },
          { name: 'status', field: 'status', type: 'number' },
        ],
      },
    }
  if (kind === 't')
    return {
      name,
      ...project,
      sources: [nameOf('s', g, i % 10)],
      filters: [{ field: 'status', op: 'gte', value: 500 }],
      key_field: 'service',
      condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
      cooldown: '10m',
    }
  if (kind === 'a')
    return {
      name,
      ...project,
      trigger: nameOf('t', g, i - 15),
      prompt: `Say what broke in ${name}.\n${'Look at the timeline, then conclude.\n'.repeat(8)}`,
      mcp_servers: [nameOf('m', g, 40 + (i % 5))],
      concludes: true,
      ...(i === 25 ? {} : { handoffs: [{ verdict: 'investigate', agent: nameOf('a', g, 25) }] }),
      enabled: true,
    }
  if (kind === 'm') return { name, ...project, url: `https://mcp.example/${name}` }
  return {
    ...project,
    name,
    description: `How to look into ${name}.`,
    body: `# ${name}\n\n${'One step after the other.\n'.repeat(20)}`,
  }
}

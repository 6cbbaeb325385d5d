/**
 * What is declared on this instance as a catalog file (SPEC.md, Catalog YAML). Secrets are left out,
 * references to them kept. What a template plans is said by its parameters alone; what a hand
 * edited of it is listed. Projects go by name, so that a file moves between instances.
 */

import type {
  Catalog,
  CatalogAgent,
  CatalogProject,
  CatalogSkill,
  CatalogSource,
  TemplateFile,
} from '../../schemas/types.ts'
import { maskAddresses } from '../address-secrets.ts'
import type { Doc, PartKind, Stored, StoredOf } from '../changes/declared.ts'
import { equal } from '../changes/fields.ts'
import { addressFields, secretFields } from '../connectors/config.ts'
import { connectorOf } from '../connectors/index.ts'
import { AGENT_SECRETS } from '../parts/agent-spec.ts'
import { MCP_SERVER_SECRETS } from '../parts/mcp-server-spec.ts'
import { isReference, maskNamed, type SecretNames } from '../parts/secret-fields.ts'
import { saidOf } from '../projects/project-spec.ts'
import { CUSTOM_TEMPLATE, DEFAULT_TEMPLATE, type ProjectDoc, partsOf } from '../wiring/project-doc.ts'
import { wiringOf } from '../wiring/wires.ts'
import { handoffsIn, homeOf, wakesIn, wiringEntries } from './export-wiring.ts'
import { type ExportParts, type ExportWorld, isTemplated, worldOf } from './export-world.ts'

/**
 * The catalog of the instance, entries by name.
 * @param sources keeps only these sources, the triggers that read no other, and the agents whose
 *   trigger is kept; projects, skills and wiring are then left out.
 */
export function exportCatalog(parts: ExportParts, sources?: readonly string[]): Catalog {
  const world = worldOf(parts)
  const list = <K extends PartKind>(kind: K): StoredOf<K>[] =>
    (parts.kinds[kind].list() as StoredOf<K>[]).filter((stored) => isListed(world, kind, stored))
  const whole: Catalog = {
    sources: list('source').map((stored) => sourceEntry(world, stored)),
    triggers: list('trigger').map((stored) => triggerEntry(world, stored)),
    agents: list('agent').map((stored) => agentEntry(world, stored)),
    mcp_servers: list('mcp_server').map((stored) => serverEntry(world, stored)),
    projects: projectEntries(world),
    skills: list('skill').map((stored) => skillEntry(world, stored)),
    wiring: wiringEntries(world),
  }
  return withoutEmpty(sources ? narrowed(whole, new Set(sources)) : whole)
}

/** Planned objects come back with their template; the service's own sources with the service. */
function isListed({ planned }: ExportWorld, kind: PartKind, { name, doc }: Stored): boolean {
  const isInternal = kind === 'source' && connectorOf(String(doc.connector)).internal === true
  return planned.get(`${kind}:${name}`) !== 'planned' && !isInternal
}

const guardOf = ({ prevent_destroy: guard }: Doc) => (guard ? { prevent_destroy: true } : {})

/** The project of an entry: whose it is, unless a template adopted it, which it does again. */
function ownerName(
  { owners, planned, docs }: ExportWorld,
  kind: PartKind,
  name: string,
): { project?: string } {
  const owner = owners.get(`${kind}:${name}`)
  if (owner === undefined || planned.get(`${kind}:${name}`) === 'adopted') return {}
  return { project: docs.get(owner)!.name }
}

function sourceEntry(world: ExportWorld, { name, doc }: StoredOf<'source'>): CatalogSource {
  const { connector, poll, config, paused } = doc
  const shown = bare((config ?? {}) as Doc, {
    secrets: secretFields(connector),
    addresses: addressFields(connector),
  })
  const users = [...world.docs.values()]
    .filter((project) => project.uses.source?.[name] && isTemplated(project))
    .map((project) => project.name)
  return {
    name,
    connector,
    ...(poll ? { poll } : {}),
    ...(Object.keys(shown).length ? { config: shown } : {}),
    ...(paused && !world.stopped.source.has(name) ? { paused: true } : {}),
    ...guardOf(doc),
    ...(users.length && world.planned.get(`source:${name}`) !== 'adopted' ? { projects: users.sort() } : {}),
  } as CatalogSource
}

function triggerEntry(
  world: ExportWorld,
  { name, doc }: StoredOf<'trigger'>,
): NonNullable<Catalog['triggers']>[number] {
  const { paused, ...spec } = doc
  return {
    name,
    ...ownerName(world, 'trigger', name),
    ...spec,
    ...(paused && !world.stopped.trigger.has(name) ? { paused: true } : {}),
  }
}

function serverEntry(
  world: ExportWorld,
  { name, doc }: StoredOf<'mcp_server'>,
): NonNullable<Catalog['mcp_servers']>[number] {
  const spec = bare(doc, MCP_SERVER_SECRETS)
  return { name, ...ownerName(world, 'mcp_server', name), ...spec } as NonNullable<
    Catalog['mcp_servers']
  >[number]
}

/** An agent with its wiring in its home, where one trigger wakes it. */
function agentEntry(world: ExportWorld, { name, doc }: StoredOf<'agent'>): CatalogAgent {
  const home = homeOf(world, name)
  const wakes = home ? wakesIn(home, name) : []
  const only = wakes.length === 1 ? wakes[0]! : null
  const handoffs = home ? handoffsIn(home, name) : []
  return {
    name,
    ...ownerName(world, 'agent', name),
    ...(only ? { trigger: only.trigger } : {}),
    ...bare(doc, AGENT_SECRETS),
    ...(handoffs.length ? { handoffs } : {}),
    ...(only?.enabled ? { enabled: true } : {}),
  } as CatalogAgent
}

function skillEntry(world: ExportWorld, { name, doc }: StoredOf<'skill'>): CatalogSkill {
  const owner = world.owners.get(`skill:${name}`)
  const others = [...world.docs.entries()]
    .filter(
      ([id, project]) => id !== owner && project.uses.skill?.[name] && project.template !== DEFAULT_TEMPLATE,
    )
    .map(([, project]) => project.name)
  return {
    ...ownerName(world, 'skill', name),
    name,
    ...doc,
    ...(others.length ? { used_by: others.sort() } : {}),
  }
}

function projectEntries(world: ExportWorld): CatalogProject[] {
  return [...world.docs.entries()]
    .filter(([, doc]) => !doc.draft && (doc.template !== DEFAULT_TEMPLATE || doc.goal || doc.description))
    .sort(([, a], [, b]) => (a.name < b.name ? -1 : 1))
    .map(([, doc]) => projectEntry(world, doc))
}

function projectEntry(world: ExportWorld, doc: ProjectDoc): CatalogProject {
  const { name: _name, ...said } = saidOf(doc)
  if (doc.template === DEFAULT_TEMPLATE) return { template: DEFAULT_TEMPLATE, ...said }
  const paused = doc.paused ? { paused: true } : {}
  if (isTemplated(doc)) {
    const params = withoutDefaults(
      maskAddresses(
        bare(doc.params ?? {}, { secrets: world.templates.secretParams(doc.template), addresses: [] }),
      ),
      world.templates.get(doc.template),
    )
    const shown = Object.keys(params).length ? { params: { ...params } } : {}
    return { template: doc.template, name: doc.name, ...shown, ...said, ...paused }
  }
  const implied = impliedBy(world, doc)
  const objects = partsOf(doc)
    .filter(({ kind, name, use }) =>
      use.owned ? kind === 'source' : kind !== 'skill' && !implied.has(`${kind}:${name}`),
    )
    .map(({ kind, name, use }) => ({ kind, name, ...(use.owned ? {} : { shared: true }) }))
  return {
    template: CUSTOM_TEMPLATE,
    name: doc.name,
    ...(objects.length ? { objects } : {}),
    ...said,
    ...paused,
  }
}

/** Parts that come along with what a project wires and uses, so that a file need not list them. */
function impliedBy({ kinds }: ExportWorld, doc: ProjectDoc): Set<string> {
  const implied = new Set<string>()
  const { wakes, handoffs } = wiringOf(doc)
  for (const { trigger, agent } of wakes) implied.add(`trigger:${trigger}`).add(`agent:${agent}`)
  for (const { agent, to } of handoffs) implied.add(`agent:${agent}`).add(`agent:${to}`)
  for (const { kind, name } of partsOf(doc)) {
    const spec: Doc = kinds[kind].find(name)?.doc ?? {}
    for (const source of (kind === 'trigger' ? spec.sources : []) as string[]) implied.add(`source:${source}`)
    for (const server of ((kind === 'agent' && spec.mcp_servers) || []) as string[])
      implied.add(`mcp_server:${server}`)
  }
  return implied
}

/** Parameters that are as the template has them anyway are left out. */
function withoutDefaults(params: Doc, file: TemplateFile | undefined): Doc {
  const properties = (file?.params.properties ?? {}) as Record<string, { default?: unknown }>
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => !equal(value, properties[name]?.default)),
  )
}

/** Fields without secrets, those in addresses masked; a reference to one is no secret. */
function bare(fields: Doc, { secrets, addresses }: SecretNames): Doc {
  const left = Object.entries(fields).filter(([name, value]) => !secrets.includes(name) || isReference(value))
  return maskNamed(Object.fromEntries(left), { secrets: [], addresses })
}

function narrowed(whole: Catalog, sources: ReadonlySet<string>): Catalog {
  const triggers = whole.triggers!.filter((trigger) => trigger.sources.every((source) => sources.has(source)))
  const kept = new Set(triggers.map(({ name }) => name))
  const agents = whole.agents!.filter(({ trigger }) => trigger !== undefined && kept.has(trigger))
  const servers = new Set(agents.flatMap((agent) => agent.mcp_servers ?? []))
  const withoutProject = <T extends { project?: string | undefined }>({ project: _project, ...entry }: T) =>
    entry
  return {
    sources: whole
      .sources!.filter(({ name }) => sources.has(name))
      .map(({ projects: _projects, ...entry }) => entry),
    triggers: triggers.map(withoutProject) as NonNullable<Catalog['triggers']>,
    agents: agents.map(withoutProject).map(({ handoffs: _handoffs, ...agent }) => agent) as CatalogAgent[],
    mcp_servers: whole
      .mcp_servers!.filter(({ name }) => servers.has(name))
      .map(withoutProject) as NonNullable<Catalog['mcp_servers']>,
  }
}

/** Sources and triggers are always there, other sections when they hold something. */
function withoutEmpty(catalog: Catalog): Catalog {
  return Object.fromEntries(
    Object.entries(catalog).filter(
      ([section, entries]) =>
        section === 'sources' || section === 'triggers' || (entries as unknown[]).length > 0,
    ),
  ) as Catalog
}

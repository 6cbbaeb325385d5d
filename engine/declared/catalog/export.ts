/**
 * What is declared on this instance as a catalog file (SPEC.md, Catalog YAML). Secrets are left out,
 * references to them kept. What a template plans is said by its parameters alone; what a hand
 * edited of it is listed. Projects go by name, so that a file moves between instances.
 */
import { grouped } from '../../../schemas/grouped.ts'
import type {
  AgentHandoff,
  Catalog,
  CatalogAgent,
  CatalogProject,
  CatalogSkill,
  CatalogSource,
  TemplateFile,
  Wiring,
} from '../../../schemas/types.ts'
import { AGENT_SECRETS } from '../../documents/agent.ts'
import { MCP_SERVER_SECRETS } from '../../documents/mcp-server.ts'
import {
  type ChangeKind,
  type Doc,
  equal,
  type Kinds,
  type PartKind,
  partKinds,
  type Stored,
  type StoredOf,
} from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  HANDOFF_COOLDOWN,
  type ProjectDoc,
  partsOf,
  wiringOf,
} from '../../model/project.ts'
import { isReference, maskAddresses, maskNamed, type SecretNames } from '../../net/address-secrets.ts'
import { addressFields, connectorOf, secretFields } from '../../sources/connectors/index.ts'
import type { Templates } from '../projects/present.ts'
import { saidOf } from '../projects/project-spec.ts'
import { plannedWiring } from '../projects/template-plan.ts'

/** Which part of an instance is exported, and in whose words. */
interface ExportOf {
  /**
   * Keeps only these sources, the triggers that read no other, and the agents whose trigger is kept;
   * projects, skills and wiring are then left out.
   */
  sources?: readonly string[] | undefined
  /** What the file says that is brought up to date: membership stays where the file says it, if it still holds. */
  said?: Catalog | null
}

/** The catalog of the instance, entries by name. */
export function exportCatalog(parts: ExportParts, { sources, said }: ExportOf = {}): Catalog {
  const world = worldOf(parts, said ?? null)
  const list = <K extends PartKind>(kind: K): StoredOf<K>[] =>
    (world.parts[kind] as StoredOf<K>[]).filter((stored) => isListed(world, kind, stored))
  const whole: Catalog = {
    sources: list('source').map((stored) => sourceEntry(world, stored)),
    triggers: list('trigger').map((stored) => triggerEntry(world, stored)),
    agents: list('agent').map((stored) => agentEntry(world, stored)),
    mcp_servers: list('mcp_server').map((stored) => serverEntry(world, stored)),
    projects: projectEntries(world),
    skills: list('skill').map((stored) => skillEntry(world, stored)),
    entities: world.kinds.entity.list().map(({ name, doc }) => ({ name, ...doc })),
    wiring: wiringEntries(world),
  }
  return withoutEmpty(sources ? narrowed(whole, new Set(sources)) : whole)
}

/** Planned objects come back with their template; the service's own sources with the service. */
function isListed({ planned }: ExportWorld, kind: PartKind, { name, doc }: Stored): boolean {
  const isInternal = kind === 'source' && connectorOf(String(doc.connector)).internal === true
  return planned.get(`${kind}:${name}`) !== 'planned' && !isInternal
}

const guardOf = ({ prevent_destroy: guard, sync }: Doc) => ({
  ...(guard ? { prevent_destroy: true } : {}),
  ...(sync === undefined ? {} : { sync }),
})

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
  const has = (project: ProjectDoc) => project.uses.source?.[name] !== undefined
  // Default has what no other project has, without a word, and what its triggers read: a trigger may be of another
  // catalog. What else it shares with a project it is said to have, too.
  const isImplied = (project: ProjectDoc) =>
    !world.inDefault.has(name) && impliedBy(world, project).has(`source:${name}`)
  const shared = world.defaults.filter(
    (project) =>
      has(project) &&
      !isImplied(project) &&
      [...world.docs.values()].some((other) => other !== project && has(other)),
  )
  const users = [...world.templated.filter(has), ...shared].map((project) => project.name)
  // In the order of the file, whose first becomes the owner.
  const joined = world.joined.get(name)
  const projects = joined
    ? [...joined, ...users.filter((user) => !joined.includes(user)).sort()]
    : world.planned.get(`source:${name}`) === 'adopted'
      ? []
      : users.sort()
  return {
    name,
    connector,
    ...(poll ? { poll } : {}),
    ...(Object.keys(shown).length ? { config: shown } : {}),
    ...(paused && !world.stopped.source.has(name) ? { paused: true } : {}),
    ...guardOf(doc),
    ...(projects.length ? { projects } : {}),
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
  const wakes = home ? wakesIn(world, home, name) : []
  const only = wakes.length === 1 ? wakes[0]! : null
  const handoffs = home ? handoffsIn(world, home, name) : []
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
    .map(([id, doc]) => projectEntry(world, id, doc))
}

function projectEntry(world: ExportWorld, id: string, doc: ProjectDoc): CatalogProject {
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
  const isOwn = (kind: PartKind, name: string) => world.owners.get(`${kind}:${name}`) === id
  const objects = partsOf(doc)
    .filter(({ kind, name }) =>
      isOwn(kind, name)
        ? kind === 'source'
        : kind !== 'skill' &&
          (!implied.has(`${kind}:${name}`) || world.shared.has(`${doc.name}:${kind}:${name}`)),
    )
    .filter(({ kind, name }) => kind !== 'source' || !world.joined.get(name)?.includes(doc.name))
    .map(({ kind, name }) => ({ kind, name, ...(isOwn(kind, name) ? {} : { shared: true }) }))
  return {
    template: CUSTOM_TEMPLATE,
    name: doc.name,
    ...(objects.length ? { objects } : {}),
    ...said,
    ...paused,
  }
}

/** Parts that come along with what a project wires and uses, so that a file need not list them. */
function impliedBy(world: ExportWorld, doc: ProjectDoc): Set<string> {
  const implied = new Set<string>()
  const { wakes, handoffs } = world.wiring(doc)
  for (const { trigger, agent } of wakes) implied.add(`trigger:${trigger}`).add(`agent:${agent}`)
  for (const { agent, to } of handoffs) implied.add(`agent:${agent}`).add(`agent:${to}`)
  for (const { kind, name } of partsOf(doc)) {
    const spec: Doc = world.specs[kind].get(name) ?? {}
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

/*
 * Wiring as a catalog says it: an agent's entry says what wakes it in its home, where that is one
 * trigger, and who takes over; everything else is a row of the wiring section.
 */

type Rows = NonNullable<Catalog['wiring']>

/** The project whose wiring of an agent its entry says: its own, else the Default one. */
function homeOf({ owners, docs, defaults }: ExportWorld, agent: string): ProjectDoc | undefined {
  const owner = owners.get(`agent:${agent}`)
  return owner === undefined ? defaults.find((doc) => doc.uses.agent?.[agent]) : docs.get(owner)
}

/** What wakes an agent in a project; on, too, where only a pause of the project switched it off. */
function wakesIn(
  world: ExportWorld,
  doc: ProjectDoc,
  agent: string,
): { trigger: string; enabled: boolean }[] {
  const wakes = world.wiring(doc).wakesOf.get(agent) ?? []
  return wakes.map(({ trigger, enabled }) => ({
    trigger,
    enabled: enabled === true || isStopped(doc, trigger, agent),
  }))
}

function handoffsIn(world: ExportWorld, doc: ProjectDoc, agent: string): AgentHandoff[] {
  const handoffs = world.wiring(doc).handoffsOf.get(agent) ?? []
  return handoffs.map(({ verdict, to, cooldown }) => ({ verdict, agent: to, ...cooldownOf(cooldown) }))
}

/** The wiring that the agents' own entries and the templates' plans do not say. */
function wiringEntries(world: ExportWorld): Rows {
  const projects = [...world.docs.values()]
    .filter((doc) => !doc.draft)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return projects.flatMap((doc) => [
    ...wakeRows(world, doc),
    ...handoffRows(world, doc),
    ...unwiredRows(world, doc),
  ])
}

/** What its template wires, and a hand took out: made of its parameters alone, it would be there again. */
function unwiredRows({ specs, ofPlan }: ExportWorld, doc: ProjectDoc): Rows {
  const { name: project, wakes = {}, handoffs = {} } = doc
  const isThere = (trigger: string | null, ...agents: string[]) =>
    (trigger === null || specs.trigger.has(trigger)) && agents.every((agent) => specs.agent.has(agent))
  return [
    ...ofPlan(doc).wakes.flatMap(({ trigger: wake, agent }) =>
      isThere(wake, agent) && !wakes[wake]?.[agent] ? [{ project, wake, agent, wired: false }] : [],
    ),
    ...ofPlan(doc).handoffs.flatMap(({ agent, verdict, to }) =>
      isThere(null, agent, to) && !handoffs[agent]?.[verdict]?.[to]
        ? [{ project, agent, verdict, to, wired: false }]
        : [],
    ),
  ]
}

function wakeRows(world: ExportWorld, doc: ProjectDoc): Rows {
  const { wakes, wakesOf } = world.wiring(doc)
  return wakes.flatMap(({ trigger, agent, enabled }) => {
    const on = enabled === true || isStopped(doc, trigger, agent)
    const isSaid =
      homeOf(world, agent) === doc && wakesOf.get(agent)!.length === 1 && !isPlanned(world, 'agent', agent)
    const isOfPlan = isPlanned(world, 'trigger', trigger) && isPlanned(world, 'agent', agent) && on
    return isSaid || (isOfPlan && world.ofPlan(doc).keys.has(wakeKey(trigger, agent)))
      ? []
      : [{ project: doc.name, wake: trigger, agent, ...(on ? {} : { enabled: false }) }]
  })
}

function handoffRows(world: ExportWorld, doc: ProjectDoc): Rows {
  return world.wiring(doc).handoffs.flatMap(({ agent, verdict, to, cooldown }) => {
    const isSaid = homeOf(world, agent) === doc && !isPlanned(world, 'agent', agent)
    const isOfPlan = isPlanned(world, 'agent', agent) && isPlanned(world, 'agent', to)
    return isSaid || (isOfPlan && world.ofPlan(doc).keys.has(handoffKey(agent, verdict, to, cooldown)))
      ? []
      : [{ project: doc.name, agent, verdict, to, ...cooldownOf(cooldown) }]
  })
}

const isPlanned = ({ planned }: ExportWorld, kind: string, name: string): boolean =>
  planned.get(`${kind}:${name}`) === 'planned'

const wakeKey = (trigger: string, agent: string): string => JSON.stringify([trigger, agent])

const handoffKey = (agent: string, verdict: string, to: string, cooldown = HANDOFF_COOLDOWN): string =>
  JSON.stringify([agent, verdict, to, cooldown])

/** What the templates of projects wire, worked out once: a wire that a hand made is not the plan's, whatever it is between. */
function indexPlans(templates: Templates): (doc: ProjectDoc) => PlannedWires {
  const known = new Map<ProjectDoc, PlannedWires>()
  const wiresOf = ({ template, params = {}, plan }: ProjectDoc): PlannedWires => {
    const file = templates.get(template)
    if (!file) return { wakes: [], handoffs: [], keys: new Set() }
    const planned = plannedWiring(file, params, (kind, key) => plan?.[kind]?.[key]?.name)
    const on = planned.wakes.filter(({ enabled }) => enabled)
    const keys = new Set([
      ...on.map(({ trigger, agent }) => wakeKey(trigger, agent)),
      ...planned.handoffs.map(({ agent, verdict, to, cooldown }) => handoffKey(agent, verdict, to, cooldown)),
    ])
    return { ...planned, keys }
  }
  return (doc) => {
    const wires = known.get(doc) ?? wiresOf(doc)
    known.set(doc, wires)
    return wires
  }
}

type PlannedWires = ReturnType<typeof plannedWiring> & {
  /** Those that it switches on. */
  keys: ReadonlySet<string>
}

const isStopped = (doc: ProjectDoc, trigger: string, agent: string): boolean =>
  doc.stopped?.wakes?.[trigger]?.[agent] === true

const cooldownOf = (cooldown: string | undefined): { cooldown?: string } =>
  cooldown && cooldown !== HANDOFF_COOLDOWN ? { cooldown } : {}

/* What an export looks up: projects, whose parts are, what templates planned, what a pause stopped. */

export interface ExportParts {
  kinds: { [K in ChangeKind]: Pick<Kinds[K], 'list' | 'find'> }
  projects: { planned(): readonly { kind: string; name: string; state: string }[] }
  templates: Templates
}

interface ExportWorld extends ExportParts {
  /** All that is declared, read once. */
  parts: { [K in PartKind]: readonly Stored[] }
  /** Documents of a kind by name. */
  specs: { [K in PartKind]: ReadonlyMap<string, Doc> }
  /** Projects by id. */
  docs: Map<string, ProjectDoc>
  templated: readonly ProjectDoc[]
  /** The Default projects, of which there is one at most. */
  defaults: readonly ProjectDoc[]
  /** kind:name → state of its ownership in the plan of a template. */
  planned: Map<string, string>
  /** kind:name → id of the project it belongs to. */
  owners: Map<string, string>
  /** Names of what a paused project stopped: they run once it does. */
  stopped: Record<'trigger' | 'source', Set<string>>
  /** Source → the projects that its own entry of the file puts it into, all of which have it. */
  joined: ReadonlyMap<string, readonly string[]>
  /** Sources whose own entry of the file names the Default project. */
  inDefault: ReadonlySet<string>
  /** project:kind:name of what the file lists as shared, though it would come along anyway. */
  shared: ReadonlySet<string>
  wiring(doc: ProjectDoc): WiringIndex
  /** Wires that its template makes. */
  ofPlan(doc: ProjectDoc): PlannedWires
}

interface WiringIndex extends Wiring {
  wakesOf: ReadonlyMap<string, Wiring['wakes']>
  handoffsOf: ReadonlyMap<string, Wiring['handoffs']>
}

function worldOf(declared: ExportParts, said: Catalog | null): ExportWorld {
  const docs = new Map(declared.kinds.project.list().map(({ key, doc }) => [key, doc]))
  const owners = new Map<string, string>()
  const stopped = { trigger: new Set<string>(), source: new Set<string>() }
  for (const [id, doc] of docs) {
    for (const { kind, name, use } of partsOf(doc))
      if (use.owned && doc.template !== DEFAULT_TEMPLATE) owners.set(`${kind}:${name}`, id)
    for (const name of Object.keys(doc.stopped?.triggers ?? {})) stopped.trigger.add(name)
    for (const name of Object.keys(doc.stopped?.sources ?? {})) stopped.source.add(name)
  }
  const planned = new Map(declared.projects.planned().map((row) => [`${row.kind}:${row.name}`, row.state]))
  for (const [part, id] of homesIn(said, docs))
    if (owners.has(part) && !planned.has(part)) owners.set(part, id)
  const defaults = [...docs.values()].filter(({ template }) => template === DEFAULT_TEMPLATE)
  const parts = byKind((kind) => declared.kinds[kind].list() as readonly Stored[])
  return {
    ...declared,
    parts,
    specs: byKind((kind) => new Map(parts[kind].map(({ name, doc }) => [name, doc as Doc]))),
    docs,
    templated: [...docs.values()].filter(isTemplated),
    defaults,
    owners,
    planned,
    stopped,
    joined: joinedIn(said, docs, owners),
    inDefault: new Set(
      (said?.sources ?? []).flatMap(({ name, projects }) =>
        defaults.some((doc) => projects?.includes(doc.name)) ? [name] : [],
      ),
    ),
    shared: sharedIn(said),
    wiring: indexWiring(),
    ofPlan: indexPlans(declared.templates),
  }
}

/** Sections whose entries name one project. */
const HOMED = [
  ['triggers', 'trigger'],
  ['agents', 'agent'],
  ['mcp_servers', 'mcp_server'],
  ['skills', 'skill'],
] as const

/**
 * The projects that a file says its parts are of, where these have them. An import without `prune` leaves a part with
 * the project that had it, too, and a skill with the one that made it: neither was changed by hand.
 * @returns project ids by kind:name
 */
function homesIn(said: Catalog | null, docs: ReadonlyMap<string, ProjectDoc>): Map<string, string> {
  const ids = new Map([...docs].map(([id, { name }]) => [name, id]))
  const homes = new Map<string, string>()
  for (const [section, kind] of HOMED)
    for (const { name, project } of said?.[section] ?? []) {
      const id = ids.get(project ?? '')
      const doc = id === undefined ? undefined : docs.get(id)
      if (doc?.uses[kind]?.[name] && doc.template !== DEFAULT_TEMPLATE) homes.set(`${kind}:${name}`, id!)
    }
  return homes
}

const byKind = <T>(of: (kind: PartKind) => T): Record<PartKind, T> =>
  Object.fromEntries(partKinds.map((kind) => [kind, of(kind)])) as Record<PartKind, T>

/**
 * Membership that a file says with its sources, where it says what is: all those projects have the source, and the
 * one that an import makes its owner, the first that is not Default, is it.
 */
function joinedIn(
  said: Catalog | null,
  docs: ReadonlyMap<string, ProjectDoc>,
  owners: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly string[]> {
  // What an entry of a project lists comes before what the source itself says.
  const listed = new Set(
    said?.projects
      ?.flatMap(({ objects }) => objects ?? [])
      .filter(({ kind }) => kind === 'source')
      .map(({ name }) => name),
  )
  const byName = new Map([...docs].map(([id, doc]) => [doc.name, { id, doc }]))
  const joined = new Map<string, readonly string[]>()
  for (const { name, projects } of said?.sources ?? []) {
    const holds = projects?.map((word) => byName.get(word)).filter((one) => one?.doc.uses.source?.[name])
    if (!holds?.length || holds.length < projects!.length || listed.has(name)) continue
    const first = holds.find((one) => one?.doc.template !== DEFAULT_TEMPLATE)
    if (owners.get(`source:${name}`) === first?.id) joined.set(name, projects!)
  }
  return joined
}

const sharedIn = (said: Catalog | null): Set<string> =>
  new Set(
    (said?.projects ?? []).flatMap(({ name: project, objects = [] }) =>
      objects
        .filter(({ shared }) => shared)
        .map(({ kind, name }) => `${project}:${kind.replace(' ', '_')}:${name}`),
    ),
  )

/** Each project's wiring, looked up once. */
function indexWiring(): (doc: ProjectDoc) => WiringIndex {
  const known = new Map<ProjectDoc, WiringIndex>()
  return (doc) => {
    let index = known.get(doc)
    if (!index) {
      const wiring = wiringOf(doc)
      index = {
        ...wiring,
        wakesOf: grouped(wiring.wakes, ({ agent }) => agent),
        handoffsOf: grouped(wiring.handoffs, ({ agent }) => agent),
      }
      known.set(doc, index)
    }
    return index
  }
}

const isTemplated = ({ template }: ProjectDoc): boolean =>
  template !== CUSTOM_TEMPLATE && template !== DEFAULT_TEMPLATE

/** Catalogs at random: a few parts and projects, each in, shared with or outside of projects, and wired. */
import fc from 'fast-check'

type Entry = Record<string, unknown>
export type RandomCatalog = Record<string, Entry[]>

const oneOf = fc.constantFrom
const CUSTOM = ['One', 'Two'] as const
const WATCH = 'Watch'
const PROJECTS = [...CUSTOM, WATCH]
const SOURCES = ['s1', 's2', 's3']
const TRIGGERS = ['t1', 't2', 't3']
const AGENTS = ['a1', 'a2', 'a3']
const SERVERS = ['m1', 'm2']
const SKILLS = ['k1', 'k2']

/** A field that is there or not. */
const maybe = <T>(name: string, value: fc.Arbitrary<T>): fc.Arbitrary<Entry> =>
  fc.option(value, { nil: undefined }).map((given) => (given === undefined ? {} : { [name]: given }))
const entry = (...fields: fc.Arbitrary<Entry>[]): fc.Arbitrary<Entry> =>
  fc.tuple(...fields).map((parts) => Object.assign({}, ...parts) as Entry)
const some = <T>(names: readonly T[], min = 0) => fc.subarray([...names], { minLength: min })
const ofEach = (names: readonly string[], of: (name: string) => fc.Arbitrary<Entry>) =>
  some(names).chain((chosen) => fc.tuple(...chosen.map(of)))

const inProject = maybe('project', oneOf(...PROJECTS))

const source = (name: string) =>
  entry(
    fc.constant({ name, connector: 'webhook' }),
    maybe('config', fc.constant({ labels: [{ name: 'service', field: 'service', primary: true }] })),
    maybe('paused', fc.constant(true)),
    maybe('projects', some(PROJECTS, 1)),
    maybe('prevent_destroy', fc.boolean()),
  )

const trigger = (name: string) =>
  entry(
    fc.constant({ name, condition: { aggregate: 'count', predicate: '> 5', window: '5m' } }),
    some(SOURCES, 1).map((sources) => ({ sources })),
    inProject,
    maybe('cooldown', oneOf('5m', '1h')),
    maybe('paused', fc.boolean()),
  )

const agent = (name: string) =>
  entry(
    fc.constant({ name, prompt: 'Look.' }),
    inProject,
    maybe('trigger', oneOf(...TRIGGERS)),
    maybe('enabled', fc.boolean()),
    maybe('mcp_servers', some(SERVERS)),
    maybe('verdicts', fc.constant([{ verdict: 'dig' }])),
    maybe(
      'handoffs',
      some(AGENTS.filter((other) => other !== name)).map((to) =>
        to.map((other) => ({ verdict: 'dig', agent: other })),
      ),
    ),
  )

const skill = (name: string) =>
  entry(fc.constant({ name, description: 'd', body: 'b' }), inProject, maybe('used_by', some(PROJECTS)))

const object = fc.oneof(
  oneOf(...SOURCES).map((name) => ({ kind: 'source', name })),
  oneOf(...TRIGGERS).map((name) => ({ kind: 'trigger', name })),
  oneOf(...AGENTS).map((name) => ({ kind: 'agent', name })),
  oneOf(...SERVERS).map((name) => ({ kind: 'mcp_server', name })),
)

const custom = (name: string) =>
  entry(
    fc.constant({ template: 'custom', name }),
    maybe('goal', oneOf('g', '')),
    maybe('paused', fc.boolean()),
    maybe(
      'objects',
      fc.array(fc.tuple(object, fc.boolean()), { maxLength: 4 }).map((all) => {
        const seen = new Map(
          all.map(([ref, shared]) => [`${ref.kind}:${ref.name}`, { ...ref, ...(shared ? { shared } : {}) }]),
        )
        return [...seen.values()]
      }),
    ),
  )

const projects = fc
  .tuple(
    ofEach(CUSTOM, custom),
    fc.option(
      entry(
        fc.constant({ template: 'webhook_watch', name: WATCH, params: { service: 'checkout' } }),
        maybe('paused', fc.boolean()),
      ),
      { nil: undefined },
    ),
    fc.option(maybe('goal', oneOf('g', '')), { nil: undefined }),
  )
  .map(([all, watch, main]) => [
    ...all,
    ...(watch ? [watch] : []),
    ...(main ? [{ template: 'default', ...main }] : []),
  ])

const wire = fc.oneof(
  entry(
    fc.record({ project: oneOf(...CUSTOM, 'Default'), wake: oneOf(...TRIGGERS), agent: oneOf(...AGENTS) }),
    maybe('enabled', fc.boolean()),
  ),
  entry(
    fc.record({ project: oneOf(...CUSTOM), agent: oneOf(...AGENTS), to: oneOf(...AGENTS) }),
    fc.constant({ verdict: 'dig' }),
    maybe('cooldown', oneOf('30m', '1h')),
  ),
)

/** What the template wires, as it is in the file that takes it out. */
const unwired = some([
  { project: WATCH, wake: 'checkout-errors', agent: 'checkout-first-look', wired: false },
  {
    project: WATCH,
    agent: 'checkout-first-look',
    verdict: 'investigate',
    to: 'checkout-investigator',
    wired: false,
  },
])

/** Names that nothing in the catalog has are taken out of it, so that most catalogs can be applied. */
function coherent(catalog: RandomCatalog): RandomCatalog {
  const names = Object.fromEntries(
    Object.entries(catalog).map(([section, entries]) => [section, new Set(entries.map(({ name }) => name))]),
  )
  const has = (section: string, name: unknown) => names[section]!.has(name)
  const only = (section: string, of: unknown) =>
    (of as string[] | undefined)?.filter((name) => has(section, name))
  const without = (of: Entry, field: string, isGone: boolean): Entry => {
    if (!isGone) return of
    const { [field]: _gone, ...rest } = of
    return rest
  }
  const home = (of: Entry) => without(of, 'project', of.project !== undefined && !has('projects', of.project))
  const list = (of: Entry, field: string, section: string): Entry =>
    of[field] === undefined ? of : { ...of, [field]: only(section, of[field]) }
  const wires = new Map(
    catalog
      .wiring!.filter((row) => row.project === 'Default' || has('projects', row.project))
      .filter(
        (row) =>
          has('agents', row.agent) &&
          (row.wake === undefined
            ? has('agents', row.to) && row.to !== row.agent
            : has('triggers', row.wake)),
      )
      .map((row) => [JSON.stringify([row.project, row.wake, row.agent, row.to]), row]),
  )
  const section = {
    source: 'sources',
    trigger: 'triggers',
    agent: 'agents',
    mcp_server: 'mcp_servers',
  } as const
  return {
    ...catalog,
    sources: catalog.sources!.map((of) => list(of, 'projects', 'projects')),
    triggers: catalog.triggers!.map(home),
    agents: catalog.agents!.map((of) => {
      const kept = without(home(of), 'trigger', of.trigger !== undefined && !has('triggers', of.trigger))
      const handoffs = (of.handoffs as { agent: string }[] | undefined)?.filter(({ agent: to }) =>
        has('agents', to),
      )
      return { ...list(kept, 'mcp_servers', 'mcp_servers'), ...(handoffs ? { handoffs } : {}) }
    }),
    mcp_servers: catalog.mcp_servers!.map(home),
    skills: catalog.skills!.map((of) => list(home(of), 'used_by', 'projects')),
    projects: catalog.projects!.map((of) => {
      const objects = (of.objects as { kind: keyof typeof section; name: string }[] | undefined)?.filter(
        ({ kind, name }) => has(section[kind], name),
      )
      return objects ? { ...of, objects } : of
    }),
    wiring: [...wires.values()],
  }
}

/** A catalog; most can be applied. Triggers name sources that may be missing, which is a problem of the file. */
export const randomCatalog: fc.Arbitrary<RandomCatalog> = fc
  .record({
    sources: fc.tuple(...SOURCES.map(source)),
    triggers: ofEach(TRIGGERS, trigger),
    agents: ofEach(AGENTS, agent),
    mcp_servers: ofEach(SERVERS, (name) =>
      entry(fc.constant({ name, url: `https://${name}.example/` }), inProject),
    ),
    projects,
    skills: ofEach(SKILLS, skill),
    wiring: fc.array(wire, { maxLength: 3 }),
  })
  .map((catalog) => coherent(catalog as RandomCatalog))
  .chain((catalog) =>
    catalog.projects!.some(({ name }) => name === WATCH)
      ? unwired.map((rows) => ({ ...catalog, wiring: [...catalog.wiring!, ...rows] }))
      : fc.constant(catalog),
  )

/** A document that refers to a part by its name, once the part has another: what is stored, recorded, or in a draft. */
import type { Filter, ToolPolicy } from './types.ts'

type Doc = Readonly<Record<string, unknown>>

/** A part got another name. */
export interface PartRename {
  kind: string
  from: string
  to: string
}

type Named<T> = Record<string, T>

/** What a project says of parts by name. */
interface Naming {
  uses?: Readonly<Record<string, Named<object>>>
  wakes?: Named<Named<unknown>>
  handoffs?: Named<Named<Named<unknown>>>
  plan?: Readonly<Record<string, Named<{ name: string }>>>
  stopped?: { wakes?: Named<Named<true>>; triggers?: Named<true>; sources?: Named<true> }
}

/**
 * A document that refers to a part by its new name; the document itself where it does not refer to it.
 * @param readsFindings whether a trigger reads findings: its filters may name agents
 */
export function renamedIn(
  kind: string,
  doc: Doc,
  rename: PartRename,
  readsFindings: (doc: Doc) => boolean = () => false,
): Doc {
  if (kind === 'project') return projectWith(doc, rename)
  if (kind === 'agent' && rename.kind === 'mcp_server') return agentWith(doc, rename)
  if (kind !== 'trigger') return doc
  if (rename.kind === 'source') return withField(doc, 'sources', rename)
  return rename.kind === 'agent' && readsFindings(doc) ? withAgentInFilters(doc, rename) : doc
}

function withField(doc: Doc, field: string, { from, to }: PartRename): Doc {
  const names = doc[field] as readonly string[] | undefined
  return names?.includes(from) ? { ...doc, [field]: names.map((name) => (name === from ? to : name)) } : doc
}

function agentWith(doc: Doc, rename: PartRename): Doc {
  const next = withField(doc, 'mcp_servers', rename)
  const { from, to } = rename
  const tools = next.tools as readonly ToolPolicy[] | undefined
  if (!tools?.some(({ server }) => server === from)) return next
  return { ...next, tools: tools.map((row) => (row.server === from ? { ...row, server: to } : row)) }
}

/** Findings that come carry the new name. */
function withAgentInFilters(doc: Doc, { from, to }: PartRename): Doc {
  const isOld = (value: unknown) => String(value).toLowerCase() === from.toLowerCase()
  const filters = doc.filters as readonly Filter[] | undefined
  const isNamed = ({ field, op, value }: Filter) =>
    field === 'agent' && (op === 'eq' || op === 'in') && [value].flat().some(isOld)
  if (!filters?.some(isNamed)) return doc
  const named = (value: Filter['value']): Filter['value'] =>
    Array.isArray(value) ? value.map((one) => (isOld(one) ? to : one)) : isOld(value) ? to : value
  return {
    ...doc,
    filters: filters.map((filter) => (isNamed(filter) ? { ...filter, value: named(filter.value) } : filter)),
  }
}

/** A key given another name, in its place. */
function withKey<T>(all: Named<T>, { from, to }: PartRename): Named<T> {
  if (!Object.hasOwn(all, from)) return all
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name === from ? to : name, value]))
}

const mapped = <T>(all: Named<T>, change: (value: T) => T): Named<T> =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, change(value)]))

function projectWith(doc: Doc, rename: PartRename): Doc {
  const { kind, from, to } = rename
  if (kind === 'entity') return doc
  const { uses, wakes, handoffs, plan, stopped }: Naming = doc
  const wired = <T>(all: Named<Named<T>>): Named<Named<T>> => {
    if (kind === 'trigger') return withKey(all, rename)
    return kind === 'agent' ? mapped(all, (agents) => withKey(agents, rename)) : all
  }
  const next: Naming = {}
  if (uses?.[kind]) next.uses = { ...uses, [kind]: withKey(uses[kind], rename) }
  if (wakes) next.wakes = wired(wakes)
  if (handoffs && kind === 'agent')
    next.handoffs = mapped(withKey(handoffs, rename), (verdicts) =>
      mapped(verdicts, (targets) => withKey(targets, rename)),
    )
  if (plan?.[kind])
    next.plan = {
      ...plan,
      [kind]: mapped(plan[kind], (one) => (one.name === from ? { ...one, name: to } : one)),
    }
  if (stopped)
    next.stopped = {
      ...stopped,
      ...(stopped.wakes ? { wakes: wired(stopped.wakes) } : {}),
      ...(kind === 'trigger' && stopped.triggers ? { triggers: withKey(stopped.triggers, rename) } : {}),
      ...(kind === 'source' && stopped.sources ? { sources: withKey(stopped.sources, rename) } : {}),
    }
  const changed = Object.entries(next).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(doc[field]),
  )
  return changed.length ? { ...doc, ...Object.fromEntries(changed) } : doc
}

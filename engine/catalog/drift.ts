/** How the instance differs from the catalog files it was told, each by itself, and what is in none. */

import type { CatalogDrift, CatalogFileDrift, CatalogUnmanaged, ChangePlan } from '../../schemas/types.ts'
import type { Stored } from '../changes/declared.ts'
import { type PartKind, partKinds } from '../changes/declared.ts'
import { connectorOf } from '../connectors/index.ts'
import type { Declared } from '../declared/declared.ts'
import { DEFAULT_TEMPLATE } from '../wiring/project-doc.ts'
import { checkFile } from './apply.ts'
import { readCatalog } from './document/index.ts'
import type { RememberedFile, RememberedFiles } from './remembered.ts'

const SECTIONS: Record<PartKind, 'sources' | 'triggers' | 'agents' | 'mcp_servers' | 'skills'> = {
  source: 'sources',
  trigger: 'triggers',
  agent: 'agents',
  mcp_server: 'mcp_servers',
  skill: 'skills',
}

/** Each file by name; `plan` and `imported_at` of the whole are those of the file imported last. */
export function driftOf(declared: Declared, remembered: RememberedFiles): CatalogDrift {
  const kept = remembered.all()
  const files = kept.map((file) => fileDrift(declared, file))
  const unmanaged = kept.length ? unmanagedIn(declared, kept) : []
  const last = files.find(({ name }) => name === remembered.newest()?.name)
  return {
    imported_at: last?.imported_at ?? null,
    plan: last?.plan ?? null,
    drifted: files.some(hasDrifted) || unmanaged.length > 0,
    files,
    unmanaged,
  }
}

const hasDrifted = ({ plan }: CatalogFileDrift): boolean => plan === null || plan.changes.length > 0

function fileDrift(declared: Declared, { name, text, imported_at }: RememberedFile): CatalogFileDrift {
  // What an import was allowed to do is not asked again.
  const { plan, problems } = checkFile(declared, { yaml: text, name }, true)
  return {
    name,
    imported_at: new Date(imported_at).toISOString(),
    plan: plan && onlyChanges(plan),
    problems: plan ? [] : problems,
  }
}

/** A plan without what stays as it is. */
function onlyChanges(plan: ChangePlan): ChangePlan {
  return { ...plan, changes: plan.changes.filter(({ action }) => action !== 'none') }
}

/** Parts and projects that no file names and no template of a project plans. */
function unmanagedIn({ kinds }: Declared, kept: readonly RememberedFile[]): CatalogUnmanaged[] {
  const named = new Set<string>()
  for (const { text } of kept) {
    const { catalog } = readCatalog(text)
    for (const kind of partKinds)
      for (const { name } of (catalog?.[SECTIONS[kind]] ?? []) as { name: string }[])
        named.add(`${kind}:${name}`)
    for (const { name } of catalog?.projects ?? []) named.add(`project:${name}`)
  }
  const found: CatalogUnmanaged[] = []
  for (const { name, doc } of kinds.project.list()) {
    const { template, draft, plan } = doc
    for (const [kind, entries] of Object.entries(plan ?? {}))
      for (const planned of Object.values(entries ?? {})) named.add(`${kind}:${planned.name}`)
    if (template !== DEFAULT_TEMPLATE && !draft && !named.has(`project:${name}`))
      found.push({ kind: 'project', name })
  }
  const parts = partKinds.flatMap((kind) =>
    kinds[kind]
      .list()
      .filter(({ name, doc }: Stored) => !named.has(`${kind}:${name}`) && !isInternal(kind, doc.connector))
      .map(({ name }): CatalogUnmanaged => ({ kind, name })),
  )
  return [...parts, ...found]
}

/** The service's own sources are in no file. */
const isInternal = (kind: PartKind, connector: unknown): boolean =>
  kind === 'source' && connectorOf(String(connector)).internal === true

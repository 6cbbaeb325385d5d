/** Projects as they are read. */

import { lifecycles } from '../../machines/index.ts'
import { accepts, type Snapshot } from '../../machines/step.ts'
import type { Project, ProjectCard, ProjectObject } from '../../schemas/types.ts'
import { maskAddresses } from '../address-secrets.ts'
import type { DeclaredKind, Doc, PartKind, StoredOf } from '../changes/declared.ts'
import { partKinds } from '../changes/declared.ts'
import { maskFields } from '../parts/secret-fields.ts'
import { DEFAULT_TEMPLATE, type ProjectDoc, partsOf } from '../wiring/project-doc.ts'
import { wiringOf } from '../wiring/wires.ts'
import type { PlannedRow, ProjectQueries } from './queries.ts'
import type { Templates } from './templates.ts'

export interface PresentParts {
  kinds: Record<PartKind, DeclaredKind>
  queries: ProjectQueries
  templates: Templates
}

const TITLES: Record<string, string> = { custom: 'Custom project', default: 'Default' }

/** A project with its parts and wiring; secret parameters are blank. */
export function presentProject({ queries, templates }: PresentParts, stored: StoredOf<'project'>): Project {
  const doc = stored.doc
  const row = queries.byId(stored.key)!
  const snapshot = JSON.parse(row.snapshot) as Snapshot
  const title =
    (doc.setup ? 'Guided setup' : TITLES[doc.template]) ?? templates.get(doc.template)?.title ?? doc.template
  const objects = objectsOf(queries, stored.key, doc)
  return {
    id: stored.key,
    template: doc.template,
    template_title: title,
    recipe: doc.template,
    recipe_title: title,
    name: doc.name,
    goal: doc.goal ?? '',
    description: doc.description ?? '',
    params: blankSecrets(doc.params ?? {}, templates.secretParams(doc.template)),
    status: stored.state === 'paused' ? 'paused' : stored.state === 'draft' ? 'draft' : 'active',
    state: stored.state as Project['state'],
    accepts: accepts(lifecycles.project, snapshot),
    held_by: (snapshot.context as { held_by: Project['held_by'] }).held_by,
    default: doc.template === DEFAULT_TEMPLATE,
    objects,
    wiring: wiringOf(doc),
    counts: Object.fromEntries(
      partKinds.map((kind) => [kind, objects.filter((o) => o.kind === kind && !o.missing).length]),
    ),
    last_error: null,
    version: stored.changeSet,
    created_at: new Date(stored.createdAt).toISOString(),
    updated_at: new Date(stored.updatedAt).toISOString(),
  }
}

/** A project as a key of its own sees it: no parameters, no wiring. */
export function presentCard(stored: StoredOf<'project'>): ProjectCard {
  const doc = stored.doc
  const names = (kind: PartKind) => Object.keys(doc.uses[kind] ?? {}).sort()
  return {
    id: stored.key,
    template: doc.template,
    name: doc.name,
    goal: doc.goal ?? '',
    status: stored.state === 'paused' ? 'paused' : stored.state === 'draft' ? 'draft' : 'active',
    created_at: new Date(stored.createdAt).toISOString(),
    sources: names('source'),
    triggers: names('trigger'),
    skills: names('skill'),
  }
}

function objectsOf(queries: ProjectQueries, id: string, doc: ProjectDoc): ProjectObject[] {
  const planned = queries.plannedOf(id)
  const byName = new Map(planned.map((row) => [`${row.kind}:${row.name}`, row]))
  const present = partsOf(doc).map(({ kind, name }) =>
    objectOf(
      kind,
      name,
      byName.get(`${kind}:${name}`),
      queries.users(kind, name).filter((user) => user !== id),
    ),
  )
  const missing = planned
    .filter((row) => row.state === 'missing')
    .map((row) => objectOf(row.kind as PartKind, row.name, row, []))
  return [...present, ...missing.filter((o) => !present.some((p) => p.kind === o.kind && p.name === o.name))]
}

function objectOf(
  kind: PartKind,
  name: string,
  row: PlannedRow | undefined,
  sharedWith: string[],
): ProjectObject {
  const state = row && row.state !== 'none' ? row.state : 'used'
  return {
    kind,
    key: row?.key ?? name,
    name,
    state,
    customized: state === 'customized',
    missing: state === 'missing',
    shared_with: sharedWith,
    created_at: row ? new Date(row.created_at).toISOString() : null,
  }
}

/** A form shows a secret as an empty field; sent back blank, it is kept. */
function blankSecrets(params: Doc, names: readonly string[]): Record<string, unknown> {
  const masked = maskFields(params, names)
  return Object.fromEntries(
    Object.entries(masked).map(([name, value]) => [
      name,
      names.includes(name) && value !== params[name] ? '' : maskAddresses(value),
    ]),
  )
}

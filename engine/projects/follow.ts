/**
 * What follows from an edit beside the documents, in the same transaction: who uses what, the
 * objects of templates' plans and their ownership, how many projects use a skill.
 */

import type { Doc, PartKind, Stroke } from '../changes/declared.ts'
import { partKinds } from '../changes/declared.ts'
import { documentOf } from '../changes/documents.ts'
import type { Staged } from '../changes/edit.ts'
import { advance, firstSnapshot } from '../lifecycle/advance.ts'
import type { Database } from '../store/handle.ts'
import type { Planned, ProjectDoc } from '../wiring/project-doc.ts'
import { digestOf, secretsOf } from './planned-digest.ts'
import type { PlannedRow, ProjectQueries } from './queries.ts'

export interface FollowParts {
  db: Database
  queries: ProjectQueries
  /** Fields of a kind that are secret, anywhere in its document. */
  mask(kind: PartKind, doc: Doc): Doc
  /** As mask, with addresses as they are (`DeclaredKind.maskFields`). */
  maskFields(kind: PartKind, doc: Doc): Doc
  /** A keyed hash of a text, as of the plan. */
  fingerprint(text: string): string
  /** Moves a skill by its machine. */
  moveSkill(name: string, event: 'use' | 'remove', stroke: Stroke): void
  /** Revokes the keys of a project that is deleted. */
  revokeKeys(project: string, stroke: Stroke): void
}

export function followEdit(parts: FollowParts, staged: readonly Staged[], stroke: Stroke): void {
  const skillUsers = new Map<string, number>()
  for (const entry of staged) if (entry.kind === 'project') followProject(parts, entry, stroke, skillUsers)
  followSkills(parts, staged, skillUsers, stroke)
  followOwnership(parts, staged, stroke)
}

function followProject(
  parts: FollowParts,
  { key, stored, doc }: Staged,
  stroke: Stroke,
  skillUsers: Map<string, number>,
): void {
  const before = documentOf('project', stored?.doc ?? { uses: {} })
  const after = documentOf('project', doc ?? { uses: {} })
  for (const kind of partKinds) {
    const [was, is] = [before.uses[kind] ?? {}, after.uses[kind] ?? {}]
    for (const name of Object.keys(was))
      if (!is[name]) {
        parts.queries.dropUse(key, kind, name)
        if (kind === 'skill') skillUsers.set(name, (skillUsers.get(name) ?? 0) - 1)
      }
    for (const name of Object.keys(is))
      if (!was[name]) {
        parts.queries.addUse(key, kind, name)
        if (kind === 'skill') skillUsers.set(name, (skillUsers.get(name) ?? 0) + 1)
      }
  }
  syncPlan(parts, key, after.plan ?? {}, stroke)
  // A project that is a draft again has nothing that a key could read.
  if (!doc || (after.draft && !before.draft)) parts.revokeKeys(key, stroke)
}

function syncPlan(
  parts: FollowParts,
  project: string,
  plan: NonNullable<ProjectDoc['plan']>,
  stroke: Stroke,
): void {
  const rows = new Map(parts.queries.plannedOf(project).map((row) => [`${row.kind}:${row.key}`, row]))
  for (const kind of partKinds)
    for (const [key, planned] of Object.entries(plan[kind] ?? {})) {
      const row = rows.get(`${kind}:${key}`)
      rows.delete(`${kind}:${key}`)
      const json = JSON.stringify(planned)
      if (!row) insertPlanned(parts, project, kind, key, planned, stroke)
      else if (row.plan !== json) parts.queries.updatePlanned(row.id, planned.name, json)
    }
  for (const row of rows.values()) parts.queries.dropPlanned(row.id)
}

function insertPlanned(
  parts: FollowParts,
  project: string,
  kind: PartKind,
  key: string,
  planned: Planned,
  stroke: Stroke,
): void {
  const id = parts.queries.insertPlanned({
    project,
    kind,
    key,
    name: planned.name,
    plan: JSON.stringify(planned),
    snapshot: firstSnapshot('ownership'),
    at: stroke.at,
  })
  moveOwnership(parts.db, { id, kind, name: planned.name }, planned.adopted ? 'adopt' : 'plan', stroke)
}

/** A skill counts its users; made in this edit it already counts one. */
function followSkills(
  parts: FollowParts,
  staged: readonly Staged[],
  users: ReadonlyMap<string, number>,
  stroke: Stroke,
): void {
  const gone = new Set(staged.filter(({ kind, doc }) => kind === 'skill' && !doc).map(({ key }) => key))
  const made = new Set(staged.filter(({ kind, stored }) => kind === 'skill' && !stored).map(({ key }) => key))
  for (const [name, change] of users) {
    // Its last removal deleted it, in the adapter.
    if (gone.has(name)) continue
    const net = made.has(name) ? change - 1 : change
    for (let n = 0; n < net; n++) parts.moveSkill(name, 'use', stroke)
    for (let n = 0; n > net; n--) parts.moveSkill(name, 'remove', stroke)
  }
}

/** Hand edits and deletes of planned objects (SPEC.md, Ownership of template-project objects). */
function followOwnership(parts: FollowParts, staged: readonly Staged[], stroke: Stroke): void {
  for (const entry of staged) {
    const { kind, key, stored, doc } = entry
    if (kind === 'project') continue
    for (const row of parts.queries.plannedNamed(kind, key)) {
      const planned = JSON.parse(row.plan) as Planned
      const before = row.state === 'planned' ? stored?.doc : doc
      // A plan of a release that knew no secrets in addresses was digested with them as they are.
      const masks = [parts.mask, parts.maskFields].map((mask) => (of: Doc) => mask(kind, of))
      const isAsPlanned =
        doc !== null && masks.some((mask) => matches(planned, doc, before, mask, parts.fingerprint))
      const event = ownershipEvent(row, doc !== null, isAsPlanned, planned.adopted === true)
      if (event) moveOwnership(parts.db, { id: row.id, kind, name: row.name }, event, stroke)
    }
  }
}

/** @param before the document whose secrets count where a plan of an older release does not say its own. */
function matches(
  { digest, secrets }: Planned,
  doc: Doc,
  before: Doc | null | undefined,
  mask: (of: Doc) => Doc,
  fingerprint: FollowParts['fingerprint'],
): boolean {
  if (digestOf(mask(doc)) !== digest) return false
  const secretsIn = (of: Doc | null | undefined) => (of ? secretsOf(of, mask(of), fingerprint) : undefined)
  return secretsIn(doc) === (secrets ?? secretsIn(before))
}

function ownershipEvent(
  { state }: PlannedRow,
  exists: boolean,
  isAsPlanned: boolean,
  adopted: boolean,
): string | null {
  if (!exists) return state === 'missing' ? null : 'delete'
  // A repair makes it the plan's own; what was adopted comes back as what it was.
  if (state === 'missing') return isAsPlanned && !adopted ? 'repair' : 'restore'
  if (state === 'planned') return isAsPlanned ? null : 'edit'
  if (state === 'customized') return isAsPlanned ? 'match' : null
  return null
}

function moveOwnership(
  db: Database,
  { id, kind, name }: { id: number; kind: string; name: string },
  event: string,
  { by, at }: Stroke,
): void {
  advance(db, { kind: 'ownership', id, name: `${kind}:${name}` }, event, by, at)
}

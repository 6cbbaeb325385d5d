/** The configuration of a project over a range: as it was at the start, then after each change-set. */
import type { DocumentOf, PartKind } from '../../changes/declared.ts'
import { type DocumentAt, maskedDocuments } from '../../changes/masked-documents.ts'
import type { ChangeSetRow } from '../../changes/queries.ts'
import type { Database } from '../../store/handle.ts'
import type { ProjectDoc } from '../../wiring/project-doc.ts'

/** Change-sets of one range; what comes after them is a moment, and the graph stays as it was. */
const VERSIONS_MAX = 200

export interface Configuration {
  /** Null: the project's first, or from before it was made. */
  set: ChangeSetRow | null
  /** Documents are those as of this change-set; 0: before there were any. */
  changeSet: number
  /** From when, epoch ms. */
  at: number
  doc: ProjectDoc
  part<K extends PartKind>(kind: K, name: string): DocumentOf<K> | undefined
}

export interface Configurations {
  all: Configuration[]
  /** That of an instant: a change counts from its own instant on. */
  at(instant: number): Configuration
  /** That, and the one before it where it began at this very instant: which came first no time says. */
  around(instant: number): Configuration[]
  /** Names of a kind that the project used at any time of the range. */
  names(kind: PartKind): string[]
  documentAt: DocumentAt
  /** When the first change-set came that no configuration is given of; null: none did. */
  cutAt: number | null
}

/** @param from,to epoch ms, both inclusive */
export function readConfigurations(
  db: Database,
  project: { id: string; name: string },
  { from, to }: { from: number; to: number },
): Configurations {
  const documentAt = maskedDocuments(db)
  const before = db
    .prepare<[number], number>('SELECT id FROM change_sets WHERE at < ? ORDER BY at DESC, id DESC LIMIT 1')
    .pluck()
    .get(from)
  const first = db
    .prepare<[string, number], ChangeSetRow>(
      `SELECT s.* FROM change_set_projects p JOIN change_sets s ON s.id = p.change_set
       WHERE p.project = ? AND p.change_set <= ? ORDER BY p.change_set DESC LIMIT 1`,
    )
    .get(project.id, before ?? 0)
  const sets = setsBetween(db, project.id, from, to, VERSIONS_MAX + 1)
  const make = (set: ChangeSetRow | null, changeSet: number, at: number): Configuration => ({
    set,
    changeSet,
    at,
    doc: documentAt('project', project.id, changeSet) ?? {
      name: project.name,
      template: 'custom',
      uses: {},
    },
    part: (kind, name) => documentAt(kind, name, changeSet),
  })
  const all = [
    make(first ?? null, before ?? 0, first?.at ?? from),
    ...sets.slice(0, VERSIONS_MAX).map((set) => make(set, set.id, set.at)),
  ]
  const effective = (instant: number) => all.findLast(({ at }, i) => i === 0 || at <= instant)!
  return {
    all,
    at: effective,
    around: (instant) => [...new Set([effective(instant), effective(instant - 1)])],
    names: (kind) => [...new Set(all.flatMap((one) => namesOf(one, kind)))].sort(),
    documentAt,
    cutAt: sets[VERSIONS_MAX]?.at ?? null,
  }
}

/** Change-sets that touched a project or its parts, in the order they were made. */
export function setsBetween(
  db: Database,
  project: string,
  from: number,
  to: number,
  limit: number,
): ChangeSetRow[] {
  return db
    .prepare<[number, number, string, number], ChangeSetRow>(
      `SELECT s.* FROM change_sets s WHERE s.at >= ? AND s.at <= ?
         AND EXISTS (SELECT 1 FROM change_set_projects p WHERE p.project = ? AND p.change_set = s.id)
       ORDER BY s.at, s.id LIMIT ?`,
    )
    .all(from, to, project, limit)
}

/** Parts of a configuration, with those that its wiring names and its triggers watch. */
export function namesOf({ doc, part }: Configuration, kind: PartKind): string[] {
  const names = new Set(Object.keys(doc.uses[kind] ?? {}))
  if (kind === 'trigger') for (const name of Object.keys(doc.wakes ?? {})) names.add(name)
  if (kind === 'source')
    for (const trigger of Object.keys(doc.uses.trigger ?? {}))
      for (const source of (part('trigger', trigger)?.sources ?? []) as string[]) names.add(source)
  return [...names]
}

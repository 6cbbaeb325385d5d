/**
 * Joined entities as they are declared (docs/entities.md): their rules, what two of them must not both have, and their
 * rows. An entity has no state and no secret, and no project uses it: it is of the instance.
 */
import { check } from '../../schemas/index.ts'
import type { EntitySpec } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { conflictsOf, ENTITIES_MAX, entityFault, groupsOfRule, PATTERNS_MAX } from '../log/entity-rules.ts'
import type { Database } from '../log/store/handle.ts'
import type { DeclaredKind, Doc, Edit, Stored, Stroke } from '../model/documents.ts'

/** @returns the spec in canonical form. @throws SvcError invalid, naming the field and the rule. */
export function normaliseEntity(given: object): EntitySpec {
  const fault = check('entity-spec.json', given)
  if (fault) fail('invalid', fault)
  const { kind, description, is, owned_by, runs_on, calls } = given as EntitySpec
  const spec: EntitySpec = {
    ...(kind ? { kind } : {}),
    ...(description?.trim() ? { description: description.trim() } : {}),
    is,
    ...(owned_by?.length ? { owned_by } : {}),
    ...(runs_on?.length ? { runs_on } : {}),
    ...(calls?.length ? { calls } : {}),
  }
  const wrong = entityFault(spec)
  if (wrong) fail('invalid', wrong.text, { field: wrong.field })
  return spec
}

/** Every name is of one entity; asked where an edit touches any. @throws SvcError conflict, with both; invalid */
export function checkEntities(edit: Edit): void {
  if (!edit.touched().some(({ kind, doc }) => kind === 'entity' && doc)) return
  const [first] = entityConflicts(edit)
  if (first) fail('conflict', conflictSentence(first), { field: 'is', about: about(first.of[1]) })
  const all = [...edit.all('entity').values()]
  if (all.length > ENTITIES_MAX) fail('invalid', `entities: at most ${ENTITIES_MAX} are allowed`)
  if (all.filter((spec) => groupsOfRule(spec).length > 0).length > PATTERNS_MAX)
    fail('invalid', `entities: at most ${PATTERNS_MAX} may have groups`)
}

const about = (name: string) => ({ kind: 'entity', name })

/** Names that two entities would both have. */
export const entityConflicts = (edit: Edit): ReturnType<typeof conflictsOf> =>
  conflictsOf([...edit.all('entity')].map(([name, spec]) => ({ ...spec, name })))

export const conflictSentence = ({
  name,
  of: [one, other],
}: {
  name: string
  of: [string, string]
}): string => `${name} is a name of entity ${one} and of entity ${other}; it can be of one`

interface EntityRow {
  name: string
  /** JSON. */
  spec: string
  change_set: number
  created_at: number
  updated_at: number
}

export class EntityKind implements DeclaredKind {
  readonly kind = 'entity'
  private readonly queries

  constructor(db: Database) {
    this.queries = {
      all: db.prepare<[], EntityRow>('SELECT * FROM entities ORDER BY name'),
      byName: db.prepare<[string], EntityRow>('SELECT * FROM entities WHERE name = ?'),
      insert: db.prepare(
        'INSERT INTO entities (name, spec, change_set, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
      ),
      update: db.prepare('UPDATE entities SET spec = ?, change_set = ?, updated_at = ? WHERE name = ?'),
      rename: db.prepare('UPDATE entities SET name = ? WHERE name = ?'),
      remove: db.prepare('DELETE FROM entities WHERE name = ?'),
    }
  }

  find(key: string): Stored | undefined {
    const row = this.queries.byName.get(key)
    return row && storedOf(row)
  }

  list(): Stored[] {
    return this.queries.all.all().map(storedOf)
  }

  open(sealed: string): Doc {
    return JSON.parse(sealed) as Doc
  }

  create(key: string, doc: Doc, { at, changeSet }: Stroke): string {
    const spec = JSON.stringify(doc)
    this.queries.insert.run(key, spec, changeSet, at, at)
    return spec
  }

  update({ key }: Stored, doc: Doc, { at, changeSet }: Stroke): string {
    const spec = JSON.stringify(doc)
    this.queries.update.run(spec, changeSet, at, key)
    return spec
  }

  remove({ key }: Stored): void {
    this.queries.remove.run(key)
  }

  rename(from: string, to: string): void {
    this.queries.rename.run(to, from)
  }

  mask(doc: Doc): Doc {
    return doc
  }
}

const storedOf = ({ name, spec, change_set, created_at, updated_at }: EntityRow): Stored => ({
  key: name,
  name,
  doc: JSON.parse(spec) as Doc,
  sealed: spec,
  changeSet: change_set,
  state: 'active',
  createdAt: created_at,
  updatedAt: updated_at,
  unreadable: [],
})

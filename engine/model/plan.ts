/** What an edit would do, by object, as people read it before and after it is applied. */
import { ownField } from '../../schemas/fields-of.ts'
import { kindWord, nounOfKind } from '../../schemas/kinds.ts'
import type { ChangePlan, FieldChange, PlannedChange } from '../../schemas/types.ts'
import {
  type ChangeKind,
  type DeclaredKind,
  type Doc,
  differences,
  type Kinds,
  type Staged,
} from './documents.ts'

/** The plan of an edit; secrets masked. */
export function planOf(staged: readonly Staged[], kinds: Kinds): ChangePlan {
  const changes = staged
    .filter(({ stored, doc }) => stored !== undefined || doc !== null)
    .map(({ kind, key, stored, doc }) =>
      plannedChange(kind, key, stored?.doc ?? null, doc, kinds[kind], stored?.was),
    )
  const count = (action: PlannedChange['action']) => changes.filter((c) => c.action === action).length
  return {
    changes,
    creates: count('create'),
    updates: count('update'),
    deletes: count('delete'),
    unchanged: count('none'),
  }
}

/**
 * One object's change with its fields, secrets masked. Null: it was not there, or is no longer.
 * @param was its name before, where it gets another
 */
export function plannedChange(
  kind: ChangeKind,
  key: string,
  before: Doc | null,
  after: Doc | null,
  adapter: DeclaredKind,
  was?: string,
): PlannedChange {
  const named = after ?? before ?? {}
  const variables = (after && adapter.variables?.(after)) || []
  return {
    action: after && was !== undefined ? 'update' : actionOf(before, after),
    kind,
    key,
    name: kind === 'project' ? String(named.name) : key,
    fields: maskedDifferences(before, after, adapter),
    ...(variables.length ? { variables } : {}),
    ...(was === undefined ? {} : { renamed_from: was }),
  }
}

function actionOf(before: Doc | null, after: Doc | null): PlannedChange['action'] {
  if (!before) return 'create'
  if (!after) return 'delete'
  return differences(before, after).length ? 'update' : 'none'
}

/** A changed secret shows as changed, with the mask on both sides. */
function maskedDifferences(before: Doc | null, after: Doc | null, adapter: DeclaredKind): FieldChange[] {
  const shown = differences(before ? adapter.mask(before) : {}, after ? adapter.mask(after) : {})
  const real = differences(before ?? {}, after ?? {})
  const seen = new Set(shown.map((field) => field.path))
  const hidden = real.filter(
    (field) => !seen.has(field.path) && !shown.some((s) => covers(s.path, field.path)),
  )
  return [
    ...shown,
    ...hidden.map(({ path, from, to }) => ({
      path,
      ...(from === undefined ? {} : { from: MASK }),
      ...(to === undefined ? {} : { to: MASK }),
    })),
  ]
}

/**
 * Parts that are deleted and made again under another name, whose history, ingest key and wiring would be lost: who
 * changes a name in a file often means that it is the same part.
 * @returns a sentence for each
 */
export function remadeWarnings(staged: readonly Staged[]): string[] {
  const gone = new Map<string, string[]>()
  for (const { kind, key, stored, doc } of staged)
    if (stored && !doc && kind !== 'project') {
      const said = `${kind} ${JSON.stringify(stored.doc)}`
      gone.set(said, [...(gone.get(said) ?? []), key])
    }
  if (gone.size === 0) return []
  return staged.flatMap(({ kind, key, stored, doc }) => {
    const was = stored || !doc ? undefined : gone.get(`${kind} ${JSON.stringify(doc)}`)?.shift()
    if (was === undefined) return []
    const word = kindWord(kind)
    return [
      `${word} ${was} is deleted with its history, and ${key}, which says the same, is made anew; "moved: [{ ${kind}: ${was}, to: ${key} }]" in a catalog file, or "svc ${nounOfKind(kind)} rename", gives it the name instead`,
    ]
  })
}

const covers = (outer: string, inner: string): boolean => inner.startsWith(`${outer}/`)

/** What stands for a stored secret on the wire, whatever its length. */
export const MASK = '•'.repeat(8)

/** A change-set in one line: one object with its fields, or counts. */
export function summaryOf(changed: readonly Staged[]): string {
  const [lead, ...others] = changed.filter(isProjectMove)
  if (changed.length > 3 && lead && others.length === 0)
    return `${sentence(lead)}; ${summaryOf(changed.filter((one) => one !== lead))}`
  if (changed.length > 3) {
    const made = changed.filter(({ stored }) => !stored).length
    const gone = changed.filter(({ doc }) => !doc).length
    const edited = changed.length - made - gone
    return [made && `${made} created`, edited && `${edited} changed`, gone && `${gone} deleted`]
      .filter(Boolean)
      .join(', ')
  }
  return changed.map(sentence).join('; ')
}

/** A project that is made, deleted, paused or resumed: what else changed with it is how. */
function isProjectMove({ kind, stored, doc }: Staged): boolean {
  return kind === 'project' && (!stored || !doc || Boolean(stored.doc.paused) !== Boolean(doc.paused))
}

/** Fields of projects as people call them; what a pause stopped is said by the pause. */
const FIELD_WORDS: Record<string, readonly string[]> = {
  uses: ['parts'],
  wakes: ['wiring'],
  handoffs: ['wiring'],
  plan: ['parts'],
  stopped: [],
}

function sentence({ kind, key, stored, doc }: Staged): string {
  const label = `${kindWord(kind)} ${kind === 'project' ? String((doc ?? stored!.doc).name) : key}`
  if (!stored) return `${label} created`
  if (!doc) return `${label} deleted`
  if (stored.was !== undefined) return `${label} renamed from ${stored.was}`
  const names = new Set(differences(stored.doc, doc).map((field) => field.path.split('/')[1] ?? ''))
  if (names.has('paused')) return `${label} ${doc.paused ? 'paused' : 'resumed'}`
  const words = [...new Set([...names].flatMap((name) => ownField(FIELD_WORDS, name) ?? [name]))]
  if (words.length === 0) words.push('what resuming it starts')
  return `${label}: ${words.slice(0, 4).join(', ')}${words.length > 4 ? ', …' : ''}`
}

/** How documents of projects are stored: one row each, secret parameters sealed. */

import { advance, firstSnapshot } from '../../log/lifecycle.ts'
import type { Database } from '../../log/store/handle.ts'
import {
  type DeclaredKind,
  type Doc,
  documentOf,
  equal,
  type Stored,
  type Stroke,
} from '../../model/documents.ts'
import type { ProjectDoc } from '../../model/project.ts'
import { maskNamed, openFields, type SecretNames, sealFields } from '../../net/secret-fields.ts'
import type { Secrets } from '../../net/secrets.ts'
import { type ProjectQueries, type ProjectRow, projectQueries } from './present.ts'

export interface ProjectKindParts {
  db: Database
  secrets: Secrets
  /** Names of the parameters of a template that are secret. */
  secretParams(template: string): readonly string[]
}

/** Parts and wiring by name, down to where an entry begins. */
const SETS =
  /^\/(uses(\/[^/]+)?|plan(\/[^/]+)?|wakes(\/[^/]+)?|handoffs(\/[^/]+){0,2}|stopped(\/(triggers|sources|wakes(\/[^/]+)?))?)$/

export class ProjectKind implements DeclaredKind {
  readonly kind = 'project'
  private readonly queries: ProjectQueries

  constructor(private readonly parts: ProjectKindParts) {
    this.queries = projectQueries(parts.db)
  }

  find(key: string): Stored | undefined {
    const row = this.queries.byId(key)
    return row && row.state !== 'deleted' ? this.stored(row) : undefined
  }

  list(): Stored[] {
    return this.queries.all().map((row) => this.stored(row))
  }

  open(sealed: string): Doc {
    const { '@id': id, ...doc } = JSON.parse(sealed) as Record<string, unknown>
    return this.openParams(id as string, doc).doc
  }

  create(key: string, doc: Doc, stroke: Stroke, revive: string | null): string {
    const { queries } = this
    const sealed = this.sealParams(key, doc)
    const spec = JSON.stringify(withoutState(sealed))
    if (revive !== null && queries.byId(key)) {
      this.advance(key, doc, 'restore', stroke)
      queries.update(key, String(doc.name), spec, stroke.changeSet, stroke.at)
    } else {
      queries.insert({
        id: key,
        name: String(doc.name),
        spec,
        snapshot: firstSnapshot('project'),
        changeSet: stroke.changeSet,
        at: stroke.at,
      })
      this.advance(key, doc, firstEvent(doc), stroke)
    }
    if (doc.paused === true) this.advance(key, doc, 'pause', stroke)
    return sealedJson(key, sealed)
  }

  update(stored: Stored, doc: Doc, stroke: Stroke): string {
    const sealed = this.sealParams(stored.key, doc, {
      open: stored.doc,
      sealed: JSON.parse(stored.sealed) as Record<string, unknown>,
    })
    const spec = JSON.stringify(withoutState(sealed))
    this.queries.update(stored.key, String(doc.name), spec, stroke.changeSet, stroke.at)
    const [wasDraft, isDraft] = [stored.doc.draft === true, doc.draft === true]
    if (wasDraft !== isDraft) this.advance(stored.key, doc, isDraft ? 'unapply' : 'apply', stroke)
    else if (!isDraft && declaresOther(stored.doc, doc)) this.advance(stored.key, doc, 'update', stroke)
    const isPaused = doc.paused === true
    if (isPaused !== (stored.state === 'paused'))
      this.advance(stored.key, doc, isPaused ? 'pause' : 'resume', stroke)
    return sealedJson(stored.key, sealed)
  }

  remove(stored: Stored, stroke: Stroke): void {
    this.advance(stored.key, stored.doc, 'delete', stroke)
    const { secrets } = this.secretsOf(stored.doc)
    const shown = (this.mask(stored.doc).params ?? {}) as Doc
    const params = Object.fromEntries(Object.entries(shown).filter(([name]) => !secrets.includes(name)))
    const spec = JSON.stringify({ ...withoutState(stored.doc), params })
    this.queries.update(stored.key, stored.name, spec, stroke.changeSet, stroke.at)
  }

  mask(doc: Doc): Doc {
    const { plan: _plan, ...shown } = doc
    if (!doc.params) return shown
    return { ...shown, params: maskNamed(doc.params as Doc, this.secretsOf(doc)) }
  }

  isSet(path: string): boolean {
    return SETS.test(path)
  }

  private advance(id: string, doc: Doc, event: string, { by, at }: Stroke): void {
    advance(this.parts.db, { kind: 'project', id, name: String(doc.name) }, event, by, at)
  }

  private stored(row: ProjectRow): Stored {
    const sealed = JSON.parse(row.spec) as Record<string, unknown>
    const { doc, unreadable } = this.openParams(row.id, sealed)
    const state = {
      ...(row.state === 'paused' ? { paused: true } : {}),
      ...(row.state === 'draft' ? { draft: true } : {}),
    }
    return {
      key: row.id,
      name: row.name,
      doc: { ...doc, ...state },
      sealed: sealedJson(row.id, { ...sealed, ...state }),
      changeSet: row.change_set,
      state: row.state,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      unreadable,
    }
  }

  private openParams(id: string, doc: Doc): { doc: Doc; unreadable: string[] } {
    if (!doc.params) return { doc, unreadable: [] }
    const { open, unreadable } = openFields(
      doc.params as Doc,
      this.secretsOf(doc),
      `projects/${id}`,
      this.parts.secrets,
    )
    return { doc: { ...doc, params: open }, unreadable }
  }

  private sealParams(id: string, doc: Doc, before?: { open: Doc; sealed: Doc }): Doc {
    if (!doc.params) return doc
    const params = sealFields(
      doc.params as Doc,
      this.secretsOf(doc),
      `projects/${id}`,
      this.parts.secrets,
      before && { open: (before.open.params ?? {}) as Doc, sealed: (before.sealed.params ?? {}) as Doc },
    )
    return { ...doc, params }
  }

  /** Any parameter may be an address, or hold some. */
  private secretsOf(doc: Doc): SecretNames {
    const secrets = this.parts.secretParams(String(doc.template))
    return {
      secrets,
      addresses: Object.keys((doc.params ?? {}) as Doc).filter((name) => !secrets.includes(name)),
    }
  }
}

/** A draft, a plan that is applied without one, or a project made in another way. */
const firstEvent = ({ draft, setup }: Doc): string =>
  draft === true ? 'draft' : setup === true ? 'apply' : 'create'

/** The machine holds these; the document only shows them. */
function withoutState(doc: Doc): Doc {
  const { paused: _paused, draft: _draft, ...spec } = doc
  return spec
}

/** Whether the project itself was edited, and not only paused or joined by a part. */
function declaresOther(before: Doc, after: Doc): boolean {
  const own = (doc: Doc): Partial<ProjectDoc> => {
    const { name, goal, description, params, wakes, handoffs } = documentOf('project', doc)
    return {
      name,
      ...(goal ? { goal } : {}),
      ...(description ? { description } : {}),
      ...(params ? { params } : {}),
      ...(wakes ? { wakes } : {}),
      ...(handoffs ? { handoffs } : {}),
    }
  }
  return after.paused === before.paused && !equal(own(before), own(after))
}

const sealedJson = (id: string, doc: Doc): string => JSON.stringify({ '@id': id, ...doc })

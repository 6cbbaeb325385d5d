/** What a check knows of the instance: read once, so that the check itself reads nothing. */
import type { Connector, Label } from '../../../schemas/types.ts'
import type { PartKind } from '../../changes/declared.ts'
import type { Edit } from '../../changes/edit.ts'
import { describeConnectors } from '../../connectors/index.ts'
import { projectsOf } from '../../wiring/project-doc.ts'

export interface SetupWorld {
  connectors: Readonly<Record<string, Connector>>
  /** A source that is there. */
  source(name: string): { connector: string; labels: Label[] } | undefined
  has(kind: PartKind, name: string): boolean
  /** Whether another project has that name. */
  isProject(name: string): boolean
}

/** @param project the draft whose plan is checked; null: a project that is new. */
export function worldOf(edit: Edit, project: string | null): SetupWorld {
  const names = new Set([...projectsOf(edit)].filter(([id]) => id !== project).map(([, { name }]) => name))
  return {
    connectors: describeConnectors(),
    source: (name) => {
      const doc = edit.get('source', name)
      if (!doc) return undefined
      const { labels } = (doc.config ?? {}) as { labels?: Label[] }
      return { connector: String(doc.connector), labels: labels ?? [] }
    },
    has: (kind, name) => edit.has(kind, name),
    isProject: (name) => names.has(name),
  }
}

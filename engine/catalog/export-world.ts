/** What an export looks up: projects, whose parts are, what templates planned, what a pause stopped. */
import type { Kinds } from '../changes/declared.ts'
import type { ProjectQueries } from '../projects/queries.ts'
import type { Templates } from '../projects/templates.ts'
import { CUSTOM_TEMPLATE, DEFAULT_TEMPLATE, type ProjectDoc, partsOf } from '../wiring/project-doc.ts'

export interface ExportParts {
  kinds: Kinds
  projects: ProjectQueries
  templates: Templates
}

export interface ExportWorld extends ExportParts {
  /** Projects by id. */
  docs: Map<string, ProjectDoc>
  /** kind:name → state of its ownership in the plan of a template. */
  planned: Map<string, string>
  /** kind:name → id of the project it belongs to. */
  owners: Map<string, string>
  /** Names of what a paused project stopped: they run once it does. */
  stopped: Record<'trigger' | 'source', Set<string>>
}

export function worldOf(parts: ExportParts): ExportWorld {
  const docs = new Map(parts.kinds.project.list().map(({ key, doc }) => [key, doc]))
  const owners = new Map<string, string>()
  const stopped = { trigger: new Set<string>(), source: new Set<string>() }
  for (const [id, doc] of docs) {
    for (const { kind, name, use } of partsOf(doc))
      if (use.owned && doc.template !== DEFAULT_TEMPLATE) owners.set(`${kind}:${name}`, id)
    for (const name of Object.keys(doc.stopped?.triggers ?? {})) stopped.trigger.add(name)
    for (const name of Object.keys(doc.stopped?.sources ?? {})) stopped.source.add(name)
  }
  const planned = new Map(
    parts.projects.planned().map((row) => [`${row.kind}:${row.name}`, row.state as string]),
  )
  return { ...parts, docs, owners, planned, stopped }
}

export const isTemplated = ({ template }: ProjectDoc): boolean =>
  template !== CUSTOM_TEMPLATE && template !== DEFAULT_TEMPLATE

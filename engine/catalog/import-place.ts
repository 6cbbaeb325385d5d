/** Where the parts of a catalog file belong, and what its agents' own entries wire. */
import type { CatalogAgent } from '../../schemas/types.ts'
import type { PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { join } from '../declared/write.ts'
import { fail } from '../errors.ts'
import { normaliseHandoffs } from '../parts/agent-spec.ts'
import {
  defaultProject,
  ownerOf,
  type ProjectDoc,
  projectOf,
  projectsOf,
  putProject,
  usersOf,
} from '../wiring/project-doc.ts'
import { withHandoffsOf, withWake, withWakesOf } from '../wiring/wires.ts'
import { type Entry, type ImportRun, leaveDefault, projectNamed } from './import-run.ts'

/** Puts parts into the projects their entries name. */
export function placeParts(run: ImportRun): void {
  const { catalog, edit, at } = run
  const place = (
    section: 'triggers' | 'agents' | 'mcp_servers' | 'skills',
    kind: PartKind,
    entries: Entry[] | undefined,
  ) =>
    entries?.forEach((entry, i) => {
      if (!edit.has(kind, entry.name)) return
      at([section, i, 'project'], () => {
        if (entry.project === undefined) return
        const id = projectNamed(edit, entry.project)
        const owner = ownerOf(edit, kind, entry.name)
        join(edit, kind, entry.name, id, owner === null || owner === id)
        if (owner === null || owner === id) leaveDefault(edit, kind, entry.name, id)
      })
    })
  catalog.sources?.forEach((entry, i) => {
    entry.projects?.forEach((word, n) => {
      at(['sources', i, 'projects', n], () => {
        if (!edit.has('source', entry.name)) return
        const id = projectNamed(edit, word)
        if (!usersOf(edit, 'source', entry.name).includes(id))
          join(edit, 'source', entry.name, id, ownerOf(edit, 'source', entry.name) === null)
        leaveDefault(edit, 'source', entry.name, id)
      })
    })
  })
  place('mcp_servers', 'mcp_server', catalog.mcp_servers as Entry[] | undefined)
  place('triggers', 'trigger', catalog.triggers as Entry[] | undefined)
  place('agents', 'agent', catalog.agents as Entry[] | undefined)
  place('skills', 'skill', catalog.skills as Entry[] | undefined)
  catalog.skills?.forEach((entry, i) => {
    entry.used_by?.forEach((word, n) => {
      at(['skills', i, 'used_by', n], () => {
        const id = projectNamed(edit, word)
        if (edit.has('skill', entry.name) && !usersOf(edit, 'skill', entry.name).includes(id))
          join(edit, 'skill', entry.name, id, false)
      })
    })
  })
}

/** An agent's own entry wires it in its home: the project that made it, else the Default one. */
export function stageAgentWiring({ edit, catalog, at }: ImportRun): void {
  catalog.agents?.forEach((entry, i) => {
    const { name, trigger, enabled, handoffs } = entry
    if (!edit.has('agent', name)) return
    const home = homeOf(edit, entry)
    if (trigger !== undefined) {
      at(['agents', i, 'trigger'], () => {
        if (trigger && !edit.has('trigger', trigger)) fail('invalid', `no trigger is named ${trigger}`)
        let doc = withWakesOf(projectOf(edit, home), name, trigger ? [trigger] : [])
        if (trigger) doc = withWake(doc, trigger, name, enabled ?? false)
        putProject(edit, home, doc)
      })
    } else if (enabled !== undefined) at(['agents', i, 'enabled'], () => switchAll(edit, home, name, enabled))
    if (handoffs !== undefined)
      at(['agents', i, 'handoffs'], () => {
        const rows = normaliseHandoffs(name, handoffs)
        const missing = rows.find((row) => !edit.has('agent', row.agent))
        if (missing) fail('invalid', `no agent is named ${missing.agent}`)
        putProject(edit, home, withHandoffsOf(projectOf(edit, home), name, rows))
      })
  })
}

function switchAll(edit: Edit, id: string, agent: string, enabled: boolean): void {
  let doc: ProjectDoc = projectOf(edit, id)
  for (const [trigger, agents] of Object.entries(doc.wakes ?? {}))
    if (agents[agent]) doc = withWake(doc, trigger, agent, enabled)
  putProject(edit, id, doc)
}

function homeOf(edit: Edit, { name, project }: CatalogAgent): string {
  const named =
    project === undefined ? undefined : [...projectsOf(edit)].find(([, doc]) => doc.name === project)?.[0]
  return named ?? ownerOf(edit, 'agent', name) ?? defaultProject(edit)
}

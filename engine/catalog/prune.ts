/** What a pruning import deletes: parts and projects the file does not name, and wiring it lacks. */
import type { Catalog } from '../../schemas/types.ts'
import type { PartKind, Stored } from '../changes/declared.ts'
import { guardSentence } from '../changes/guarded-kind.ts'
import { connectorOf } from '../connectors/index.ts'
import { fail } from '../errors.ts'
import { DEFAULT_TEMPLATE, projectsOf, putProject } from '../wiring/project-doc.ts'
import type { ImportRun } from './import-run.ts'

const SECTIONS = [
  ['sources', 'source'],
  ['triggers', 'trigger'],
  ['agents', 'agent'],
  ['mcp_servers', 'mcp_server'],
  ['skills', 'skill'],
] as const satisfies readonly (readonly [keyof Catalog, PartKind])[]

export function stagePrune(run: ImportRun): void {
  const { edit, catalog, declared, at } = run
  const named = new Set((catalog.projects ?? []).map((entry) => entry.name))
  for (const [id, doc] of projectsOf(edit))
    if (doc.template !== DEFAULT_TEMPLATE && !doc.draft && !named.has(doc.name) && edit.stored('project', id))
      edit.remove('project', id)
  const planned = plannedBy(run)
  for (const [section, kind] of SECTIONS) {
    const kept = new Set((catalog[section] as { name: string }[] | undefined)?.map(({ name }) => name))
    for (const { name, doc } of declared.kinds[kind].list() as Stored[]) {
      const isInternal = kind === 'source' && connectorOf(String(doc.connector)).internal === true
      if (kept.has(name) || isInternal || planned.has(`${kind}:${name}`)) continue
      if (doc.prevent_destroy === true) at([], () => fail('invalid', guardSentence(kind, name)))
      else edit.remove(kind, name)
    }
  }
  pruneWiring(run)
}

/** What the templates of the projects that stay plan is named by their parameters. */
function plannedBy({ edit }: ImportRun): Set<string> {
  const planned = new Set<string>()
  for (const doc of projectsOf(edit).values())
    for (const [kind, entries] of Object.entries(doc.plan ?? {}))
      for (const { name } of Object.values(entries ?? {})) planned.add(`${kind}:${name}`)
  return planned
}

/** Wakes and handoffs of hand-made projects that neither an agent's entry nor a row says. */
function pruneWiring({ edit, catalog }: ImportRun): void {
  const said = new Set<string>()
  for (const row of catalog.wiring ?? [])
    said.add(
      'wake' in row
        ? `${row.project}|${row.wake}>${row.agent}`
        : `${row.project}|${row.agent}/${row.verdict.toLowerCase()}/${row.to}`,
    )
  const ofAgent = new Map((catalog.agents ?? []).map((entry) => [entry.name, entry]))
  for (const [id, doc] of projectsOf(edit)) {
    if (doc.plan) continue
    const wakes = Object.fromEntries(
      Object.entries(doc.wakes ?? {}).map(([trigger, agents]) => [
        trigger,
        Object.fromEntries(
          Object.entries(agents).filter(
            ([agent]) =>
              said.has(`${doc.name}|${trigger}>${agent}`) || ofAgent.get(agent)?.trigger === trigger,
          ),
        ),
      ]),
    )
    const handoffs = Object.fromEntries(
      Object.entries(doc.handoffs ?? {}).map(([agent, verdicts]) => [
        agent,
        Object.fromEntries(
          Object.entries(verdicts).map(([verdict, targets]) => [
            verdict,
            Object.fromEntries(
              Object.entries(targets).filter(
                ([to]) =>
                  said.has(`${doc.name}|${agent}/${verdict}/${to}`) ||
                  ofAgent
                    .get(agent)
                    ?.handoffs?.some((row) => row.agent === to && row.verdict.toLowerCase() === verdict),
              ),
            ),
          ]),
        ),
      ]),
    )
    putProject(edit, id, { ...doc, wakes, handoffs })
  }
}

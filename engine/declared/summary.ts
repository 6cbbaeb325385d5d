/** A project with what happened in it. */
import type { Project, ResultsResult } from '../../schemas/types.ts'
import { type FindingsParts, listFindings, listResults } from '../findings/findings.ts'
import type { Declared } from './declared.ts'
import { projectNamed } from './project-writes.ts'

const LOG_MAX = 100
const RUNS_MAX = 20

export type ProjectSummary = Project & {
  log: { at: string; action: string; detail: string }[]
  runs: ReturnType<typeof listFindings>['findings']
  runs_total: number
  sources: { name: string; last_event_at: string | null; events: number }[]
  triggers: { name: string; paused: boolean; last_fired: string | null }[]
  last_fired: string | null
  today: ResultsResult['today']
}

/** @param id project id. */
export function summaryOf(declared: Declared, findings: FindingsParts, id: string): ProjectSummary {
  const project = projectNamed(declared, id)
  const { change_sets } = declared.changes.list({
    project: id,
    kind: null,
    key: null,
    before: null,
    limit: LOG_MAX,
  })
  const runs = listFindings(findings, id, { limit: RUNS_MAX }).findings
  const names = (kind: string) =>
    project.objects.filter((o) => o.kind === kind && !o.missing).map((o) => o.name)
  return {
    ...project,
    log: change_sets.map(({ at, actor, origin, summary }) => ({
      at,
      action: origin,
      detail: `${summary} (${actor})`,
    })),
    runs,
    runs_total: runs.length,
    sources: names('source').map((name) => {
      const row = declared.sources.store.queries.byName(name)
      const last = row?.last_ingest ?? null
      return {
        name,
        last_event_at: last === null ? null : new Date(last).toISOString(),
        events: row?.events ?? 0,
      }
    }),
    triggers: names('trigger').map((name) => ({
      name,
      paused: declared.kinds.trigger.find(name)?.doc.paused === true,
      last_fired: null,
    })),
    last_fired: null,
    today: listResults(findings, id, { limit: 1 }).today,
  }
}

/** Findings that agents write back (SPEC.md, What the service does 3). The service makes its source. */
import { oneLine, TEXT_MAX } from '../ingest/template.ts'
import type { MappedEvent, PushConnector } from './connector.ts'

/** The item of a finding; `label` names the label whose value is `key`. */
export interface FindingItem {
  key: string
  label: string
  agent: string
  finding: string
  run_id: string
  project: string
  verdict?: string
  headline?: string
  next_step?: string
  trigger?: string
  dispatch_id?: string
  definition_hash?: string
  /** As they were checked. */
  claims?: readonly object[]
  verified?: { ok: number; total: number }
}

export const finding: PushConnector = {
  kind: 'finding',
  label: 'Findings',
  mode: 'push',
  internal: true,
  description: 'What agents conclude about an entity; written back onto its timeline.',
  sourceType: 'finding',
  configSchema: 'connector-finding.json',
  provides: [
    { name: 'key', help: 'Entity value the finding is about.', primary: true },
    { name: 'agent', help: 'Agent or key that wrote it.' },
    { name: 'verdict', help: 'Verdict, when one was given.' },
    { name: 'project', help: 'Id of the project it was recorded in.' },
  ],
  compile: () => (item) => [concluded(item.value as FindingItem)],
  note: () => 'Record with POST /api/projects/{id}/findings.',
}

function concluded(item: FindingItem): MappedEvent {
  const { key, label, agent, verdict, project, headline } = item
  const said = headline ?? item.finding
  return {
    eventType: 'finding',
    text: oneLine(verdict ? `${verdict}: ${said}` : said, TEXT_MAX),
    context: { ...item },
    stamped: { agent, project, ...(verdict ? { verdict } : {}), [label]: key },
    entityLabel: label,
  }
}

/**
 * Connectors of sources that svc's own calls write: reference documents, memories, findings, and what happens to the
 * sync of the catalog. Nothing is asked of an upstream for them.
 */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { ReferenceConfig } from '../../../schemas/types.ts'
import { compileLabels, isLabelName, oneLine, TEXT_MAX } from '../../log/ingest/label.ts'
import { type MappedEvent, objectOf, type PushConnector, type ReferenceConnector } from './connector.ts'

/*
 * Reference documents: declarative, the config is the data; re-materialised on edit and always
 * surfaced whatever the window of a read (SPEC.md, Sources and labels 1).
 */

const NAME_MAX = 200
const EXCERPT = 280

export const reference: ReferenceConnector = {
  kind: 'reference',
  label: 'Reference documents',
  mode: 'reference',
  description: 'Runbooks, ownership, limits: documents a read surfaces for an entity, whatever its window.',
  sourceType: 'reference',
  configSchema: 'connector-reference.json',
  provides: [
    { name: 'name', help: 'Document name.' },
    { name: 'format', help: 'json, csv, md or txt.' },
  ],
  validate: (config: FieldsOf<ReferenceConfig>) => attachmentFaults(config.attachments),
  documents: (config: FieldsOf<ReferenceConfig>) => {
    const { attachments, labels = [] } = config
    const resolve = compileLabels(labels)
    return attachments.map(({ name, format = 'txt', content, labels: own = {} }) => {
      const { strings, numbers } = resolve({ name, format, ...own }, own)
      return {
        text: `${oneLine(name, NAME_MAX)} (${format}) ${oneLine(content, EXCERPT)}`,
        raw: Buffer.from(JSON.stringify({ name, format, content, labels: own })),
        labels: { ...Object.fromEntries(strings), ...numbers },
      }
    })
  },
}

function attachmentFaults(attachments: ReferenceConfig['attachments']): string[] {
  const seen = new Set<string>()
  return attachments.flatMap(({ name, labels = {} }, i) => {
    const faults = Object.keys(labels)
      .filter((label) => !isLabelName(label))
      .map((label) => `attachments[${i}].labels has a reserved name: ${label}`)
    if (seen.has(name)) faults.push(`attachments[${i}].name repeats ${name}`)
    seen.add(name)
    return faults
  })
}

/* Observations that agents and people record with POST /remember (SPEC.md, Ingest and reads). */

const TYPES = new Set(['observation', 'aggregation', 'decision'])
const EVENT_TYPE_MAX = 200

export const memory: PushConnector = {
  kind: 'memory',
  label: 'Memory',
  mode: 'push',
  description: 'Observations that agents and people record about an entity; they stay on its timeline.',
  sourceType: 'agent_memory',
  configSchema: 'connector-memory.json',
  provides: [
    { name: 'key', help: 'Entity value the memory is about.', primary: true },
    { name: 'label', help: 'Label of the entity, key when absent.' },
    { name: 'memory_type', help: 'observation, aggregation, decision, or custom:<other>.' },
    { name: 'content', help: 'What was recorded.' },
  ],
  compile: () => (item) => [remembered(objectOf(item.value))],
  note: () => 'Record with POST /remember.',
}

/** The entity is stamped, because its label differs from memory to memory. */
function remembered(payload: Record<string, unknown>): MappedEvent {
  const label = typeof payload.label === 'string' && isLabelName(payload.label) ? payload.label : 'key'
  const key = typeof payload.key === 'number' ? String(payload.key) : payload.key
  const type = textOf(payload.memory_type) || 'observation'
  return {
    eventType: TYPES.has(type) ? type : oneLine(`custom:${type}`, EVENT_TYPE_MAX),
    text: oneLine(textOf(payload.content), TEXT_MAX),
    context: { ...objectOf(payload.fields), ...payload },
    ...(typeof key === 'string' ? { stamped: { [label]: key }, entityLabel: label } : {}),
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/* Findings that agents write back (SPEC.md, What the service does 3). The service makes its source. */

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

/* What happens to the sync of the catalog with its repository, so that triggers can watch it. */

interface CatalogItem {
  event: string
  repository: string
  commit?: string
  author?: string
  message?: string
  code?: string
  reason?: string
  /** As the plan says; nothing where a look failed, which has none. */
  creates?: number
  updates?: number
  deletes?: number
}

export const catalog: PushConnector = {
  kind: 'catalog',
  label: 'Catalog',
  mode: 'push',
  internal: true,
  description: 'What happens to the sync of the catalog with its repository.',
  sourceType: 'catalog',
  configSchema: 'connector-catalog.json',
  provides: [
    { name: 'repository', help: 'Name of the repository.', primary: true },
    { name: 'commit', help: 'Hash of the commit.' },
    { name: 'author', help: 'Who wrote the commit.' },
    { name: 'code', help: 'Kind of what keeps the instance from being synced.' },
  ],
  compile: () => (item) => {
    const told = item.value as CatalogItem
    const { repository, author, code } = told
    return [
      {
        eventType: told.event,
        text: oneLine(syncText(told), TEXT_MAX),
        context: { ...told },
        stamped: { repository, ...(author ? { author } : {}), ...(code ? { code } : {}) },
        entityLabel: 'repository',
      },
    ]
  },
  note: () => 'Set SVC_CATALOG_REPO where svc is started.',
}

function syncText({
  event,
  commit,
  author,
  message,
  reason,
  creates,
  updates,
  deletes,
}: CatalogItem): string {
  const of = commit ? ` ${commit.slice(0, 10)} of ${author}: ${message}` : ''
  const did = event === 'applied' || event === 'rolled_back' ? ` (+${creates} ~${updates} -${deletes})` : ''
  return `${event.replace('_', ' ')}${of}${did}${reason ? `; ${reason}` : ''}`
}

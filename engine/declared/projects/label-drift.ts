/** Labels and entities that parts depend on and that do not come: of an edit before it is written, and of what is stored. */

import type { AgentSpec, Label, SourceSpec, TriggerSpec } from '../../../schemas/types.ts'
import { compileLabels } from '../../log/ingest/label.ts'
import { parseItem } from '../../log/ingest/split.ts'
import {
  type Doc,
  documentOf,
  type Edit,
  type Kinds,
  type PartKind,
  type Staged,
} from '../../model/documents.ts'
import { wiringOf } from '../../model/project.ts'
import { connectorOf } from '../../sources/connectors/index.ts'
import {
  type Coverage,
  coverageOf,
  driftOf,
  entityFaultOf,
  type Need,
  namesEntity,
  needsOfAgent,
  needsOfSource,
  needsOfTrigger,
  proposedLabels,
} from '../../sources/health.ts'
import { contextReader } from '../../sources/sample.ts'
import type { Sources } from '../../sources/sources.ts'

/** Events whose payloads are read again where an edit changes the labels of their source. */
const READ_AGAIN = 100

/** What the rule looks at: documents as they are or would be, and what comes. */
interface World {
  all(kind: 'trigger' | 'project'): Iterable<[string, Doc]>
  find(kind: PartKind, name: string): Doc | undefined
  coverage(source: string): Coverage | null
}

export interface DriftParts {
  kinds: Kinds
  sources: Sources
}

/** A sentence per label of a part that does not come. @param name of a part that is there. */
export function driftsOf(declared: DriftParts, kind: PartKind, name: string): string[] {
  const { kinds, sources } = declared
  return found(kind, name, {
    all: (of) => kinds[of].list().map(({ key, doc }) => [key, doc]),
    find: (of, key) => kinds[of].find(key)?.doc,
    coverage: (source) => sources.store.coverage.of(source, false),
  })
}

/**
 * Warnings of an edit: of each part it saves, changed or not, and of each trigger over a source whose labels
 * it changes.
 * @returns sentences that begin with the part.
 */
export function warningsOf(sources: Sources, edit: Edit, touched: readonly Staged[]): string[] {
  const edited = new Map<string, Coverage | null>()
  for (const { kind, key, stored, doc } of touched)
    if (kind === 'source' && stored && doc && labelText(stored.doc) !== labelText(doc))
      edited.set(key, readAgain(sources, key, stored.doc, doc))
  const world: World = {
    all: (kind) => edit.all(kind),
    find: (kind, name) => edit.get(kind, name),
    coverage: (source) =>
      edited.has(source) ? edited.get(source)! : sources.store.coverage.of(source, true),
  }
  const parts = new Map<string, [PartKind, string]>()
  for (const { kind, key, doc } of touched)
    if (doc && (kind === 'source' || kind === 'trigger' || kind === 'agent'))
      parts.set(`${kind} ${key}`, [kind, key])
  if (edited.size)
    for (const [key, doc] of edit.all('trigger'))
      if (doc.sources.some((source) => edited.has(source))) parts.set(`trigger ${key}`, ['trigger', key])
  return [...parts].flatMap(([title, [kind, key]]) =>
    found(kind, key, world).map((drift) => `${title}: ${drift}`),
  )
}

function found(kind: PartKind, name: string, world: World): string[] {
  const doc = world.find(kind, name)
  if (!doc) return []
  const driftsOfAll = (needs: Need[]) => needs.flatMap((need) => driftOf(need, world.coverage) ?? [])
  if (kind !== 'trigger') return driftsOfAll(needsOf(kind, name, doc, world))
  const trigger = documentOf('trigger', doc)
  const sourceOf = (source: string) => (world.find('source', source) ?? {}) as Partial<SourceSpec>
  const fault = entityFaultOf(trigger, world.coverage, (source) => namesEntity(sourceOf(source)))
  return [...driftsOfAll(needsOfTrigger(trigger)), ...(fault === null ? [] : [fault])]
}

function needsOf(kind: PartKind, name: string, doc: Doc, world: World): Need[] {
  if (kind === 'source') return needsOfSource(name, doc, proposedLabels(connectorOf(String(doc.connector))))
  if (kind !== 'agent' || !(doc as Partial<AgentSpec>).webhook_key_label) return []
  const sources = new Set<string>()
  for (const [, project] of world.all('project'))
    for (const { agent, trigger } of wiringOf(documentOf('project', project)).wakes)
      if (agent === name)
        for (const source of (world.find('trigger', trigger) as TriggerSpec | undefined)?.sources ?? [])
          sources.add(source)
  return needsOfAgent(doc as Partial<AgentSpec>, [...sources])
}

const labelsOf = (doc: Doc): Label[] => (doc.config as { labels?: Label[] } | undefined)?.labels ?? []
const labelText = (doc: Doc): string => JSON.stringify(labelsOf(doc))

/** Recent events as they would be with the labels of an edited source. */
function readAgain(sources: Sources, name: string, before: Doc, after: Doc): Coverage | null {
  const { live, recent } = sources.store
  const source = live.requireByName(name)
  if (source.connector.mode === 'reference') return null
  const contextOf = contextReader(connectorOf(source.connector.kind), {
    ...(after.config as Record<string, unknown> | undefined),
  })
  const resolve = compileLabels(labelsOf(after))
  const declared = new Set(labelsOf(before).map((label) => label.name))
  return coverageOf(
    recent(source.id, READ_AGAIN).map(({ raw, labels, entity }) => {
      const { strings, numbers, hasEntity } = resolve(contextOf(parseItem(raw)))
      // Headers are not stored, so that a label of one is known by the event alone.
      const kept = Object.keys(labels).filter((label) => !declared.has(label) || isOfHeader(after, label))
      const own = hasEntity ? strings[0]![0] : undefined
      return {
        labels: [...strings.map(([label]) => label), ...Object.keys(numbers ?? {}), ...kept],
        entity: own ?? kept.find((label) => label === entity?.label),
      }
    }),
  )
}

const isOfHeader = (doc: Doc, name: string): boolean =>
  labelsOf(doc).some((label) => label.name === name && 'field' in label && label.field.startsWith('header.'))

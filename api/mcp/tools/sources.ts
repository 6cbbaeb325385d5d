/** The tools that look at sources and connectors. */
import { escapeLine } from '../../../schemas/plain-text.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  Source,
  ToolListSources,
  ToolListSourcesResult,
  ToolSourceFields,
  ToolSourceFieldsResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { more, pageOf } from '../paging.ts'
import { projectOf } from '../project.ts'
import { defineTool, READS } from '../tool.ts'

export const listSources = defineTool<ToolListSources, ToolListSourcesResult>({
  name: 'list_sources',
  title: 'List sources',
  description:
    'Sources with their health, how many events are stored, when the last one came, and their labels.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  async run({ project, cursor }, context) {
    const all = await context.daemon.ask(calls.listSources, {}, context.signal)
    const id = project === undefined ? null : (await projectOf(project, context)).id
    const page = pageOf(
      all.filter((source) => id === null || source.projects.includes(id)).map(shown),
      cursor,
    )
    const lines = page.entries.map(
      (one) =>
        `${one.name} (${[...new Set([one.connector, one.state, one.health])].join(', ')}): ${countWords(one.events_total, 'event')}, last ${one.last_ingest ?? 'never'}; labels ${one.labels.join(', ') || 'none'}${one.reason ? `; ${one.reason}` : ''}`,
    )
    return {
      text: (lines.join('\n') || 'no sources') + more(page.next_cursor),
      content: { sources: page.entries, next_cursor: page.next_cursor },
    }
  },
})

interface GivenLabel {
  name: string
  primary?: boolean
}

function shown(source: Source): ToolListSourcesResult['sources'][number] {
  const { name, connector, mode, state, health, projects } = source
  const labels = (Array.isArray(source.config.labels) ? source.config.labels : []) as GivenLabel[]
  return {
    name,
    connector,
    mode,
    state,
    health: health.status,
    reason: health.reason,
    events_total: health.events_total,
    last_ingest: health.last_ingest,
    labels: labels.map((label) => label.name),
    entity: labels.find((label) => label.primary)?.name ?? null,
    projects,
  }
}

const SAMPLE = 500
const VALUES_SHOWN = 3
const VALUE_CHARACTERS = 80

const shortened = (value: string): string =>
  value.length > VALUE_CHARACTERS ? `${value.slice(0, VALUE_CHARACTERS)}…` : value

export const sourceFields = defineTool<ToolSourceFields, ToolSourceFieldsResult>({
  name: 'source_fields',
  title: 'Look at the fields of a source',
  description:
    'Which fields the newest payloads of a source have, how many have each, and example values: what labels can be made of.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  async run({ name, sample = SAMPLE, cursor }, { daemon, signal }) {
    const result = await daemon.ask(calls.listSourceFields, { name, limit: sample }, signal)
    const fields = result.fields.map(({ name, coverage, distinct, is_label, is_key, values }) => ({
      name,
      coverage,
      distinct,
      is_label,
      is_key,
      values: values.slice(0, VALUES_SHOWN).map(({ value }) => shortened(String(value))),
    }))
    const page = pageOf(fields, cursor)
    const lines = page.entries.map((one) =>
      escapeLine(
        `${one.name}: in ${Math.round(one.coverage * 100)} %, ${countWords(one.distinct, 'value')}${one.is_key ? ', names the entity' : one.is_label ? ', a label' : ''}${one.values.length ? `; ${one.values.join(', ')}${one.distinct > one.values.length ? ', …' : ''}` : ''}`,
      ),
    )
    return {
      text: `${countWords(result.sampled, 'event')} looked at\n${lines.join('\n')}${more(page.next_cursor)}`,
      content: { sampled: result.sampled, fields: page.entries, next_cursor: page.next_cursor },
    }
  },
})

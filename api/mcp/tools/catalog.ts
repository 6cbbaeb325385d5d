/** The tools that look into the catalog: what there is, and one source or trigger as it is now. */
import type {
  CatalogDescription,
  Source,
  ToolCatalogDescribe,
  ToolCatalogDescribeResult,
  ToolCatalogList,
  ToolCatalogListResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { cutTo, more, PAGE_TOKENS, pageOf, tokensOf } from '../paging.ts'
import { renderEvents } from '../timeline-text.ts'
import { defineTool, READS } from '../tool.ts'

export const catalogList = defineTool<ToolCatalogList, ToolCatalogListResult>({
  name: 'catalog_list',
  title: 'List the catalog',
  description:
    'Every source, trigger and project with its handle. catalog_describe tells of a source or trigger.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ cursor }, { daemon, signal }) {
    const { sources, triggers, projects } = await daemon.ask(calls.listCatalog, {}, signal)
    const page = pageOf(
      [
        ...sources.map(({ name, type, projects }) => ({ handle: `source:${name}`, about: type, projects })),
        ...triggers.map(({ name, project, sources }) => ({
          handle: `trigger:${name}`,
          about: `watches ${sources.join(', ') || 'no source'}`,
          projects: project === null ? [] : [project],
        })),
        ...projects.map(({ id, name, template }) => ({
          handle: `project:${id}`,
          about: `${name} (${template})`,
          projects: [],
        })),
      ],
      cursor,
    )
    const lines = page.entries.map(({ handle, about }) => `${handle}: ${about}`)
    return {
      text: (lines.join('\n') || 'nothing is declared yet') + more(page.next_cursor),
      content: { entries: page.entries, next_cursor: page.next_cursor },
    }
  },
})

export const catalogDescribe = defineTool<ToolCatalogDescribe, ToolCatalogDescribeResult>({
  name: 'catalog_describe',
  title: 'Describe a source or trigger',
  description:
    'One source (event types, labels with values, which one names the entity, newest events) or one trigger (definition, subscribers), and what leads to what.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run({ handle }, { daemon, signal }) {
    const found = await daemon.ask(calls.describeInCatalog, { handle }, signal)
    const text = withinPage(found.kind === 'source' ? linesOfSource(found) : linesOfTrigger(found))
    return { text, content: { handle, kind: found.kind, text } }
  },
})

/** Of a config, of the text of an event, and of one value of a label. */
const CONFIG_TOKENS = 800
const EVENT_TOKENS = 250
const VALUE_CHARACTERS = 60
const VALUES = 8

/** What it is and what came of it first; then its labels, of which there may be many. */
function linesOfSource({ handle, entry, freshness, ...found }: CatalogDescription): string[] {
  const { connector, mode, state, config, projects } = entry as Partial<Source>
  const told = found.schema ?? { event_types: [], fields: {}, sampled_events: 0 }
  const { last_event_time: last, events_total: total, status } = freshness ?? {}
  const leads = found.lineage.map(({ to }) => to).join(', ')
  const newest = (found.sample ?? []).map((event) => cutTo(renderEvents([event]), EVENT_TOKENS).text)
  const labels = Object.entries(found.labels ?? {}).map(([name, values]) => {
    const isEntity = name === found.primary_label
    const some = values.slice(0, VALUES).map(({ value, events }) => `${cutValue(value)} ×${events}`)
    const more = values.length > VALUES ? ', …' : ''
    return `  ${name}${isEntity ? ' (names the entity)' : ''}, ${told.fields[name] ?? 'string'}: ${some.join(', ')}${more}`
  })
  return [
    `${handle}: ${connector}, ${mode}, ${state}; ${status}, ${total} events, newest ${last ?? 'none'}${projects?.length ? `; of ${projects.join(', ')}` : ''}`,
    `entity: ${found.primary_label ? `label ${found.primary_label}` : 'no label names one'}`,
    `event types: ${told.event_types.map(cutValue).join(', ') || 'none yet'}`,
    `watched by: ${leads || 'no trigger'}`,
    `config: ${cutTo(JSON.stringify(config ?? {}), CONFIG_TOKENS).text}`,
    ...(newest.length ? ['newest events:', ...newest] : []),
    `labels of its newest ${told.sampled_events} events, most frequent values first:`,
    ...(labels.length ? labels : ['  none']),
  ]
}

function linesOfTrigger({ handle, entry, subscribers, lineage }: CatalogDescription): string[] {
  return [
    `${handle}: ${String(entry.sentence ?? entry.description ?? '')}`,
    ...lineage.map(({ from, to, transform }) => `${from} → ${to} (${transform})`),
    `subscriptions: ${subscribers ?? 0}`,
    `definition: ${JSON.stringify(entry)}`,
  ]
}

const cutValue = (value: string): string =>
  value.length > VALUE_CHARACTERS ? `${value.slice(0, VALUE_CHARACTERS)}…` : value

/** As many lines as a page holds. */
function withinPage(lines: readonly string[]): string {
  const kept: string[] = []
  let tokens = 0
  for (const line of lines) {
    tokens += tokensOf(`${line}\n`)
    if (tokens > PAGE_TOKENS && kept.length > 0) break
    kept.push(cutTo(line, PAGE_TOKENS).text)
  }
  const left = lines.length - kept.length
  return [...kept, ...(left ? [`… and ${left} more: list_entities has the values of a label`] : [])].join(
    '\n',
  )
}

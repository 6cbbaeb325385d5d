/** The tools that look into the catalog: what there is, and one source or trigger as it is now. */
import type {
  ToolCatalogDescribe,
  ToolCatalogDescribeResult,
  ToolCatalogList,
  ToolCatalogListResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { more, pageOf } from '../paging.ts'
import { defineTool, READS } from '../tool.ts'

export const catalogList = defineTool<ToolCatalogList, ToolCatalogListResult>({
  name: 'catalog_list',
  title: 'List the catalog',
  description:
    'Every source, trigger and project with its handle. catalog_describe says what one of them is like.',
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
    const text = JSON.stringify(found)
    return { text, content: { handle, kind: found.kind, text } }
  },
})

/** The tool list_entities: which labels and values there are. */
import type {
  EntitiesResult,
  LabelFacet,
  ToolListEntities,
  ToolListEntitiesResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { more, pageOf } from '../paging.ts'
import { defineTool, READS, ToolError } from '../tool.ts'

/** Values the daemon gives of one label, at most. */
const VALUES_MAX = 500
const VALUES_EACH = 10
const LIMIT = 20

export const listEntities = defineTool<ToolListEntities, ToolListEntitiesResult>({
  name: 'list_entities',
  title: 'List entities',
  description:
    'Labels and their values with how many events carry each: how entities are called here. With label, the values of that one.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  async run({ label, prefix, limit = LIMIT, cursor }, { daemon, signal }) {
    if (label === undefined) {
      if (prefix !== undefined) throw new ToolError('prefix needs a label', 'prefix')
      const each = Math.min(limit, VALUES_EACH)
      const { labels } = (await daemon.ask(calls.listEntities, { limit: each }, signal)) as EntitiesResult
      const page = pageOf(labels.map(shown), cursor)
      return answer(page.entries, page.next_cursor)
    }
    const asked = { label, prefix, limit: VALUES_MAX }
    const facet = (await daemon.ask(calls.listEntities, asked, signal)) as LabelFacet
    const page = pageOf(facet.values, cursor, limit)
    return answer([shown({ ...facet, values: page.entries })], page.next_cursor)
  },
})

type Shown = ToolListEntitiesResult['labels'][number]

const shown = ({ label, primary, distinct, values }: LabelFacet): Shown => ({
  label,
  primary,
  distinct,
  values,
})

function answer(labels: Shown[], next: string | null) {
  const lines = labels.map(
    ({ label, primary, distinct, values }) =>
      `${label}${primary ? ' (names entities)' : ''}, ${distinct} values: ${values.map(({ value, events }) => `${value} (${events})`).join(', ')}`,
  )
  return {
    text: (lines.join('\n') || 'no events are stored yet') + more(next),
    content: { labels, next_cursor: next },
  }
}

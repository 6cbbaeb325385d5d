/** The tools list_entities, which labels and values there are, and neighbours, what an entity is connected with. */
import { entityWord } from '../../../schemas/entity-word.ts'
import { escapeLine } from '../../../schemas/plain-text.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  EntitiesResult,
  LabelFacet,
  ToolListEntities,
  ToolListEntitiesResult,
  ToolNeighbours,
  ToolNeighboursResult,
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
    const rest =
      page.next_cursor === null && facet.distinct > facet.values.length
        ? `\nthose are the first ${facet.values.length} of ${facet.distinct} values: give a prefix for the others`
        : ''
    return answer([shown({ ...facet, values: page.entries })], page.next_cursor, rest)
  },
})

type Shown = ToolListEntitiesResult['labels'][number]

const shown = ({ label, primary, distinct, values }: LabelFacet): Shown => ({
  label,
  primary,
  distinct,
  values,
})

/** @param rest what is not listed, behind all that is */
function answer(labels: Shown[], next: string | null, rest = '') {
  const lines = labels.map(
    ({ label, primary, distinct, values }) =>
      `${label}${primary ? ' (names entities)' : ''}, ${countWords(distinct, 'value')}: ${values.map(({ value, events }) => `${escapeLine(String(value))} (${events})`).join(', ')}`,
  )
  return {
    text: (lines.join('\n') || 'no events are stored yet') + more(next) + rest,
    content: { labels, next_cursor: next },
  }
}

/** An edge in words that follow the entity. */
const WORDS: Readonly<Record<ToolNeighboursResult['neighbours'][number]['edge'], string>> = {
  ...{ calls: 'calls', called_by: 'is called by', runs_on: 'runs on', runs: 'runs' },
  ...{ owned_by: 'is owned by', owns: 'owns' },
}

export const neighbours = defineTool<ToolNeighbours, ToolNeighboursResult>({
  name: 'neighbours',
  title: 'Neighbours of an entity',
  description:
    'What an entity calls, runs on and is owned by, and the reverse, each with its open incidents: where a fault may come from.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  async run({ label, value }, { daemon, signal }) {
    const asked = { label, value }
    const found = await daemon.ask(calls.entityNeighbours, asked, signal)
    const { names = [`${label}=${value}`], is_cut, neighbours: all } = found
    const lines = all.map(({ edge, by, count, open_incidents: open, ...name }) => {
      const known = by === 'rules' ? 'by a rule' : `${count} in ${by}`
      const trouble = open ? `, ${open} open ${open === 1 ? 'incident' : 'incidents'}` : ''
      return `${WORDS[edge]} ${entityWord(name.label, name.value)} (${known}${trouble})`
    })
    // One that was mistyped has none, either; a read says so of it.
    const asksOne = { body: { selector: { [label]: value }, limit: 1 } }
    const { notice } = lines.length ? {} : await daemon.ask(calls.read, asksOne, signal)
    const bound = is_cut
      ? ['looked at its newest 2,000 events and 40 traces of 24 hours alone: there may be more']
      : []
    return {
      text: [
        names.map(escapeLine).join(', '),
        ...(lines.length
          ? lines
          : [`no neighbours found${notice === undefined ? '' : `: ${escapeLine(notice)}`}`]),
        ...bound,
      ].join('\n'),
      content: {
        names,
        neighbours: all.map(({ title: _t, entity: _e, kind: _k, ...one }) => one),
        is_cut,
      },
    }
  },
})

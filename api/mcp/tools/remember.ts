/** The tool remember: an observation onto an entity's timeline. */

import { namedEntity } from '../../../schemas/entity-word.ts'
import type { ToolRemember, ToolRememberResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { adds, defineTool } from '../tool.ts'

export const remember = defineTool<ToolRemember, ToolRememberResult>({
  name: 'remember',
  title: 'Remember an observation',
  description:
    'Keeps an observation on the timeline of an entity, for you and others to read later. Results of an investigation go to record_finding. Never keep secrets.',
  scope: 'ingest',
  ofProject: false,
  hints: adds(),
  aliases: { key: 'entity' },
  async run({ entity: said, ...rest }, { daemon, signal }) {
    const { entity = said, ...named } = namedEntity({ entity: said, label: rest.label })
    const args = { ...rest, ...named }
    const { source, ingested, id } = await daemon.ask(
      calls.remember,
      { body: { ...args, key: entity } },
      signal,
    )
    const { label = 'key' } = args
    const hint =
      args.label === undefined
        ? `. No label was named: to have it on the timeline of an entity that has one, such as service=${entity}, name its label`
        : ''
    return {
      text: ingested
        ? `remembered on the timeline of ${label}=${entity}${id ? ` (${id})` : ''}${hint}`
        : 'the same was remembered before',
      content: { stored: ingested > 0, source, event_id: id ?? null, event: id ?? null },
    }
  },
})

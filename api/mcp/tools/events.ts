/** The tools of one event: the whole of it, and why it woke somebody or nobody. */
import type {
  InspectedRecord,
  ToolGetEvent,
  ToolGetEventResult,
  ToolWhy,
  ToolWhyResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { more } from '../paging.ts'
import { defineTool, READS } from '../tool.ts'

const TOKENS = 6_000

export const getEvent = defineTool<ToolGetEvent, ToolGetEventResult>({
  name: 'get_event',
  title: 'Read one event',
  description:
    'One event with its payload as received, in pages. For what a line cuts off: stack traces, diffs, request ids.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  aliases: { id: 'event_id', event: 'event_id' },
  async run({ event_id: id, max_tokens = TOKENS, cursor, project }, { daemon, signal }) {
    const { heading, text, record, next_cursor } = await daemon.ask(
      calls.inspect,
      { body: { tool: 'event', id, max_tokens, cursor, project } },
      signal,
    )
    // A document has an id like an event, and no payload of its own.
    const { payload = text, payload_bytes = Buffer.byteLength(text), ...known } = record ?? NO_RECORD
    return {
      text: `${heading}\n${text}${more(next_cursor)}`,
      content: {
        event_id: id,
        ...known,
        id,
        ...{ payload, payload_bytes, cut: next_cursor !== null || cursor !== undefined, next_cursor },
      },
    }
  },
})

const NO_RECORD: Partial<InspectedRecord> & Omit<InspectedRecord, 'payload' | 'payload_bytes'> = {
  ...{ id: '', source: '', event_type: 'reference', event_time: '', ingested_at: '' },
  ...{ entity: null, labels: {}, text: '' },
}

export const why = defineTool<ToolWhy, ToolWhyResult>({
  name: 'why',
  title: 'Why it fired, or did not',
  description:
    'What each trigger that watches its source made of an event: fired, in cooldown, below the threshold, filtered out, with numbers.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  aliases: { id: 'event_id', event: 'event_id' },
  async run({ event_id: id, trigger }, { daemon, signal }) {
    const { event_id, records } = await daemon.ask(calls.why, { id, trigger }, signal)
    const shown = records.map(({ trigger, reason, text, key, at, dispatch_id, recomputed }) => ({
      trigger,
      reason,
      text,
      key,
      at,
      dispatch_id,
      recomputed,
    }))
    return {
      text:
        shown.map((one) => `${one.trigger}: ${one.reason}. ${one.text}`).join('\n') ||
        `no trigger watches the source of ${event_id}`,
      content: { event_id, event: event_id, records: shown },
    }
  },
})

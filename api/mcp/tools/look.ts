/** The tools that look, as the service's own agents have them; the daemon does the work. */
import type {
  InspectRequest,
  InspectResult,
  ToolChanged,
  ToolChangedResult,
  ToolDocument,
  ToolDocumentResult,
  ToolSeries,
  ToolSeriesResult,
  ToolTrace,
  ToolTraceResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { more } from '../paging.ts'
import { type Answer, type Context, defineTool, READS } from '../tool.ts'

const TOKENS = 6_000

const reading = { scope: 'read', ofProject: true, hints: READS } as const

export const changed = defineTool<ToolChanged, ToolChangedResult>({
  ...{ name: 'changed', title: 'What changed', ...reading },
  description:
    'What is unusual of a window against the time before: requests on another path, changes, numbers that moved, lines new, risen or stopped. Start here; without selector it looks at everything.',
  run: (args, context) => look({ tool: 'changed', ...args }, context),
})

export const series = defineTool<ToolSeries, ToolSeriesResult>({
  ...{ name: 'series', title: 'A number over time', ...reading },
  description: 'Percentiles, changes of level and ranges; without numbers, counts of events.',
  run: (args, context) => look({ tool: 'series', ...args }, context),
})

export const trace = defineTool<ToolTrace, ToolTraceResult>({
  ...{ name: 'trace', title: 'Read a trace', ...reading },
  description: 'Events and spans of one trace id, or the steps of a run, in order.',
  aliases: { id: 'trace_id' },
  run: ({ trace_id: id, ...args }, context) => look({ tool: 'trace', id, ...args }, context),
})

export const document = defineTool<ToolDocument, ToolDocumentResult>({
  ...{ name: 'document', title: 'Read a document', ...reading },
  description: 'A reference document, such as a runbook, whole and in pages; or a list of them.',
  aliases: { id: 'document_id' },
  run: ({ document_id: id, ...args }, context) =>
    look({ tool: 'document', ...(id === undefined ? {} : { id }), ...args }, context),
})

async function look(
  { max_tokens = TOKENS, ...question }: InspectRequest,
  { daemon, signal }: Context,
): Promise<Answer<Pick<InspectResult, 'heading' | 'text' | 'from' | 'to' | 'next_cursor'>>> {
  const { heading, text, from, to, next_cursor } = await daemon.ask(
    calls.inspect,
    { body: { ...question, max_tokens } },
    signal,
  )
  return {
    text: `${heading}\n${text}${more(next_cursor)}`,
    content: {
      ...{ heading, text, next_cursor },
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    },
  }
}

/** The tool stats: what changed, by counts. */
import type { ToolStats, ToolStatsResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { defineTool, READS } from '../tool.ts'

export const stats = defineTool<ToolStats, ToolStatsResult>({
  name: 'stats',
  title: 'Count what changed',
  description:
    'How often each value of a label came in a window, against the window before it; what changed most comes first.',
  scope: 'read',
  ofProject: true,
  hints: READS,
  async run(args, { daemon, signal }) {
    const {
      stats: table,
      by,
      window,
      rows,
      total,
      values,
      notice,
      gaps,
    } = await daemon.ask(calls.stats, { body: args }, signal)
    return {
      text: table,
      content: {
        table,
        by,
        window,
        rows,
        total,
        values,
        ...(notice === undefined ? {} : { notice }),
        ...(gaps ? { gaps } : {}),
      },
    }
  },
})

/** The tool stats: what changed, by counts. */
import type { StatsResult, ToolStats, ToolStatsResult } from '../../../schemas/types.ts'
import { defineTool, READS } from '../tool.ts'

export const stats = defineTool<ToolStats, ToolStatsResult>({
  name: 'stats',
  title: 'Count what changed',
  description:
    'How often each value of a label came in a window, against the window before it; what changed most comes first. Use it when you do not know yet which entity to read: by event_type or source shows what is new, by a label such as service shows who is noisy. Follow up with read.',
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
    } = await daemon.post<StatsResult>('/api/stats', args, signal)
    return {
      text: table,
      content: { table, by, window, rows, total, values, ...(notice === undefined ? {} : { notice }) },
    }
  },
})

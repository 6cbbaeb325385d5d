/**
 * A part that is only there or not: an agent or an MCP server. Whether an agent runs is said by the
 * wiring of each project, not here. Undoing a delete brings the part back.
 */
import { createMachine } from 'xstate'
import type { Lifecycle } from './step.ts'

const partNamed = (id: string): Lifecycle => ({
  version: 1,
  events: { delete: 'take it away from every project', restore: 'undo the delete' },
  machine: createMachine({
    id,
    initial: 'active',
    states: {
      active: { description: 'there for the projects that use it', on: { delete: 'deleted' } },
      deleted: { description: 'gone, until its delete is undone', on: { restore: 'active' } },
    },
  }),
})

export const agent = partNamed('agent')
export const mcpServer = partNamed('mcp_server')

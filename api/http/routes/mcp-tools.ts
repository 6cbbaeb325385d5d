/** The tools that `svc mcp` offers, for who sets one up. */
import type { FastifyInstance } from 'fastify'
import type { Doors } from '../doors.ts'
import { describe, NO_QUERY } from './route.ts'

export function mcpToolRoutes(app: FastifyInstance, _doors: Doors): void {
  app.get(
    '/api/mcp/tools',
    describe(
      'instance',
      'listOfferedTools',
      'Tools of svc mcp, and what each is for',
      200,
      {
        listOf: 'offered-tool.json',
      },
      NO_QUERY,
    ),
    async () => {
      // Loaded when it is asked for: the daemon serves none of them.
      const { tools } = await import('../../mcp/tools/index.ts')
      return tools.map(({ name, description }) => ({ name, description }))
    },
  )
}

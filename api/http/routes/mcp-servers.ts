/** MCP servers agents may use (SPEC.md, Endpoints); their credentials never leave. */
import type { FastifyInstance } from 'fastify'
import type { McpServerWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body } from '../validate.ts'
import { withEtag, writeBy } from '../write-by.ts'
import { describe } from './route.ts'

type Named = { Params: { name: string } }
const TAG = 'mcp servers'

export function mcpServerRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get(
    '/api/mcp-servers',
    describe(TAG, 'listMcpServers', 'List MCP servers', 200, 'mcp-servers-result.json'),
    async () => engine.listMcpServers(),
  )
  app.get<Named>(
    '/api/mcp-servers/:name',
    describe(TAG, 'getMcpServer', 'One MCP server', 200, 'mcp-server.json'),
    async ({ params }, reply) => withEtag(reply, await engine.getMcpServer(params.name)),
  )
  app.post<{ Body: McpServerWrite }>(
    '/api/mcp-servers',
    describe(TAG, 'createMcpServer', 'Register an MCP server', 201, 'part-written.json', {
      body: body('request-mcp-server-write.json'),
    }),
    async (request, reply) =>
      withEtag(reply.code(201), await engine.createMcpServer(request.body, writeBy(request))),
  )
  app.put<Named & { Body: McpServerWrite }>(
    '/api/mcp-servers/:name',
    describe(
      TAG,
      'updateMcpServer',
      'Replace it; a blank auth_value keeps the stored one',
      200,
      'part-written.json',
      {
        body: body('request-mcp-server-write.json'),
      },
    ),
    async (request, reply) =>
      withEtag(reply, await engine.updateMcpServer(request.params.name, request.body, writeBy(request))),
  )
  app.delete<Named>(
    '/api/mcp-servers/:name',
    describe(TAG, 'deleteMcpServer', 'Delete it; it leaves every agent too', 200, 'part-deleted.json'),
    async (request) => engine.deleteMcpServer(request.params.name, writeBy(request)),
  )
  app.get(
    '/api/resources',
    describe(
      'parts',
      'listResources',
      'Every part with the projects that use it',
      200,
      'resources-result.json',
    ),
    async () => engine.resources(),
  )
}

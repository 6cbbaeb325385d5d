/** MCP servers agents may use (SPEC.md, Endpoints); their credentials never leave. */
import type { FastifyInstance } from 'fastify'
import type { McpServerTest, McpServerWrite, McpToolApprove } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, optionalBody } from '../validate.ts'
import { withEtag, writeBy } from '../write-by.ts'
import { describe } from './route.ts'

type Named = { Params: { name: string } }
type NamedTool = { Params: { name: string; tool: string } }
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
  toolRoutes(app, engine)
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

/** Their tools: tested, listed as they are pinned, approved when they changed. */
function toolRoutes(app: FastifyInstance, engine: Doors['engine']): void {
  app.post<{ Body: McpServerTest }>(
    '/api/mcp-servers/test',
    describe(
      TAG,
      'tryMcpServer',
      'Connect to one that is not saved, and list its tools',
      200,
      'mcp-test-result.json',
      { body: body('request-mcp-server-test.json') },
    ),
    async (request) => engine.tryMcpServer(request.body),
  )
  app.post<Named>(
    '/api/mcp-servers/:name/test',
    describe(
      TAG,
      'testMcpServer',
      'Connect to it and list its tools; new ones are pinned',
      200,
      'mcp-test-result.json',
    ),
    async ({ params }) => engine.testMcpServer(params.name),
  )
  app.get<Named>(
    '/api/mcp-servers/:name/tools',
    describe(TAG, 'listMcpTools', 'Its tools, as they are pinned', 200, 'mcp-tools-result.json'),
    async ({ params }) => ({ tools: await engine.listMcpTools(params.name) }),
  )
  app.post<NamedTool & { Body: McpToolApprove }>(
    '/api/mcp-servers/:name/tools/:tool/approve',
    describe(TAG, 'approveMcpTool', 'Accept what a tool says now', 200, 'mcp-tool.json', {
      body: optionalBody('request-mcp-tool-approve.json'),
    }),
    async (request) =>
      engine.approveMcpTool(
        request.params.name,
        request.params.tool,
        request.body?.hash,
        writeBy(request).caller,
      ),
  )
}

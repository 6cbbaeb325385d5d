/** Connecting agents from outside: who is there, and the skill that teaches them (docs/mcp.md). */
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { bundledSkillFile } from '../../../engine/index.ts'
import type { ConnectInfo, McpClientSeen } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { McpClients } from '../mcp-clients.ts'
import { baseOf, telemetryUrlOf } from '../oauth/resources.ts'
import { body } from '../validate.ts'
import { describe, NO_QUERY } from './route.ts'

const TAG = 'connect'

export function connectRoutes(app: FastifyInstance, { config, clock }: Doors): void {
  const clients = new McpClients()
  app.get(
    '/api/connect',
    describe(
      TAG,
      'getConnect',
      'Where agents connect, and who is connected',
      200,
      'connect-info.json',
      NO_QUERY,
    ),
    async (request): Promise<ConnectInfo> => ({
      public_url: config.publicUrl,
      telemetry_url: telemetryUrlOf(baseOf(request, config)),
      now: new Date(clock.now()).toISOString(),
      clients: clients.all(),
    }),
  )
  app.post<{ Body: McpClientSeen }>(
    '/api/connect/clients',
    describe(TAG, 'noteMcpClient', 'svc mcp tells what a client asked of it', 200, 'done.json', {
      body: body('request-mcp-client-seen.json'),
    }),
    async (request) => {
      clients.note(request.identity, request.body, clock.now())
      return { ok: true }
    },
  )
  app.get(
    '/api/connect/skill',
    describe(
      TAG,
      'downloadAgentSkill',
      'The SKILL.md that teaches an agent to use svc',
      200,
      {
        media: { 'text/markdown': null },
      },
      NO_QUERY,
    ),
    async (_request, reply) =>
      reply
        .type('text/markdown; charset=utf-8')
        .header('content-disposition', 'attachment; filename="SKILL.md"')
        .send(await readFile(bundledSkillFile(), 'utf8')),
  )
}

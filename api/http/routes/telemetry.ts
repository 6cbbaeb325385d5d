/**
 * The telemetry query server at /telemetry/mcp (SPEC.md, Telemetry query server and its authentication), and the one
 * call that only it makes. Its refusals are its own, in plain text with the address of its metadata, so the guard
 * leaves it to this file who may ask.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Operation, operations, SvcError } from '../../../engine/index.ts'
import type { TelemetryKeyCreate } from '../../../schemas/types.ts'
import type { Call } from '../../client/call.ts'
import * as calls from '../../client/calls.ts'
import type { Refused, TelemetryCaller, TelemetryServer } from '../../mcp/telemetry/server.ts'
import { type Ask, KEYS_SCOPE } from '../../mcp/telemetry/tools.ts'
import { ToolError } from '../../mcp/tool.ts'
import { askedBy } from '../asked.ts'
import { type Identity, identityShown } from '../auth.ts'
import type { Doors } from '../doors.ts'
import { checkOrigin } from '../guard.ts'
import { baseOf, kindOf, TELEMETRY_PATH, telemetryUrlOf, workspaceOf } from '../oauth/resources.ts'
import { body } from '../validate.ts'
import { callerOf, userOf } from '../write-by.ts'
import { describe } from './route.ts'

const MESSAGE_MAX = 256 * 1024

/** Loaded for who asks first: the MCP SDK and its schemas were a sixth of the processor time of a start (2026-11-26). */
const load = () => import('../../mcp/telemetry/server.ts')

export function telemetryRoutes(app: FastifyInstance, doors: Doors): void {
  const { config, log } = doors
  let server: TelemetryServer | undefined
  app.route<{ Body: unknown }>({
    method: ['GET', 'POST', 'DELETE'],
    url: TELEMETRY_PATH,
    schema: { hide: true },
    bodyLimit: MESSAGE_MAX,
    // Before the body is read: what nobody may ask takes no memory.
    preParsing: async (request, reply) => {
      const { secured } = doors.auth
      checkOrigin(request.raw, { ...config, secured }, true)
      if (doors.stopping()) throw new SvcError('unavailable', 'the daemon is stopping', { retryAfter: 5 })
      const base = baseOf(request, config)
      const { identity, hasCredential } = doors.auth.identifyFor(request, telemetryUrlOf(base))
      if (identity) request.identity = identity
      else await refuse(reply, (await load()).unknownCaller(hasCredential), base)
    },
    handler: async (request, reply) => {
      const { identity, body: message } = request
      if (Array.isArray(message))
        throw new SvcError(
          'invalid',
          'send one message a request: batches are no part of the protocol any more',
        )
      const shown = identityShown(identity)
      const telemetry = await load()
      const refused = telemetry.refusedTo(shown, message)
      if (refused) return refuse(reply, refused, baseOf(request, config))
      reply.hijack()
      const caller: TelemetryCaller = { identity: shown, ask: askAs(request, reply, doors) }
      const workspace = () => workspaceOf(config.publicUrl)
      server ??= new telemetry.TelemetryServer({ ...{ version: config.version, log }, workspace })
      await server.serve(caller, message, request.raw, reply.raw)
    },
  })
  app.post<{ Body: TelemetryKeyCreate }>(
    '/api/telemetry/keys',
    describe(
      'access',
      'createTelemetryKey',
      'Make a key in a session of the telemetry query server',
      201,
      'key-created.json',
      {
        body: body('request-telemetry-key-create.json'),
      },
    ),
    async (request, reply) => {
      const created = await createKey(doors, request.identity, request.body)
      return reply.code(201).header('cache-control', 'no-store').send(created)
    },
  )
}

async function refuse(reply: FastifyReply, refused: Refused, base: string): Promise<void> {
  reply.hijack()
  const { refuseTelemetry } = await load()
  refuseTelemetry(reply.raw, refused, `${base}/.well-known/oauth-protected-resource${TELEMETRY_PATH}`)
}

/** SPEC.md, create_api_key: admin-gated, and in a session that a person signed in to alone. @throws SvcError forbidden */
async function createKey(doors: Doors, identity: Identity, asked: TelemetryKeyCreate) {
  const { oauth } = identity
  const isConsented =
    oauth !== null &&
    kindOf(oauth.resource) === 'telemetry' &&
    oauth.is_admin &&
    oauth.scopes.includes(KEYS_SCOPE)
  if (!identity.isAnybody && !isConsented)
    throw new SvcError(
      'forbidden',
      'only a client that a person with admin access let make keys may make one here',
    )
  const created = await doors.engine.createKey(asked, callerOf(identity))
  await doors.auth.refresh()
  return created
}

const byRoute = new Map<string, Operation>(operations.map((one) => [one.route, one]))

/** Calls of the API as the caller makes them, without a connection: the same operations, narrowed to its project. */
function askAs(request: FastifyRequest, reply: FastifyReply, doors: Doors): Ask {
  const { identity } = request
  return async <T, Input>(call: Call<T, Input>, ...[given]: unknown[]): Promise<T> => {
    const { body: sent, id, ...query } = (given ?? {}) as Record<string, unknown>
    try {
      if ((call as string) === (calls.createTelemetryKey as string))
        return (await createKey(doors, identity, sent as TelemetryKeyCreate)) as T
      const operation = byRoute.get(call)
      if (!operation) throw new Error(`no operation has the route ${call}`)
      return (await doors.engine.perform(operation.id, {
        ...{ params: { id }, query, body: sent },
        caller: { ...callerOf(identity), scopes: identity.scopes },
        project: identity.project,
        user: userOf(request, doors.config.userHeader),
        secured: doors.auth.secured,
        by: { caller: callerOf(identity), origin: 'mcp' },
        asked: askedBy(request, reply, doors),
      })) as T
    } catch (error) {
      if (error instanceof SvcError && error.code !== 'internal') throw new ToolError(error.message)
      throw error
    }
  }
}

/**
 * The HTTP door. The order of checks, each cheaper than the next and none reading the body: raw
 * headers → Host → credential → Origin → scope → then content type, size, schema, engine.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import fastifyCookie from '@fastify/cookie'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import {
  type Clock,
  type Engine,
  handleLimit,
  nouns,
  type Operation,
  SvcError,
  systemClock,
} from '../../engine/index.ts'
import { otlpRoutes } from '../otlp/routes.ts'
import { startOtlpGrpc } from '../otlp/start.ts'
import { startSyslog } from '../syslog/start.ts'
import { Authenticator, checkAudience, type Identity, isBounded, requireScope } from './auth.ts'
import { BodyBudget, refuseIdempotencyKey, streamBudget } from './body-budget.ts'
import { limitBodyTime } from './body-time.ts'
import { Connections, connectionBounds } from './connections.ts'
import { type Checked, DirectIngest } from './direct-ingest.ts'
import type { Doors, OtlpGrpcState, ServerConfig } from './doors.ts'
import { checkHost, checkOrigin, checkRawHeaders, outcomeOf } from './guard.ts'
import { takeJson } from './json.ts'
import { isApiPath, lacksName, notFound } from './not-found.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { registerOpenapi } from './openapi.ts'
import { serve } from './operations.ts'
import { packAnswers } from './pack-answers.ts'
import { asSvcError, problemHandler, sendProblem } from './problems.ts'
import { checkProjectKey } from './project-key.ts'
import { readOutRefused } from './read-out.ts'
import { askRoutes } from './routes/ask.ts'
import { connectRoutes } from './routes/connect.ts'
import { healthRoutes } from './routes/health.ts'
import { ingestRoutes } from './routes/ingest.ts'
import { loginRoutes } from './routes/logins.ts'
import { mcpToolRoutes } from './routes/mcp-tools.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { pushRoutes } from './routes/pushes.ts'
import { ingestUrlOf, isHandshake, keyOfSender } from './routes/sender-answers.ts'
import { sessionRoutes } from './routes/session.ts'
import { slackRoutes } from './routes/slack.ts'
import { tailRoutes } from './routes/tail.ts'
import { telemetryRoutes } from './routes/telemetry.ts'
import { isKeyless, type Scope, scopeOf } from './scopes.ts'
import { sendSecurityHeaders } from './security-headers.ts'
import { registerConsole } from './static.ts'
import { SYSLOG_OFF, type SyslogSettings, type SyslogState } from './syslog-state.ts'
import { refuseUnasked, refuseUnread } from './unread.ts'
import { schemaController } from './validate.ts'

/** Routes in the order of the API document: tables of operations, and between them those made by hand. */
const order: readonly (readonly Operation[] | ((app: FastifyInstance, doors: Doors) => void))[] = [
  ...[healthRoutes, nouns.instance, metricsRoutes, sessionRoutes, nouns.sources, nouns.triggers],
  ...[nouns.incidents, nouns.maintenance],
  ...[nouns.firings, nouns.deliveries, nouns.runs, nouns.evals, nouns.agentTests],
  ...[nouns.subscriptions, nouns.agents, nouns.mcpServers, mcpToolRoutes, nouns.skills],
  ...[nouns.projects, nouns.results, nouns.replay, nouns.graph, nouns.changes, nouns.proposals],
  ...[nouns.setup, nouns.catalog, nouns.entities, nouns.events, tailRoutes, askRoutes, nouns.ask, nouns.keys],
  ...[
    loginRoutes,
    nouns.logins,
    oauthRoutes,
    nouns.oauthSessions,
    telemetryRoutes,
    connectRoutes,
    nouns.settings,
    nouns.providerA,
    nouns.credentials,
  ],
  ...[nouns.demo, nouns.workspaces],
  ...[nouns.slack, slackRoutes, pushRoutes, ingestRoutes, otlpRoutes],
]

const JSON_BODY_MAX = 1024 * 1024
const TOUCH_EVERY_MS = 60_000

/** How the server reads requests. */
const HTTP = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  // body-time.ts ends a request whose body does not come.
  requestTimeout: 0,
  keepAliveTimeout: 75_000,
  // A request without a Host is refused by the guard: Node's own answer has no body.
  requireHostHeader: false,
}

/** Builds the server; it listens when told to. */
export async function buildServer({
  engine,
  config,
  log,
  clock = systemClock,
}: {
  engine: Engine
  config: ServerConfig
  log: Logger
  clock?: Clock
}): Promise<FastifyInstance> {
  let handOver: (request: IncomingMessage, response: ServerResponse) => void
  const app = Fastify({
    schemaController: schemaController as never,
    bodyLimit: JSON_BODY_MAX,
    // Routes of their own for HEAD were a third of all, and a sixth of the time to build this.
    exposeHeadRoutes: false,
    // No part that is added waits for anything, so a bound guards nothing: it was two timers for each route.
    pluginTimeout: 0,
    rewriteUrl: (request) => ingestUrlOf(request, auth),
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (error, _request, reply) => sendProblem(reply as never, asSvcError(error, log)) as never,
    clientErrorHandler: refuseUnread,
    // While it ends, the guard refuses in our words.
    return503OnClosing: false,
    serverFactory: (handOn) => {
      handOver = handOn
      return createServer(HTTP, (request, response) => direct.take(request, response))
    },
  })
  nameParts(app)
  takeJson(app)
  app.setErrorHandler(problemHandler(log) as never)

  const auth = new Authenticator(engine, config.rootToken, () => clock.now(), config.isProxy)
  await auth.refresh()
  await auth.resume()
  const doors = createDoors(app, engine, auth, { config, log, clock })
  const direct = new DirectIngest(doors, (request) => guard(request, doors), handOver!)
  app.decorateRequest('identity', null as never)
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat())
      if (method !== 'OPTIONS' && scopeOf(method, route.url) === undefined)
        throw new Error(`route ${method} ${route.url} has no scope in scopes.ts`)
  })
  await app.register(fastifyCookie)
  sendSecurityHeaders(app)
  packAnswers(app)
  limitBodyTime(app)
  refuseUnasked(app.server)
  readOutRefused(app, (socket) => doors.connections.refuse(socket))
  guardAll(app, doors)
  await registerOpenapi(app, config.version)
  for (const routes of order)
    if (typeof routes === 'function') routes(app, doors)
    else await serve(app, doors, routes)
  registerConsole(app, config.consoleDir)
  app.setNotFoundHandler((request, reply) => notFound(request, reply))
  return app
}

/** Refuses what may not be asked before its body is read. */
function guardAll(app: FastifyInstance, doors: Doors): void {
  app.addHook('onRequest', (request, reply, done) => {
    try {
      guard(request, doors)
      if (isKeyless(request.method, request.routeOptions.url)) refuseIdempotencyKey(request)
    } catch (error) {
      return done(error as Error)
    }
    if (lacksName(request)) notFound(request, reply)
    else done()
  })
}

/**
 * Gives each part that is added a name: for the name of one that has none Fastify looks through every module that is loaded,
 * twice, a seventh of what a server took in a process that has loaded many (2026-11-29).
 */
function nameParts(app: FastifyInstance): void {
  const NAME = Symbol.for('fastify.display-name')
  const register = app.register as never as (this: FastifyInstance, part: object, options?: object) => unknown
  app.register = function (this: FastifyInstance, part: object, options?: object): unknown {
    if (!(NAME in part)) Object.assign(part, { [NAME]: 'routes' })
    return register.call(this, part, options)
  } as never
}

function createDoors(
  app: FastifyInstance,
  engine: Engine,
  auth: Authenticator,
  { config, log, clock }: Pick<Doors, 'config' | 'log' | 'clock'>,
): Doors {
  const connections = new Connections(connectionBounds(config.handles ?? handleLimit()))
  connections.watch(app.server)
  const bodies = new BodyBudget()
  bodies.relieveBy((holdsMuch) => connections.findSlowBody(holdsMuch))
  const listeners = new Set<() => void>()
  const answered: ((route: string, method: string, status: number) => void)[] = []
  const tellAnswered: Doors['tellAnswered'] = (route, method, status) => {
    for (const listener of answered) listener(route, method, status)
  }
  app.addHook('onResponse', (request, reply, done) => {
    // Unknown paths are one route: a scanner must not make a metric per guess.
    const route = request.is404 ? '(none)' : (request.routeOptions.url ?? '(none)')
    tellAnswered(route, request.method, reply.statusCode)
    done()
  })
  let stopping = false
  app.addHook('preClose', async () => {
    stopping = true
  })
  let closeGrpc = async (): Promise<void> => {}
  let closeSyslog = async (): Promise<void> => {}
  const touch = setInterval(
    () =>
      void auth
        .flushUsed()
        .catch((error: Error) => log.warn({ err: error }, 'last-used times were not written')),
    TOUCH_EVERY_MS,
  )
  touch.unref()
  app.addHook('onClose', async () => {
    clearInterval(touch)
    for (const listener of listeners) listener()
    await Promise.all([closeGrpc(), closeSyslog()])
    await auth.flushUsed()
  })
  const doors: Doors = {
    engine,
    auth,
    config,
    log,
    clock,
    bodies,
    streams: streamBudget(),
    connections,
    otlpGrpc: () => grpc,
    syslog: () => syslog,
    stopping: () => stopping,
    onAnswered: (listener) => answered.push(listener),
    tellAnswered,
    onStop: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  let grpc: OtlpGrpcState = { port: null, problem: null }
  let syslog: SyslogState = SYSLOG_OFF
  app.decorate('svc', {
    beginStop: () => {
      stopping = true
      for (const listener of [...listeners]) listener()
    },
    startOtlpGrpc: async (port: number | null) => {
      const { close, ...state } = await startOtlpGrpc(doors, port)
      closeGrpc = close
      grpc = state
      return state
    },
    startSyslog: async (settings: SyslogSettings | null) => {
      const { close, ...state } = await startSyslog(doors, settings)
      closeSyslog = close
      syslog = state
      return state
    },
  })
  return doors
}

/** Everything that can be refused before the body is read. */
function guard(request: Checked, doors: Doors): void {
  const outcome = outcomeOf(request.raw)
  if (outcome && 'error' in outcome) throw outcome.error
  if (outcome) {
    request.identity = outcome.identity
    return
  }
  const rules = {
    host: doors.config.host,
    publicUrl: doors.config.publicUrl,
    allowedHosts: doors.config.allowedHosts,
    secured: doors.auth.secured,
  }
  checkRawHeaders(request.raw)
  checkHost(request.raw, rules)
  const pattern = request.is404 ? null : (request.routeOptions.url ?? null)
  doors.connections.admit(request.raw.socket, pattern)
  const scope: Scope =
    pattern === null
      ? isApiPath(request.url) || request.method !== 'GET'
        ? 'any'
        : 'public'
      : isHandshake(request.method, pattern)
        ? 'public'
        : (scopeOf(request.method, pattern) ?? 'admin')
  // Bodies without a credential may come slowly.
  if (scope === 'public' && request.method !== 'GET')
    doors.connections.hold(request.raw.socket, null, pattern)
  // A page that holds nothing may be opened from anywhere and needs no look at credentials.
  if (scope === 'public' && !pattern?.startsWith('/api/') && pattern !== '/health') return
  const { identity, cookie } = doors.auth.identify(
    request,
    pattern === '/health',
    (pattern ?? request.url).startsWith('/ingest/') ? keyOfSender(request) : null,
  )
  checkOrigin(request.raw, rules, cookie || scope === 'public')
  if (identity) {
    checkAudience(identity, request.method, pattern)
    request.identity = identity
  }
  if (doors.stopping() && pattern !== '/health')
    throw new SvcError('unavailable', 'the daemon is stopping', { retryAfter: 5 })
  if (scope === 'public') return
  if (identity && isBounded(identity)) doors.connections.hold(request.raw.socket, identity.id, pattern)
  const isSigned =
    scope === 'signed-or-ingest' && doors.auth.ingestRoute((request.params as { key: string }).key)?.signed
  if (identity?.project && !isSigned) {
    checkProjectKey(request, identity, pattern)
    return
  }
  if (scope === 'signed-or-ingest') guardIngest(request, doors, identity)
  else if (scope === 'person') requirePerson(identity, cookie, pattern)
  else requireScope(identity, scope)
}

const ofPersons: Readonly<Record<string, string>> = {
  '/api/logins': 'approve a login',
  '/api/oauth/requests': 'sign a client in',
  '/api/oauth/decisions': 'sign a client in',
}

/**
 * What only a person does: with the operator's root token, or in a session of the console that was opened with
 * it or with the key of an approved login. A session opened with any other key is that key's.
 */
function requirePerson(identity: Identity | null, cookie: boolean, pattern: string | null): void {
  const caller = requireScope(identity, 'admin')
  if (!caller.isPerson || (!cookie && caller.id.startsWith('key:')))
    throw new SvcError(
      'forbidden',
      `only a person's session can ${ofPersons[pattern ?? ''] ?? 'take a project over'}`,
    )
}

/**
 * A source that checks signatures needs no key, nor does the look that verifies an address; a key bound to a
 * source opens that source only.
 */
function guardIngest(request: Checked, doors: Doors, identity: Identity | null): void {
  const route = doors.auth.ingestRoute((request.params as { key: string }).key)
  if (route?.signed || (request.method === 'GET' && route?.verifyCode !== undefined)) return
  const caller = requireScope(identity, 'ingest')
  if (caller.sourceId !== null && route && caller.sourceId !== route.sourceId)
    throw new SvcError('forbidden', 'this key only writes to the source it was made for')
}

/**
 * The authorization server of this instance (MCP, Authorization; OAuth 2.1): metadata, registration of clients, the
 * person's consent, tokens and their end. Clients are public: there is no secret of one, PKCE binds a code to who
 * asked. An open instance has none of it, for nothing there needs a credential.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SvcError } from '../../../engine/index.ts'
import type { OauthDecide, OauthDecided, OauthRequest, OauthRequestShow } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { describe } from '../routes/route.ts'
import { body, takes } from '../validate.ts'
import { OauthCodes } from './codes.ts'
import { OauthClients } from './documents.ts'
import { RegistrationFault, RegistrationRate, readRegistration } from './registration.ts'
import { answerUrl, type ReadRequest, readRequest } from './request.ts'
import { baseOf, kindOf, OFFERED, type ResourceKind, SCOPES, TELEMETRY_PATH } from './resources.ts'

const TAG = 'access'
const BODY_MAX = 16 * 1024
const FORM = 'application/x-www-form-urlencoded'
const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/
const ALL_SCOPES = [...new Set(Object.values(SCOPES).flat())]

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export function oauthRoutes(app: FastifyInstance, doors: Doors): void {
  metadataRoutes(app, doors)
  registrationRoute(app, doors)
  const codes = new OauthCodes(doors.clock)
  consentRoutes(app, doors, codes)
  tokenRoutes(app, doors, codes)
}

/** @throws SvcError not_found on an open instance */
function requireSecured({ auth }: Pick<Doors, 'auth'>): void {
  if (!auth.secured)
    throw new SvcError('not_found', 'this instance is open: clients need no sign-in and no credential')
}

/* Metadata: RFC 8414 and RFC 9728. */

function metadataRoutes(app: FastifyInstance, doors: Doors): void {
  const { config } = doors
  app.get(
    '/.well-known/oauth-authorization-server',
    describe(TAG, 'getOauthServer', 'Metadata of the authorization server', 200, 'oauth-server.json'),
    async (request, reply) => {
      requireSecured(doors)
      const base = baseOf(request, config)
      void reply.header('cache-control', 'no-store')
      return {
        issuer: base,
        authorization_endpoint: `${base}/oauth/authorize`,
        token_endpoint: `${base}/oauth/token`,
        registration_endpoint: `${base}/oauth/register`,
        revocation_endpoint: `${base}/oauth/revoke`,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        code_challenge_methods_supported: ['S256'],
        scopes_supported: ALL_SCOPES,
        client_id_metadata_document_supported: true as const,
        authorization_response_iss_parameter_supported: true as const,
        service_documentation: `${base}/help/telemetry`,
      }
    },
  )
  const resource = (path: string, kind: ResourceKind, name: string, id: string) =>
    app.get(
      `/.well-known/oauth-protected-resource${path}`,
      describe(TAG, id, `Metadata of ${name}`, 200, 'oauth-resource.json'),
      async (request, reply) => {
        requireSecured(doors)
        const base = baseOf(request, config)
        void reply.header('cache-control', 'no-store')
        return {
          resource: base + path,
          authorization_servers: [base],
          scopes_supported: [...SCOPES[kind]],
          bearer_methods_supported: ['header'],
          resource_name: name,
        }
      },
    )
  resource(TELEMETRY_PATH, 'telemetry', 'the telemetry query server', 'getTelemetryResource')
  // Where a proxy serves `svc mcp` under the name of the daemon (docs/mcp.md, Behind a reverse proxy).
  resource('/mcp', 'mcp', 'svc mcp', 'getMcpResource')
  resource('/sse', 'mcp', 'svc mcp over the older transport', 'getSseResource')
}

/* Registration: RFC 7591. */

function registrationRoute(app: FastifyInstance, doors: Doors): void {
  const { engine, clock, log } = doors
  const rate = new RegistrationRate(() => clock.now())
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
      done(null, bytes),
    )
    raw.post<{ Body: Buffer | undefined }>(
      '/oauth/register',
      {
        ...describe(
          ...([TAG, 'registerOauthClient', 'Register a client', 201, 'oauth-registered.json'] as const),
          takes({ 'application/json': 'request-oauth-register.json' }),
        ),
        bodyLimit: BODY_MAX,
      },
      async (request, reply) => {
        requireSecured(doors)
        rate.admit(doors.auth.addressOf(request.raw))
        return register(request.body, reply, { engine, clock, log })
      },
    )
  })
}

async function register(
  given: Buffer | undefined,
  reply: FastifyReply,
  { engine, clock, log }: Pick<Doors, 'engine' | 'clock' | 'log'>,
): Promise<FastifyReply> {
  try {
    const client = await engine.registerOauthClient(readRegistration(given?.toString('utf8') ?? ''))
    log.info({ client: client.id, name: client.name }, 'an OAuth client registered')
    return reply
      .code(201)
      .header('cache-control', 'no-store')
      .send({
        client_id: client.id,
        client_id_issued_at: Math.floor(clock.now() / 1_000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: ALL_SCOPES.join(' '),
      })
  } catch (error) {
    if (!(error instanceof RegistrationFault)) throw error
    return refuse(reply, error.error, error.message)
  }
}

/** Refuses in the form of RFC 6749, section 5.2, whose clients pass over `detail`, and of all our errors in one. */
function refuse(reply: FastifyReply, error: string, detail: string, status = 400): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error, error_description: detail.replace(/[^\x20-\x7e]|["\\]/g, "'"), detail }))
}

/* Consent: the page is the console's, at /oauth/authorize; these two calls are what it asks. */

function consentRoutes(app: FastifyInstance, doors: Doors, codes: OauthCodes): void {
  const { config, engine, log, clock } = doors
  const clients = new OauthClients(engine, clock)
  const read = (request: FastifyRequest, query: string): Promise<ReadRequest> =>
    readRequest(query, {
      ...{ client: (id: string) => clients.find(id), base: baseOf(request, config) },
      others: config.oauthResources ?? [],
    })
  app.post<{ Body: OauthRequestShow }>(
    '/api/oauth/requests',
    describe(
      TAG,
      'showOauthRequest',
      'What a client asks a person to consent to',
      200,
      'oauth-request.json',
      {
        body: body('request-oauth-request-show.json'),
      },
    ),
    async (request): Promise<OauthRequest> => {
      requireSecured(doors)
      const { client, redirectUri, request: asked, problem } = await read(request, request.body.query)
      const target = redirectUri === null ? null : new URL(redirectUri)
      return {
        client: client && clients.shown(client),
        redirect_host: target?.host ?? null,
        is_loopback: target?.protocol === 'http:',
        ...{ resource: asked?.resource ?? null, kind: asked?.kind ?? null },
        scopes: asked?.scopes ?? [],
        offered: asked ? OFFERED[asked.kind].filter((scope) => !asked.scopes.includes(scope)) : [],
        problem,
      }
    },
  )
  app.post<{ Body: OauthDecide }>(
    '/api/oauth/decisions',
    describe(TAG, 'decideOauthRequest', 'Consent to a client, or refuse it', 200, 'oauth-decided.json', {
      body: body('request-oauth-decide.json'),
    }),
    async (request, reply): Promise<OauthDecided> => {
      requireSecured(doors)
      const { allow, query, scopes } = request.body
      const { redirectUri, state, request: asked, problem } = await read(request, query)
      if (redirectUri === null) throw new SvcError('invalid', problem!.detail, { field: 'query' })
      void reply.header('cache-control', 'no-store')
      const around = { state, issuer: baseOf(request, config) }
      if (!allow || asked === null) {
        const said = allow ? problem! : { error: 'access_denied', detail: 'the person declined' }
        return {
          redirect: answerUrl(redirectUri, { error: said.error, error_description: said.detail }, around),
        }
      }
      const { client, resource, challenge, kind } = asked
      const granted = ['read', ...(scopes ?? asked.scopes)].filter(
        (scope, i, all) => all.indexOf(scope) === i,
      )
      const may = [...asked.scopes, ...OFFERED[kind]]
      const unasked = granted.find((scope) => !may.includes(scope))
      if (unasked !== undefined)
        throw new SvcError('invalid', 'scopes has one that the client did not ask for', { field: 'scopes' })
      const approverHash = doors.auth.credentialHash(request)
      if (approverHash === null)
        throw new SvcError('forbidden', 'only a person’s session can sign a client in')
      await clients.consented(client)
      const { identity } = request
      const code = codes.make({
        ...{ clientId: client.id, redirectUri, resource, challenge, scopes: granted },
        ...{ approver: identity.id, approverHash },
      })
      log.info(
        { client: client.id, by: identity.id, resource, scopes: granted },
        'a person consented to a client',
      )
      return { redirect: answerUrl(redirectUri, { code }, around) }
    },
  )
}

/* Tokens: RFC 6749 with PKCE and resource indicators; RFC 7009. */

type Fields = (name: string) => string | null

/** A form whose fields are there once at most. @returns null: one is repeated */
function fieldsOf(given: Buffer | undefined): Fields | null {
  const form = new URLSearchParams(given?.toString('utf8') ?? '')
  const names = [...form.keys()]
  if (new Set(names).size !== names.length) return null
  return (name) => form.get(name) || null
}

function tokenRoutes(app: FastifyInstance, doors: Doors, codes: OauthCodes): void {
  app.register(async (forms) => {
    forms.removeAllContentTypeParsers()
    forms.addContentTypeParser(FORM, { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
    forms.post<{ Body: Buffer | undefined }>(
      '/oauth/token',
      {
        ...describe(
          ...([
            TAG,
            'exchangeOauthToken',
            'A code or a refresh token for tokens',
            200,
            'oauth-tokens.json',
          ] as const),
          takes({ [FORM]: 'request-oauth-token.json' }),
        ),
        bodyLimit: BODY_MAX,
      },
      async (request, reply) => {
        requireSecured(doors)
        doors.auth.admit(doors.auth.addressOf(request.raw))
        const fields = fieldsOf(request.body)
        if (fields === null) return refuse(reply, 'invalid_request', 'a field is given twice')
        const grant = fields('grant_type')
        if (grant === 'authorization_code') return exchangeCode({ ...doors, codes }, fields, reply)
        if (grant === 'refresh_token') return exchangeRefresh(doors, fields, reply)
        return refuse(
          reply,
          'unsupported_grant_type',
          'grant_type must be authorization_code or refresh_token',
        )
      },
    )
    forms.post<{ Body: Buffer | undefined }>(
      '/oauth/revoke',
      {
        ...describe(
          ...([TAG, 'revokeOauthToken', 'End a token, and the session it is of', 200, 'done.json'] as const),
          takes({ [FORM]: 'request-oauth-revoke.json' }),
        ),
        bodyLimit: BODY_MAX,
      },
      async (request, reply) => {
        requireSecured(doors)
        const fields = fieldsOf(request.body)
        const [token, clientId] = [fields?.('token'), fields?.('client_id')]
        if (!token || !clientId)
          return refuse(reply, 'invalid_request', 'token and client_id are required, once')
        doors.auth.admit(doors.auth.addressOf(request.raw))
        const { isOthers, isEnded } = await doors.engine.endOauthToken({ hash: sha256(token), clientId })
        if (isEnded) await doors.auth.refresh()
        else doors.auth.noteWrong(doors.auth.addressOf(request.raw))
        if (isOthers) return refuse(reply, 'invalid_client', 'the token is of another client', 401)
        // RFC 7009, section 2.2: an unknown token is as good as one that was ended.
        return reply.header('cache-control', 'no-store').send({ ok: true })
      },
    )
  })
}

async function exchangeCode(
  { engine, auth, log, codes }: Doors & { codes: OauthCodes },
  fields: Fields,
  reply: FastifyReply,
) {
  const [code, clientId, redirectUri, verifier, resource] = [
    ...[fields('code'), fields('client_id'), fields('redirect_uri'), fields('code_verifier')],
    fields('resource'),
  ]
  if (!code || !clientId || !redirectUri || !verifier || !VERIFIER.test(verifier))
    return refuse(
      reply,
      'invalid_request',
      'code, client_id, redirect_uri and code_verifier of 43 to 128 characters are required',
    )
  const found = codes.redeem(code, { clientId, redirectUri, verifier })
  if (!found || 'again' in found) auth.noteWrong(auth.addressOf(reply.request.raw))
  if (found && 'again' in found) {
    if (found.again !== null) {
      await engine.endOauthGrant(found.again)
      await auth.refresh()
      log.warn(
        { client: clientId, session: found.again },
        'an authorization code came twice; its session was ended',
      )
    }
    return refuse(reply, 'invalid_grant', 'the code was used before')
  }
  if (!found)
    return refuse(
      reply,
      'invalid_grant',
      'the code is not good: it opens once, within 60 seconds, for the client, redirect_uri and code_verifier it was made for',
    )
  const { consent } = found
  if (resource && resource.replace(/\/$/, '') !== consent.resource)
    return refuse(reply, 'invalid_target', 'resource is not the one that was consented to')
  if (auth.byHash(consent.approverHash) === null)
    return refuse(reply, 'invalid_grant', 'the credential of the person who consented has been revoked since')
  const { redirectUri: _uri, challenge: _challenge, ...grant } = consent
  const tokens = await engine.openOauthGrant(grant)
  if (!found.keep(tokens.grant)) {
    await engine.endOauthGrant(tokens.grant)
    return refuse(reply, 'invalid_grant', 'the code was used before')
  }
  await auth.refresh()
  log.info(
    { client: clientId, session: tokens.grant, kind: kindOf(consent.resource) },
    'a client was signed in',
  )
  return sendTokens(reply, tokens)
}

async function exchangeRefresh({ engine, auth, log }: Doors, fields: Fields, reply: FastifyReply) {
  const [token, clientId] = [fields('refresh_token'), fields('client_id')]
  if (!token || !clientId) return refuse(reply, 'invalid_request', 'refresh_token and client_id are required')
  const scope = fields('scope')
  const answer = await engine.refreshOauthTokens({
    ...{ hash: sha256(token), clientId },
    resource: fields('resource')?.replace(/\/$/, '') ?? null,
    scopes: scope === null ? null : scope.split(' ').filter(Boolean),
  })
  if (!('fault' in answer) || answer.isEnded) await auth.refresh()
  if ('fault' in answer) {
    auth.noteWrong(auth.addressOf(reply.request.raw))
    log.warn({ client: clientId, error: answer.fault }, 'a refresh token was refused')
    return refuse(reply, answer.fault, answer.detail)
  }
  return sendTokens(reply, answer)
}

type Tokens = { access: string; refresh: string; expiresIn: number; scopes: string[] }

const sendTokens = (reply: FastifyReply, { access, refresh, expiresIn, scopes }: Tokens) =>
  reply
    .header('cache-control', 'no-store')
    .header('pragma', 'no-cache')
    .send({
      access_token: access,
      token_type: 'Bearer',
      expires_in: expiresIn,
      refresh_token: refresh,
      scope: scopes.join(' '),
    })

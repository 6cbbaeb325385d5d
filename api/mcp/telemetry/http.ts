/**
 * `svc telemetry`: the telemetry query server in a process of its own, before a daemon. The order of checks: raw
 * headers → Host → Origin → path → credential, by the daemon's word → audience → size → the protocol.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Identity } from '../../../schemas/types.ts'
import { ambiguous, foreignHost, foreignOrigin, type HostRules } from '../../host-rules.ts'
import { version } from '../../version.ts'
import type { Access } from '../access.ts'
import { explain } from '../call-tool.ts'
import { type Daemon, DaemonError } from '../daemon.ts'
import { readMessage } from '../http/body.ts'
import { Refusal, sendJson } from '../http/refuse.ts'
import type { SignIn } from '../http/sign-in.ts'
import { type Refused, refusedTo, refuseTelemetry, type TelemetryServer, unknownCaller } from './server.ts'

export const TELEMETRY_PATH = '/telemetry/mcp'
const HEADERS_MS = 10_000

export interface TelemetryParts {
  rules: HostRules
  daemon: Daemon
  access: Access
  signIn: SignIn
  telemetry: TelemetryServer
  /** Called with a fault of ours. */
  onFault(error: unknown): void
}

/** Builds the server; it listens when told to. */
export function buildTelemetryHttp(parts: TelemetryParts): Server {
  const server = createServer({ maxHeaderSize: 16_384, headersTimeout: HEADERS_MS }, (request, response) => {
    void serve(parts, request, response)
  })
  server.maxConnections = 4_096
  return server
}

/** Answers one request, whatever happens. */
async function serve(
  parts: TelemetryParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { signIn, telemetry, daemon } = parts
  const refuse = async (refused: Refused, headers: Record<string, string> = {}): Promise<void> =>
    refuseTelemetry(response, refused, refused.challenge ? await signIn.metadataUrl(request) : null, headers)
  try {
    checkPlace(request, parts.rules)
    const path = (request.url ?? '').split('?')[0]!
    if (path === '/health') return await answerHealth(daemon, response)
    if (path === signIn.metadataPath) {
      const metadata = await signIn.metadata(request)
      if (metadata) return sendJson(response, 200, metadata)
      throw new Refusal(404, 'the daemon signs nobody in: it is open, or older')
    }
    if (path !== TELEMETRY_PATH)
      throw new Refusal(404, `this server speaks Streamable HTTP at ${TELEMETRY_PATH}`)
    const token = tokenOf(request)
    const identity = await identify(parts, token, request)
    if (identity === null) return await refuse(unknownCaller(token !== null))
    const message = request.method === 'POST' ? await readMessage(request) : undefined
    const refused = refusedTo(identity, message)
    if (refused) return await refuse(refused)
    const caller = daemon.as(token)
    await telemetry.serve({ identity, ask: caller.ask.bind(caller) }, message, request, response)
  } catch (error) {
    const { status, message, headers } =
      error instanceof Refusal ? error : new Refusal(500, 'a fault of ours; the log of svc telemetry has it')
    if (!(error instanceof Refusal)) parts.onFault(error)
    if (response.headersSent) return void response.end()
    refuseTelemetry(response, { status, text: message, challenge: null }, null, headers)
  }
}

/** For probes: a server that answers is well, and says where its daemon is not. */
async function answerHealth(daemon: Daemon, response: ServerResponse): Promise<void> {
  const detail = await daemon.fault()
  sendJson(response, 200, {
    status: detail === null ? 'ok' : 'degraded',
    version,
    ...(detail === null ? {} : { detail }),
  })
}

/** @throws Refusal 400, 403 */
function checkPlace(request: IncomingMessage, rules: HostRules): void {
  const fault = ambiguous(request)
  if (fault !== null) throw new Refusal(400, fault)
  const foreign =
    foreignHost(request, rules, 'telemetry query server') ??
    foreignOrigin(request, rules, 'telemetry query server')
  if (foreign !== null) throw new Refusal(403, foreign)
}

/** @returns null: the daemon does not know the credential, or it is for another server. @throws Refusal 429, 503 */
async function identify(
  { access, signIn }: TelemetryParts,
  token: string | null,
  request: IncomingMessage,
): Promise<Identity | null> {
  try {
    const identity = await access.identify(token)
    return signIn.isFor(identity, request) ? identity : null
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.status === 401) return null
    throw new Refusal(error.status === 429 ? 429 : 503, explain(error), {
      'retry-after': String(error.retryAfter ?? 2),
    })
  }
}

function tokenOf({ headers }: IncomingMessage): string | null {
  return /^bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1] ?? null
}

/** GET /health, identity and capabilities. */
import type { FastifyInstance } from 'fastify'
import type { Health } from '../../../schemas/types.ts'
import { identityShown } from '../auth.ts'
import type { Doors } from '../doors.ts'
import { workspaceOf } from '../oauth/resources.ts'
import { answers } from '../validate.ts'
import { NO_QUERY } from './route.ts'

/** As many as the schema allows. */
const SECRETS_NAMED = 200

/** Without a commit although there is work. Twice as long as a write waits for the file, and longer than any import. */
const STUCK_MS = 10_000

export function healthRoutes(
  app: FastifyInstance,
  { engine, auth, config, stopping, otlpGrpc, syslog }: Doors,
): void {
  const started = performance.now()
  app.get(
    '/health',
    {
      schema: {
        tags: ['instance'],
        operationId: 'getHealth',
        summary: 'Is it well',
        response: { ...answers(200, 'health.json'), ...answers(503, 'health.json') },
      },
    },
    async (request, reply) => {
      // Told to everyone, and not asked of the writer: whoever watches from outside has to see it.
      const stuck = stuckWriter(engine.writerSilence())
      const base: Health = {
        status: stuck ? 'degraded' : 'ok',
        auth_required: auth.secured,
        ...config.hostedUrls,
      }
      if (stopping()) return reply.code(503).send({ ...base, status: 'stopping' })
      // A project key learns no more than somebody without a credential.
      if (!request.identity || request.identity.project !== null) return base
      const status = await engine.status()
      const unreadable = status.unreadableSecrets
      const sync = status.catalogSync
      const failing = sync?.state === 'failed' ? `the catalog is not synced: ${sync.reason}` : null
      const detail = [stuck, status.detail, failing, syslog().notice(), ...(config.bootFailures ?? [])]
        .filter(Boolean)
        .join('; ')
      const known = {
        ...base,
        status: detail ? 'degraded' : 'ok',
        version: config.version,
        uptime_seconds: Math.round((performance.now() - started) / 1000),
        pct_used: status.pctUsed,
        ingest_paused: status.ingestPaused,
      } satisfies Health
      // Who only sends learns whether it may; names, and what is wrong with which, are of who may read.
      if (!(['read', 'admin'] as const).some((scope) => request.identity.scopes.includes(scope))) return known
      return {
        ...known,
        sources: status.bySource.map((source) => source.source),
        ...(detail ? { detail } : {}),
        ...(status.parked ? { parked_runs: { runs: status.parked.runs, ...waitOf(status.parked) } } : {}),
        ...(status.parkedTurns
          ? { parked_turns: { turns: status.parkedTurns.turns, ...waitOf(status.parkedTurns) } }
          : {}),
        ...(sync ? { catalog_sync: sync } : {}),
        ...(unreadable.length ? { unreadable_secrets: unreadable.slice(0, SECRETS_NAMED) } : {}),
      } satisfies Health
    },
  )
  app.get(
    '/api/whoami',
    {
      schema: {
        tags: ['access'],
        operationId: 'whoAmI',
        summary: 'Who is calling',
        ...NO_QUERY,
        response: answers(200, 'identity.json'),
      },
    },
    async ({ identity }) => ({ ...identityShown(identity), workspace: workspaceOf(config.publicUrl) }),
  )
  app.get(
    '/api/capabilities',
    {
      schema: {
        tags: ['instance'],
        operationId: 'getCapabilities',
        summary: 'What this instance has',
        ...NO_QUERY,
        response: answers(200, 'capabilities.json'),
      },
    },
    async () => {
      const models = await engine.listModelProviders()
      const chosen = models.providers.find((provider) => provider.id === models.default)
      return {
        version: config.version,
        auth_required: auth.secured,
        connectors: Object.keys(await engine.listConnectors()),
        agent_key_configured: chosen !== undefined,
        default_provider: chosen ? { id: chosen.id, name: chosen.name, kind: chosen.kind } : null,
        url_configured: config.publicUrl !== null,
        slack_configured: (await engine.slackSecret('bot_token')).configured,
        otlp_grpc: otlpGrpc(),
        discover_docker: await engine.hasDocker(),
      }
    },
  )
}

const waitOf = ({ since, until, reason }: { since: number; until: number; reason: string }) => ({
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
  reason,
})

/** @param silence for how long nothing was written, ms. @returns what is wrong, or null */
function stuckWriter(silence: number): string | null {
  if (silence < STUCK_MS) return null
  const seconds = Math.floor(silence / 1_000)
  return `nothing could be written for ${seconds} s: the disk does not answer, or another program holds the data file`
}

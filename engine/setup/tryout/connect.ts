/** What is still to be done in the world so that a set-up project works: send, enter, join. */
import type { Plan, SetupConnect, SetupConnectSource } from '../../../schemas/types.ts'
import { maskAddresses } from '../../address-secrets.ts'
import type { Declared } from '../../declared/declared.ts'
import { completeSample } from '../plan/sample.ts'
import { setupQueries } from '../queries.ts'

/** Secrets that are told once, in the answer that makes them. */
export interface OnceKeys {
  /** By source. */
  ingest: ReadonlyMap<string, string>
  own: string | null
}

export const NO_KEYS: OnceKeys = { ingest: new Map(), own: null }

const LOCAL_MCP = 'http://127.0.0.1:8788/mcp'

/** @param id of a project that is set up. */
export function connectOf(declared: Declared, id: string, keys: OnceKeys = NO_KEYS): SetupConnect {
  const { plan: text, own_key } = setupQueries(declared.store.db).byId(id)!
  const plan = JSON.parse(text!) as Plan
  const doc = declared.kinds.project.find(id)!.doc
  return {
    sources: Object.keys(doc.uses.source ?? {})
      .sort()
      .map((name) => sourceOf(declared, plan, name, keys)),
    tools: Object.keys(doc.uses.mcp_server ?? {})
      .sort()
      .flatMap((name) => {
        const spec = declared.kinds.mcp_server.find(name)?.doc
        return spec ? [{ name, url: maskAddresses(spec.url), needs_token: !spec.auth_value }] : []
      }),
    own_agent: plan.own_agent && own_key !== null ? ownOf(declared, plan.own_agent, keys.own) : null,
  }
}

function sourceOf({ sources }: Declared, plan: Plan, name: string, keys: OnceKeys): SetupConnectSource {
  const { connector, ingestKey, config, unresolved, unreadable } = sources.requireByName(name)
  const planned = plan.watches.find((watch) => watch.name === name)
  const isPush = connector.mode === 'push' && !connector.internal
  const absent = planned?.secrets.filter(({ field }) => !config[field]) ?? []
  const lacks = unresolved[0]?.reason ?? (unreadable.length ? 'its credential cannot be read here' : null)
  return {
    name,
    connector: connector.kind,
    mode: connector.mode,
    needs: isPush ? 'send' : lacks ? 'credential' : 'none',
    ingest_url: isPush && ingestKey ? `/ingest/${ingestKey}` : null,
    // Of a connector with a body of its own nobody makes up an example.
    sample:
      isPush && connector.kind === 'webhook'
        ? completeSample(planned?.sample ?? null, config)
        : (planned?.sample ?? null),
    credential_hint:
      lacks ??
      (absent[0]
        ? `${absent[0].field}: ${absent[0].help} It can be entered on the page of the source.`
        : null),
    key: keys.ingest.get(name) ?? null,
  }
}

function ownOf(
  { env }: Declared,
  own: NonNullable<Plan['own_agent']>,
  key: string | null,
): NonNullable<SetupConnect['own_agent']> {
  const base = env.SVC_PUBLIC_URL?.replace(/\/$/, '')
  const mcp_url = base ? `${base}/mcp` : LOCAL_MCP
  const bearer = key ?? 'KEY'
  return {
    name: own.name,
    key,
    mcp_url,
    command: `SVC_AUTH_TOKEN=${bearer}${base ? ` SVCD_URL=${base}` : ''} svc mcp`,
    subscribe_hint:
      own.wake === 'webhook'
        ? 'It names its address with POST /api/projects/{id}/subscribe; each firing is posted there, signed.'
        : 'It calls join_project once, then waits with wait_for_firing; each firing is handed to it once.',
  }
}

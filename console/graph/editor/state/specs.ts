/** What parts declare: as stored, and as a draft would leave it. */
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import agentSpec from '../../../../schemas/agent-spec.json' with { type: 'json' }
import mcpServerSpec from '../../../../schemas/mcp-server-spec.json' with { type: 'json' }
import skillSpec from '../../../../schemas/skill-spec.json' with { type: 'json' }
import sourceSpec from '../../../../schemas/source-spec.json' with { type: 'json' }
import triggerSpec from '../../../../schemas/trigger-spec.json' with { type: 'json' }
import type { Connector, Operation } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { declared } from '../../../declared-client.ts'
import { nodeId, type PartKind, type PartRef } from '../../draft/ids.ts'
import { patched } from '../../draft/patch.ts'
import type { Fields } from '../../draft/values.ts'

type Connectors = Readonly<Record<string, Connector>>
interface Schema {
  properties: Record<string, { 'x-secret'?: boolean }>
}

export const SPEC_SCHEMAS = {
  source: sourceSpec,
  trigger: triggerSpec,
  agent: agentSpec,
  mcp_server: mcpServerSpec,
  skill: skillSpec,
} as Record<PartKind, unknown> as Record<PartKind, Schema>

export interface StoredSpec {
  spec: Fields
  /** Pointers of secrets that are stored; they are never shown. */
  configured: string[]
}

/** Reads what a part declares. @throws ApiError */
async function readSpec({ kind, name }: PartRef): Promise<StoredSpec> {
  const part: Fields = { ...(await READ[kind](name)) }
  const names = Object.keys(SPEC_SCHEMAS[kind].properties)
  return {
    spec: Object.fromEntries(names.filter((field) => part[field] !== undefined).map((f) => [f, part[f]])),
    configured: names.filter((field) => part[`${field}_configured`] === true).map((field) => `/${field}`),
  }
}

const READ: Record<PartKind, (name: string) => Promise<object>> = {
  source: api.source,
  trigger: declared.trigger,
  agent: declared.agent,
  mcp_server: declared.mcpServer,
  skill: async (name) => {
    const project = (await declared.skills()).find((skill) => skill.name === name)?.used_by[0]
    if (!project) throw new Error(`No skill is named ${name}.`)
    return declared.skill(project.id, name)
  },
}

const specQuery = (part: PartRef) => ({
  queryKey: ['declared', 'spec', part.kind, part.name],
  queryFn: () => readSpec(part),
  // Forms begin with it.
  staleTime: 0,
})

/** A spec after the operations of a draft; null: it is not there. @param stored undefined: it is not stored */
export function specAfter(
  stored: Fields | undefined,
  part: PartRef,
  operations: readonly Operation[],
): Fields | null {
  let spec: Fields | null = stored ?? null
  for (const operation of operations) {
    if (operation.kind !== part.kind || operation.name !== part.name) continue
    if (operation.op === 'delete') spec = null
    else if (operation.op === 'put') spec = operation.spec ?? {}
    else if (operation.op === 'patch') spec = patched(spec ?? {}, operation.spec ?? {}) as Fields
    else if (operation.event === 'pause') spec = { ...spec, paused: true }
    else spec = { ...spec, paused: false }
  }
  return spec
}

/** Pointers of the secret fields of a part. @param connectors those a source may be of */
export function secretFieldsOf(kind: PartKind, spec: Fields, connectors: Connectors): string[] {
  if (kind !== 'source') return secretsOf(SPEC_SCHEMAS[kind]).map((field) => `/${field}`)
  const schema = connectors[String(spec.connector)]?.config_schema as Schema | undefined
  return schema ? secretsOf(schema).map((field) => `/config/${field}`) : []
}

const secretsOf = ({ properties }: Schema): string[] =>
  Object.keys(properties ?? {}).filter((field) => properties[field]!['x-secret'])

export const useConnectors = (enabled: boolean): Connectors =>
  useQuery({ queryKey: keys.connectors, queryFn: api.connectors, enabled }).data ?? {}

/** What a part would declare; `isPending` while it is read. */
export function useSpec(part: PartRef, operations: readonly Operation[]) {
  const isMade = operations.some((operation) => operation.op === 'put' && nodeId(operation) === nodeId(part))
  const { data, error, isPending, isFetching, isFetchedAfterMount } = useQuery({
    ...specQuery(part),
    enabled: !isMade,
  })
  return {
    stored: isMade ? undefined : data,
    spec: isMade || data ? specAfter(data?.spec, part, operations) : null,
    error: isMade ? null : error,
    // What was read before may be of the past: a form that begins with it would begin anew a moment later.
    isPending: !isMade && (isPending || (isFetching && !isFetchedAfterMount)),
  }
}

/** Reads what parts would declare, all at once, by node. @throws ApiError */
export function useReadSpecs(): (
  parts: readonly PartRef[],
  operations: readonly Operation[],
) => Promise<Map<string, StoredSpec>> {
  const queries: QueryClient = useQueryClient()
  return async (parts, operations) => {
    const made = new Set(operations.filter(({ op }) => op === 'put').map(nodeId))
    const rows = await Promise.all(
      parts.map(async (part): Promise<[string, StoredSpec]> => {
        const stored = made.has(nodeId(part)) ? undefined : await queries.fetchQuery(specQuery(part))
        const spec = specAfter(stored?.spec, part, operations) ?? {}
        return [nodeId(part), { spec, configured: stored?.configured ?? [] }]
      }),
    )
    return new Map(rows)
  }
}

/** The entries of parts in a catalog file: each upserted by name. */
import type {
  Catalog,
  CatalogAgent,
  CatalogSkill,
  CatalogSource,
  CatalogTrigger,
} from '../../schemas/types.ts'
import type { Doc, PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { secretFields } from '../connectors/config.ts'
import { hasConnector } from '../connectors/index.ts'
import { normaliseSpec } from '../declared/operations.ts'
import { refuseVariables } from '../declared/variables.ts'
import { fail } from '../errors.ts'
import type { Entry, ImportRun } from './import-run.ts'

/** Stages the entries that `isDue`. */
export function stageParts(run: ImportRun, isDue: (entry: Entry) => boolean): void {
  const { catalog, edit, at } = run
  const each = <T extends Entry>(
    section: keyof Catalog,
    entries: T[] | undefined,
    stage: (entry: T) => void,
  ) =>
    entries?.forEach((entry, i) => {
      if (isDue(entry)) at([section, i], () => stage(entry))
    })
  each('sources', catalog.sources as (CatalogSource & Entry)[], (entry) =>
    stagePart(run, 'source', entry.name, sourceSpec(edit, entry)),
  )
  each('mcp_servers', catalog.mcp_servers as (Entry & { url: string })[], ({ project: _p, name, ...spec }) =>
    stagePart(run, 'mcp_server', name, spec),
  )
  each('skills', catalog.skills as (CatalogSkill & Entry)[], ({ name, description, body, prevent_destroy }) =>
    stagePart(run, 'skill', name, { description, body, prevent_destroy }),
  )
  each('triggers', catalog.triggers as (CatalogTrigger & Entry)[], (entry) => stageTrigger(run, entry))
  each('agents', catalog.agents as (CatalogAgent & Entry)[], (entry) => stageAgent(run, entry))
}

/** A file that is the source of truth says of each part whether it is guarded. */
function stagePart(
  { edit, declared }: Pick<ImportRun, 'edit' | 'declared'>,
  kind: PartKind,
  name: string,
  spec: Doc,
): void {
  const guarded = { ...spec, prevent_destroy: spec.prevent_destroy ?? false }
  const doc = normaliseSpec(edit, kind, name, guarded)
  // Here too, not when the edit is completed alone: the problem is told with its place in the file.
  const stored = edit.stored(kind, name)
  refuseVariables({ kind, stored, doc, revive: null }, declared.kinds, declared.env)
  edit.put(kind, name, doc)
}

/** A blank secret keeps the stored one, as one that is left out does. */
function sourceSpec(edit: Edit, entry: CatalogSource): Doc {
  const { connector, poll, config, paused, prevent_destroy } = entry
  if (!hasConnector(connector)) fail('invalid', `connector ${connector} is not known`, { field: 'connector' })
  const secrets = secretFields(connector)
  const kept = Object.fromEntries(
    Object.entries(config ?? {}).filter(([field, value]) => !(secrets.includes(field) && value === '')),
  )
  const isInternal = edit.get('source', entry.name)?.connector === 'finding'
  if (isInternal || connector === 'finding')
    fail('invalid', `connector: ${connector} sources are made by the service itself`, { field: 'connector' })
  return {
    connector,
    ...(poll ? { poll } : {}),
    config: kept,
    ...(paused ? { paused } : {}),
    prevent_destroy,
  }
}

function stageTrigger(run: ImportRun, { name, project: _project, ...spec }: CatalogTrigger): void {
  const { edit, catalog } = run
  const missing = spec.sources.findIndex(
    (source) =>
      !edit.has('source', source) && !(catalog.sources ?? []).some((entry) => entry.name === source),
  )
  if (missing >= 0)
    fail('invalid', `no source is named ${spec.sources[missing]}`, { field: `sources[${missing}]` })
  stagePart(run, 'trigger', name, { ...spec })
}

/** Absent keeps what is stored of these; present and empty clears it. */
const KEPT = ['concludes', 'verdicts', 'github'] as const

function stageAgent(run: ImportRun, entry: CatalogAgent): void {
  const { edit, catalog } = run
  const { name, project: _p, trigger: _t, handoffs: _h, enabled: _e, ...spec } = entry
  const known = (server: string) =>
    edit.has('mcp_server', server) || (catalog.mcp_servers ?? []).some((other) => other.name === server)
  const missing = (spec.mcp_servers ?? []).findIndex((server) => !known(server))
  if (missing >= 0)
    fail('invalid', `no MCP server is named ${spec.mcp_servers![missing]}`, {
      field: `mcp_servers[${missing}]`,
    })
  const now = edit.get('agent', name)
  const kept = Object.fromEntries(
    KEPT.filter((field) => spec[field] === undefined && now?.[field] !== undefined).map((field) => [
      field,
      now?.[field],
    ]),
  )
  stagePart(run, 'agent', name, { ...kept, ...spec })
}

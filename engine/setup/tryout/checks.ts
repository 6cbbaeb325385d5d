/** What is connected already, of a project that is set up. */
import type { SetupChecks } from '../../../schemas/types.ts'
import { belongings } from '../../declared/belonging.ts'
import type { Declared } from '../../declared/declared.ts'
import { countTools } from '../../mcp-tools/rows.ts'
import { setupQueries } from '../queries.ts'

/** Newest events that the fields are of. */
const LOOKED_AT = 50
const FIELDS_MAX = 40

type CheckedSource = SetupChecks['sources'][number]

export function checksOf(declared: Declared, id: string): SetupChecks {
  const doc = declared.kinds.project.find(id)!.doc
  const counts = countTools(declared.store.db)
  return {
    sources: sourcesOf(declared, new Set(Object.keys(doc.uses.source ?? {}))),
    tools: Object.keys(doc.uses.mcp_server ?? {})
      .sort()
      .map((name) => {
        const listed = counts.get(name)?.tools ?? 0
        return listed
          ? {
              name,
              state: 'ok' as const,
              detail: `${listed} ${listed === 1 ? 'tool is' : 'tools are'} listed`,
            }
          : { name, state: 'untested' as const, detail: null }
      }),
    own_agent: ownOf(declared, id),
  }
}

function sourcesOf(declared: Declared, mine: ReadonlySet<string>): CheckedSource[] {
  const belongs = belongings(declared)
  return declared.sources
    .list((name) => belongs('source', name))
    .filter(({ name }) => mine.has(name))
    .map(({ name, mode, health }): CheckedSource => {
      const isReceiving = health.last_ingest !== null || mode === 'reference'
      const isFaulty = health.status === 'error' || health.status === 'refused'
      return {
        name,
        state:
          health.status === 'paused' ? 'paused' : isFaulty ? 'error' : isReceiving ? 'receiving' : 'waiting',
        detail: health.reason,
        last_event_at: health.last_ingest,
        fields_seen: isReceiving && mode !== 'reference' ? fieldsOf(declared, name) : [],
      }
    })
}

function fieldsOf({ sources }: Declared, name: string): string[] {
  return sources
    .fields(name, LOOKED_AT)
    .fields.filter(({ coverage }) => coverage > 0)
    .map(({ name: field }) => field)
    .slice(0, FIELDS_MAX)
}

function ownOf({ keys, store }: Declared, id: string): SetupChecks['own_agent'] {
  const { own_key } = setupQueries(store.db).byId(id)!
  if (own_key === null) return null
  const key = keys.list().find((one) => one.id === own_key)
  if (key?.state !== 'active')
    return { state: 'waiting', detail: 'its key was revoked; make another under Keys' }
  return key.last_used_at
    ? { state: 'joined', detail: `last here at ${key.last_used_at}` }
    : { state: 'waiting', detail: null }
}

/** What an id typed into the palette names, looked for as it is typed. */
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../client.ts'
import { declared } from '../declared-client.ts'
import { incidents } from '../incident-client.ts'
import { eventPath } from '../lib/explore-state.ts'
import { incidentPath } from '../lib/incidents.ts'
import { type AskedId, idIn } from '../lib/palette.ts'
import { firingPath, runPath } from '../lib/paths.ts'
import { runs } from '../run-client.ts'
import { work } from '../trigger-client.ts'

export interface Named {
  label: string
  description: string
  to: string
}

const LOOK_MS = 150

const FIND: Record<Exclude<AskedId['kind'], 'firing or run'>, (id: string) => Promise<Named>> = {
  event: async (id) => {
    const { text, source } = await work.event(id)
    return { label: id, description: `Event of ${source}: ${text}`, to: eventPath(id) }
  },
  incident: async (id) => {
    const { number, headline, state } = await incidents.one(`inc_${id}`)
    return { label: `#${number}`, description: `Incident, ${state}: ${headline}`, to: incidentPath(number) }
  },
  run: async (id) => {
    const { agent, key, status } = await runs.one(id)
    return { label: `Run of ${agent} for ${key}`, description: `Run, ${status}`, to: runPath(id) }
  },
  firing: async (id) => {
    const { trigger, key } = await work.firing(id)
    return { label: `Firing of ${trigger}`, description: key || 'Firing', to: firingPath(id) }
  },
  project: async (id) => {
    const { name } = await declared.project(id)
    return { label: name, description: 'Project', to: `/projects/${id}` }
  },
}

async function find({ kind, id }: AskedId): Promise<Named | null> {
  const kinds = kind === 'firing or run' ? (['firing', 'run'] as const) : [kind]
  for (const one of kinds) {
    try {
      return await FIND[one](id)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 0 || error.status >= 500) throw error
    }
  }
  return null
}

/** @returns what it names; `said` is what to show where it names nothing, or is still looked for */
export function useAskedId(query: string): { asked: AskedId | null; named: Named | null; said: string } {
  const asked = idIn(query)
  const [settled] = useDebouncedValue(query, LOOK_MS)
  const looked = idIn(settled)
  const { data, error, isPending } = useQuery({
    queryKey: ['named', looked],
    queryFn: () => find(looked!),
    enabled: looked !== null,
    retry: false,
  })
  const isBehind = settled.trim() !== query.trim()
  const what = asked ? `${asked.kind === 'incident' ? '#' : ''}${asked.id}` : ''
  return {
    asked,
    named: asked && !isBehind ? (data ?? null) : null,
    said:
      isBehind || isPending
        ? `Looking for ${what}…`
        : error
          ? `Couldn’t look for ${what}: ${error.message}`
          : `No ${asked?.kind} has the id ${what}`,
  }
}

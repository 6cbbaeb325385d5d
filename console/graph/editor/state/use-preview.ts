/** What the daemon says of a draft: asked a moment after the last step, and only the last answer counts. */
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { DraftPreview, Operation, ProjectGraph } from '../../../../schemas/types.ts'
import { graphApi } from '../../../graph-client.ts'
import { type Draft, operationsOf } from '../../draft/draft.ts'

const SETTLE_MS = 200

export interface Preview {
  /** Of the draft as it is now; undefined until it is answered. */
  answer: DraftPreview | undefined
  isPending: boolean
  error: Error | null
}

interface Asked {
  base: number
  operations: Operation[]
}

/**
 * @param live as it is now: when others change it, the draft is asked about again.
 * @param withYaml also the catalog file
 */
export function usePreview(live: ProjectGraph, draft: Draft | null, withYaml: boolean): Preview {
  const operations = draft ? operationsOf(draft) : []
  const now = JSON.stringify({ base: draft?.base ?? 0, operations } satisfies Asked)
  const [settled] = useDebouncedValue(now, SETTLE_MS)
  const ask = (yaml: boolean) => ({
    queryKey: ['draft-preview', live.project.id, live.version, settled, yaml],
    enabled: operations.length > 0 && settled === now,
    queryFn: ({ signal }: { signal: AbortSignal }) => {
      const asked = JSON.parse(settled) as Asked
      return graphApi.preview(live.project.id, { ...asked, ...(yaml ? { yaml } : {}) }, signal)
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
  const plain = useQuery(ask(false))
  const full = useQuery({ ...ask(true), enabled: ask(true).enabled && withYaml })
  const isAsked = operations.length > 0
  const isCurrent = isAsked && settled === now
  const answer = isCurrent ? ((withYaml ? full.data : undefined) ?? plain.data) : undefined
  return {
    answer,
    isPending: isAsked && answer === undefined && !plain.error,
    error: isCurrent ? plain.error : null,
  }
}

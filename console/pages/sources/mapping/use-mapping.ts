/** What a config makes of payloads, asked of the daemon, which reads them as it does those that come. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { SourceProposal } from '../../../../schemas/types.ts'
import { api } from '../../../client.ts'

/** Payloads: a sample, or what a source received last. */
export type Payloads = { sample: unknown[] } | { name: string }

/** The proposal for payloads; null: there are none yet. */
export function useProposal(of: Payloads | null) {
  return useQuery<SourceProposal>({
    queryKey: ['mapping', of],
    queryFn: ({ signal }) => api.discoverSource({ connector: 'webhook', config: {}, ...of! }, signal),
    enabled: of !== null,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The rows that a config makes of payloads. */
export function useRows(of: Payloads | null, config: Record<string, unknown>) {
  return useQuery<SourceProposal>({
    queryKey: ['mapping', of, config],
    queryFn: ({ signal }) =>
      api.discoverSource({ connector: 'webhook', config, fixed: true, ...of! }, signal),
    enabled: of !== null,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** How many incidents are open, for the menu, the title and the favicon; read every ten seconds, with all that Home shows. */
import { useQuery } from '@tanstack/react-query'
import { ikeys, incidents } from '../incident-client.ts'
import { openTotal } from '../lib/incidents.ts'

const FRESH_MS = 10_000

/** @returns null: not known, such as to who may not read them */
export function useIncidentCounts(): { open: number; critical: number } | null {
  const { data } = useQuery({
    queryKey: ikeys.home(null),
    queryFn: () => incidents.home(),
    refetchInterval: FRESH_MS,
    refetchIntervalInBackground: true,
    select: ({ counts }) => counts,
  })
  return data ? { open: openTotal(data), critical: data.open.critical } : null
}

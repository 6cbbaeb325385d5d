/**
 * While the demo is loaded, every page says so. Here it is broken, mended and removed, by whoever may: a key that only
 * reads is told that there is one.
 */
import { Button, Group, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import type { Demo } from '../../schemas/types.ts'
import { api } from '../client.ts'
import { demo } from '../demo-client.ts'
import { ikeys, incidents } from '../incident-client.ts'
import { lazyFrom } from '../lib/chunks.ts'
import { useChange } from '../lib/use-change.ts'

const EVERY_MS = 30_000
/** It brings the menus of the kit along, which Home has no other use for. */
const BreakMenu = lazyFrom(() => import('../areas/seldom.ts'))('BreakMenu')

export function DemoBar() {
  const { data } = useQuery({
    queryKey: ikeys.home(null),
    queryFn: () => incidents.home(),
    refetchInterval: EVERY_MS,
    retry: false,
    select: ({ demo: told }) => told,
  })
  // Asked before anything is drawn (app.tsx).
  const me = useQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 })
  if (!data?.loaded) return null
  return (
    <Group component="section" aria-label="Demo" gap="sm" mb="md" className="demo-bar">
      <Text size="sm" fw={600} style={{ whiteSpace: 'nowrap' }}>
        Demo data
      </Text>
      {me.data?.scopes.includes('admin') && <Acts data={data} />}
    </Group>
  )
}

function Acts({ data }: { data: Demo }) {
  const [isAsked, setAsked] = useState(false)
  const queries = useQueryClient()
  const again = () => void queries.invalidateQueries()
  const breaking = useChange(demo.break, {
    failed: (service) => `Couldn’t break ${service}`,
    said: (_demo, service) => `${service} is broken. An incident opens within seconds`,
    onDone: again,
  })
  const mending = useChange(demo.mend, {
    failed: (service) => `Couldn’t mend ${service}`,
    said: (_demo, service) => `${service} mended`,
    onDone: again,
  })
  const removing = useChange(() => demo.remove(), {
    failed: 'Couldn’t remove the demo',
    said: () => 'Demo removed',
    onDone: again,
  })
  const moving = breaking.isPending || mending.isPending
  const door = (
    <Button size="compact-sm" variant="default" loading={isAsked} onClick={() => setAsked(true)}>
      Break something
    </Button>
  )
  return (
    <>
      {isAsked ? (
        <Suspense fallback={door}>
          <BreakMenu data={data} isBusy={moving} onBreak={breaking.mutate} onMend={mending.mutate} />
        </Suspense>
      ) : (
        door
      )}
      <Button
        size="compact-sm"
        variant="default"
        loading={removing.isPending}
        disabled={moving || removing.isPending}
        onClick={() => removing.mutate(undefined)}
      >
        Remove demo
      </Button>
    </>
  )
}

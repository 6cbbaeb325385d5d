/**
 * While the demo is loaded, every page says so. Here it is broken, mended and removed, by whoever may: a key that only
 * reads is told that there is one.
 */
import { Button, CloseButton, Group, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Link, useLocation } from 'react-router'
import type { Demo } from '../../schemas/types.ts'
import { demo } from '../demo-client.ts'
import { ikeys, incidents } from '../incident-client.ts'
import { lazyFrom } from '../lib/chunks.ts'
import { useChange } from '../lib/use-change.ts'
import { useMay } from './may.tsx'

const EVERY_MS = 30_000
/** It brings the menus of the kit along, which Home has no other use for. */
const BreakMenu = lazyFrom(() => import('./break-menu.tsx'))('BreakMenu')
const RemoveDemo = lazyFrom(() => import('./remove-demo.tsx'))('RemoveDemo')

export function DemoBar() {
  const { data } = useQuery({
    queryKey: ikeys.home(null),
    queryFn: () => incidents.home(),
    refetchInterval: EVERY_MS,
    retry: false,
    select: ({ demo: told }) => told,
  })
  const mayAct = useMay()
  if (!data?.loaded) return null
  return (
    <Group component="section" aria-label="Demo" gap="sm" mb="md" className="demo-bar">
      <Text size="sm" fw={600} style={{ whiteSpace: 'nowrap' }}>
        Demo data
      </Text>
      {mayAct && <Acts data={data} />}
      <Tip />
    </Group>
  )
}

const TIPS_HIDDEN = 'svc:demo-tips-hidden'
/** What to try next, by the page one is on. */
const TIPS: readonly (readonly [at: RegExp, text: string])[] = [
  [/^\/$/, 'Next: press J, then Enter, to open the incident'],
  [/^\/incidents\/\w+$/, 'Next: open an event of a claim, then Replay'],
  [/^\/explore$/, 'Next: choose service=checkout to read its timeline'],
  [/^\/traces$/, 'Next: open a trace that failed, to see in which service'],
  [/^\/triggers\/[^/]+$/, 'Next: under Why, see when the trigger fired and when it did not'],
  [/^\/projects\/[^/]+$/, 'Next: under Graph, follow an event from source to agent'],
]

/** Where there is room for it, at the end of the bar: it differs by page, and moves nothing. */
function Tip() {
  const { pathname } = useLocation()
  const [isHidden, setHidden] = useState(() => window.localStorage.getItem(TIPS_HIDDEN) !== null)
  const text = TIPS.find(([at]) => at.test(pathname))?.[1]
  if (isHidden || !text) return null
  return (
    <Group gap={4} wrap="nowrap" className="demo-tip">
      <Text size="sm">{text}</Text>
      <CloseButton
        size="sm"
        aria-label="Hide tips"
        onClick={() => {
          window.localStorage.setItem(TIPS_HIDDEN, '1')
          setHidden(true)
        }}
      />
    </Group>
  )
}

function Acts({ data }: { data: Demo }) {
  const [isAsked, setAsked] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
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
      <Button component={Link} to="/sources/new" className="demo-own" size="compact-sm" variant="default">
        Use your own data
      </Button>
      <Button size="compact-sm" variant="default" disabled={moving} onClick={() => setRemoving(true)}>
        Remove demo…
      </Button>
      {isRemoving && (
        <Suspense>
          <RemoveDemo
            isBusy={removing.isPending}
            onRemove={() => removing.mutate(undefined)}
            onClose={() => setRemoving(false)}
          />
        </Suspense>
      )}
    </>
  )
}

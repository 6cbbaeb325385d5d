/** While the demo is loaded, every page says so; what switches it is loaded with it. */
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { demo, demoKey } from '../demo-client.ts'
import { lazyFrom } from '../lib/chunks.ts'

const EVERY_MS = 30_000
const DemoSwitch = lazyFrom(() => import('../areas/seldom.ts'))('DemoSwitch')

export function DemoBar() {
  const { data } = useQuery({
    queryKey: demoKey,
    queryFn: demo.status,
    refetchInterval: EVERY_MS,
    retry: false,
  })
  if (!data?.loaded) return null
  return (
    <Suspense fallback={<div className="demo-bar-room" />}>
      <DemoSwitch data={data} />
    </Suspense>
  )
}

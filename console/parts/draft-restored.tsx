/** Says that what was typed here before is back, and gives it up. */
import { Suspense } from 'react'
import { lazyFrom } from '../lib/chunks.ts'
import type { DraftOf } from '../lib/use-draft.ts'

const DraftFound = lazyFrom(() => import('./draft-found.tsx'))('DraftFound')

/** Nothing where no draft was found. */
export function DraftRestored({
  of: { restored, place, discard },
}: {
  of: Pick<DraftOf<unknown>, 'restored' | 'place' | 'discard'>
}) {
  if (restored === null) return null
  // As high as it will be: what is below must not move.
  return (
    <Suspense fallback={<div style={{ height: 26 }} />}>
      <DraftFound at={restored} place={place} onDiscard={discard} />
    </Suspense>
  )
}

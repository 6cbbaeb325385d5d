/** A form of a JSON Schema. What draws it is large and loaded with the first such form. */
import type { ComponentProps } from 'react'
import { Suspense } from 'react'
import { lazyFrom } from '../lib/chunks.ts'
import { LoadingRows } from '../parts/states.tsx'

/** Loads what draws it, for whoever waits for that before anything is shown. */
export const loadFields = () => import('./config-fields.tsx')
const ConfigFields = lazyFrom(loadFields)('ConfigFields')

export function ConfigForm(props: ComponentProps<typeof ConfigFields>) {
  return (
    <Suspense fallback={<LoadingRows rows={3} />}>
      <ConfigFields {...props} />
    </Suspense>
  )
}

/** A form of a JSON Schema. What draws it is large and loaded with the first such form. */
import type { ComponentProps } from 'react'
import { Suspense } from 'react'
import { lazyFrom } from '../lib/chunks.ts'
import { LoadingRows } from '../parts/states.tsx'

const fields = lazyFrom(() => import('./config-fields.tsx'))
const ConfigFields = fields('ConfigFields')

export function ConfigForm(props: ComponentProps<typeof ConfigFields>) {
  return (
    <Suspense fallback={<LoadingRows rows={3} />}>
      <ConfigFields {...props} />
    </Suspense>
  )
}

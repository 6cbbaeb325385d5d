/** The drawing as a file. */
import { Button, Menu } from '@mantine/core'
import { Download } from 'lucide-react'
import { Suspense } from 'react'
import { lazyFrom } from '../../lib/chunks.ts'
import { LoadingRows } from '../../parts/states.tsx'
import type { Canvas } from '../canvas.ts'

const ExportItems = lazyFrom(() => import('./export-items.tsx'))('ExportItems')

export function ExportMenu({ canvas }: { canvas: Canvas }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<Download size={14} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Suspense fallback={<LoadingRows rows={2} />}>
          <ExportItems canvas={canvas} />
        </Suspense>
      </Menu.Dropdown>
    </Menu>
  )
}

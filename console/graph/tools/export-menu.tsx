/** The drawing as a file. */
import { Button, Menu } from '@mantine/core'
import { Download } from 'lucide-react'
import { notifications } from '../../lib/notices.ts'
import type { Canvas } from '../canvas.ts'

export function ExportMenu({ canvas }: { canvas: Canvas }) {
  const save = (as: 'svg' | 'png') => (): void =>
    void import('../picture/download.ts')
      .then(({ savePicture }) => savePicture(canvas, as))
      .catch((error: Error) =>
        notifications.show({ color: 'red', title: 'The picture was not made', message: error.message }),
      )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<Download size={14} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={save('svg')}>As SVG</Menu.Item>
        <Menu.Item onClick={save('png')}>As PNG</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

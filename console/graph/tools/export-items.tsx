/** What the drawing can be saved as; what makes pictures is loaded with it. */
import { Menu } from '@mantine/core'
import { notifications } from '../../lib/notices.ts'
import type { Canvas } from '../canvas.ts'
import { ALL_KINDS, countOf } from '../drawing/fold.ts'
import { savePng, saveSvg } from '../picture/download.ts'
import { svgOf } from '../picture/svg.ts'
import { wholePicture } from '../picture/whole.ts'

export function ExportItems({ canvas }: { canvas: Canvas }) {
  const { graph } = canvas
  const name = `${graph.project.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-graph`
  const draw = () =>
    svgOf({
      ...wholePicture(canvas),
      marks: canvas.marks,
      title: canvas.label,
      description: describe(canvas),
      scheme: canvas.scheme,
      now: Date.parse(graph.at),
    })
  const failed = (error: Error) =>
    notifications.show({ color: 'red', title: 'The picture was not made', message: error.message })
  return (
    <>
      <Menu.Item onClick={() => saveSvg(draw().svg, name)}>As SVG</Menu.Item>
      <Menu.Item onClick={() => void savePng(draw(), name).catch(failed)}>As PNG</Menu.Item>
    </>
  )
}

/** "2 sources, 3 triggers and 1 agent, as of …". */
function describe({ graph }: Canvas): string {
  const counts = ALL_KINDS.flatMap((kind) => {
    const n = graph.nodes.filter((node) => node.kind === kind).length
    return n ? [countOf(n, kind)] : []
  })
  return `${counts.join(', ')}; as of ${graph.at}`
}

/** Hands the drawing to the person as a file; loaded when it is asked for. */
import { saveFile } from '../../lib/save-file.ts'
import type { Canvas } from '../canvas.ts'
import { ALL_KINDS, countOf } from '../drawing/fold.ts'
import { svgOf } from './svg.ts'
import { wholePicture } from './whole.ts'

/** A canvas is no longer drawn above this many pixels a side. */
const LONGEST = 12_000

/** @throws Error where this browser cannot make it */
export async function savePicture(canvas: Canvas, as: 'svg' | 'png'): Promise<void> {
  const { graph } = canvas
  const name = `${graph.project.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-graph`
  const picture = svgOf({
    ...wholePicture(canvas),
    marks: canvas.marks,
    title: canvas.label,
    description: describe(canvas),
    scheme: canvas.scheme,
    now: Date.parse(graph.at),
  })
  if (as === 'png') await savePng(picture, name)
  else saveFile(new Blob([picture.svg], { type: 'image/svg+xml' }), `${name}.svg`)
}

/** "2 sources, 3 triggers and 1 agent, as of …". */
function describe({ graph }: Canvas): string {
  const counts = ALL_KINDS.flatMap((kind) => {
    const n = graph.nodes.filter((node) => node.kind === kind).length
    return n ? [countOf(n, kind)] : []
  })
  return `${counts.join(', ')}; as of ${graph.at}`
}

/** Twice the size, so that text stays sharp; less where it would be too large. @throws Error */
async function savePng(picture: { svg: string; width: number; height: number }, name: string): Promise<void> {
  const scale = Math.min(2, LONGEST / Math.max(picture.width, picture.height))
  const image = new Image()
  // By data: address, the one way besides its own files that the daemon lets pages load images.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.svg)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(picture.width * scale)
  canvas.height = Math.round(picture.height * scale)
  const context = canvas.getContext('2d')
  if (!context) throw new Error('This browser draws no pictures.')
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (!blob) throw new Error('The picture is too large for this browser; the SVG is not.')
  saveFile(blob, `${name}.png`)
}

/** Hands a picture to the person as a file. */
import { saveFile } from '../../lib/save-file.ts'

/** A canvas is no longer drawn above this many pixels a side. */
const LONGEST = 12_000

export function saveSvg(svg: string, name: string): void {
  saveFile(new Blob([svg], { type: 'image/svg+xml' }), `${name}.svg`)
}

/** Twice the size, so that text stays sharp; less where it would be too large. @throws Error */
export async function savePng(
  picture: { svg: string; width: number; height: number },
  name: string,
): Promise<void> {
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

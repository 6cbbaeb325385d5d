/**
 * A laid-out graph as one SVG that stands for itself: no styles, fonts or images from elsewhere, a title
 * and a description, and each name in full in the title of its node.
 */
import { edgeLine } from '../drawing/edge-path.ts'
import type { Drawn, DrawnEdge, DrawnNode } from '../drawing/fold.ts'
import type { Box } from '../drawing/geometry.ts'
import { besidesOf, endsOf, routesOf } from '../flow.ts'
import type { Layout } from '../layout.ts'
import { SYMBOLS } from '../marks/tones.ts'
import type { GraphMarks } from '../types.ts'
import { edgeLabel } from '../words.ts'
import { COLOURS, type Colours } from './colours.ts'
import { element, escaped, textAt, widthOf } from './markup.ts'
import { nodePicture } from './node-picture.ts'

const MARGIN = 40
const FONT = 'system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif'

export interface Picture {
  drawn: Drawn
  layout: Layout
  marks: GraphMarks
  title: string
  description: string
  scheme: 'light' | 'dark'
  /** Above what stands outside of the drawing. */
  captions: readonly { text: string; at: Box }[]
  /** Epoch ms the times are told from. */
  now: number
}

/** @returns the SVG and its size in pixels */
export function svgOf(picture: Picture): { svg: string; width: number; height: number } {
  const { drawn, layout, marks, scheme, now } = picture
  const colours = COLOURS[scheme]
  const boxes = layout.boxes
  const frame = around([...boxes.values(), ...picture.captions.map(({ at }) => at)])
  const nodes = new Map(drawn.nodes.map((node) => [node.id, node]))
  const places = {
    nodes,
    boxes,
    routes: routesOf(drawn, boxes),
    besides: besidesOf(drawn.edges, nodes, marks),
  }
  const edges = drawn.edges.map((edge) => edgePicture(edge, places, marks, colours))
  const content = [
    element('title', { id: 'title' }, escaped(picture.title)),
    element('desc', { id: 'desc' }, escaped(picture.description)),
    arrows(colours),
    element('rect', { ...frame, fill: colours.ground }),
    ...picture.captions.map(({ text, at }) =>
      textAt(text, { ...at, y: at.y + 14, size: 13, fill: colours.dimmed }),
    ),
    ...edges.map(({ path }) => path),
    ...edges.map(({ label }) => label),
    ...drawn.nodes.map((node) => {
      const box = boxes.get(node.id)
      return box ? nodePicture(node, box, marks, now, colours) : ''
    }),
  ]
  const svg = element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      width: frame.width,
      height: frame.height,
      viewBox: `${frame.x} ${frame.y} ${frame.width} ${frame.height}`,
      role: 'img',
      'aria-labelledby': 'title desc',
      'font-family': FONT,
    },
    content.join('\n'),
  )
  return { svg, width: frame.width, height: frame.height }
}

function around(boxes: readonly Box[]): Box {
  const x = Math.min(0, ...boxes.map((box) => box.x)) - MARGIN
  const y = Math.min(0, ...boxes.map((box) => box.y)) - MARGIN
  const right = Math.max(0, ...boxes.map((box) => box.x + box.width))
  const bottom = Math.max(0, ...boxes.map((box) => box.y + box.height))
  return { x, y, width: right + MARGIN - x, height: bottom + MARGIN - y }
}

/** A marker takes no colour from its line everywhere: one for each colour. */
function arrows(colours: Colours): string {
  return element(
    'defs',
    {},
    [
      ['arrow', colours.line],
      ['handoff', colours.kinds.agent],
    ]
      .map(([id, fill]) =>
        element(
          'marker',
          { id, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: 'auto' },
          element('path', { d: 'M0,0 L10,5 L0,10 z', fill }),
        ),
      )
      .join(''),
  )
}

interface Places {
  nodes: ReadonlyMap<string, DrawnNode>
  boxes: ReadonlyMap<string, Box>
  routes: ReturnType<typeof routesOf>
  besides: ReturnType<typeof besidesOf>
}

function edgePicture(
  edge: DrawnEdge,
  { nodes, boxes, routes, besides }: Places,
  marks: GraphMarks,
  colours: Colours,
): { path: string; label: string } {
  const ends = endsOf(edge, nodes, boxes)
  if (!ends) return { path: '', label: '' }
  const beside = besides.get(edge.id)
  const line = edgeLine({ ...ends, via: routes.get(edge.id) ?? [], ...(beside && { beside }) })
  const isHandoff = edge.kind === 'hands_off'
  const path = element('path', {
    d: line.d,
    fill: 'none',
    stroke: isHandoff ? colours.kinds.agent : colours.line,
    'stroke-width': 1.5,
    'stroke-dasharray': edge.edge?.enabled === false ? '6 5' : undefined,
    'marker-end': `url(#${isHandoff ? 'handoff' : 'arrow'})`,
  })
  const note = marks.notes.get(edge.id)
  const words = [edgeLabel(edge, ends.hasOwnPort === true), note && SYMBOLS[note.tone]]
  return { path, label: labelPicture(words, line.label, colours) }
}

function labelPicture(words: (string | undefined)[], at: { x: number; y: number }, colours: Colours): string {
  const text = words.filter(Boolean).join(' · ')
  if (!text) return ''
  const width = widthOf(text, 11) + 10
  return (
    element('rect', { x: at.x - width / 2, y: at.y - 9, width, height: 18, rx: 5, fill: colours.ground }) +
    textAt(text, { x: at.x, y: at.y + 4, size: 11, fill: colours.text, anchor: 'middle' })
  )
}

/** A node of an exported picture: what the canvas shows of it, as SVG. */
import { ago } from '../../lib/time.ts'
import { type DrawnNode, kindWord } from '../drawing/fold.ts'
import { type Box, HEIGHT, VERDICT_ROW } from '../drawing/geometry.ts'
import type { GraphMarks } from '../types.ts'
import {
  CHANGE_WORDS,
  describeDrawn,
  STATE_WORDS,
  spendWords,
  todayWords,
  toolWords,
  workWords,
} from '../words.ts'
import type { Colours } from './colours.ts'
import { element, escaped, fitted, textAt, widthOf } from './markup.ts'

const EDGE = 12

export function nodePicture(
  drawn: DrawnNode,
  box: Box,
  marks: GraphMarks,
  now: number,
  colours: Colours,
): string {
  const kind = drawn.node?.kind ?? drawn.members[0]!.kind
  const { x, y, width, height } = box
  const inner = width - 2 * EDGE
  const lines = [
    element('title', {}, escaped(describeDrawn(drawn, marks, now))),
    element('rect', { x, y, width, height, rx: 8, fill: colours.panel, stroke: colours.border }),
    element('rect', { x, y: y + 8, width: 4, height: height - 16, rx: 2, fill: colours.kinds[kind] }),
    textAt(fitted(drawn.name, inner - 20, 13), {
      x: x + EDGE,
      y: y + 25,
      size: 13,
      weight: 600,
      fill: colours.text,
    }),
    textAt(fitted(`${kindWord(kind)} · ${lineWords(drawn, now)}`, inner, 12), {
      x: x + EDGE,
      y: y + 44,
      size: 12,
      fill: colours.dimmed,
    }),
    drawn.node ? healthMark(drawn.node.health, x + width - 18, y + 20, colours) : '',
    ...drawn.verdicts.map((verdict, i) =>
      textAt(fitted(verdict, inner, 12), {
        x: x + width - EDGE,
        y: y + HEIGHT + i * VERDICT_ROW + 15,
        size: 12,
        fill: colours.dimmed,
        anchor: 'end',
      }),
    ),
    chips(drawn, box, marks, colours),
    noteLine(drawn, box, marks, colours),
  ]
  return element('g', {}, lines.join(''))
}

/** What it did, else what it is. */
function lineWords(drawn: DrawnNode, now: number): string {
  const { node } = drawn
  if (!node) return 'collapsed'
  const did = [
    workWords(node) || todayWords(node),
    node.last_at && ago(node.last_at, now),
    spendWords(node)?.replace(' today', ''),
    toolWords(drawn.tools),
  ]
  return did.filter(Boolean).join(' · ') || node.detail
}

function healthMark(health: string, x: number, y: number, colours: Colours): string {
  if (health === 'attention')
    return element('path', { d: `M${x},${y - 6} l6,6 l-6,6 l-6,-6 z`, fill: colours.tones.bad })
  const ring = health === 'waiting'
  return element('circle', {
    cx: x,
    cy: y,
    r: ring ? 4 : 5,
    fill: ring ? 'none' : colours.tones.good,
    stroke: ring ? colours.line : undefined,
    'stroke-width': ring ? 2 : undefined,
  })
}

const SYMBOLS = { created: '+', changed: '~', deleted: '−' } as const
const TONES = { created: 'good', changed: 'waiting', deleted: 'bad' } as const

/** From the right along the upper rim. */
function chips(drawn: DrawnNode, box: Box, marks: GraphMarks, colours: Colours): string {
  const { node } = drawn
  const change = marks.changes.get(drawn.id)
  const words: [string, string][] = []
  if (node?.shared_with.length) words.push([`shared +${node.shared_with.length}`, colours.dimmed])
  if (node?.customized) words.push(['customized', colours.dimmed])
  if (node && node.state !== 'active')
    words.push([STATE_WORDS[node.state], node.state === 'missing' ? colours.tones.bad : colours.dimmed])
  if (change) words.push([`${SYMBOLS[change]} ${CHANGE_WORDS[change]}`, colours.tones[TONES[change]]])
  let right = box.x + box.width - 10
  return words
    .map(([text, colour]) => {
      const width = widthOf(text, 11) + 12
      right -= width + 4
      return (
        element('rect', {
          x: right + 4,
          y: box.y - 9,
          width,
          height: 18,
          rx: 9,
          fill: colours.panel,
          stroke: colour,
        }) + textAt(text, { x: right + 10, y: box.y + 4, size: 11, fill: colour })
      )
    })
    .join('')
}

function noteLine(drawn: DrawnNode, box: Box, marks: GraphMarks, colours: Colours): string {
  const note = marks.notes.get(drawn.id)
  if (!note) return ''
  const text = fitted(note.text, box.width - 40, 11)
  const at = { x: box.x + 24, y: box.y + box.height - 6 }
  const width = widthOf(text, 11) + 14
  const tone = colours.tones[note.tone]
  return (
    element('rect', { ...at, width, height: 18, rx: 6, fill: colours.panel, stroke: tone }) +
    textAt(text, { x: at.x + 7, y: at.y + 13, size: 11, fill: tone })
  )
}

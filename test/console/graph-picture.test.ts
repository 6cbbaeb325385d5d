import { describe, expect, it } from 'vitest'
import { foldGraph } from '../../console/graph/drawing/fold.ts'
import { splitLoose } from '../../console/graph/drawing/loose.ts'
import { layoutGraph } from '../../console/graph/layout.ts'
import { svgOf } from '../../console/graph/picture/svg.ts'
import { wholePicture } from '../../console/graph/picture/whole.ts'
import { type GraphMarks, NO_MARKS } from '../../console/graph/types.ts'
import { nodeTitle } from '../../console/graph/words.ts'
import type { ProjectGraph } from '../../schemas/types.ts'
import { AT, graphEdge, graphNode, graphOf, manyParts } from './graph-fixture.ts'

const picture = (graph: ProjectGraph, scheme: 'light' | 'dark' = 'light', marks: GraphMarks = NO_MARKS) => {
  const split = splitLoose(graph, foldGraph(graph), graph.positions)
  const layout = layoutGraph(split.drawn, graph.positions)
  return svgOf({
    ...wholePicture({ ...split, layout }),
    marks,
    title: `Graph of ${graph.project.name}`,
    description: 'What it is',
    scheme,
    now: Date.parse(AT),
  })
}

/** Open elements at the end and stray characters: what a parser of XML would refuse. */
function faultsOf(xml: string): string[] {
  const open: string[] = []
  const faults: string[] = []
  for (const [, close, name, attributes, alone] of xml.matchAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)(\/?)>/g,
  )) {
    if (close && open.pop() !== name) faults.push(`</${name}> closes something else`)
    if (!close && !alone) open.push(name!)
    const keys = [...attributes!.matchAll(/ ([a-zA-Z:-]+)=/g)].map(([, key]) => key)
    if (new Set(keys).size !== keys.length) faults.push(`<${name}> has an attribute twice`)
  }
  const text = xml.replace(/<[^<>]*>/g, '')
  if (/[<>]|&(?!amp;|lt;|gt;|quot;)/.test(text)) faults.push('text is not escaped')
  return [...faults, ...open.map((name) => `<${name}> stays open`)]
}

describe('the picture of a graph', () => {
  const awkward = () =>
    graphOf(
      [
        graphNode('source', 'a<b> & "c"', { detail: 'control \u0007 & more' }),
        graphNode('trigger', 'errs', { state: 'missing', health: 'attention', reason: 'it is not there' }),
        graphNode('agent', 'triage', { verdicts: ['investigate'], health: 'waiting' }),
        graphNode('agent', 'digger', { shared_with: [{ id: 'p', name: 'Ops' }], customized: true }),
      ],
      [
        graphEdge('feeds', 'source:a<b> & "c"', 'trigger:errs'),
        graphEdge('wakes', 'trigger:errs', 'agent:triage', { enabled: false }),
        graphEdge('hands_off', 'agent:triage', 'agent:digger', { verdict: 'investigate', cooldown: '1h' }),
      ],
    )

  it('is well-formed XML with a title and a description, whatever parts are called', () => {
    const { svg, width, height } = picture(awkward())
    expect(faultsOf(svg)).toEqual([])
    expect(svg).toContain('<title id="title">Graph of Shop</title>')
    expect(svg).toContain('<desc id="desc">What it is</desc>')
    expect(svg).toContain('a&lt;b&gt; &amp; &quot;c&quot;')
    expect(svg).not.toContain('\u0007')
    expect(svg).toContain(`width="${width}" height="${height}"`)
  })

  it('stands for itself: nothing is loaded, and nothing is HTML', () => {
    const { svg } = picture(awkward())
    expect(svg).not.toMatch(/foreignObject|<image|<style|href=|url\((?!#)|var\(/)
  })

  it('has each name in full, each verdict and each edge of 300 nodes', () => {
    const graph = manyParts({
      sources: 60,
      triggers: 105,
      agents: 84,
      servers: 30,
      skills: 9,
      destinations: 12,
    })
    const { svg } = picture(graph)
    expect(faultsOf(svg)).toEqual([])
    for (const node of graph.nodes) expect(svg).toContain(`<title>${nodeTitle(node)}, `)
    expect(svg.match(/marker-end=/g)).toHaveLength(
      // Tools stand in their agents.
      graph.edges.filter(({ kind }) => kind !== 'uses').length,
    )
    expect(svg.match(/>1h</g)).toHaveLength(42)
  })

  it('has a badge on a connection, whose gap has no room for words', () => {
    const note = { text: 'cooldown until 04:57', tone: 'waiting' as const }
    const notes = new Map([['hands_off:triage/investigate>digger', note]])
    const { svg } = picture(awkward(), 'light', { ...NO_MARKS, notes })
    expect(svg).toContain('…')
    expect(svg).not.toContain('cooldown until')
  })

  it('shows what is off, missing or changed by word, and differs between light and dark', () => {
    const marks: GraphMarks = { ...NO_MARKS, changes: new Map([['agent:digger', 'created']]) }
    const { svg } = picture(awkward(), 'light', marks)
    for (const word of ['>off<', '>missing<', '>customized<', '>shared +1<', '>+ created<'])
      expect(svg).toContain(word)
    expect(picture(awkward(), 'dark').svg).not.toBe(picture(awkward()).svg)
  })
})

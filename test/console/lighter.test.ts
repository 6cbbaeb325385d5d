/** What the form kit is given in place of large packages, and that it is enough. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { numberIn } from '../../console/lib/numbers.ts'
import { Fragment, jsx, jsxs } from '../../console/lighter/jsx-runtime.ts'
import { withoutMarks } from '../../console/lighter/markdown.tsx'
import { movedBy } from '../../console/lighter/transition.ts'
import uri from '../../console/lighter/uri.ts'

describe('the form kit made lighter', () => {
  it('resolves references of a schema', () => {
    expect(uri.resolve('https://svc.example/a.json#/x', '#/y')).toBe('https://svc.example/a.json#/y')
    expect(uri.resolve('https://svc.example/a.json', 'b.json')).toBe('https://svc.example/b.json')
  })

  it('reads numbers while they are typed', () => {
    expect(['', '-', '12', '0.5', '0,5', '.', '1e-3'].map((text) => numberIn(text, true))).toEqual([
      '',
      '',
      12,
      0.5,
      0.5,
      '',
      0.001,
    ])
    expect(['x', '1.2.3', '--1'].map((text) => numberIn(text, true))).toEqual([null, null, null])
    expect(numberIn('1.5', false)).toBeNull()
  })

  it('takes the marks out of a fault that the kit words in Markdown, and leaves names as they are', () => {
    expect(withoutMarks('`poll_every` field configuration error: _must be a text_.')).toBe(
      'poll_every field configuration error: must be a text.',
    )
    expect(withoutMarks('**file.txt** (text/plain, 3 bytes)')).toBe('file.txt (text/plain, 3 bytes)')
    expect(withoutMarks('snake_case_name stays')).toBe('snake_case_name stays')
  })

  it('is enough: no connector asks for dates, colours, files or allOf', () => {
    const folder = new URL('../../schemas/connectors/', import.meta.url)
    const asking = readdirSync(folder).filter((name) =>
      /"format": "(date|time|date-time|alt-date|alt-datetime|color|data-url)"|"allOf"/.test(
        readFileSync(new URL(name, folder), 'utf8'),
      ),
    )
    expect(asking).toEqual([])
  })
})

it('draws no text that turns text around, and leaves values and what components are given as they are', () => {
  const turned = 'evil\u202emoc.elgoog'
  const drawn = (made: unknown) => (made as { props: { children?: unknown; value?: unknown } }).props
  expect(drawn(jsx('b', { children: turned, title: 'x' }))).toEqual({
    children: 'evil\\u202emoc.elgoog',
    title: 'x',
  })
  // What is told under the pointer, or aloud, too.
  const told = { title: turned, 'aria-label': turned, placeholder: turned }
  expect(Object.values(drawn(jsx('button', told)))).toEqual(Array(3).fill('evil\\u202emoc.elgoog'))
  expect(drawn(jsxs(Fragment, { children: ['a', 1, null, turned] })).children).toEqual([
    ...['a', 1, null, 'evil\\u202emoc.elgoog'],
  ])
  expect(drawn(jsx('input', { value: turned })).value).toBe(turned)
  expect(drawn(jsx(() => null, { children: turned })).children).toBe(turned)
  const arabic = 'خدمة\u200f-الدفع'
  expect(drawn(jsx('b', { children: arabic })).children).toBe(arabic)
})

/** As d3's zoom uses one. */
interface Transition {
  duration(ms: number): Transition
  ease(eased: (done: number) => number): Transition
  on(types: string, listener: (datum: unknown) => void): Transition
  tween(name: string, tween: () => (done: number) => void): Transition
}

describe('a drawing moves its view', () => {
  const frames = new Map<number, (at: number) => void>()
  /** Draws one frame. @param at milliseconds */
  const frame = (at: number): void => {
    const due = [...frames.values()]
    frames.clear()
    for (const one of due) one(at)
  }
  beforeEach(() => {
    frames.clear()
    let next = 0
    vi.stubGlobal('requestAnimationFrame', (one: (at: number) => void) => {
      next += 1
      frames.set(next, one)
      return next
    })
    vi.stubGlobal('cancelAnimationFrame', (id: number) => frames.delete(id))
  })
  afterEach(() => void vi.unstubAllGlobals())

  function world() {
    const node = { __data__: 'of the node' } as unknown as Element
    const heard: unknown[] = []
    class Selection {
      each(visit: (this: Element) => void) {
        visit.call(node)
        return this
      }
    }
    const interrupt = movedBy(Selection as never)
    const begin = (name: string) =>
      (new Selection() as never as { transition(): Transition })
        .transition()
        .duration(100)
        .ease((done) => done ** 2)
        .on('start.zoom', (datum) => heard.push(`${name} starts with what is ${datum}`))
        .on('interrupt.zoom end.zoom', () => heard.push(`${name} is over`))
        .on('end', () => heard.push(`${name} arrived`))
        .tween('zoom', () => (done) => heard.push(done))
    return { node, heard, interrupt, begin }
  }
  it('step by step until its time is over', () => {
    const { heard, begin } = world()
    begin('a')
    expect(heard).toEqual([])
    for (const at of [1_000, 1_050, 1_100, 1_150]) frame(at)
    expect(heard).toEqual(['a starts with what is of the node', 0, 0.25, 1, 'a is over', 'a arrived'])
  })

  it('until a hand takes hold of it, or another move begins', () => {
    const { node, heard, interrupt, begin } = world()
    begin('a')
    frame(1_000)
    interrupt(node)
    frame(1_050)
    expect(heard).toEqual(['a starts with what is of the node', 0, 'a is over'])
    begin('b')
    frame(1_100)
    begin('c')
    expect(heard.slice(3)).toEqual(['b starts with what is of the node', 0, 'b is over'])
    interrupt(node)
    frame(1_200)
    // It had not begun.
    expect(heard.slice(6)).toEqual([])
  })
})

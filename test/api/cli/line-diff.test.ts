import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DiffLine, diffLines } from '../../../api/cli/line-diff.ts'

const shown = (hunks: DiffLine[][]) => hunks.map((hunk) => hunk.map(({ mark, text }) => mark + text))
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i))

describe('a line diff', () => {
  it('shows a changed line between two lines on each side', () => {
    const to = numbers(1, 9).map((line) => (line === '5' ? 'five' : line))
    expect(shown(diffLines(numbers(1, 9), to))).toEqual([[' 3', ' 4', '-5', '+five', ' 6', ' 7']])
  })

  it('joins changes whose surroundings touch, and parts those that do not', () => {
    const near = ['1', 'x', '3', '4', '5', '6', 'y', '8']
    expect(diffLines(numbers(1, 8), near)).toHaveLength(1)
    const far = numbers(1, 20).filter((line) => line !== '3' && line !== '17')
    expect(shown(diffLines(numbers(1, 20), far))).toEqual([
      [' 1', ' 2', '-3', ' 4', ' 5'],
      [' 15', ' 16', '-17', ' 18', ' 19'],
    ])
  })

  it('shows nothing for equal texts', () => {
    expect(diffLines(numbers(1, 5), numbers(1, 5))).toEqual([])
    expect(diffLines([], [])).toEqual([])
  })

  it('names every line that went and every line that came, in order', () => {
    const line = fc.constantFrom('a', 'b', 'c', '')
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.array(line, { maxLength: 12 }), (from, to) => {
        const all = diffLines(from, to).flat()
        const count = (mark: string, text: string) =>
          all.filter((one) => one.mark === mark && one.text === text).length
        for (const text of ['a', 'b', 'c', '']) {
          const grown = to.filter((one) => one === text).length - from.filter((one) => one === text).length
          expect(count('+', text) - count('-', text)).toBe(grown)
        }
        expect(all.length === 0).toBe(from.join('\n') === to.join('\n') && from.length === to.length)
      }),
    )
  })

  it('shows texts of thousands of other lines one after the other', () => {
    const [from, to] = [numbers(1, 2_500), numbers(5_001, 7_500)]
    const all = diffLines(from, to).flat()
    expect(all.slice(0, 2_500).every(({ mark }) => mark === '-')).toBe(true)
    expect(all.slice(2_500).map(({ text }) => text)).toEqual(to)
  })
})

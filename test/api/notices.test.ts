/** What the parts of one body say that should be known is told as one text. */
import { expect, it } from 'vitest'
import { Notices } from '../../api/notices.ts'

const told = (...notices: (string | undefined)[]): string | undefined => {
  const all = new Notices()
  for (const notice of notices) all.add(notice)
  return all.said()
}

it('tells each kind once, by its first, whichever part it comes from', () => {
  expect(told(undefined, undefined)).toBeUndefined()
  expect(
    told('times such as "a" were odd.', undefined, 'times such as "b \\"c" were odd.', 'no label x.'),
  ).toBe('times such as "a" were odd. no label x.')
  expect(told('times such as "a" were odd. no label x.', 'no label x.')).toBe(
    'times such as "a" were odd. no label x.',
  )
})

it('stays short however many kinds there are', () => {
  expect(told(...Array.from({ length: 50 }, (_, n) => `no label x${n}.`))).toBe(
    'no label x0. no label x1. no label x2. no label x3.',
  )
})

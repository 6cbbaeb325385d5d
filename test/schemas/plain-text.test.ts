import { expect, it } from 'vitest'
import { escapeLine, headlineOf, textOfMarkdown } from '../../schemas/plain-text.ts'

it.each([
  ['payment_service fails since deploy_42, see evt_1', 'payment_service fails since deploy_42, see evt_1'],
  ['__init__.py of snake__case', '__init__.py of snake__case'],
  ['a * b * c is 2*3*4', 'a * b * c is 2*3*4'],
  ['**The pool** of `order_api` is _very_ ***full***', 'The pool of order_api is very full'],
  ['# Cause\n\n* one\n* two', 'Cause one two'],
  ['#1 of 3, not a heading', '#1 of 3, not a heading'],
  ['C:\\temp, and \\*no emphasis\\*', 'C:\\temp, and *no emphasis*'],
])('a text of Markdown loses its markup, and names lose nothing: %s', (markdown, text) => {
  expect(textOfMarkdown(markdown)).toBe(text)
})

it.each([
  ['\u202egnp.exe', '\\u202egnp.exe'],
  ['a\u{e0069}\u{e0067}b', 'a\\u{e0069}\\u{e0067}b'],
  ['👩‍💻 می‌خواهم', '👩‍💻 می‌خواهم'],
])('what is seen otherwise than it is, or not at all, is an escape: %j', (text, shown) => {
  expect(escapeLine(text)).toBe(shown)
  expect(headlineOf(text)).toBe(shown)
  expect(headlineOf(`**${text}**`)).toBe(shown)
  expect(textOfMarkdown(text)).toBe(shown)
})

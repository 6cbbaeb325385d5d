import { expect, it } from 'vitest'
import { textOfMarkdown } from '../../schemas/plain-text.ts'

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

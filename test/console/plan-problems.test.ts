import { expect, it } from 'vitest'
import { problemWords } from '../../console/lib/plan-problems.ts'

it.each([
  ['table is required; cursor_column is required', 'Table is required. Cursor column is required.'],
  ['there are 9 agents; at most 4 are in a plan', 'There are 9 agents. At most 4 are in a plan.'],
  [
    'Connection URL (dsn) is required: postgresql://user:password@host',
    'Connection URL is required: postgresql://user:password@host.',
  ],
  ['condition.predicate must be a comparison', 'Predicate of condition must be a comparison.'],
  ['labels[1].name: it is there twice', 'Name of labels 2: it is there twice.'],
  [
    'triage_bot is the name of an agent of this service; take another',
    'triage_bot is the name of an agent of this service. Take another.',
  ],
  ['Nothing wakes anybody: add a trigger.', 'Nothing wakes anybody: add a trigger.'],
])('the problem %j of a plan reads %j', (message, words) => expect(problemWords(message)).toBe(words))

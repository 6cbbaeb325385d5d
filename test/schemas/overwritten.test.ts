/** Which edits by hand applying a commit writes over. */
import { expect, it } from 'vitest'
import { overwrittenBy } from '../../schemas/overwritten.ts'
import type { CatalogDifference, ChangePlan } from '../../schemas/types.ts'

const difference = (over: Partial<CatalogDifference>): CatalogDifference => ({
  ...{ kind: 'trigger', name: 'errors', path: '/cooldown', changed_in: 'instance' },
  ...{ base: '5m', in_files: '5m', in_instance: '1h', file: 'a.yaml', hand: null, commit: null },
  ...over,
})
const plan = (
  action: ChangePlan['changes'][number]['action'],
  ...paths: string[]
): Pick<ChangePlan, 'changes'> => ({
  changes: [
    { action, kind: 'trigger', key: 'errors', name: 'errors', fields: paths.map((path) => ({ path })) },
  ],
})

it('names the fields that the plan changes, and conflicts; not what only the files changed', () => {
  const [hand, both, git] = [
    difference({}),
    difference({ path: '/filters', changed_in: 'both' }),
    difference({ path: '/description', changed_in: 'files' }),
  ]
  expect(overwrittenBy(plan('update', '/cooldown', '/filters', '/description'), [hand, both, git])).toEqual([
    hand,
    both,
  ])
})

it('leaves out what the plan does not touch, such as a part with sync: warn or one that no file names', () => {
  const other = difference({ name: 'silence' })
  expect(overwrittenBy(plan('update', '/filters'), [difference({}), other])).toEqual([])
  expect(overwrittenBy(plan('none', '/cooldown'), [difference({})])).toEqual([])
})

it('has a part that was deleted by hand and is made again', () => {
  const gone = difference({ path: '', in_instance: null })
  expect(overwrittenBy(plan('create'), [gone])).toEqual([gone])
})

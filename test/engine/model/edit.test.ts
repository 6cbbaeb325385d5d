import { expect, it } from 'vitest'
import { Edit, type Kinds } from '../../../engine/model/documents.ts'

it('a part that is asked for again and again is read once, and so is one that is not there', () => {
  const asked: string[] = []
  const stored = {
    key: 'a',
    name: 'a',
    doc: { sources: ['gw'] },
    sealed: '{}',
    changeSet: 1,
    state: 'active',
  }
  const find = (key: string) => {
    asked.push(key)
    return key === 'a' ? stored : undefined
  }
  // No more of a kind than finding is reached here.
  const edit = new Edit({ trigger: { find } } as unknown as Kinds, () => undefined)
  for (let n = 0; n < 3; n++) {
    expect(edit.get('trigger', 'a')).toBe(stored.doc)
    expect(edit.has('trigger', 'b')).toBe(false)
  }
  edit.put('trigger', 'b', { sources: ['other'] })
  expect(edit.get('trigger', 'b')).toEqual({ sources: ['other'] })
  expect(asked).toEqual(['a', 'b'])
})

/** The form of an action of a project, such as the first notes of a repository. */
import { expect, it } from 'vitest'
import { isFilledIn, withChoices } from '../../console/lib/action-form.ts'

const schema = {
  type: 'object',
  required: ['repo'],
  properties: { repo: { type: 'string', title: 'Repository' }, depth: { type: 'integer' } },
}

it('offers what the project has of an argument, and asks for what must be there', () => {
  const params = { credential: 'gh', source_repos: [{ repo: 'acme/shop' }, { repo: 'acme/billing' }] }
  expect(withChoices(schema, params).properties).toEqual({
    repo: { type: 'string', title: 'Repository', enum: ['acme/shop', 'acme/billing'] },
    depth: { type: 'integer' },
  })
  expect(withChoices(schema, { repo: 'x' }).properties).toEqual(schema.properties)
  expect([
    isFilledIn(schema, {}),
    isFilledIn(schema, { repo: '' }),
    isFilledIn(schema, { repo: 'a/b' }),
  ]).toEqual([false, false, true])
})

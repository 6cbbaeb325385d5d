/** Faults of a form stand at their fields, and one summary leads to each. */
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'

share()

test('what a save of a source refuses stands at its fields, in folds too, and the summary leads to them', async ({
  page,
  daemon,
}) => {
  await page.goto(`${daemon.url}/sources/new?connector=webhook`)
  await page.getByRole('textbox', { name: 'Name' }).first().fill('shop')
  const label = page.getByRole('group', { name: 'Label 1' })
  await label.getByLabel('Name').fill('service')
  await label.getByLabel('Payload field').fill('service')
  await label.getByLabel('Pattern (RE2)').fill('(')
  await page.getByRole('button', { name: 'Create source' }).click()
  const summary = page.getByRole('alert').filter({ hasText: 'Couldn’t create the source' })
  const link = summary.getByRole('button', { name: /^labels\[0\]\.pattern is not supported/ })
  await expect(link).toBeVisible()
  const pattern = label.getByLabel('Pattern (RE2)')
  await expect(pattern).toHaveAttribute('aria-invalid', 'true')
  await expect(pattern).toBeFocused()
  await expect(label.getByText(/^labels\[0\]\.pattern is not supported/)).toBeVisible()
  await page.getByRole('textbox', { name: 'Name' }).first().focus()
  await link.click()
  await expect(pattern).toBeFocused()
  expect(await accessibilityFaults(page, 'faults of a source')).toEqual([])
  await pattern.fill('')
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect
    .poll(async () => (await daemon.ask<{ name: string }[]>('GET', '/api/sources')).map(({ name }) => name))
    .toEqual(['shop'])
})

test('fields of a connector have their own faults, two at once, and the first has the focus', async ({
  page,
  daemon,
}) => {
  await page.goto(`${daemon.url}/sources/new?connector=prometheus`)
  // The form gives the first query once it is there: a save before that lacks all of them.
  await expect(page.locator('.config-form').getByRole('textbox', { name: /promql/i })).toBeVisible()
  await page.getByRole('textbox', { name: 'Name' }).first().fill('prom')
  await page.getByRole('button', { name: 'Create source' }).click()
  const summary = page.getByRole('alert').filter({ hasText: 'Couldn’t create the source' })
  await expect(summary.getByRole('button')).toHaveText(['url is required', 'queries[0].promql is required'])
  await expect(page.getByRole('textbox', { name: /url/i }).first()).toBeFocused()
  await expect(page.locator('.config-form').getByText('url is required')).toBeVisible()
  await expect(page.locator('.config-form').getByText('queries[0].promql is required')).toBeVisible()
})

test('faults of an agent stand at their fields, and a name that is taken at the name', async ({
  page,
  daemon,
}) => {
  await daemon.call('POST', '/api/agents/builtin', { name: 'digger', prompt: 'Dig.' })
  await page.goto(`${daemon.url}/agents/new`)
  await page.getByRole('textbox', { name: 'Name' }).fill('digger')
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Dig deeper.')
  await page.getByRole('button', { name: 'Add a verdict' }).click()
  const verdict = page.getByRole('textbox', { name: 'Verdict 1', exact: true })
  await verdict.fill('Not One')
  await page.getByRole('button', { name: 'Add agent' }).click()
  await expect(verdict).toHaveAttribute('aria-invalid', 'true')
  await expect(verdict).toBeFocused()
  await verdict.fill('investigate')
  await page.getByRole('button', { name: 'Add agent' }).click()
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused()
  await expect(
    page.getByRole('alert').getByRole('button', { name: /agent named digger exists/ }),
  ).toBeVisible()
})

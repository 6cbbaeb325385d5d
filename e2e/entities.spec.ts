/** Names of one thing: joined with their coverage in sight, read together, taken apart; neighbours on the page of an incident. */
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { test } from './daemon.ts'
import { goTo } from './go.ts'

const label = (name: string, primary = false) => ({ name, field: name, ...(primary ? { primary } : {}) })

test('names are joined with what they join in sight, and every name shows the whole timeline', async ({
  page,
  daemon,
}) => {
  const keys = new Map<string, string>()
  for (const [name, labels] of [
    ['logs', [label('service', true), label('node')]],
    ['alerts', [label('host', true)]],
  ] as const) {
    const made = await daemon.call('POST', '/api/sources', {
      name,
      connector: 'webhook',
      config: { labels, text_template: '{text}' },
    })
    keys.set(name, ((await made.json()) as { ingest_key: string }).ingest_key)
  }
  await daemon.call('POST', '/api/triggers', {
    name: 'disk',
    sources: ['alerts'],
    condition: { aggregate: 'count', predicate: '>= 1', window: '5m' },
    joined: true,
  })
  const send = (name: string, items: object[]) => daemon.call('POST', `/ingest/${keys.get(name)}`, items)
  await send('logs', [
    { service: 'api', node: 'web-1', text: 'write failed' },
    { service: 'web', node: 'web-1', text: 'ok' },
  ])

  await goTo(page, `${daemon.url}/entities`)
  await expect(page.getByText('No joined names yet')).toBeVisible()
  expect(await accessibilityFaults(page, 'entities, none yet')).toEqual([])

  await page.getByRole('link', { name: 'Join names' }).first().click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('api')
  const names = page.getByRole('textbox', { name: 'Names' })
  await names.fill('service=api\nhost')
  await expect(page.getByText('is[1] must be label=value')).toBeVisible()
  await names.fill('service=api\nhost=10.0.0.4')
  const coverage = page.getByRole('region', { name: 'Coverage' })
  await expect(coverage).toContainText('100 % of events have no entity; this joins 50 %.')
  await expect(coverage).toContainText('Still without: service=web')
  expect(await accessibilityFaults(page, 'the form of an entity')).toEqual([])
  await page.getByRole('button', { name: 'Join names' }).click()
  await expect(page.getByRole('heading', { name: 'api', level: 1 })).toBeVisible()
  await expect(page.getByText('Runs on node=web-1')).toBeVisible()

  await send('alerts', [{ host: '10.0.0.4', text: 'disk full' }])
  await goTo(page, `${daemon.url}/explore?l=service%3Dapi`)
  await expect(page.getByText('disk full')).toBeVisible()
  await expect(page.getByText('write failed')).toBeVisible()

  // A backtest says that no live trigger saw the entities so.
  await goTo(page, `${daemon.url}/triggers/disk?tab=edit`)
  await expect(page.getByText(/^Joined entities were changed .*judged by the entities of now/)).toBeVisible()

  await goTo(page, `${daemon.url}/incidents`)
  await page
    .getByRole('link', { name: /number of events/ })
    .first()
    .click()
  const neighbours = page.getByRole('region', { name: 'Neighbours' })
  await expect(neighbours).toContainText('Runs on node=web-1')
  expect(await accessibilityFaults(page, 'an incident with neighbours')).toEqual([])

  await goTo(page, `${daemon.url}/entities/api`)
  await page.getByRole('button', { name: 'Rename…' }).click()
  const naming = page.getByRole('dialog')
  await naming.getByRole('textbox').fill('shop-api')
  await naming.getByRole('button', { name: 'Rename' }).click()
  await expect(page.getByRole('heading', { name: 'shop-api', level: 1 })).toBeVisible()
  // Saved under the name that it has now.
  await page.getByRole('textbox', { name: 'Kind' }).fill('service')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('shop-api is saved')).toBeVisible()
  await expect(coverage).toContainText(/Without it \d+ % of events have no entity; it joins \d+ %/)
  await page.getByRole('button', { name: 'Remove…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('No joined names yet')).toBeVisible()
  await goTo(page, `${daemon.url}/explore?l=service%3Dapi`)
  await expect(page.getByText('write failed')).toBeVisible()
  await expect(page.getByText('disk full')).toHaveCount(0)
})

test('a form of an entity shows what others save until something is typed in it', async ({
  page,
  daemon,
}) => {
  const save = (kind: string, method = 'PUT') =>
    daemon.call(method, `/api/entities/joined${method === 'PUT' ? '/refilled' : ''}`, {
      ...(method === 'PUT' ? {} : { name: 'refilled' }),
      kind,
      is: ['service=refilled', 'host=refilled'],
    })
  expect((await save('first', 'POST')).status).toBe(201)
  await goTo(page, `${daemon.url}/entities/refilled`)
  const kind = page.getByRole('textbox', { name: 'Kind' })
  await expect(kind).toHaveValue('first')
  expect((await save('second')).status).toBe(200)
  await expect(kind).toHaveValue('second')
  await kind.fill('mine')
  const read = page.waitForResponse(
    async (answer) => answer.url().endsWith('/joined/refilled') && (await answer.text()).includes('third'),
  )
  expect((await save('third')).status).toBe(200)
  await read
  await expect(kind).toHaveValue('mine')
})

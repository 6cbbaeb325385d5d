/** A search by text through more events than one page looks at. */
import { expect, type Route } from '@playwright/test'
import { test } from './daemon.ts'
import { goTo } from './go.ts'

const HALF = 50_050

test('a search that found nothing goes on back by itself until it is stopped, and then when it is told to', async ({
  page,
  daemon,
}) => {
  const path = await daemon.source('app', {
    text_template: '{message}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  const post = (messages: string[]) =>
    daemon.call(
      'POST',
      path,
      messages.map((message) => JSON.stringify({ service: 'shop', message })).join('\n'),
      {
        'content-type': 'application/x-ndjson',
      },
    )
  await post(['card declined, the first'])
  for (let half = 0; half < 2; half++) {
    const fine = await post(Array.from({ length: HALF }, (_, n) => `fine ${half}.${n}`))
    expect(fine.status).toBe(202)
  }
  let isStopped = (): void => {}
  const stopped = new Promise<void>((resolve) => {
    isStopped = resolve
  })
  let first: unknown
  await page.route(
    '**/read',
    async (route) => {
      if (first) {
        await stopped
        return route.fulfill({ json: first })
      }
      const response = await route.fetch()
      first = await response.json()
      return route.fulfill({ response })
    },
    { times: 2 },
  )
  await goTo(page, `${daemon.url}/explore?l=service%3Dshop&q=declined`)
  await expect(page.getByText('Searching further back')).toBeVisible()
  await expect(page.getByText('Searched 100k events')).toBeVisible()
  await expect(page.getByText('Nothing found so far')).toBeVisible()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  isStopped()
  await expect(page.getByText('The search stopped before the start of the window')).toBeVisible()
  await expect(page.getByText('Searched 200k events')).toBeVisible()
  await page.getByRole('button', { name: 'Search further back' }).click()
  await expect(page.getByText('card declined, the first')).toBeVisible()
  await expect(page.getByText('The search stopped before the start of the window')).toBeHidden()
  await expect(page.getByText('1 event, all of this window')).toBeVisible()
  await expect(page.getByText('1 event', { exact: true })).toBeVisible()
  // What was counted for this search is not shown as the count of the next one.
  let goOn = (): void => {}
  const isAsked = new Promise<void>((resolve) => {
    goOn = resolve
  })
  await page.route('**/api/histogram', async (route) => {
    await isAsked
    await route.continue().catch(() => undefined)
  })
  await page.getByRole('textbox', { name: 'Text' }).fill('the first')
  await expect(page.getByText('Counting…')).toBeVisible()
  await expect(page.getByText('1 event', { exact: true })).toBeHidden()
  goOn()
  await expect(page.getByText('1 event', { exact: true })).toBeVisible()
  // Nobody stops this one.
  await expect(page.getByText('card declined, the first')).toBeVisible()
  await expect(page.getByText('1 event, all of this window')).toBeVisible()
})

test('an event that is stored after Explore was read, and before its tail listens, is shown', async ({
  page,
  daemon,
}) => {
  const path = await daemon.source('late', { labels: [{ name: 'service', field: 'service', primary: true }] })
  let goOn = (): void => {}
  const isStored = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const isRead = new Promise<void>((resolve) => {
    const hold = async (route: Route): Promise<void> => {
      const response = await route.fetch()
      expect(await response.json()).toMatchObject({ rows: [] })
      resolve()
      await isListening
      // The page may ask anew in place of waiting for it.
      await route.fulfill({ response }).catch(() => undefined)
    }
    void page.route('**/read', hold, { times: 1 })
  })
  await page.route('**/tail*', async (route) => {
    await isStored
    await route.continue()
  })
  const isListening = page.waitForResponse('**/tail*')
  await page.goto(`${daemon.url}/explore?l=service%3Dtardy&live=1`)
  await isRead
  await daemon.call('POST', path, { service: 'tardy', text: 'between read and tail' })
  goOn()
  await expect(page.getByRole('main').getByText('between read and tail')).toBeVisible()
})

test('an event with a long payload keeps its own row in view when it is opened, by its address and by hand', async ({
  page,
  daemon,
}) => {
  const path = await daemon.source('app', {
    text_template: '{message}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  const lines = Array.from({ length: 300 }, (_, line) => ({ line }))
  for (let n = 1; n <= 60; n++)
    await daemon.call('POST', path, {
      service: 'shop',
      message: `event ${n}`,
      ...(n % 20 === 0 && { lines }),
    })
  const row = (text: string) => page.getByRole('button', { name: new RegExp(`^${text}, `) })
  await goTo(page, `${daemon.url}/explore?l=service%3Dshop&event=evt_40`)
  await expect(page.getByRole('region', { name: 'Payload of evt_40' })).toContainText('299')
  await expect(row('event 40')).toBeInViewport()
  await row('event 40').click()
  // As by hand: a row that is far away is drawn once it is near, wherever the list stands after the first is closed.
  let by = 300
  await expect(async () => {
    // What stands above the list may have moved it away from under the pointer.
    await page.getByRole('region', { name: /^Timeline, / }).hover()
    await page.mouse.wheel(0, by)
    // The list may pass the row between two looks: at an end it is gone through once more.
    if (await row(by > 0 ? 'event 1' : 'event 60').isVisible()) by = -by
    await expect(row('event 20')).toBeInViewport({ timeout: 300 })
  }).toPass()
  await row('event 20').click()
  await expect(page.getByRole('region', { name: 'Payload of evt_20' })).toContainText('299')
  await expect(row('event 20')).toBeInViewport()
})

test('the text of a row is marked with the mouse, and a click on it opens the row', async ({
  page,
  daemon,
}) => {
  const path = await daemon.source('app', {
    text_template: '{message}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  await daemon.call('POST', path, { service: 'shop', message: 'card declined by the bank' })
  await goTo(page, `${daemon.url}/explore?l=service%3Dshop`)
  const text = page.getByText('card declined by the bank', { exact: true })
  const open = page.getByRole('button', { name: /^card declined/ })
  const { x, y, height } = (await text.boundingBox())!
  await page.mouse.move(x + 2, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + 60, y + height / 2, { steps: 4 })
  await page.mouse.up()
  expect('card declined by the bank').toContain(
    await page.evaluate('String(getSelection()).trim() || "nothing"'),
  )
  await expect(open).toHaveAttribute('aria-expanded', 'false')
  // The click takes the mark away, and is one on the row.
  await text.click()
  await expect(open).toHaveAttribute('aria-expanded', 'true')
  await text.click()
  await expect(open).toHaveAttribute('aria-expanded', 'false')
})

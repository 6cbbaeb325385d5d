import { createHmac } from 'node:crypto'
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, press } from './go.ts'
import { startReceiver } from './receiver.ts'

/** A source, by another name in each test that shares its daemon. */
const gateway = (daemon: RunningDaemon, name = 'gateway'): Promise<string> =>
  daemon.source(name, {
    text_template: '{msg}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })

/** @returns their ids */
async function send(
  daemon: RunningDaemon,
  url: string,
  ...events: [service: string, status: number][]
): Promise<string[]> {
  const ids: string[] = []
  for (const [service, status] of events) {
    const answer = await daemon.call('POST', url, { service, status, msg: `${service} answered ${status}` })
    expect(answer.status).toBe(202)
    ids.push(((await answer.json()) as { ids: string[] }).ids[0]!)
  }
  return ids
}

/** More than two server errors of a service within five minutes. */
const errorsOf = (source: string) => ({
  name: `${source}-errors`,
  sources: [source],
  filters: [{ field: 'payload.status', op: 'gte', value: 500 }],
  condition: { aggregate: 'count', predicate: '> 2', window: '5m' },
})

const cell = (page: Page, table: string) => page.getByRole('table', { name: table }).getByRole('row')

share()

test('a trigger is made in the editor, which says what it would have done, and its firing shows what tripped it', async ({
  page,
  daemon,
}) => {
  const url = await gateway(daemon)
  await send(daemon, url, ['pay', 500], ['pay', 503], ['pay', 200], ['cart', 502])
  await goTo(page, `${daemon.url}/triggers`)
  await page.getByRole('link', { name: 'Add trigger' }).first().click()
  await page.getByRole('combobox', { name: 'Sources' }).click()
  await page.getByRole('option', { name: 'gateway' }).click()
  await press(page, 'Escape')
  await page.getByRole('button', { name: 'Add a filter' }).click()
  await page.getByRole('combobox', { name: 'Field of filter 1' }).fill('payload.status')
  await press(page, 'Escape')
  await page.getByRole('combobox', { name: 'Operator of filter 1' }).click()
  await page.getByRole('option', { name: 'is at least' }).click()
  await page.getByRole('textbox', { name: 'Value of filter 1' }).fill('500')
  // Made from the sentence until somebody types one.
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await expect(name).toHaveValue('gateway-status-500')
  await name.fill('gateway-errors')

  const trial = page.getByRole('region', { name: 'What it would have done' })
  await expect(trial.getByText('0 times')).toBeVisible()
  await expect(trial.getByText(/3 of 4 events match\. 3 in the last hour\./)).toBeVisible()
  await page.getByRole('textbox', { name: 'Number', exact: true }).fill('1')
  await expect(trial.getByText('1 time', { exact: true })).toBeVisible()
  await expect(page.getByRole('status').getByText('Would have fired 1 time in 24 h')).toBeVisible()
  await page.getByRole('textbox', { name: 'Number', exact: true }).fill('2')
  await expect(trial.getByText('0 times')).toBeVisible()
  await page.getByRole('button', { name: 'Add trigger' }).click()
  await expect(page.getByText('gateway-errors is saved')).toBeVisible()
  await expect(page.getByText('nobody yet')).toBeVisible()
  await expect(
    page.getByText(
      'When the number of events is above 2 within 5 min on gateway where payload.status is at least 500.',
    ),
  ).toBeVisible()

  await send(daemon, url, ['pay', 500])
  await page.getByRole('tab', { name: 'Firings' }).click()
  await expect(page.getByText('3, above 2 within 5 min')).toBeVisible()
  await page.getByRole('link', { name: 'pay', exact: true }).click()
  // A firing leads to its incident.
  await expect(page).toHaveURL(/\/incidents\/\d+\?firing=/)
  await expect(page.getByText('above 2 within 5 min').first()).toBeVisible()
  const evidence = page.getByRole('region', { name: 'Evidence' })
  await expect(evidence.getByRole('link', { name: /^Tripped it: pay answered/ })).toHaveCount(3)
  await expect(evidence.getByRole('link', { name: /^pay answered 200/ })).toHaveCount(1)
  await expect(page.getByText('No subscribers')).toBeVisible()
  await page.getByRole('button', { name: 'More' }).first().click()
  await expect(page.getByRole('menuitem', { name: 'Copy timeline' })).toBeVisible()
  await page.getByRole('menuitem', { name: 'Open in Explore' }).click()
  await expect(page.getByRole('heading', { name: 'Explore' })).toBeVisible()
  await expect(page.getByText('pay answered 503', { exact: true })).toBeVisible()
  await expect(page).toHaveURL(/l=service%3Dpay/)

  // Loaded anew: for half a minute a page that goes on keeps what it asked of the same definition.
  await page.goto(`${daemon.url}/triggers/gateway-errors?tab=edit`)
  await expect(trial.getByText('1 time', { exact: true })).toBeVisible()
  await trial.getByRole('slider', { name: 'Threshold' }).press('ArrowRight')
  await expect(page.getByRole('textbox', { name: 'Number', exact: true })).toHaveValue('3')
  await expect(trial.getByText('0 times')).toBeVisible()
  await expect(trial.getByText('· 1 as stored')).toBeVisible()
})

test('an address is subscribed, told of a firing once and again by hand, with a signature that holds', async ({
  page,
  daemon,
}) => {
  const receiver = await startReceiver()
  try {
    const url = await gateway(daemon, 'relay')
    await daemon.call('POST', '/api/triggers', errorsOf('relay'))
    await goTo(page, `${daemon.url}/triggers/relay-errors?tab=subscriptions`)
    await page.getByRole('button', { name: 'Subscribe a webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Address' }).fill(receiver.url)
    await dialog.getByRole('textbox', { name: 'Name' }).fill('pager')
    await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await expect(dialog.getByText('Shown this once')).toBeVisible()
    const secret = (await dialog.locator('pre').first().textContent())!
    expect(secret).toMatch(/^whsec_/)
    await expect(dialog.getByText('export function isGenuine')).toBeVisible()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByRole('link', { name: 'pager' })).toBeVisible()
    await expect.poll(() => page.content()).not.toContain(secret)
    expect(await page.content()).not.toContain('secret-part')

    await send(daemon, url, ['bank', 500], ['bank', 500], ['bank', 500])
    await expect.poll(() => receiver.posts.length).toBe(1)
    const { headers, body } = receiver.posts[0]!
    const signed = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
      .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
      .digest('base64')
    expect(headers['webhook-signature']).toContain(`v1,${signed}`)

    await goTo(page, `${daemon.url}/deliveries`)
    await expect(cell(page, 'Deliveries').filter({ hasText: 'pager' })).toContainText('delivered')
    expect(await page.content()).not.toContain('secret-part')
    await page.getByRole('button', { name: 'Attempts of the delivery to pager for bank' }).click()
    await expect(page.getByRole('table', { name: /^Attempts of dlv_/ })).toContainText('204')
    await expect(page.getByRole('region', { name: /^What is posted as dlv_/ })).toContainText('"key": "bank"')
    await page.getByRole('button', { name: 'Redeliver to pager for bank' }).click()
    await expect(page.getByText('Redelivered with the same id')).toBeVisible()
    await expect.poll(() => receiver.posts.length).toBe(2)
    expect(receiver.posts[1]!.headers['webhook-id']).toBe(headers['webhook-id'])
    expect(receiver.posts[1]!.body).toBe(body)

    await page.getByText('Failed', { exact: true }).click()
    await expect(page.getByText('No deliveries match')).toBeVisible()
    await expect(page).toHaveURL(/status=failed/)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: 'relay-errors: bank' }).click()
    await expect(page.getByRole('region', { name: 'Notified' })).toContainText('delivered')

    await goTo(page, `${daemon.url}/triggers/relay-errors?tab=subscriptions`)
    await page.getByRole('button', { name: 'Unsubscribe pager' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unsubscribe', exact: true }).click()
    await expect(page.getByText('No subscriptions')).toBeVisible()
  } finally {
    await receiver.stop()
  }
})

test('an event that fired nothing says why, and firings are narrowed by what the address holds', async ({
  page,
  daemon,
}) => {
  const url = await gateway(daemon, 'door')
  await daemon.call('POST', '/api/triggers', errorsOf('door'))
  const [fine, first] = await send(
    daemon,
    url,
    ...([
      ['shop', 200],
      ['shop', 500],
      ['shop', 500],
      ['shop', 500],
      ['stock', 500],
    ] as [string, number][]),
  )
  await goTo(page, `${daemon.url}/triggers/door-errors?tab=why`)
  await expect(page.getByRole('table', { name: 'Records' })).toContainText('threshold not met')
  const reasons = page.getByRole('radiogroup', { name: 'Only this reason' })
  const wide = page.viewportSize()!
  await page.setViewportSize({ width: 390, height: 844 })
  const places = () =>
    page.evaluate<number[]>("[...document.querySelectorAll('.reasons > *')].map((one) => one.offsetTop)")
  await expect.poll(async () => new Set(await places()).size, 'lines of reasons on a phone').toBe(1)
  expect((await places()).length).toBeGreaterThan(3)
  await page.setViewportSize(wide)
  await reasons.getByText(/^fired, no subscribers/).click()
  await expect(cell(page, 'Records')).toHaveCount(2)
  await expect(page).toHaveURL(/reason=no_subscriber/)

  await page.getByRole('textbox', { name: 'Why not?' }).fill(first!)
  await page.getByRole('button', { name: 'Ask' }).click()
  await expect(page.getByRole('status', { name: `What came of ${first}` })).toContainText('threshold not met')
  await page.getByRole('textbox', { name: 'Why not?' }).fill(fine!)
  await press(page, 'Enter')
  await expect(page.getByRole('status', { name: `What came of ${fine}` })).toContainText(
    'filter did not hold',
  )

  await goTo(page, `${daemon.url}/explore?l=service%3Dshop`)
  await page.getByRole('button', { name: /^shop answered 200/ }).click()
  const why = page.getByRole('region', { name: `Why ${fine}` })
  await expect(why).toContainText('filter did not hold')
  await why.getByRole('link', { name: 'door-errors' }).click()
  await expect(page.getByRole('heading', { name: 'door-errors' })).toBeVisible()

  await goTo(page, `${daemon.url}/firings?trigger=door-errors`)
  await expect(cell(page, 'Firings')).toHaveCount(2)
  await page.getByRole('textbox', { name: 'Entity' }).fill('stock')
  await expect(page.getByText('No firings match')).toBeVisible()
  await expect(page).toHaveURL(/key=stock/)
  await goTo(page, `${daemon.url}/firings?key=shop&trigger=door-errors&state=fired&since=1h`)
  await expect(page.getByRole('link', { name: 'shop', exact: true })).toBeVisible()
})

test('triggers at work have no accessibility fault, light or dark', async ({ page, daemon }) => {
  const receiver = await startReceiver()
  const faults: string[] = []
  const check = async (what: string): Promise<void> => {
    faults.push(...(await accessibilityFaults(page, what)))
  }
  const visit = async (path: string, ready: () => Promise<unknown>): Promise<void> => {
    await goTo(page, daemon.url + path)
    await ready()
    await check(path)
  }
  try {
    const url = await gateway(daemon, 'hall')
    // Its firings open no incident, and are pages of their own.
    await daemon.call('POST', '/api/triggers', { ...errorsOf('hall'), severity: 'none' })
    const trigger = '/triggers/hall-errors'
    await visit(`${trigger}?tab=subscriptions`, () => page.getByText('No subscriptions').waitFor())
    await visit(`${trigger}?tab=why`, () => page.getByText('Nothing is recorded yet').waitFor())
    await goTo(page, `${daemon.url}${trigger}?tab=subscriptions`)
    await page.getByRole('button', { name: 'Subscribe a webhook' }).click()
    await page.getByRole('textbox', { name: 'Address' }).fill(receiver.url)
    await check('the dialog that subscribes')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await page.getByText('Shown this once').waitFor()
    await check('the secret')
    const sent = await send(daemon, url, ['park', 200], ['park', 500], ['park', 500], ['park', 500])
    await expect.poll(() => receiver.posts.length).toBe(1)
    await visit(trigger, () => page.getByRole('link', { name: 'park', exact: true }).waitFor())
    await visit(`${trigger}?tab=edit`, () => page.getByRole('heading', { name: 'Backtest' }).waitFor())
    await visit(`${trigger}?tab=why&event=${sent[0]}`, () =>
      page.getByRole('status', { name: `What came of ${sent[0]}` }).waitFor(),
    )
    await visit(`${trigger}?tab=subscriptions`, () =>
      page.getByRole('table', { name: 'Subscriptions' }).waitFor(),
    )
    await visit(`${trigger}?tab=history`, () => page.getByText('Each can be undone').waitFor())
    await visit('/firings', () => page.getByRole('table', { name: 'Firings' }).waitFor())
    await page.getByRole('link', { name: 'park', exact: true }).click()
    await page
      .getByRole('button', { name: /, evidence$/ })
      .first()
      .click()
    await page.getByRole('region', { name: /^Why evt_/ }).waitFor()
    await page.getByRole('button', { name: /^Attempts of the delivery/ }).click()
    await page.getByRole('region', { name: /^What is posted/ }).waitFor()
    await check('a firing')
    await visit('/deliveries', () => page.getByRole('table', { name: 'Deliveries' }).waitFor())
    expect(faults).toEqual([])
  } finally {
    await receiver.stop()
  }
})

/** Trigger, a sentence: by keyboard and on a phone, with faults at their fields, drafts, and whom it tells. */
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, press } from './go.ts'
import { startReceiver } from './receiver.ts'

const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

async function prepared(daemon: RunningDaemon): Promise<void> {
  const url = await daemon.source('app-logs', {
    event_type_field: 'kind',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  for (let n = 0; n < 6; n += 1) await daemon.call('POST', url, { service: 'pay', kind: 'error' })
  const made = await daemon.call('POST', '/api/agents/builtin', { name: 'first-look', prompt: 'Look.' })
  expect(made.ok, await made.text()).toBe(true)
  await daemon.call('POST', '/api/sources', { name: 'pages', connector: 'alertmanager', config: {} })
}

share({ prepare: prepared })

test('a trigger is written as a sentence by keyboard alone, and tells an agent and an address', async ({
  page,
  daemon,
}) => {
  const receiver = await startReceiver()
  try {
    await page.goto(`${daemon.url}/triggers/new?source=app-logs`)
    await page.getByRole('combobox', { name: 'Kind of condition' }).focus()
    await press(page, 'Tab', 'Tab', 'ControlOrMeta+a')
    await page.keyboard.type('4')
    await expect(box(page, 'Number')).toHaveValue('4')
    await press(page, 'Tab', 'ControlOrMeta+a')
    await page.keyboard.type('10m')
    await expect(page.getByText('Would have fired 1 time in 24 h')).toBeVisible()
    await expect(box(page, 'Name')).toHaveValue('app-logs-events')
    await page.getByRole('combobox', { name: 'Agents to notify' }).focus()
    await page.keyboard.type('first')
    await expect(page.getByRole('option', { name: 'first-look' })).toBeVisible()
    await press(page, 'ArrowDown', 'Enter', 'Escape')
    await page
      .getByRole('combobox', { name: 'Addresses to notify' })
      .or(box(page, 'Addresses to notify'))
      .focus()
    await page.keyboard.type(receiver.url)
    await press(page, 'Enter')
    await page.getByRole('button', { name: 'Add trigger' }).focus()
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog', { name: 'app-logs-events is saved' })
    await expect(dialog.locator('pre').first()).toHaveText(/^whsec_/)
    expect(await accessibilityFaults(page, 'the secrets of a new trigger')).toEqual([])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByRole('heading', { name: 'app-logs-events' })).toBeVisible()
    await expect(page.getByRole('link', { name: '2 subscribers' })).toBeVisible()
    const agent = await daemon.ask<{ triggers: string[] }>('GET', '/api/agents/builtin/first-look')
    expect(agent.triggers).toEqual(['app-logs-events'])
    // Opened and saved, it is as it was: no change is recorded.
    const before = await daemon.ask<{ version: number }>('GET', '/api/triggers/app-logs-events')
    await page.getByRole('tab', { name: 'Edit' }).click()
    await expect(page.getByText('besides 1 subscription')).toBeVisible()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(page.getByText('app-logs-events is saved').last()).toBeVisible()
    const after = await daemon.ask<{ version: number }>('GET', '/api/triggers/app-logs-events')
    expect(after.version).toBe(before.version)
  } finally {
    await receiver.stop()
  }
})

test('faults stand at their field once it is left, and a save goes to the first', async ({
  page,
  daemon,
}) => {
  await page.goto(`${daemon.url}/triggers/new`)
  await box(page, 'Window').fill('soon')
  await expect(page.getByText('For example 30s, 5m, 1h or 2d')).toHaveCount(0)
  await press(page, 'Tab')
  await expect(page.getByText('For example 30s, 5m, 1h or 2d')).toBeVisible()
  await expect(page.getByText('Choose at least one source')).toHaveCount(0)
  await box(page, 'Window').fill('5m')
  await page.getByRole('button', { name: 'Add trigger' }).click()
  await expect(page.getByText('Choose at least one source').first()).toBeVisible()
  await expect(
    page.getByRole('alert').getByRole('button', { name: 'Choose at least one source' }),
  ).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Sources' })).toBeFocused()
  await press(page, 'Escape')
  expect(await accessibilityFaults(page, 'faults of the sentence')).toEqual([])
  // What the API refuses stands at its field, too, in the fold that is opened for it.
  await page.getByRole('combobox', { name: 'Sources' }).click()
  await page.getByRole('option', { name: 'app-logs' }).click()
  await press(page, 'Escape')
  await page.getByRole('button', { name: /^More options/ }).click()
  await box(page, 'Minimum events').fill('3')
  await page.getByRole('button', { name: 'Add trigger' }).click()
  await expect(page.getByText(/min_count needs/).first()).toBeVisible()
  await expect(page.getByRole('heading', { level: 1, name: 'Add trigger' })).toBeVisible()
  // Where Home leads over alerts, it begins as where they are chosen here.
  // A form that is left keeps what was typed: only then is it taken away.
  await page.goto(`${daemon.url}/health`)
  await page.evaluate('localStorage.clear()')
  await page.goto(`${daemon.url}/triggers/new?source=pages`)
  await expect(page.getByRole('combobox', { name: 'Kind of condition' })).toHaveValue('any event')
  await expect(box(page, 'Value of filter 1')).toHaveValue('firing')
})

test('an address that is refused stands at its field, and neither the trigger nor anybody is saved', async ({
  page,
  daemon,
}) => {
  await page.goto(`${daemon.url}/triggers/new?source=app-logs`)
  await box(page, 'Name').fill('told-nobody')
  await box(page, 'Number').fill('4')
  const addresses = page
    .getByRole('combobox', { name: 'Addresses to notify' })
    .or(box(page, 'Addresses to notify'))
  await addresses.fill('#shop-ops')
  await press(page, 'Enter')
  await page.getByRole('button', { name: 'Add trigger' }).click()
  // No bot token of Slack is set.
  await expect(page.locator('[data-field="notify.addresses"]')).toContainText(
    'notify.addresses[0]: no bot token of Slack is set',
  )
  await expect(addresses).toBeFocused()
  const triggers = await daemon.ask<{ name: string }[]>('GET', '/api/triggers')
  expect(triggers.map(({ name }) => name)).not.toContain('told-nobody')
})

test('at 390 px every kind of sentence fits, is kept over Escape, Back and reload, and has no fault', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${daemon.url}/triggers`)
  await goTo(page, `${daemon.url}/triggers/new?source=app-logs`)
  const kind = page.getByRole('combobox', { name: 'Kind of condition' })
  const faults: string[] = []
  for (const one of ['any event', 'rate of events', 'sum of', 'silence', 'change', 'sequence', 'schedule']) {
    await kind.click()
    await page.getByRole('option', { name: one, exact: true }).click()
    await expect(kind).toHaveValue(one)
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect([one, wide]).toEqual([one, 390])
    const more = page.getByRole('button', { name: /^More options/ })
    if ((await more.getAttribute('aria-expanded')) === 'false') await more.click()
    faults.push(...(await accessibilityFaults(page, `a sentence of ${one}`)))
  }
  expect(faults).toEqual([])
  await box(page, 'Every').fill('3h')
  await press(page, 'Escape')
  await expect(box(page, 'Every')).toHaveValue('3h')
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1, name: 'Triggers' })).toBeVisible()
  await page.goForward()
  await expect(box(page, 'Every')).toHaveValue('3h')
  await expect(page.getByText(/^Draft from \d\d:\d\d restored\.$/)).toBeVisible()
  await page.reload()
  await expect(box(page, 'Every')).toHaveValue('3h')
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(kind).toHaveValue('number of events')
})

test('what is typed to subscribe an address is kept over Escape, and given up by Cancel', async ({
  page,
  daemon,
}) => {
  await daemon.call('POST', '/api/triggers', {
    name: 'errs',
    sources: ['app-logs'],
    condition: { event: 'any' },
  })
  await page.goto(`${daemon.url}/triggers/errs?tab=subscriptions`)
  const open = page.getByRole('button', { name: 'Subscribe a webhook' })
  await open.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Address' }).fill('https://hooks.example/secret-part')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('pager')
  await press(page, 'Escape')
  await expect(dialog).toHaveCount(0)
  await open.click()
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('pager')
  await page.reload()
  await open.click()
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('pager')
  // An address may hold a secret, and is not kept by the browser.
  await expect(dialog.getByRole('textbox', { name: 'Address' })).toHaveValue('')
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('secret-part')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await open.click()
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('')
  // A chat takes a message in its own form, which has no signature.
  await dialog.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/room')
  await dialog.getByRole('combobox', { name: 'Posted as' }).click()
  await page.getByRole('option', { name: 'Microsoft Teams' }).click()
  await dialog.getByRole('button', { name: 'Subscribe', exact: true }).click()
  await expect(dialog.getByText('Such posts are not signed.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('cell', { name: 'Microsoft Teams' })).toBeVisible()
  // An agent is chosen in the sentence: an incident that none looks at leads there.
  const { ingest_key: key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/app-logs')
  await daemon.call('POST', `/ingest/${key}`, { service: 'pay', kind: 'error' })
  const list = () => daemon.ask<{ incidents: { number: number }[] }>('GET', '/api/incidents?trigger=errs')
  await expect.poll(async () => (await list()).incidents.length).toBe(1)
  await page.goto(`${daemon.url}/incidents/${(await list()).incidents[0]!.number}`)
  await page.getByRole('link', { name: 'Wake one' }).click()
  await expect(page.getByRole('combobox', { name: 'Agents to notify' })).toBeVisible()
})

test('two tabs with one form keep what was typed in each', async ({ page, daemon }) => {
  const name = (of: typeof page) => of.getByRole('textbox', { name: 'Name', exact: true })
  await page.goto(`${daemon.url}/skills/new`)
  await name(page).fill('first')
  await expect.poll(() => page.evaluate(`Object.values(localStorage).join()`)).toContain('first')
  const other = await page.context().newPage()
  await other.goto(`${daemon.url}/skills/new`)
  await expect(name(other)).toHaveValue('first')
  await expect(other.getByText('restored; it is open in another tab, too')).toBeVisible()
  await other.getByRole('button', { name: 'Discard' }).click()
  await name(other).fill('second')
  await expect.poll(() => page.evaluate(`Object.values(localStorage).join()`)).toContain('second')
  await page.reload()
  await expect(name(page)).toHaveValue('first')
  await other.reload()
  await expect(name(other)).toHaveValue('second')

  // What is there already is saved by the one who is first; the other is told, and has what was typed.
  await daemon.call('POST', '/api/entities/joined', { name: 'twice', is: ['service=a', 'host=b'] })
  const kind = (of: typeof page) => of.getByRole('textbox', { name: 'Kind' })
  for (const tab of [page, other]) await goTo(tab, `${daemon.url}/entities/twice`)
  await kind(page).fill('service')
  await kind(other).fill('host')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText('twice is saved')).toBeVisible()
  // As it does when its window is gone to.
  const read = other.waitForResponse((answer) => answer.url().endsWith('/api/entities/joined/twice'))
  await other.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await read
  await expect(kind(other)).toHaveValue('host')
  await other.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(other.getByRole('alert').getByText('Somebody else changed the same field')).toBeVisible()
  await expect(kind(other)).toHaveValue('host')
  await other.close()
})

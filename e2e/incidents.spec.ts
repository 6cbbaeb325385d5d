/** The page of an incident, and the list: what is wrong, why, what now; one key each, with Undo. */
import { expect, type Page } from '@playwright/test'
import { test } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { share } from './daemon.ts'
import { goTo, placeOf, press, settled } from './go.ts'
import { actOnAll, HEADLINE, incidentOf, incidentsOf, NEXT, onScreen, prepare, sceneOf } from './incidents.ts'

const evidence = (page: Page) => page.getByRole('region', { name: 'Evidence' })

test.describe('that nobody looks into', () => {
  share({ prepare: (daemon) => prepare(daemon) })
  test.afterEach(({ daemon }) => actOnAll(daemon, 'handle'))

  test('Maintenance: what fires of it is held back until it is ended', async ({ page, daemon }) => {
    const { fail } = await sceneOf(daemon)
    await page.goto(`${daemon.url}/incidents?tab=maintenance`)
    await page.getByRole('button', { name: 'Plan maintenance' }).click()
    const dialog = page.getByRole('dialog', { name: 'Plan maintenance' })
    await dialog.getByRole('textbox', { name: 'What is the work?' }).fill('Upgrade of the database')
    await dialog.getByRole('button', { name: 'Plan maintenance' }).click()
    const entities = dialog.getByRole('combobox', { name: 'Entities' })
    await expect(dialog.getByText('Choose an entity, a trigger or a project')).toBeVisible()
    await expect(entities).toBeFocused()
    await entities.fill('service=billing')
    const faults = await accessibilityFaults(page, 'plan of maintenance')
    await dialog.getByRole('button', { name: 'Plan maintenance' }).click()
    const row = page.getByRole('row', { name: 'Upgrade of the database' })
    await expect(row).toContainText('service=billing')
    await fail('billing')
    await expect.poll(async () => (await incidentOf(daemon, 'billing'))?.state).toBe('snoozed')
    const { number } = await incidentOf(daemon, 'billing')
    await goTo(page, `${daemon.url}/incidents`)
    await expect(page.getByText(/^Maintenance until .*: Upgrade of the database$/)).toBeVisible()
    await goTo(page, `${daemon.url}/incidents/${number}`)
    await expect(page.getByText(/^Snoozed until .* for maintenance$/).first()).toBeVisible()
    await expect(page.getByRole('region', { name: 'Notified' })).toContainText('Held back')
    await goTo(page, `${daemon.url}/incidents?tab=maintenance`)
    faults.push(...(await accessibilityFaults(page, 'maintenance')))
    await row.getByRole('button', { name: 'End now' }).click()
    await expect(row).toContainText('over')
    expect(await incidentOf(daemon, 'billing')).toMatchObject({ state: 'open', snoozed: null })
    await page.getByRole('button', { name: 'Plan maintenance' }).click()
    await dialog.getByRole('textbox', { name: 'What is the work?' }).fill('Nightly backup')
    await entities.fill('service=orders')
    await dialog.getByRole('combobox', { name: 'Repeats' }).click()
    await page.getByRole('option', { name: 'Every day' }).click()
    await dialog.getByRole('button', { name: 'Plan maintenance' }).click()
    const nightly = page.getByRole('row', { name: 'Nightly backup' })
    await expect(nightly).toContainText(/active.*Repeats every day at \d\d:\d\d/)
    await nightly.getByRole('button', { name: 'End now' }).click()
    await nightly.getByRole('button', { name: 'Skip the next' }).click()
    await nightly.getByRole('button', { name: 'Stop repeating' }).click()
    await expect(nightly).toContainText('over')
    expect(faults).toEqual([])
  })

  test('Noise: after 16,000 later events, tripping events and the fired line are on the first screen', async ({
    page,
    daemon,
  }) => {
    const { logs, fail } = await sceneOf(daemon)
    const early = Array.from({ length: 300 }, (_, i) => ({
      service: 'checkout',
      kind: 'info',
      msg: `GET /orders ${i}`,
      at: new Date(Date.now() - 50_000 + i).toISOString(),
    }))
    await logs(early)
    await fail('checkout')
    const { number } = await incidentOf(daemon, 'checkout')
    for (let sent = 0; sent < 16_000; sent += 1_000)
      await logs(
        Array.from({ length: 1_000 }, (_, i) => ({
          service: 'checkout',
          kind: 'info',
          msg: `later ${sent + i}`,
        })),
      )
    await page.goto(`${daemon.url}/incidents/${number}`)
    const fired = page.locator('.evidence-fired')
    await expect(fired).toContainText('5, above 4 within 10 min')
    await expect(evidence(page).getByText(/^› 15,99\d newer events$/)).toBeAttached()
    await settled(page)
    await onScreen(page, fired, 'the line of the firing')
    const tripping = evidence(page).locator('[data-kind="tripped"]')
    await expect(tripping).toHaveCount(5)
    for (const row of await tripping.all()) await onScreen(page, row, 'an event that tripped it')
    // The deploy is shown although 300 events came between.
    const change = evidence(page).locator('[data-kind="change"]')
    await expect(change).toHaveCount(1)
    await expect(change).toContainText('deploy v2.4.1 of checkout by mara')
    // What is folded is there all the same.
    await evidence(page)
      .getByRole('button', { name: /other events/ })
      .last()
      .click()
    await expect(evidence(page).getByText('GET /orders 299')).toBeVisible()
    // Later events do not push it away while it is looked at either.
    await logs({ service: 'checkout', kind: 'info', msg: 'one more' })
    await expect(tripping).toHaveCount(5)
  })

  test('an alert that came within the cooldown is said, and the agent that is off, with its switch', async ({
    page,
    daemon,
  }) => {
    const labels = [{ name: 'service', field: 'service', primary: true }]
    const config = { text_template: '{msg}', event_type_field: 'name', labels }
    const path = await daemon.source('paging', config)
    const post = async (to: string, body: unknown) => {
      const answer = await daemon.call('POST', to, body)
      expect(answer.ok, await answer.clone().text()).toBe(true)
    }
    await post('/api/triggers', {
      ...{ name: 'pages', sources: ['paging'], condition: { event: 'any' }, severity_field: 'payload.name' },
    })
    await post('/api/agents/builtin', {
      name: 'first-look',
      prompt: 'Find out what is wrong.',
      trigger: 'pages',
    })
    const alert = (name: string, msg: string) => post(path, { service: 'search', name, msg })
    await alert('warning', 'FIRING: Slow · p99 is 3.2 s')
    await alert('warning', 'FIRING: DiskFull · node7 is 97% full')
    await alert('critical', 'FIRING: Down · no instance answers')
    const { number } = await incidentOf(daemon, 'search')
    await page.goto(`${daemon.url}/incidents/${number}`)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(/Down · no instance answers$/)
    await expect(evidence(page).locator('[data-kind="tripped"]')).toContainText('Down')
    await expect(page.getByRole('region', { name: 'Also' })).toContainText('DiskFull · node7 is 97% full')
    const finding = page.getByRole('region', { name: 'Finding' })
    await expect(finding).toContainText('No agent looks at this: first-look is off.')
    await finding.getByRole('button', { name: 'Switch on' }).click()
    await expect(finding).toContainText('first-look is on, and looks when it fires again.')
  })

  test('evidence that came late says its day', async ({ page, daemon }) => {
    const { logs } = await sceneOf(daemon)
    // Of the day before, but for the last minute of a day.
    const late = new Date(Date.now() - (24 * 60 - 1) * 60_000)
    const event = { service: 'cart', kind: 'error', msg: 'POST /orders 503', at: late.toISOString() }
    await logs(Array.from({ length: 5 }, () => event))
    const { number } = await incidentOf(daemon, 'cart')
    const { firings } = await daemon.ask<{ firings: { fired_at: string }[] }>('GET', '/api/firings?key=cart')
    await page.goto(`${daemon.url}/incidents/${number}`)
    const time = evidence(page).locator('[data-kind="tripped"] time').first()
    const isOfThatDay = new Date(firings[0]!.fired_at).toDateString() === late.toDateString()
    await expect(time).toHaveText(isOfThatDay ? /^\d\d:/ : /^([A-Z][a-z]{2} \d+, |\d{4}-\d\d-\d\d )\d\d:/)
  })

  test('Two people: a stale act is refused, and says who was first', async ({ page, daemon }) => {
    const { fail } = await sceneOf(daemon)
    await fail('stock')
    const { id, number, version } = await incidentOf(daemon, 'stock')
    await page.goto(`${daemon.url}/incidents/${number}`)
    await expect(page.getByRole('button', { name: /^Acknowledge/ }).first()).toBeVisible()
    // What is shown stays as it was read, until the act that goes by it is on its way.
    const acting = page.waitForRequest(`**/api/incidents/${id}/acknowledge`)
    await page.route(`**/api/incidents/${number}`, async (route) => {
      await acting
      await route.continue()
    })
    const mara = await daemon.call('POST', `/api/incidents/${number}/acknowledge`, {
      version,
      by: 'mara',
    })
    expect(mara.status).toBe(200)
    const answered = page.waitForResponse(`**/api/incidents/${id}/acknowledge`)
    await press(page, 'a')
    expect((await answered).status()).toBe(409)
    await expect(page.getByText(`mara acknowledged #${number} first`)).toBeVisible()
    await expect(
      page
        .getByRole('banner')
        .or(page.locator('.incident-head'))
        .getByText(/^mara has it/),
    ).toBeVisible()

    // A note that does not arrive stays, also where one leaves.
    const notes = `**/api/incidents/${id}/notes`
    await page.route(notes, (route) => route.fulfill({ status: 503, json: { error: { message: 'busy' } } }))
    const note = page.getByRole('textbox', { name: `Note on #${number}` })
    await note.fill('The deploy of noon')
    await note.press('Enter')
    await expect(page.getByText(`Couldn’t change #${number}`)).toBeVisible()
    await expect(note).toHaveValue('The deploy of noon')
    await page.reload()
    await expect(note).toHaveValue('The deploy of noon')
    await page.unroute(notes)
    await page.getByRole('button', { name: 'Add note' }).click()
    await expect(note).toHaveValue('')
    await page.reload()
    await expect(page.getByText('The deploy of noon').first()).toBeVisible()
    await expect(note).toHaveValue('')
  })

  test('acts are one key each, shown at once, and undone for 8 seconds', async ({ page, daemon }) => {
    const { fail } = await sceneOf(daemon)
    await fail('orders')
    const { number: before } = await incidentOf(daemon, 'orders')
    await fail('payments')
    const { number: last } = await incidentOf(daemon, 'payments')
    await page.goto(`${daemon.url}/incidents`)
    const list = page.getByRole('list', { name: 'Incidents' })
    await expect(list.getByRole('listitem')).toHaveCount(2)
    await press(page, 'j', 'j')
    const second = list.getByRole('listitem').nth(1)
    await expect(second).toHaveAttribute('data-active', 'true')
    await press(page, 'a')
    await expect(second).toHaveAttribute('data-state', 'acknowledged')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(second).toHaveAttribute('data-state', 'open')
    await expect
      .poll(async () => (await incidentsOf(daemon, 2)).map(({ state }) => state))
      .toEqual(['open', 'open'])
    await press(page, 'k', 'Enter')
    await expect(page).toHaveURL(`${daemon.url}/incidents/${last}`)
    await expect(page.getByRole('heading', { level: 1, name: 'When the number of events' })).toBeVisible()
    await press(page, 'e')
    await expect(page.locator('.incident-head').getByText(/^Handled in/)).toBeVisible()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(page.locator('.incident-head').getByText('Open, unassigned')).toBeVisible()
    await press(page, 'j')
    await expect(page).toHaveURL(`${daemon.url}/incidents/${before}`)
    // The page before stays until this one is there.
    await expect(page.locator('.incident-head')).toContainText(`#${before}`)
    // Assigning asks for a name, once.
    await page.getByRole('complementary').getByRole('button', { name: 'Me', exact: true }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('mara')
    await page.getByRole('dialog').getByRole('button', { name: 'Assign to me' }).click()
    await expect(page.locator('.incident-head').getByText('Open, mara')).toBeVisible()
    await press(page, 'n')
    await page.keyboard.type('watching the pool')
    await page.keyboard.press('Enter')
    const activity = page.getByRole('region', { name: 'Activity' })
    await expect(activity).toContainText('watching the pool')
    await expect(activity).toContainText('mara (via console)')
    await page.getByRole('button', { name: 'Snooze' }).first().click()
    await page.getByRole('menuitem', { name: 'Until it changes' }).click()
    await expect(page.locator('.incident-head').getByText(/^Snoozed until it changes/)).toBeVisible()
    await press(page, 'Shift+?')
    await expect(page.getByRole('dialog', { name: 'Keys of this page' })).toBeVisible()
  })

  test('many are selected by key, box or all that match, acted on with one key, and undone together', async ({
    page,
    daemon,
  }) => {
    const { logs } = await sceneOf(daemon)
    const services = Array.from({ length: 30 }, (_, i) => `shop-${i}`)
    await logs(
      services.flatMap((service) =>
        Array.from({ length: 5 }, (_, i) => ({ service, kind: 'error', msg: `${service} fails, ${i + 1}` })),
      ),
    )
    await incidentsOf(daemon, 30)
    const states = async () =>
      (await daemon.ask<{ counts: unknown }>('GET', '/api/incidents?limit=1')).counts as {
        acknowledged: number
      }
    await goTo(page, `${daemon.url}/incidents`)
    const rows = page.getByRole('list', { name: 'Incidents' }).getByRole('listitem')
    await expect(rows).toHaveCount(25)
    await expect(rows.first()).toContainText(/shop-\d+ fails, 5/)
    const bar = (count: number) => page.getByRole('status').filter({ hasText: `${count} selected` })

    await press(page, 'x')
    await press(page, 'j')
    await press(page, 'j')
    await press(page, 'x')
    await expect(bar(2)).toBeVisible()
    expect(await accessibilityFaults(page, 'two selected')).toEqual([])
    await press(page, 'Escape')
    await expect(bar(2)).toHaveCount(0)

    await rows.nth(2).getByRole('checkbox').check()
    await expect(bar(1)).toBeVisible()
    // Who selects others while the list is read again keeps them.
    let read = () => {}
    const held = new Promise<void>((resolve) => {
      read = resolve
    })
    const list = /\/api\/incidents\?/
    await page.route(list, (route) => held.then(() => route.fallback()))
    await press(page, 'a')
    await expect(page.getByText('1 incident acknowledged')).toBeVisible()
    expect(await states()).toMatchObject({ acknowledged: 1 })

    await page.getByRole('checkbox', { name: 'Select all shown' }).check()
    await expect(bar(25)).toBeVisible()
    const again = page.waitForResponse(list)
    read()
    await again
    await expect(rows.and(page.locator('[data-state="acknowledged"]'))).toHaveCount(1)
    await expect(bar(25)).toBeVisible()
    await page.getByRole('button', { name: 'Select all that match' }).click()
    await expect(bar(30)).toBeVisible()
    await press(page, 'e')
    await expect(page.getByText('30 incidents handled')).toBeVisible()
    await expect(page.getByText('No open incidents')).toBeVisible()
    const { incidents } = await daemon.ask<{
      incidents: { id: string; key: string; acknowledged: unknown }[]
    }>('GET', '/api/incidents?state=handled&limit=50')
    // Mara takes one of them meanwhile, which Undo must leave to her.
    const ids = [
      incidents.find(({ key, acknowledged }) => services.includes(key) && acknowledged === null)!.id,
    ]
    for (const action of ['reopen', 'acknowledge'])
      expect((await daemon.call('POST', '/api/incidents/bulk', { ids, action, by: 'mara' })).status).toBe(200)
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await expect(page.getByText('Undone: 29 incidents are as before, 1 was changed meanwhile')).toBeVisible()
    await expect(rows).toHaveCount(25)
    // The one that was acknowledged before is so again.
    expect(await states()).toMatchObject({ acknowledged: 2, open: { critical: 28 } })
  })
})

test('an incident that goes on shows one finding that grows; a run that found nothing hides none, and says so', async ({
  page,
  daemon,
  models,
}) => {
  const { fail } = await prepare(daemon, models)
  const found = (headline: string) => ({
    outcome: 'finding',
    verdict: 'investigate',
    headline,
    summary: `${headline}.`,
  })
  const said = [
    found('Orders fail'),
    found(HEADLINE),
    { outcome: 'no_op', summary: 'nothing new since the last finding' },
    { outcome: 'no_op' },
  ]
  models.reply('model-look', (_request, n) => ({ calls: [{ name: 'conclude', arguments: said[n]! }] }))
  const total = async (path: string) => (await daemon.ask<{ total: number }>('GET', path)).total
  const fired = async () => (await daemon.ask<{ firings: unknown[] }>('GET', '/api/firings')).firings.length
  for (const n of [1, 2, 3]) {
    // It fires again once its cooldown is over.
    await expect
      .poll(async () => {
        if ((await fired()) < n) await fail('checkout')
        return fired()
      })
      .toBe(n)
    await expect.poll(() => total('/api/runs?status=successful&limit=1')).toBe(n)
  }
  await page.goto(`${daemon.url}/incidents/1`)
  await expect(page.getByRole('heading', { level: 1, name: HEADLINE })).toBeVisible()
  const finding = page.getByRole('region', { name: 'Finding' })
  await expect(finding).toContainText('The same incident: first seen')
  await expect(finding).toContainText('2 findings of 3 runs.')
  await expect(finding).toContainText('nothing new.')
  await finding.getByText('Other notes of it').click()
  await expect(finding.getByRole('link', { name: 'Orders fail' })).toBeVisible()
  expect(await accessibilityFaults(page, 'an incident that grew')).toEqual([])

  await fail('pay')
  await expect.poll(() => total('/api/runs?status=successful&limit=1')).toBe(4)
  await page.goto(`${daemon.url}/incidents/2`)
  await expect(finding).toContainText('Nothing to report.')
  await expect(finding.getByRole('button', { name: 'Wrong' })).toBeVisible()
  await expect(finding.getByRole('button', { name: 'Full note' })).toBeHidden()

  // Findings are listed alone, unless what found nothing is asked for.
  await page.goto(`${daemon.url}/findings`)
  const nothing = page.getByRole('article').filter({ hasText: 'Nothing to report' })
  await expect(page.getByRole('article').filter({ hasText: HEADLINE })).toHaveCount(1)
  await expect(nothing).toHaveCount(0)
  await page.getByRole('combobox', { name: 'Show' }).click()
  await page.getByRole('option', { name: 'Nothing to report, too' }).click()
  await expect(nothing).toHaveCount(1)
})

test.describe('with its finding, which nobody acts on', () => {
  share({
    prepare: async (daemon, models) => {
      const { fail } = await prepare(daemon, models)
      await fail('checkout')
      await expect.poll(async () => (await incidentsOf(daemon, 1))[0]!.headline).toBe(HEADLINE)
    },
  })

  test('what is read late has its place: evidence and buttons stay where they are', async ({
    page,
    daemon,
  }) => {
    const held = new Map<string, () => void>()
    for (const [what, path] of [
      ['firing', /\/api\/firings\/[^/]+$/],
      ['line', /\/api\/histogram$/],
    ] as const)
      await page.route(path, async (route) => {
        await new Promise<void>((resolve) => held.set(what, resolve))
        await route.continue().catch(() => undefined)
      })
    const release = async (what: string): Promise<void> => {
      await expect.poll(() => held.has(what), what).toBe(true)
      held.get(what)!()
    }
    await page.goto(`${daemon.url}/incidents/1`)
    const replay = page.locator('.acts').getByText('Replay')
    const ask = page.locator('.acts').getByRole('link', { name: 'Ask' })
    const before = await placeOf(ask)
    await expect(replay).toBeVisible()
    await release('firing')
    await expect(page.locator('.evidence-fired')).toBeVisible()
    expect(await placeOf(ask)).toEqual(before)
    const evidence = page.getByRole('region', { name: 'Evidence' })
    const { y } = await placeOf(evidence)
    await release('line')
    await expect(page.getByRole('region', { name: 'Why it fired' }).getByRole('img')).toBeVisible()
    expect(Math.abs((await placeOf(evidence)).y - y)).toBeLessThan(6)
  })

  test('the finding stands above its evidence, with verdict, claims and next step', async ({
    page,
    daemon,
  }) => {
    await page.goto(`${daemon.url}/incidents/1`)
    await expect(page.getByRole('heading', { level: 1, name: HEADLINE })).toBeVisible()
    const finding = page.getByRole('region', { name: 'Finding' })
    await expect(finding).toContainText('investigate')
    await expect(finding).toContainText('2 of 2 claims hold')
    await expect(finding.getByText(NEXT)).toBeVisible()
    await expect(finding.getByRole('list', { name: 'Claims' }).getByRole('listitem')).toHaveCount(2)
    await expect(finding.getByRole('link', { name: 'evt_1' }).first()).toBeVisible()
    await expect(page.locator('.evidence-fired')).toBeVisible()
    const isInOrder = () =>
      page.evaluate(
        `['.incident-head', '.acts', '#incident-finding', '#incident-why', '#incident-evidence']
          .map((one) => document.querySelector(one)?.getBoundingClientRect().top ?? NaN)
          .every((top, i, tops) => top === top && (i === 0 || tops[i - 1] <= top))`,
      )
    await expect.poll(isInOrder).toBe(true)
    await settled(page)
    await onScreen(page, page.locator('.evidence-fired'), 'the line of the firing')
    await finding.getByRole('button', { name: 'Full note' }).click()
    await expect(
      page
        .getByRole('dialog')
        .getByText('Holds')
        .or(page.getByRole('dialog').getByRole('img', { name: 'Holds' }))
        .first(),
    ).toBeVisible()
    await press(page, 'Escape')
    // A firing leads to its incident.
    const [firing] = (await daemon.ask<{ firings: { dispatch_id: string }[] }>('GET', '/api/firings')).firings
    await goTo(page, `${daemon.url}/firings/${firing!.dispatch_id}`)
    await expect(page).toHaveURL(new RegExp(`/incidents/1\\?firing=${firing!.dispatch_id}$`))
    await expect(page.locator('.evidence-fired')).toBeVisible()
  })

  test('all firings are a tab of Incidents, and the address from before leads there', async ({
    page,
    daemon,
  }) => {
    await page.goto(`${daemon.url}/firings?trigger=checkout-errors`)
    await expect(page).toHaveURL(/\/incidents\?trigger=checkout-errors&tab=firings$/)
    await expect(page.getByRole('tab', { name: 'All firings' })).toHaveAttribute('aria-selected', 'true')
    await expect(page.getByRole('table', { name: 'Firings' }).getByRole('row')).toHaveCount(2)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect(page.getByRole('tab', { name: 'All firings' })).toHaveAttribute('aria-selected', 'true')
    await page.getByRole('tab', { name: 'Handled' }).click()
    await expect(page.getByText('Nothing was handled yet')).toBeVisible()
  })

  test('Access: no page or dialog of incidents has a fault, at 1440 and at 390', async ({ page, daemon }) => {
    const faults: string[] = []
    await page.goto(`${daemon.url}/incidents/1`)
    await expect(page.locator('.evidence-fired')).toBeVisible()
    await expect(page.getByRole('img', { name: /^At most/ })).toBeVisible()
    faults.push(...(await accessibilityFaults(page, 'incident')))
    await page.setViewportSize({ width: 390, height: 844 })
    await settled(page)
    faults.push(...(await accessibilityFaults(page, 'incident on a phone')))
    const next = page.getByRole('button', { name: 'Next incident' })
    await expect(next).toHaveText('›')
    expect(await next.boundingBox()).toMatchObject({ width: 44, height: 44 })
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.setViewportSize({ width: 1440, height: 900 })
    await press(page, 'Shift+?')
    await expect(page.getByRole('dialog', { name: 'Keys of this page' })).toBeVisible()
    faults.push(...(await accessibilityFaults(page, 'keys of an incident')))
    await press(page, 'Escape')
    await page.getByRole('button', { name: 'Full note' }).click()
    await expect(page.getByRole('dialog')).toBeVisible()
    faults.push(...(await accessibilityFaults(page, 'full note')))
    await press(page, 'Escape')
    await goTo(page, `${daemon.url}/incidents`)
    await expect(page.getByRole('list', { name: 'Incidents' })).toBeVisible()
    faults.push(...(await accessibilityFaults(page, 'incidents')))
    await goTo(page, `${daemon.url}/findings`)
    await expect(page.getByRole('heading', { level: 2, name: HEADLINE })).toBeVisible()
    faults.push(...(await accessibilityFaults(page, 'findings')))
    expect(faults).toEqual([])
  })
})

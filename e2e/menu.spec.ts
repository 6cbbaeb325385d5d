/** 19, step 4: menu, addresses, palette, Help; and of step 7 what lists are on a phone. */
import { expect, type Locator, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, placeOf, press, settled } from './go.ts'
import { incidentsOf, prepare } from './incidents.ts'

const palette = (page: Page): Locator => page.getByRole('textbox', { name: 'Search' })
const selected = (page: Page): Locator => page.locator('[data-action][data-selected]')

/** An incident of checkout, an agent that its trigger would wake, a proposal and a key. */
async function busy(daemon: RunningDaemon): Promise<void> {
  const { fail } = await prepare(daemon)
  await fail('checkout')
  await incidentsOf(daemon, 1)
  const look = { name: 'look', prompt: 'Look.', trigger: 'checkout-errors' }
  expect((await daemon.call('POST', '/api/agents/builtin', look)).ok).toBe(true)
  await daemon.call('POST', '/api/proposals', {
    operations: [{ op: 'patch', kind: 'trigger', name: 'checkout-errors', spec: { cooldown: '1h' } }],
    why: 'Fires too often',
  })
  await daemon.call('POST', '/api/keys', { name: 'a-key', scopes: ['read'] })
}

share({ prepare: busy })

async function type(page: Page, words: string): Promise<void> {
  await press(page, 'Control+k')
  await palette(page).fill(words)
}

test('the menu has its groups and says what needs a person', async ({ page, daemon }) => {
  await page.goto(daemon.url)
  const menu = page.getByRole('navigation', { name: 'Pages' })
  const names = async () => (await menu.getByRole('link').allInnerTexts()).map((name) => name.split('\n')[0])
  await expect
    .poll(names)
    .toEqual([
      ...['Home', 'Incidents', 'Findings', 'Explore', 'Ask'],
      ...['Projects', 'Sources', 'Triggers', 'Agents', 'Tools', 'Skills', 'Entities'],
      ...['Runs', 'Deliveries', 'Usage', 'Changes'],
      ...['Settings', 'Help'],
    ])
  await expect(menu.getByRole('link', { name: 'Incidents' })).toContainText('1')
  await expect(menu.getByLabel('1 open proposals')).toBeVisible()
  await menu.getByRole('link', { name: 'Tools' }).click()
  await expect(page.getByRole('heading', { name: 'Tools', level: 1 })).toBeVisible()
  await expect(page).toHaveTitle('(1) Tools · svc')
})

test('what is typed before the palette is there is its own, and none of the keys of the page', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/incidents/1`)
  await expect(page.getByRole('button', { name: /^Acknowledge/ }).first()).toBeVisible()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  // It is loaded with its first use, over a network that takes its time.
  await page.route('**/assets/*.js', async (route) => {
    await released
    await route.fallback()
  })
  await press(page, 'Control+k')
  await page.keyboard.type('errorx')
  await page.keyboard.press('Backspace')
  release()
  await expect(palette(page)).toHaveValue('error')
  await expect(palette(page)).toBeFocused()
  // Once it is loaded, it is drawn a moment later than the key.
  await press(page, 'Escape')
  await expect(palette(page)).toHaveCount(0)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('eae')
  await expect(palette(page)).toHaveValue('eae')
  await press(page, 'Escape')
  expect((await daemon.ask<{ state: string }>('GET', '/api/incidents/1')).state).toBe('open')
})

test('addresses from before lead to where they are now, with what they asked for', async ({
  page,
  daemon,
}) => {
  const { projects } = await daemon.ask<{ projects: { id: string }[] }>('GET', '/api/projects')
  const { id } = projects[0]!
  await page.goto(daemon.url)
  const project = `/projects/${id}`
  for (const [before, now] of [
    ['/proposals', '/changes'],
    ['/proposals?state=declined', '/changes?state=declined'],
    ['/catalog-file', '/changes?tab=catalog'],
    ['/catalog-file?tab=import', '/changes?view=import&tab=catalog'],
    ['/keys', '/settings'],
    ['/connect', '/settings?tab=agents'],
    ['/firings?state=fired', '/incidents?state=fired&tab=firings'],
    [`${project}?tab=results`, `${project}?tab=findings`],
    [`${project}?tab=keys`, `${project}?tab=settings`],
    [`${project}?tab=history`, `/changes?tab=history&project=${id}`],
  ]) {
    await goTo(page, daemon.url + before).catch(() => {})
    await expect(page).toHaveURL(daemon.url + now)
  }
})

test('a page is loaded while the pointer rests on its link, and not for those who save data', async ({
  browser,
  daemon,
}) => {
  for (const saveData of [false, true]) {
    const page = await browser.newPage()
    await page.addInitScript(
      `Object.defineProperty(navigator, 'connection', { value: { saveData: ${saveData} } })`,
    )
    await page.goto(`${daemon.url}/help`)
    await settled(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const of = (path: RegExp) => asked.filter((one) => path.test(one)).length
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Sources' })
    const at = await placeOf(link)
    await page.mouse.move(at.x + 20, at.y + at.height / 2)
    if (!saveData) {
      await expect.poll(() => [of(/^\/api\/sources$/), of(/^\/assets\/.*js$/) > 0]).toEqual([1, true])
    }
    const files = of(/^\/assets\/.*js$/)
    if (saveData) expect([files, of(/^\/api\/sources$/)]).toEqual([0, 0])
    await link.click()
    await expect(page.getByRole('heading', { level: 1, name: 'Sources' })).toBeVisible()
    await settled(page)
    // What was asked ahead is what the page takes: nothing is asked twice.
    expect(of(/^\/api\/sources$/)).toBe(1)
    if (!saveData) expect(of(/^\/assets\/.*js$/)).toBe(files)
    await page.close()
  }
})

test('a page that was loaded ahead is asked for anew once something is written', async ({ page, daemon }) => {
  await page.goto(`${daemon.url}/sources`)
  await settled(page)
  let asked = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/sources/app-logs') asked++
  })
  const link = page.getByRole('main').getByRole('link', { name: 'app-logs' }).first()
  const at = await placeOf(link)
  await page.mouse.move(at.x + 5, at.y + at.height / 2)
  await expect.poll(() => asked).toBe(1)
  await type(page, 'pause app')
  await expect(selected(page)).toContainText('Pause app-logs')
  await page.keyboard.press('Enter')
  await expect(page.getByText('app-logs paused')).toBeVisible()
  await link.click()
  await expect(page.getByRole('heading', { level: 1, name: 'app-logs' })).toBeVisible()
  expect(asked).toBeGreaterThan(1)
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await expect.poll(() => isPaused(daemon)).toBe(false)
})

test('an address that leads on calls nobody back who has gone elsewhere meanwhile', async ({
  page,
  daemon,
}) => {
  await page.goto(daemon.url)
  let tell = () => {}
  let load = () => {}
  const told = new Promise<void>((resolve) => {
    tell = resolve
  })
  const loaded = new Promise<void>((resolve) => {
    load = resolve
  })
  await page.route('**/api/events/evt_1', (route) => told.then(() => route.continue()))
  await page.route('**/assets/settings-*.js', (route) => loaded.then(() => route.continue()))
  const reading = page.waitForRequest('**/api/events/evt_1')
  await goTo(page, `${daemon.url}/events/evt_1`)
  await reading
  // The page of the event stays on the screen until that of the settings is loaded.
  const asked = page.waitForRequest('**/assets/settings-*.js')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click()
  await asked
  const answered = page.waitForResponse('**/api/events/evt_1')
  tell()
  await (await answered).finished()
  await settled(page, '/events/evt_1')
  load()
  await expect(page.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible()
  await expect(page).toHaveURL(/\/settings$/)
})

test('a page that comes while somebody types into the palette leaves them the focus', async ({
  page,
  daemon,
}) => {
  await page.goto(daemon.url)
  let tell = () => {}
  const told = new Promise<void>((resolve) => {
    tell = resolve
  })
  await page.route('**/api/events/evt_1', (route) => told.then(() => route.continue()))
  await goTo(page, `${daemon.url}/events/evt_1`)
  await type(page, '#1')
  await expect(selected(page)).toContainText('#1')
  tell()
  await expect(page).toHaveURL(/\/explore/)
  await settled(page)
  await expect(palette(page)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/incidents\/1$/)
})

test('an unknown tab shows the first, and the address is corrected, on every page with tabs', async ({
  page,
  daemon,
}) => {
  const { projects } = await daemon.ask<{ projects: { id: string }[] }>('GET', '/api/projects')
  await page.goto(daemon.url)
  for (const [path, first] of [
    ['/incidents', 'Open'],
    ['/changes', 'Proposals'],
    ['/settings', 'Access and API keys'],
    [`/projects/${projects[0]!.id}`, 'Overview'],
    ['/sources/app-logs', 'Overview'],
    ['/triggers/checkout-errors', 'Overview'],
    ['/agents/look', 'Overview'],
  ]) {
    await goTo(page, `${daemon.url}${path}?tab=nonsense`)
    await expect(page.getByRole('tab', { name: first!, exact: true })).toHaveAttribute(
      'aria-selected',
      'true',
    )
    await expect(page).toHaveURL(daemon.url + path!)
  }
})

test('the palette opens any id by keyboard, and a wrong one says so', async ({ page, daemon }) => {
  await page.goto(daemon.url)
  await type(page, 'evt_1')
  await expect(selected(page)).toContainText('evt_1')
  await page.keyboard.press('Enter')
  // Its address leads on, to the event among those of its entity.
  await expect(page).toHaveURL(/\/explore\?.*[?&]event=evt_1$/)
  await type(page, '#1')
  await expect(selected(page)).toContainText('#1')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/incidents\/1$/)
  await type(page, '#999')
  await expect(page.getByText('No incident has the id #999')).toBeVisible()
  await palette(page).fill('evt_999999')
  await expect(page.getByText('No event has the id evt_999999')).toBeVisible()
  await palette(page).fill('0123456789abcdef0123456789abcdef')
  await expect(page.getByText('No firing or run has the id 0123456789abcdef0123456789abcdef')).toBeVisible()
  expect(await accessibilityFaults(page, 'the palette')).toEqual([])
  await palette(page).fill('five hundred and three')
  await expect(selected(page)).toContainText('Search events')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/explore\?q=five/)
})

test('the palette finds an incident by its entity and by words of its headline', async ({ page, daemon }) => {
  await page.goto(daemon.url)
  const incident = page.getByRole('dialog').getByText(/^Incident #1, open, service=checkout$/)
  await type(page, 'service=checkout')
  await expect(incident).toBeVisible()
  await palette(page).fill('errors checkout')
  await expect(incident).toBeVisible()
  await incident.click()
  await expect(page).toHaveURL(/\/incidents\/1$/)
})

test('a page that the menu does not name marks the entry that leads to it, and what is gone leads back to its list', async ({
  page,
  daemon,
}) => {
  const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current="page"]')
  for (const [path, entry] of [
    ['/traces', 'Explore'],
    ['/evals', 'Runs'],
    ['/firings/0123456789abcdef0123456789abcdef', 'Incidents'],
  ] as const) {
    await page.goto(daemon.url + path)
    await expect(current).toContainText(entry)
  }
  for (const [path, list] of [
    ['/runs/run_gone', 'Runs'],
    ['/incidents/999', 'Incidents'],
    ['/sources/gone', 'Sources'],
    ['/skills/gone', 'Skills'],
  ] as const) {
    await page.goto(daemon.url + path)
    await expect(page.getByRole('link', { name: `Go to ${list}` })).toHaveAttribute(
      'href',
      `/${list.toLowerCase()}`,
    )
  }
})

/** The state of the source, as the daemon has it. */
const isPaused = async (daemon: RunningDaemon): Promise<boolean> =>
  (await daemon.ask<{ accepts: string[] }>('GET', '/api/sources/app-logs')).accepts.includes('resume')

test('the palette acts, and Undo takes it back', async ({ page, daemon }) => {
  await page.goto(daemon.url)
  await type(page, 'pause app')
  await expect(selected(page)).toContainText('Pause app-logs')
  await page.keyboard.press('Enter')
  await expect(page.getByText('app-logs paused')).toBeVisible()
  await expect.poll(() => isPaused(daemon)).toBe(true)
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(page.getByText('app-logs resumed')).toBeVisible()
  expect(await isPaused(daemon)).toBe(false)
  await type(page, 'ack #1')
  await expect(selected(page)).toContainText('Acknowledge #1')
  await page.keyboard.press('Enter')
  await expect(page.getByText('#1 acknowledged')).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(page.getByText('Undone: #1 is as before')).toBeVisible()
  await type(page, 'pause nobody')
  await expect(page.getByText('Nothing to pause is called nobody')).toBeVisible()
  await palette(page).fill('new source')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/sources\/new/)
})

test('Help has the docs, their links, the API reference and the keys, without a network', async ({
  page,
  daemon,
}) => {
  const outside: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(daemon.url)) outside.push(request.url())
  })
  await page.goto(`${daemon.url}/help`)
  await expect(page.getByRole('link', { name: 'API reference' })).toHaveAttribute('href', '/docs/')
  await expect(page.getByRole('table', { name: 'Keys' })).toContainText('Acknowledge')
  await page.getByLabel('Search the docs').fill('cooldown')
  const main = page.getByRole('main')
  await main.getByRole('link', { name: 'Triggers', exact: true }).last().click()
  await expect(page.getByRole('heading', { name: 'Triggers', level: 1 })).toBeVisible()
  await expect(page).toHaveTitle('(1) Triggers: Help · svc')
  await main.getByRole('link', { name: 'catalog', exact: true }).first().click()
  await expect(page).toHaveURL(/\/help\/catalog$/)
  await goTo(page, `${daemon.url}/help/nothing`)
  await expect(page.getByText('No page of the docs is called nothing')).toBeVisible()
  expect(outside).toEqual([])
})

test('Explore searches a text without an entity, and shows levels', async ({ page, daemon }) => {
  await page.goto(`${daemon.url}/explore`)
  await page.getByRole('textbox', { name: 'Text' }).fill('503')
  const row = page.locator('.timeline-row').first()
  await expect(row).toHaveAttribute('data-level', 'error')
  await expect(page).toHaveURL(/\/explore\?q=503$/)
})

test('lists are cards on a phone, their rows are links, and nothing is cut', async ({ page, daemon }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  for (const [path, list] of [
    ['/sources', 'Sources'],
    ['/triggers', 'Triggers'],
    ['/agents', 'Agents'],
    ['/incidents?tab=firings', 'Firings'],
    ['/settings?tab=access', 'API keys'],
  ]) {
    await goTo(page, daemon.url + path)
    const rows = page.getByRole('table', { name: list! }).getByRole('row')
    await expect(rows.nth(1)).toBeVisible()
    const isWhole = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    await expect.poll(isWhole, { message: path }).toBe(true)
    expect((await placeOf(rows.nth(1))).height, path).toBeGreaterThan(80)
  }
  // All are cards of the same kind; axe looks at one.
  expect(await accessibilityFaults(page, 'cards at 390 px')).toEqual([])
  await goTo(page, `${daemon.url}/triggers`)
  // Anywhere on the row, also beside its link.
  const sentence = await placeOf(page.getByRole('table', { name: 'Triggers' }).getByText('When the number'))
  const [other] = await Promise.all([
    page.context().waitForEvent('page'),
    page.mouse.click(sentence.x + 40, sentence.y + 6, { button: 'middle' }),
  ])
  await expect(other).toHaveURL(/\/triggers\/checkout-errors$/)
})

test('a time shows its instant here, in UTC and as ISO 8601, to copy', async ({ page, daemon }) => {
  await goTo(page, `${daemon.url}/triggers`)
  const time = await placeOf(page.locator('.rows time').first())
  await page.mouse.move(time.x + 4, time.y + 4)
  const card = page.locator('#time-card')
  await expect(card).toContainText('UTC')
  await expect(card.getByRole('button', { name: 'Copy' })).toBeVisible()
  // Of one that the keyboard showed, too: a click on the ground takes it away, and no pointer that rests brings it back.
  await page.getByRole('heading', { level: 1, name: 'Triggers' }).hover()
  await expect(card).toHaveCount(0)
  await page.getByRole('table', { name: 'Triggers' }).locator('.row-link').first().focus()
  await expect(card).toContainText('UTC')
  const { x, y } = await placeOf(page.getByRole('heading', { level: 1, name: 'Triggers' }))
  await page.mouse.click(x + 2, y + 2)
  await expect(card).toHaveCount(0)
  const zone = page.getByRole('banner').getByText(/^UTC/)
  await zone.hover()
  await expect(zone).toHaveAttribute('title', Intl.DateTimeFormat().resolvedOptions().timeZone)
})

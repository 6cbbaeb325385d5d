/** What fails leaves the menu, what was read last and what was typed: missing files, a daemon away or another one. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, type Page } from '@playwright/test'
import { test as open, share, startDaemon } from './daemon.ts'
import { goTo, press } from './go.ts'
import { incidentOf } from './incidents.ts'

const menu = (page: Page) => page.getByRole('navigation', { name: 'Pages' })
const link = (page: Page, name: string) => menu(page).getByRole('link', { name, exact: true })

/** Counts how often the page itself is loaded. */
function loadsOf(page: Page): () => number {
  let loads = 0
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads += 1
  })
  return () => loads
}

share({ prepare: (daemon) => daemon.source('gateway', {}) })

open(
  '404 on a chunk: the page is loaded again once, then says that svc was updated',
  async ({ page, daemon }) => {
    await page.route('**/assets/settings-*.js', (route) => route.fulfill({ status: 404, body: '' }))
    await page.goto(`${daemon.url}/triggers`)
    await expect(page.getByRole('heading', { level: 1, name: 'Triggers' })).toBeVisible()
    const loads = loadsOf(page)
    await goTo(page, `${daemon.url}/triggers/new`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('half-written')
    await link(page, 'Settings').click()
    await expect(page.getByRole('heading', { level: 1, name: 'svc was updated' })).toBeVisible()
    expect(loads()).toBe(1)
    await expect(page.getByRole('alert')).toContainText('svc was updated. Reload')
    await expect(link(page, 'Sources')).toBeVisible()
    // Other pages are there all the same, with what was typed.
    await goTo(page, `${daemon.url}/triggers/new`)
    await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('half-written')
    await page.unroute('**/assets/settings-*.js')
    await link(page, 'Settings').click()
    await page.getByRole('button', { name: 'Reload' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible()
  },
)

open(
  'a page that throws: the menu stays, and other pages open; one whose read fails reads again',
  async ({ page, daemon }) => {
    await page.route('**/api/triggers', (route) => route.fulfill({ json: [null] }))
    await page.goto(`${daemon.url}/triggers`)
    await expect(page.getByRole('heading', { level: 1, name: 'Couldn’t show this page' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Reload' })).toBeVisible()
    await expect(link(page, 'Agents')).toBeVisible()
    await link(page, 'Agents').click()
    await expect(page.getByRole('heading', { level: 1, name: 'Agents' })).toBeVisible()
    // What fails on the way is asked for again by itself, also by a page that asks for nothing later.
    const { project } = await daemon.ask<{ project: { id: string } }>('POST', '/api/setup/drafts', {
      goal: 'Tell me when the gateway fails',
      plan: { name: 'Gateway watch' },
    })
    for (const [read, path, shown] of [
      [`**/api/projects/${project.id}/setup`, `/projects/${project.id}/setup`, 'Gateway watch'],
      ['**/api/projects/templates', '/projects/new', 'Watch a system by webhook'],
      // Those that say when they read again: no list is short or long before it was read once.
      ['**/api/proposals*', '/changes', 'No open proposals'],
      [
        `**/api/projects/${project.id}/replay*`,
        `/projects/${project.id}/replay`,
        'Replay of Tell me when the gateway fails',
      ],
    ] as const) {
      await page.route(read, (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
      await page.goto(daemon.url + path)
      await expect(page.getByText('The daemon answered 502.')).toBeVisible()
      await page.unroute(read)
      await expect(page.getByRole('heading', { name: shown })).toBeVisible()
    }
  },
)

open('daemon stopped: menu, what was read last and what was typed stay', async ({ page }) => {
  const daemon = await startDaemon()
  const port = new URL(daemon.url).port
  await daemon.source('gateway', {})
  await page.goto(`${daemon.url}/sources`)
  await expect(page.getByRole('link', { name: 'gateway' })).toBeVisible()
  await goTo(page, `${daemon.url}/triggers/new`)
  await page.getByRole('button', { name: /^More options/ }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('checkout fails')
  await goTo(page, `${daemon.url}/sources`)
  await daemon.stop()
  const banner = page.getByRole('status').filter({ hasText: 'Can’t reach svc. Retrying every 5 s' })
  await expect(banner).toBeVisible()
  await expect(page.getByRole('link', { name: 'gateway' })).toBeVisible()
  // A page whose files were never loaded waits for them; nothing is blank meanwhile.
  await link(page, 'Settings').click()
  await expect(page.getByRole('link', { name: 'gateway' })).toBeVisible()
  await goToShown(page, '/triggers/new')
  await page.getByRole('button', { name: 'More options: 1 of 12 changed' }).click()
  await expect(page.getByRole('textbox', { name: 'Description' })).toHaveValue('checkout fails')
  const again = await startDaemon(['--port', port])
  await expect(banner).toHaveCount(0)
  // What is folded says that it is changed, whether or not the fold is still open.
  await expect(page.getByRole('button', { name: 'More options: 1 of 12 changed' })).toBeVisible()
  await again.stop()
})

/** As the menu and links go, without waiting for files that cannot come. */
const goToShown = (page: Page, path: string) =>
  page.evaluate(`history.pushState(null, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`)

open(
  'daemon upgraded: the page takes the files of the new build, and keeps what was typed',
  async ({ page }) => {
    const upgraded = upgradedBuild()
    const daemon = await startDaemon()
    await page.goto(`${daemon.url}/agents/new`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('first-look')
    await daemon.stop()
    const next = await startDaemon(['--port', new URL(daemon.url).port], {}, upgraded.command)
    const loads = loadsOf(page)
    await link(page, 'Settings').click()
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible()
    expect(loads()).toBe(1)
    expect(await page.evaluate('document.querySelector("script[src]").src')).toContain('-next')
    await goTo(page, `${next.url}/agents/new`)
    await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('first-look')
    await expect(page.getByText(/^Draft from \d\d:\d\d restored\.$/)).toBeVisible()
    await page.getByRole('button', { name: 'Discard' }).click()
    await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('')
    await next.stop()
    upgraded.remove()
  },
)

/** The build as it is, but for the names of its assets, as after an upgrade. */
function upgradedBuild(): { command: string; remove: () => void } {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'svc-upgraded-'))
  // Of dist/ what the command is made of: other tests write beside it meanwhile.
  const built = readdirSync(join(root, 'dist')).filter((name) =>
    /\.mjs$|^(migrations|catalog|console)$/.test(name),
  )
  for (const name of ['package.json', ...built.map((one) => join('dist', one))])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const assets = join(folder, 'dist', 'console', 'assets')
  const named = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name))
  const renamed = (text: string): string =>
    named.reduce((now, name) => now.replaceAll(name, name.replace(/(\.\w+)$/, '-next$1')), text)
  const page = join(folder, 'dist', 'console', 'index.html')
  writeFileSync(page, renamed(readFileSync(page, 'utf8')))
  for (const name of readdirSync(assets)) {
    const path = join(assets, name)
    if (named.includes(name)) writeFileSync(join(assets, renamed(name)), renamed(readFileSync(path, 'utf8')))
    rmSync(path)
  }
  return {
    command: join(folder, 'dist', 'svc.mjs'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

open(
  'what is typed is kept over Escape, Back, another tab and a reload; secrets are not',
  async ({ page, daemon }) => {
    await page.goto(`${daemon.url}/mcp-servers`)
    await goTo(page, `${daemon.url}/mcp-servers/new`)
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('tickets')
    await page.getByRole('textbox', { name: 'Address' }).fill('https://mcp.example/mcp')
    await page.getByLabel('Credential', { exact: true }).fill('Bearer hidden-value')
    await press(page, 'Escape')
    await expect(name).toHaveValue('tickets')
    await page.goBack()
    await expect(page.getByRole('heading', { level: 1, name: 'Tools' })).toBeVisible()
    await page.goForward()
    await expect(name).toHaveValue('tickets')
    await page.reload()
    await expect(name).toHaveValue('tickets')
    await expect(page.getByLabel('Credential', { exact: true })).toHaveValue('')
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('hidden-value')
    // Of one that exists, the tab is left and come back to.
    await daemon.call('POST', '/api/triggers', {
      name: 'errors',
      sources: ['gateway'],
      condition: { event: 'any' },
    })
    await goTo(page, `${daemon.url}/triggers/errors?tab=edit`)
    const description = page.getByRole('textbox', { name: 'Description' })
    const unfold = () => page.getByRole('button', { name: /^More options/ }).click()
    await unfold()
    await description.fill('orders fail')
    await page.getByRole('tab', { name: 'Overview' }).click()
    await page.getByRole('tab', { name: 'Edit' }).click()
    await unfold()
    await expect(description).toHaveValue('orders fail')
    // What others saved meanwhile is not written over by it.
    const theirs = await daemon.call('PUT', '/api/triggers/errors', {
      name: 'errors',
      sources: ['gateway'],
      condition: { event: 'any' },
      cooldown: '9m',
    })
    expect(theirs.status).toBe(200)
    await page.reload()
    await unfold()
    await expect(description).toHaveValue('orders fail')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(page.getByText('errors is saved').last()).toBeVisible()
    const saved = await daemon.ask<{ description: string; cooldown: string }>('GET', '/api/triggers/errors')
    expect(saved).toMatchObject({ description: 'orders fail', cooldown: '9m' })
    await page.reload()
    await unfold()
    await expect(description).toHaveValue('orders fail')
    await expect(page.getByText(/Draft from/)).toHaveCount(0)
  },
)

open('Escape closes the innermost dialog only', async ({ page, daemon }) => {
  await page.goto(`${daemon.url}/explore`)
  await page.getByRole('button', { name: 'Shortcuts' }).click()
  const shortcuts = page.getByRole('dialog', { name: 'Shortcuts' })
  await expect(shortcuts).toBeVisible()
  await press(page, 'ControlOrMeta+k')
  const search = page.getByRole('textbox', { name: 'Search' })
  await expect(search).toBeVisible()
  await search.press('Escape')
  await expect(search).toBeHidden()
  await expect(shortcuts).toBeVisible()
  await press(page, 'Escape')
  await expect(shortcuts).toBeHidden()
})

open(
  'what is typed under Settings and in its dialogs is kept over other tabs and Escape; secrets are not',
  async ({ page, daemon }) => {
    const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click()
    await page.goto(`${daemon.url}/settings?tab=agents`)
    const cap = page.getByRole('textbox', { name: 'Runs of one agent in 24 hours' })
    await cap.fill('77')
    await tab('Prices')
    await page.getByRole('button', { name: 'Add a price' }).click()
    const model = page.getByRole('textbox', { name: 'Model of price 1' })
    await model.fill('own-model')
    await tab('Observability')
    const endpoint = page.getByRole('textbox', { name: 'Endpoint' })
    const key = page.getByLabel('API key', { exact: true })
    await endpoint.fill('https://collector.example')
    await key.fill('hidden-value')
    await tab('Slack')
    await page.getByRole('button', { name: 'Add a person' }).click()
    const person = page.getByRole('textbox', { name: 'Person 1: user id or e-mail address' })
    await person.fill('U42')
    for (const [where, opener, field] of [
      ['Access and API keys', 'New key', 'Name'],
      ['Model providers', 'Add provider', 'Address'],
      ['GitHub', 'Add credential', 'Name'],
    ] as const) {
      await tab(where)
      const dialog = page.getByRole('dialog')
      const typed = dialog.getByRole('textbox', { name: field, exact: true })
      await page.getByRole('button', { name: opener }).first().click()
      await typed.fill('half-written')
      await typed.press('Escape')
      await expect(dialog).toHaveCount(0)
      await page.getByRole('button', { name: opener }).first().click()
      await expect(typed).toHaveValue('half-written')
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: opener }).first().click()
      await expect(typed).toHaveValue('')
      await typed.press('Escape')
    }
    await page.reload()
    await tab('Agents')
    await expect(cap).toHaveValue('77')
    await tab('Prices')
    await expect(model).toHaveValue('own-model')
    await tab('Slack')
    await expect(person).toHaveValue('U42')
    await tab('Observability')
    await expect(endpoint).toHaveValue('https://collector.example')
    await expect(key).toHaveValue('')
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('hidden-value')
    // It is saved as it stands, and is no draft any more.
    await page.getByRole('button', { name: 'Save tracing' }).click()
    await expect(page.getByText(/^Draft from/)).toHaveCount(0)
    await expect(endpoint).toHaveValue('https://collector.example')
  },
)

open(
  'what a page needs besides its own object fails: it says so, and Try again reads it',
  async ({ browser, daemon }) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
      template: 'custom',
      name: 'Runbooks',
    })
    const skill = { name: 'runbook', description: 'When checkout fails', body: '# Checkout' }
    expect((await daemon.call('POST', `/api/projects/${id}/skills`, skill)).status).toBe(201)
    const refused = { status: 500, json: { title: 'Failed', status: 500, detail: 'The disk is on fire.' } }
    for (const [path, read, what, field] of [
      ['/sources/gateway?tab=settings', '**/api/connectors', 'connectors', null],
      ['/skills/runbook', '**/api/skills', 'the skill', null],
      // Choices are read when somebody comes near their field, which says that they could not be.
      ['/triggers/new', '**/api/sources', 'sources', 'Sources'],
      ['/agents/new', '**/api/mcp-servers', 'MCP servers', 'MCP servers'],
    ] as const) {
      await page.route(read, (route) => route.fulfill(refused))
      await page.goto(daemon.url + path)
      if (field) await page.getByRole('combobox', { name: field }).focus()
      const alert = page.getByRole('alert').filter({ hasText: `Couldn’t load ${what}` })
      await expect(alert).toContainText('The disk is on fire.')
      await page.unroute(read)
      if (field) await page.getByRole('button', { name: `Load ${what} again` }).click()
      else await alert.getByRole('button', { name: 'Try again' }).click()
      await expect(alert).toHaveCount(0)
      await expect(page.getByRole('button', { name: /^(Save|Create|Add)/ }).first()).toBeVisible()
    }
    await context.close()
  },
)

open(
  'evidence of an incident that cannot be read is said to have failed, and read again',
  async ({ page, daemon }) => {
    const url = await daemon.source('orders', {
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    await daemon.call('POST', '/api/triggers', {
      name: 'any-order',
      sources: ['orders'],
      condition: { event: 'any' },
    })
    await daemon.call('POST', url, { service: 'checkout', text: 'orders fail' })
    const { number } = await incidentOf(daemon, 'checkout')
    await page.route('**/evidence?*', (route) =>
      route.fulfill({ status: 500, json: { status: 500, detail: 'No disk.' } }),
    )
    await page.goto(`${daemon.url}/incidents/${number}`)
    const alert = page.getByRole('alert').filter({ hasText: 'Couldn’t load the evidence' })
    await expect(alert).toContainText('No disk.')
    await page.unroute('**/evidence?*')
    await alert.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByRole('region', { name: 'Evidence' })).toContainText('orders fail')
  },
)

open(
  'daemon away while a plan is edited: what was typed is kept once it is back',
  async ({ page, daemon }) => {
    const { project } = await daemon.ask<{ project: { id: string } }>('POST', '/api/setup/drafts', {
      goal: 'Tell me when payments fail',
      plan: {},
    })
    await page.goto(`${daemon.url}/projects/${project.id}/setup`)
    const name = page.getByLabel('Name of the project')
    await expect(name).toHaveValue('Tell me when payments fail')
    await page.route('**/api/setup/**', (route) => route.abort())
    await name.fill('Payments')
    await expect(page.getByRole('alert')).toContainText('Can’t reach svc. Retrying every 5 s')
    await page.unroute('**/api/setup/**')
    await expect(page.getByRole('alert')).toHaveCount(0)
    const { plan } = await daemon.ask<{ plan: { name: string } }>('GET', `/api/projects/${project.id}/setup`)
    expect(plan.name).toBe('Payments')
  },
)

open(
  'a create whose answer is lost is done once, and goes on as saved when it is sent again',
  async ({ page, daemon }) => {
    await goTo(page, `${daemon.url}/settings`)
    await page.route('**/api/keys', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('button', { name: 'New key' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('sender')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await expect(page.getByText('what was sent may have arrived')).toBeVisible()
    await page.unroute('**/api/keys')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await expect(page.getByText('Shown this once')).toBeVisible()
    const { keys } = await daemon.ask<{ keys: { name: string }[] }>('GET', '/api/keys')
    expect(keys.filter(({ name }) => name === 'sender')).toHaveLength(1)
  },
)

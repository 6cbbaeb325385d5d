/** The console by keyboard alone: every page is walked through by Tab, at 1440 and at 390; what opens gives the focus back. */
import { expect, type Page } from '@playwright/test'
import { type ScriptedModels, startScriptedModels } from '../test/models/scripted-server.ts'
import { ended, prepareChain, trip } from './agents.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, press, pressInDialog, stillLoading } from './go.ts'
import { openEach, splitWords, walkThrough } from './walk.ts'

let models: ScriptedModels
let paths: string[]

share({
  prepare: async (daemon) => {
    models = await startScriptedModels()
    const provider = { kind: 'compatible', name: 'scripted', key: 'k', base_url: `${models.url}/v1` }
    const answer = await daemon.call('PUT', '/api/settings/providers/new', provider)
    expect(answer.status, await answer.text()).toBe(200)
    const url = await prepareChain(daemon, models)
    await trip(daemon, url)
    await ended(daemon, 2)
    paths = await populate(daemon)
  },
})
test.afterAll(() => models?.close())

/** One of each kind, so that no page is empty. @returns the paths of all pages */
async function populate(daemon: RunningDaemon): Promise<string[]> {
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const answer = await daemon.call('POST', path, body)
    expect(answer.ok, `${path}: ${await answer.clone().text()}`).toBe(true)
    return (await answer.json()) as T
  }
  await post('/api/keys', { name: 'k', scopes: ['read'] })
  await post('/api/maintenance', { reason: 'Upgrade', entities: ['service=billing'], for: '1h' })
  await post('/api/mcp-servers', { name: 'tools', url: 'http://127.0.0.1:9/' })
  const { id } = await post<{ id: string }>('/api/projects', {
    template: 'webhook_watch',
    params: { service: 'checkout' },
  })
  await post(`/api/projects/${id}/findings`, { entity: 'checkout', finding: 'It broke.' })
  await post('/subscribe', { name: 'own', trigger: 'gateway-errors', url: 'http://127.0.0.1:9/' })
  await daemon.call('PUT', '/api/ask/sessions/0123456789abcdef', { title: 'Why pay fails' })
  await post('/api/proposals', {
    operations: [{ op: 'patch', kind: 'trigger', name: 'gateway-errors', spec: { cooldown: '1h' } }],
    why: 'It wakes too often',
  })
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const nano = (ms: number) => `${Date.now() - 60_000 + ms}000000`
  await post('/v1/traces', {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
        scopeSpans: [
          {
            spans: ['', 'b7ad6b7169203331', 'b7ad6b7169203331'].map((parentSpanId, i) => ({
              ...{
                traceId: trace,
                spanId: `b7ad6b716920333${i + 1}`,
                parentSpanId,
                name: `step ${i}`,
                kind: 2,
              },
              ...{ startTimeUnixNano: nano(i * 10), endTimeUnixNano: nano(100 - i * 10) },
            })),
          },
        ],
      },
    ],
  })
  const { runs } = await daemon.ask<{ runs: { id: string }[] }>('GET', '/api/runs')
  const { projects } = await daemon.ask<{ projects: { id: string; name: string }[] }>('GET', '/api/projects')
  const of = projects.find(({ name }) => name === 'Default')!.id
  return [
    '/',
    ...['', '?tab=handled', '?tab=firings', '?tab=maintenance'].map((tab) => `/incidents${tab}`),
    '/incidents/1',
    '/findings',
    '/projects',
    ...['', '?template=webhook_watch', '?template=custom'].map((tab) => `/projects/new${tab}`),
    ...['', '?tab=graph', '?tab=findings', '?tab=parts', '?tab=settings'].map(
      (tab) => `/projects/${of}${tab}`,
    ),
    `/projects/${of}/setup`,
    `/projects/${of}/replay`,
    '/triggers',
    '/triggers/new',
    ...['overview', 'firings', 'why', 'subscriptions', 'edit', 'history'].map(
      (tab) => `/triggers/gateway-errors?tab=${tab}`,
    ),
    '/deliveries',
    '/runs',
    `/runs/${runs[0]!.id}`,
    `/runs/${runs[0]!.id}/compare?with=${runs[1]!.id}`,
    '/explore',
    '/explore?l=service%3Dpay',
    '/events/evt_1',
    ...['', '?tab=metrics', '?tab=agents'].map((tab) => `/traces${tab}`),
    `/traces/${trace}`,
    '/agents',
    '/agents/new',
    ...['overview', 'runs', 'edit', 'preview', 'tests', 'history'].map((tab) => `/agents/triage?tab=${tab}`),
    '/mcp-servers',
    '/mcp-servers/new',
    '/mcp-servers/tools',
    '/skills',
    '/skills/new',
    `/skills/checkout-runbook?project=${id}`,
    '/entities',
    '/entities/new',
    '/changes',
    '/changes?tab=history',
    ...['', '&view=import', '&view=drift', '&view=repository'].map((tab) => `/changes?tab=catalog${tab}`),
    '/sources',
    '/sources/new',
    '/sources/new?preset=github',
    '/sources/new?connector=postgres',
    ...['overview', 'events', 'fields', 'settings'].map((tab) => `/sources/gateway?tab=${tab}`),
    '/ask',
    '/evals',
    '/usage',
    ...['access', 'providers', 'github', 'slack', 'agents', 'observability', 'prices'].map(
      (tab) => `/settings?tab=${tab}`,
    ),
    '/help',
    '/help/glossary',
    '/connect/login',
    '/oauth/authorize',
    '/nowhere',
  ]
}

/** Goes to a page, and waits until all of it is there, also what is read once one comes near it. */
async function goToWhole(page: Page, url: string): Promise<void> {
  await goTo(page, url)
  await expect
    .poll(async () => {
      await press(page, 'Tab')
      return stillLoading(page).count()
    })
    .toBe(0)
}

// Dark on a phone: it is the same page as in the light, but for its colours. What opens is the same on both, but for the menu.
for (const { width, height, colorScheme, isOpened } of [
  { width: 1440, height: 900, colorScheme: 'light', isOpened: true },
  { width: 390, height: 844, colorScheme: 'dark', isOpened: false },
] as const)
  test.describe(`at ${width}, ${colorScheme}`, () => {
    test.use({ viewport: { width, height }, colorScheme })

    test(`every page is walked through by Tab: all is reached and seen, and nothing holds the focus${
      isOpened ? '; what opens takes it, has all of it within reach, and gives it back' : ''
    }`, async ({ page, daemon }) => {
      const faults: string[] = []
      const opened = new Set<string>()
      let stops = 0
      const walk = async (what: string, from: 'start' | 'main' = 'main'): Promise<void> => {
        const walked = await walkThrough(page, from)
        faults.push(...[...walked.faults, ...(await splitWords(page))].map((fault) => `${what}: ${fault}`))
        stops += walked.stops.length
      }
      for (const path of paths) {
        await goToWhole(page, daemon.url + path)
        await walk(path)
        if (isOpened) faults.push(...(await openEach(page, opened)).map((fault) => `${path}: ${fault}`))
      }
      await goToWhole(page, `${daemon.url}/`)
      await walk('menu and Home', 'start')
      const burger = page.getByRole('button', { name: 'Open the menu' })
      if (width < 700) {
        await burger.press('Enter')
        await walk('the menu, open', 'start')
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').first().press('Escape')
        await expect(burger).toBeFocused()
      }
      await goToWhole(page, `${daemon.url}${paths.find((path) => path.endsWith('tab=graph'))}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter')
      await expect(page.getByRole('button', { name: 'Close', exact: true })).toBeVisible()
      // The palette is read once one edits, above the rows: what is walked through moves down when it comes.
      await expect(stillLoading(page)).toHaveCount(0)
      await walk('the editor of the graph')
      await goToWhole(page, `${daemon.url}/explore?l=service%3Dpay`)
      await page.getByRole('button', { name: /^pay answered 503/ }).press('Enter')
      await expect(page.getByLabel(/^Payload of/)).toContainText('503')
      await walk('an event of Explore')
      expect(faults).toEqual([])
      expect(stops).toBeGreaterThan(500)
      if (isOpened) expect(opened.size).toBeGreaterThan(20)
    })
  })

test('the palette gives the focus back', async ({ page, daemon }) => {
  await goToWhole(page, `${daemon.url}/sources`)
  const link = page.getByRole('main').getByRole('link', { name: 'gateway', exact: true })
  await link.focus()
  await press(page, 'Control+k')
  await expect(page.getByRole('textbox', { name: 'Search' })).toBeFocused()
  await press(page, 'Escape')
  await expect(link).toBeFocused()
})

test('an incident is worked by keys: nothing that is done loses the place, and U takes it back', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/`)
  const row = page.locator('.incident-link').first()
  await expect(row).toBeVisible()
  await press(page, 'j')
  await expect(row).toBeFocused()
  await press(page, 'a')
  await expect(page.getByRole('button', { name: 'Undo', exact: true })).toBeVisible()
  await expect(row).toBeFocused()
  await press(page, 'u')
  await expect(page.getByText('Undone: #1 is as before')).toBeVisible()
  await expect(row).toBeFocused()
  // The button goes with what it was pressed for; the focus stays on the page.
  await page.getByRole('button', { name: 'Acknowledge #1' }).focus()
  await press(page, 'Enter')
  await expect(page.getByRole('button', { name: 'Acknowledge #1' })).toHaveCount(0)
  await expect(page.locator('main :focus')).toHaveCount(1)
  // It is offered once it is done.
  await expect(page.getByRole('button', { name: 'Undo', exact: true })).toBeVisible()
  await press(page, 'u')
  await expect(page.getByRole('button', { name: 'Acknowledge #1' })).toBeVisible()
  await page.locator('.incident-link').first().focus()
  await press(page, 'Enter')
  await expect(page.locator('.incident-head')).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  // What lies behind a dialog is not acted on.
  await press(page, 'Shift+?')
  await expect(page.getByRole('dialog', { name: 'Keys of this page' })).toBeVisible()
  await press(page, 'e')
  await press(page, 'Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  const { incidents } = await daemon.ask<{ incidents: { state: string }[] }>('GET', '/api/incidents')
  expect(incidents[0]!.state).toBe('open')
})

test('where a row goes, the focus is on what is nearest; a time is copied from where one is', async ({
  page,
  daemon,
}) => {
  for (const name of ['k1', 'k2', 'k3']) await daemon.call('POST', '/api/keys', { name, scopes: ['read'] })
  await goTo(page, `${daemon.url}/settings?tab=access`)
  await page.getByRole('button', { name: 'Revoke k2' }).focus()
  await press(page, 'Enter')
  await pressInDialog(page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }), 'Enter')
  await expect(page.getByRole('button', { name: 'Revoke k2' })).toHaveCount(0)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.locator('main :focus')).toHaveCount(1)

  await goTo(page, `${daemon.url}/triggers/gateway-errors?tab=edit`)
  await page.getByRole('button', { name: 'Remove filter 1' }).focus()
  await press(page, 'Enter')
  await expect(page.locator('main :focus')).toHaveCount(1)

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await goTo(page, `${daemon.url}/explore?l=service%3Dpay`)
  await expect(page.getByRole('button', { name: /^pay answered 503/ })).toBeVisible()
  await press(page, 'j')
  const card = page.locator('#time-card')
  await expect(card).toContainText('UTC')
  await press(page, 'c')
  await expect(card).toContainText('Copied')
  await press(page, 'Escape')
  await expect(card).toHaveCount(0)
  // What is opened stands where the card did.
  const event = page.getByRole('button', { name: /^pay answered 503/ })
  await event.blur()
  await event.focus()
  await expect(card).toContainText('UTC')
  await press(page, 'Enter')
  await expect(card).toHaveCount(0)
})

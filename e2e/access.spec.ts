import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, startDaemon, test } from './daemon.ts'
import { goTo, press, stillLoading } from './go.ts'

test('a secured instance asks for a token, takes the login address, and forgets on log out', async ({
  page,
}) => {
  const daemon = await startDaemon(['--auth'])
  await page.goto(`${daemon.url}/keys`)
  await expect(page.getByRole('heading', { name: 'Log in to svc' })).toBeVisible()
  await page.getByLabel('Token').fill('wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByText('this is neither the root token nor a key')).toBeVisible()
  await page.goto(daemon.loginUrl)
  await expect(page.getByRole('heading', { name: 'Send your first event' })).toBeVisible()
  await expect(page).not.toHaveURL(/token/)
  const [cookie] = await page.context().cookies()
  expect(cookie).toMatchObject({ name: 'svc_session', httpOnly: true, sameSite: 'Strict' })
  expect(daemon.loginUrl).not.toContain(cookie!.value)
  await page.getByRole('button', { name: 'Log out' }).click()
  await expect(page.getByRole('heading', { name: 'Log in to svc' })).toBeVisible()
  await daemon.stop()
})

test('who may only read is told so before a form is filled in, and what a key lacks in words of the console', async ({
  page,
}) => {
  const daemon = await startDaemon(['--auth'])
  const token = new URL(daemon.loginUrl).searchParams.get('token')
  const ask = async <T>(path: string, body: unknown) =>
    (await (await daemon.call('POST', path, body, { authorization: `Bearer ${token}` })).json()) as T
  const { id, secret } = await ask<{ id: string; secret: string }>('/api/keys', {
    ...{ name: 'reader', scopes: ['read'] },
  })
  const { ingest_key } = await ask<{ ingest_key: string }>('/api/sources', {
    ...{ name: 'app', connector: 'webhook' },
    config: { text_template: '{msg}', labels: [{ name: 'service', field: 'service', primary: true }] },
  })
  await ask('/api/triggers', {
    ...{ name: 'errs', sources: ['app'], key_field: 'service', severity: 'warning' },
    condition: { aggregate: 'count', predicate: '>= 1', window: '5m' },
  })
  const project = await ask<{ id: string }>('/api/projects', {
    template: 'custom',
    name: 'Shop',
    objects: [],
  })
  await ask('/api/agents/builtin', { name: 'look', prompt: 'Look.' })
  await ask(`/api/projects/${project.id}/skills`, { name: 'runbook', description: 'How', body: 'Look.' })
  await ask(`/ingest/${ingest_key}`, { service: 'checkout', msg: 'it broke' })
  await page.goto(daemon.loginUrl)
  await expect(page.getByRole('button', { name: 'Log out' })).toBeVisible()
  await expect(page.getByRole('banner').getByText(/^Scope/)).toHaveCount(0)
  await page.getByRole('button', { name: 'Log out' }).click()
  await expect(page.getByRole('heading', { name: 'Log in to svc' })).toBeVisible()
  await page.goto(`${daemon.url}/settings?tab=prices&token=${secret}`)
  await expect(page.getByRole('banner').getByText('Scope: read')).toBeVisible()
  const alert = page.getByRole('alert').filter({ hasText: 'Not shown: prices.' })
  await expect(alert).toContainText(
    'Your key lacks the scope admin: log out, and log in with one that has it',
  )
  // With the same key it would be refused again.
  await expect(alert.getByRole('button')).toHaveCount(0)
  // No act is offered that would be refused.
  const acts = page.locator('main').getByRole('link')
  for (const [path, act] of [
    ['triggers', 'Add trigger'],
    ['agents', 'Add agent'],
    ['sources', 'Add source'],
    ['projects', 'New project'],
    ['mcp-servers', 'Add MCP server'],
    ['', 'Add an agent'],
    ['traces', 'Add OpenTelemetry'],
  ] as const) {
    await goTo(page, `${daemon.url}/${path}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(stillLoading(page)).toHaveCount(0)
    await expect(acts.filter({ hasText: act })).toHaveCount(0)
    await expect(acts.filter({ hasText: 'Add a model provider' })).toHaveCount(0)
  }
  for (const path of ['triggers', 'sources', 'mcp-servers', 'projects']) {
    await goTo(page, `${daemon.url}/${path}/new`)
    await expect(page.getByText('Changes need a key with scope admin.')).toBeVisible()
    await expect(page.getByRole('main').getByRole('textbox')).toHaveCount(0)
  }
  await goTo(page, `${daemon.url}/sources`)
  await page.getByRole('button', { name: 'Actions of app' }).click()
  await expect(page.getByRole('menuitem')).toHaveText(['Open', 'Copy ingest URL'])
  await page.keyboard.press('Escape')
  await goTo(page, `${daemon.url}/sources/app?tab=fields`)
  await expect(page.getByRole('cell', { name: 'msg', exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: /as a label$/ })).toHaveCount(0)
  // What is set is all there to be read, and nothing is typed into it.
  await goTo(page, `${daemon.url}/triggers/errs?tab=edit`)
  await expect(page.getByRole('combobox', { name: 'Kind of condition' })).toBeDisabled()
  await expect(page.getByLabel('Timeline window')).toBeDisabled()
  await expect(page.getByRole('heading', { name: 'Backtest' })).toBeVisible()
  await expect(page.getByLabel('Threshold as a number')).toHaveCount(0)
  await expect(page.getByRole('tab', { name: 'Definition' })).toBeVisible()
  await expect(page.getByRole('tab', { name: 'Edit' })).toHaveCount(0)
  await goTo(page, `${daemon.url}/agents/look?tab=edit`)
  await expect(page.getByLabel('Prompt')).toBeDisabled()
  await expect(page.getByLabel('Prompt')).toHaveValue('Look.')
  await expect(page.locator('.mantine-InputWrapper-required')).not.toHaveCount(0)
  await expect(page.locator('.mantine-InputWrapper-required:visible')).toHaveCount(0)
  await goTo(page, `${daemon.url}/skills/runbook?project=${project.id}`)
  await expect(page.getByRole('heading', { name: 'Instructions' })).toBeVisible()
  await goTo(page, `${daemon.url}/projects/${project.id}?tab=settings`)
  await expect(page.getByRole('main')).toContainText('Changes need a key with scope admin.')
  await expect(page.getByLabel('Name of a new key')).toHaveCount(0)
  await page.route('**/api/agents/builtin/look/examples', (route) =>
    route.fulfill({
      json: {
        examples: [
          {
            id: 'x1',
            name: 'card',
            run_id: 'run_1',
            label: 'service',
            key: 'pay',
            verdict: null,
            mentions: [],
          },
        ],
      },
    }),
  )
  await goTo(page, `${daemon.url}/agents/look?tab=tests`)
  await expect(page.getByRole('link', { name: 'card' })).toBeVisible()
  await expect(page.getByRole('button', { name: /^(Run all|Remove card)$/ })).toHaveCount(0)
  // Keys that act do nothing, and are not among those that are told.
  await goTo(page, `${daemon.url}/incidents`)
  await expect(page.getByRole('link', { name: /at least 1 within/ })).toBeVisible()
  await expect(page.getByRole('checkbox')).toHaveCount(0)
  await press(page, 'a', 'e', 'Shift+?')
  await expect(page.getByRole('dialog').getByRole('cell')).toContainText([
    'J, K',
    'Next',
    'Enter',
    'Open',
    '?',
  ])
  await expect(page.getByText('Couldn’t change #1')).toHaveCount(0)
  await page.keyboard.press('Escape')
  // In place of what cannot be read stands no gap of a screen.
  await goTo(page, `${daemon.url}/settings?tab=agents`)
  const refused = page.getByRole('alert').filter({ hasText: 'Not shown: the clients.' })
  await expect(refused).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Limits of agents' })).toBeInViewport()
  await daemon.call('DELETE', `/api/keys/${id}`, undefined, { authorization: `Bearer ${token}` })
  await page.getByRole('link', { name: 'Triggers' }).click()
  await expect(page.getByRole('heading', { name: 'Log in to svc' })).toBeVisible()
  await expect(page.getByText('the session ended, or its key was revoked')).toBeVisible()
  await daemon.stop()
})

test('no page has an accessibility fault, light or dark', async ({ page, daemon }) => {
  // Each page is looked through by axe once; those of triggers, agents, runs, presets and the graph in their own files.
  const url = await daemon.source('app', {
    text_template: '{msg}',
    event_type_field: 'level',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  const faults: string[] = []
  const visit = async (path: string, ready: () => Promise<void>): Promise<void> => {
    await goTo(page, daemon.url + path)
    await ready()
    faults.push(...(await accessibilityFaults(page, path)))
  }
  const heading = (name: string) => () => expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
  await visit('/explore', heading('Explore'))
  const says = (words: string) => () => expect(page.getByText(words).first()).toBeVisible()
  for (const [path, words] of [
    ['/runs', 'No runs yet'],
    ['/agents', 'No Agents yet'],
    ['/usage', 'No model was called yet'],
    ['/firings', 'No firings yet'],
    ['/deliveries', 'No deliveries yet'],
  ] as const)
    await visit(path, says(words))
  for (const [path, words] of [
    ['/projects', 'New project'],
    ['/triggers', 'Add trigger'],
    ['/agents', 'Add agent'],
    ['/mcp-servers', 'Add MCP server'],
    ['/skills', 'Add skill'],
    ['/entities', 'Join names'],
    ['/settings?tab=access', 'New key'],
  ] as const) {
    await goTo(page, daemon.url + path)
    // The kit names all variants but the filled one, which is its default.
    await expect(page.getByRole('main').locator('.mantine-Button-root:not([data-variant])')).toHaveText([
      words,
    ])
  }
  await daemon.call(
    'POST',
    url,
    JSON.stringify(
      Array.from({ length: 40 }, (_, i) => ({ service: 'checkout', level: 'info', msg: `event ${i}` })),
    ),
  )
  await daemon.call('POST', '/api/keys', { name: 'k', scopes: ['read'] })
  await visit('/sources', () => expect(page.getByRole('link', { name: 'app' })).toBeVisible())
  await visit('/sources/new', () => expect(page.getByText('Reference documents')).toBeVisible())
  await visit('/sources/app', () => expect(page.getByText('Ingest URL')).toBeVisible())
  await visit('/sources/app?tab=events', () => expect(page.getByText('event 39')).toBeVisible())
  await visit('/sources/app?tab=fields', () => expect(page.getByText('Most frequent')).toBeVisible())
  await visit('/sources/app?tab=settings', () => expect(page.getByText('Text template')).toBeVisible())
  await visit('/explore?l=service%3Dcheckout', () =>
    expect(page.getByText('event 39', { exact: true })).toBeVisible(),
  )
  // The keys were read before there was one, less than the five seconds ago for which a page goes by what it has.
  await page.reload()
  await visit('/settings?tab=access', () =>
    expect(page.getByRole('button', { name: 'Revoke k' })).toBeVisible(),
  )
  await daemon.call('POST', '/api/triggers', {
    name: 'errs',
    sources: ['app'],
    condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
  })
  await daemon.call('POST', '/api/agents/builtin', { name: 'first', prompt: 'Look.', trigger: 'errs' })
  await daemon.call('POST', '/api/mcp-servers', { name: 'tools', url: 'https://mcp.example/' })
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
    template: 'webhook_watch',
    params: { service: 'checkout' },
  })
  await daemon.call('POST', `/api/projects/${id}/findings`, { entity: 'checkout', finding: 'It broke.' })
  const link = (name: string) => () =>
    expect(page.getByRole('main').getByRole('link', { name, exact: true }).first()).toBeVisible()
  await visit('/projects', link('Default'))
  await visit('/projects/new', heading('New project'))
  await visit('/projects/new?template=webhook_watch', () => expect(page.getByLabel('System')).toBeVisible())
  await visit('/projects/new?template=custom', heading('Custom project'))
  await visit(`/projects/${id}`, link('checkout-errors'))
  await visit(`/projects/${id}?tab=parts`, () =>
    expect(page.getByRole('heading', { name: 'Triggers', level: 2 })).toBeVisible(),
  )
  await visit(`/projects/${id}?tab=findings`, () => expect(page.getByText('It broke.').first()).toBeVisible())
  await visit(`/projects/${id}?tab=settings`, () =>
    expect(page.getByText('Delete this project')).toBeVisible(),
  )
  await visit('/triggers', link('errs'))
  await visit('/mcp-servers', link('tools'))
  await visit('/mcp-servers/tools', () => expect(page.getByLabel('Address')).toBeVisible())
  await visit('/skills', link('checkout-runbook'))
  await visit(`/skills/checkout-runbook?project=${id}`, () =>
    expect(page.getByRole('textbox', { name: 'Instructions in Markdown' })).toBeVisible(),
  )
  await visit('/changes?tab=catalog', () =>
    expect(page.getByText('connector: webhook').first()).toBeVisible(),
  )
  await visit('/changes?tab=catalog&view=import', () =>
    expect(page.getByRole('textbox', { name: 'Catalog file to import' })).toBeVisible(),
  )
  await visit('/changes?tab=history', () =>
    expect(page.getByText(/^project .* created; .*/).first()).toBeVisible(),
  )
  await daemon.call('POST', '/api/proposals', {
    operations: [{ op: 'patch', kind: 'trigger', name: 'errs', spec: { cooldown: '1h' } }],
    why: 'It wakes too often',
  })
  await visit('/changes', () => expect(page.getByRole('button', { name: 'Run backtest' })).toBeVisible())
  await visit('/help', heading('Help'))
  await visit('/help/glossary', heading('Glossary'))
  await visit('/nowhere', heading('Not found'))
  expect(faults).toEqual([])
  // Colours that were measured once are not again; others are, wherever they stand.
  await page.evaluate(
    `document.querySelector('main h1').style.color = matchMedia('(prefers-color-scheme: dark)').matches ? '#333' : '#ddd'`,
  )
  const faint = await accessibilityFaults(page, 'a faint heading')
  expect(faint).toEqual([expect.stringMatching(/^a faint heading, (light|dark): color-contrast: <h1 /)])
})

test.describe('with two events of checkout', () => {
  share({
    prepare: async (daemon) => {
      await daemon.call(
        'POST',
        await daemon.source('app', {
          text_template: '{msg}',
          labels: [{ name: 'service', field: 'service', primary: true }],
        }),
        '[{"service":"checkout","msg":"one"},{"service":"checkout","msg":"two"}]',
      )
    },
  })

  test('a key is made, shown once, and revoked', async ({ page, daemon }) => {
    await page.goto(`${daemon.url}/keys`)
    await page.getByRole('banner').waitFor()
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByLabel('Name').fill('assistant')
    await page.getByRole('button', { name: 'Create key' }).click()
    await expect(page.getByText('Shown this once')).toBeVisible()
    const secret = await page.locator('pre').first().textContent()
    expect(secret).toMatch(/^svc_[0-9a-f]{8}_/)
    await page.mouse.click(10, 300)
    await expect(page.getByText('Shown this once')).toBeVisible()
    await page.getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => page.content()).not.toContain(secret!)
    await page.getByRole('button', { name: 'Revoke assistant' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await expect(page.getByRole('cell', { name: 'revoked' })).toBeVisible()
  })

  test('everything is reached by keyboard alone', async ({ page, daemon }) => {
    await page.goto(daemon.url)
    await expect(page.getByRole('link', { name: 'app' })).toBeVisible()
    await press(page, 'Tab')
    await expect(page.getByRole('link', { name: 'Skip to the page' })).toBeFocused()
    await press(page, 'Control+k')
    await page.getByRole('textbox', { name: 'Search' }).fill('service=check')
    await expect(page.getByText('service=checkout')).toBeVisible()
    await press(page, 'Enter')
    await expect(page.getByRole('heading', { name: 'Explore' })).toBeVisible()
    await expect(page.getByText('two', { exact: true })).toBeVisible()
    await press(page, 'j')
    await press(page, 'j')
    await expect(page.getByRole('button', { name: /^one, app/ })).toBeFocused()
    await press(page, 'Enter')
    await expect(page.getByLabel('Payload of evt_1')).toBeVisible()
    await press(page, '/')
    await expect(page.locator('[data-entity-search]')).toBeFocused()
    await page.keyboard.type('env=prod')
    await press(page, 'Enter')
    await expect(page).toHaveURL(/l=env%3Dprod/)
  })

  test('the palette opens what is found by Enter, also when it is answered after it was typed', async ({
    page,
    daemon,
  }) => {
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/entities*', async (route) => {
      await held
      await route.continue()
    })
    await page.goto(daemon.url)
    await press(page, 'Control+k')
    await page.getByRole('textbox', { name: 'Search' }).fill('service=check')
    await expect(page.getByText('Nothing found')).toBeVisible()
    answer()
    await expect(page.locator('[data-action][data-selected]')).toContainText('service=checkout')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: 'Explore' })).toBeVisible()
  })
})

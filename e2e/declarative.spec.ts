import { expect } from '@playwright/test'
import { share, test } from './daemon.ts'
import { goTo, press } from './go.ts'

const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }

test('a project is made from a template, wired, paused, resumed, and deleted with what it made', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/projects`)
  await page.getByRole('link', { name: 'New project' }).click()
  await page.getByRole('link', { name: 'Use Watch a system by webhook' }).click()
  await page.getByRole('combobox', { name: 'System' }).fill('checkout')
  // What is left to be done by hand is said before it is made, and stays with it.
  const steps = page.getByRole('main').getByText('Post events', { exact: true })
  await expect(steps).toBeVisible()
  await page.getByRole('button', { name: 'Create project' }).click()
  // The banner over the page says it; where that is later, the page itself does, and never both.
  await expect(page.getByText(/no model provider is set/i)).toHaveCount(1)
  // Where one is added is told beside that, and in the step that asks for it.
  const add = page.getByRole('main').getByRole('link', { name: 'Add a model provider' })
  const left = page.getByRole('region', { name: 'What is left to do' })
  await expect(left.getByRole('link', { name: 'Add a model provider' })).toHaveCount(1)
  await expect(add).toHaveCount(2)
  await expect(page.getByRole('link', { name: 'checkout-errors' })).toBeVisible()

  await page.getByRole('tab', { name: 'Graph' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByText('List', { exact: true }).click()
  await page.getByRole('switch', { name: 'checkout-errors wakes checkout-first-look' }).press('Space')
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('0 created, 1 changed, 0 deleted.')).toBeVisible()
  // That of the editor: the note of what was applied may still have one, which shows no word.
  await page.getByRole('button', { name: 'Close', exact: true }).filter({ hasText: 'Close' }).click()
  const { projects } = await daemon.ask<{ projects: { wiring: { wakes: unknown[] } }[] }>(
    'GET',
    '/api/projects',
  )
  expect(projects[0]!.wiring.wakes).toEqual([
    { trigger: 'checkout-errors', agent: 'checkout-first-look', enabled: false },
  ])

  await page.getByRole('button', { name: 'Pause…' }).click()
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await expect(page.getByText('Paused: nothing in it wakes an agent')).toBeVisible()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Pause…' })).toBeVisible()

  await page.getByRole('tab', { name: 'Settings' }).click()
  await expect(steps).toBeVisible()
  await expect(page.getByText(`curl -X POST "${daemon.url}/ingest/`)).toBeVisible()
  await page.getByRole('button', { name: 'Delete…' }).click()
  await expect(page.getByRole('checkbox', { name: 'trigger checkout-errors' })).toBeChecked()
  await page.getByRole('button', { name: 'Delete project' }).click()
  await expect(page.getByText('No projects yet')).toBeVisible()
  expect(await daemon.ask('GET', '/api/triggers')).toEqual([])
})

test('deleting a paused project says what stays paused, as it is picked and once it is done', async ({
  page,
  daemon,
}) => {
  await daemon.source('quiet-logs', {})
  await daemon.call('POST', '/api/triggers', { name: 'quiet-errs', sources: ['quiet-logs'], condition })
  const objects = [
    { kind: 'source', name: 'quiet-logs' },
    { kind: 'trigger', name: 'quiet-errs' },
  ]
  const made = { template: 'custom', name: 'Quiet', objects }
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', made)
  await daemon.call('POST', `/api/projects/${id}/pause`, { sources: true })
  await goTo(page, `${daemon.url}/projects/${id}?tab=settings`)
  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Quiet?' })
  await expect(dialog.getByText('These stay paused')).toBeVisible()
  await expect(dialog.getByText('source quiet-logs, trigger quiet-errs')).toBeVisible()
  await dialog.getByRole('checkbox', { name: 'source quiet-logs' }).check()
  await expect(dialog.getByRole('alert')).toContainText('What is picked cannot go alone')
  await dialog.getByRole('checkbox', { name: 'trigger quiet-errs' }).check()
  await expect(dialog.getByText('Also purge')).toBeVisible()
  await expect(dialog.getByText('These stay paused')).toBeHidden()
  await expect(dialog.getByRole('alert')).toBeHidden()
  await dialog.getByRole('checkbox', { name: 'source quiet-logs' }).uncheck()
  await expect(dialog.getByText('source quiet-logs', { exact: true }).last()).toBeVisible()
  await expect(dialog.getByText('These stay paused')).toBeVisible()
  await dialog.getByRole('button', { name: 'Delete project' }).click()
  await expect(page.getByText('Stopped by the pause of the project: source quiet-logs.')).toBeVisible()
})

test('a catalog file shows its problems where they are, then its plan, then is applied', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/changes?tab=catalog&view=import`)
  const editor = page.getByRole('textbox', { name: 'Catalog file to import' })
  await editor.click()
  await page.keyboard.insertText('sources:\n  - name: gw\n    connector: pigeon\n')
  await expect(page.getByText('connector pigeon is not known')).toBeVisible()
  await page.getByRole('button', { name: 'Line 3' }).click()
  await expect(editor).toBeFocused()
  await press(page, 'Control+a')
  await page.keyboard.insertText('sources:\n  - name: gw\n    connector: webhook\n')
  await expect(page.getByText('2 to create, 0 to change, 0 to delete.')).toBeVisible()
  await page.getByLabel('Why').fill('first file')
  // It is not lost to a look elsewhere, and is kept nowhere: it may hold secrets.
  await page.getByText('Drift', { exact: true }).click()
  await goTo(page, `${daemon.url}/sources`)
  await expect(page.getByRole('heading', { level: 1, name: 'Sources' })).toBeVisible()
  await goTo(page, `${daemon.url}/changes?tab=catalog&view=import`)
  await expect(page.getByLabel('Why')).toHaveValue('first file')
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('connector: webhook')
  await page.getByRole('button', { name: 'Apply 2 changes' }).click()
  await expect(page.getByText('The catalog is imported')).toBeVisible()
  await page.getByText('Export', { exact: true }).click()
  await expect(page.getByText('connector: webhook')).toBeVisible()
  await goTo(page, `${daemon.url}/changes?tab=history`)
  await expect(page.getByText('first file')).toBeVisible()
})

test.describe('each with parts of its own', () => {
  share()

  test('two people change the same field, and the second chooses; a change is undone from its history', async ({
    page,
    daemon,
  }) => {
    await daemon.call('POST', '/api/sources', { name: 'gw', connector: 'webhook' })
    await daemon.call('POST', '/api/triggers', { name: 'errs', sources: ['gw'], condition })
    await goTo(page, `${daemon.url}/triggers/errs?tab=edit`)
    await page.getByLabel('Cooldown', { exact: true }).fill('1h')
    await daemon.call('PUT', '/api/triggers/errs', {
      name: 'errs',
      sources: ['gw'],
      condition,
      cooldown: '2h',
    })
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('Somebody else changed the same field')).toBeVisible()
    await expect(page.getByRole('cell', { name: '2h' })).toBeVisible()
    await page.getByRole('button', { name: 'Keep mine' }).click()
    await expect(page.getByText('errs is saved')).toBeVisible()
    expect((await daemon.ask<{ cooldown: string }>('GET', '/api/triggers/errs')).cooldown).toBe('1h')

    await goTo(page, `${daemon.url}/changes?tab=history`)
    await page
      .getByRole('button', { name: /trigger errs: cooldown/ })
      .first()
      .click()
    await page.getByRole('button', { name: 'Undo…' }).first().click()
    await expect(page.getByText('cooldown: 1h → 2h')).toBeVisible()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await expect(page.getByText('Undone; both are in the history')).toBeVisible()
    expect((await daemon.ask<{ cooldown: string }>('GET', '/api/triggers/errs')).cooldown).toBe('2h')
  })

  test('what others change is seen on a page that stays open', async ({ page, daemon }) => {
    await page.clock.install()
    const url = await daemon.source('noise', {
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    const send = () => daemon.call('POST', url, '{"service":"noise","message":"hum"}')
    await send()
    await goTo(page, `${daemon.url}/explore?l=service%3Dnoise&live=1`)
    const rows = page.locator('.timeline-row')
    await expect(page.getByText('1 event', { exact: true })).toBeVisible()
    await send()
    await expect(rows).toHaveCount(2)
    await page.clock.fastForward(6_000)
    await expect(page.getByText('2 events', { exact: true })).toBeVisible()
    await send()
    await expect(rows).toHaveCount(3)
    await page.getByRole('switch', { name: 'Live' }).press('Space')
    await expect(page.getByText('3 events', { exact: true })).toBeVisible()
    await expect(rows).toHaveCount(3)

    await goTo(page, `${daemon.url}/changes?tab=history`)
    await expect(page.getByRole('button', { name: /source noise/ }).first()).toBeVisible()
    await daemon.ask('POST', '/api/triggers', { name: 'hums', sources: ['noise'], condition })
    const agent = { name: 'watcher', prompt: 'Look.', trigger: 'hums' }
    expect((await daemon.call('POST', '/api/agents/builtin', agent)).status).toBe(201)
    await page.clock.fastForward(16_000)
    await expect(page.getByRole('button', { name: /agent watcher/ }).first()).toBeVisible()

    await goTo(page, `${daemon.url}/agents/watcher`)
    await expect(page.getByRole('switch', { name: 'On' })).not.toBeChecked()
    expect((await daemon.call('POST', '/api/agents/builtin/watcher/enable')).status).toBe(200)
    await page.clock.fastForward(16_000)
    await expect(page.getByRole('switch', { name: 'On' })).toBeChecked()

    await goTo(page, `${daemon.url}/settings?tab=access`)
    await expect(page.getByRole('button', { name: 'New key' })).toBeVisible()
    expect((await daemon.call('POST', '/api/keys', { name: 'robot', scopes: ['read'] })).status).toBe(201)
    await page.clock.fastForward(16_000)
    await expect(page.getByText('robot')).toBeVisible()

    for (const name of ['maps', 'mail'])
      await daemon.call('POST', '/api/mcp-servers', { name, url: `https://mcp.example/${name}` })
    // Of the next page it shows nothing of the one before.
    await goTo(page, `${daemon.url}/mcp-servers/maps`)
    const address = page.getByRole('textbox', { name: 'Address' })
    await expect(address).toHaveValue('https://mcp.example/maps')
    await goTo(page, `${daemon.url}/mcp-servers/mail`)
    await expect(address).toHaveValue('https://mcp.example/mail')
    const gone: [path: string, by: string, what: string][] = [
      ['mcp-servers/mail', 'mcp-servers/mail', 'MCP server'],
    ]
    const names = { name: 'till', is: ['service=till', 'repo=shop/till'] }
    expect((await daemon.call('POST', '/api/entities/joined', names)).status).toBe(201)
    gone.push(['entities/till', 'entities/joined/till', 'entity'])
    const holder = await daemon.ask<{ id: string }>('POST', '/api/projects', {
      template: 'custom',
      name: 'Held',
    })
    const skill = { name: 'held', description: 'When it helps', body: '# Do' }
    expect((await daemon.call('POST', `/api/projects/${holder.id}/skills`, skill)).status).toBe(201)
    gone.push([`skills/held?project=${holder.id}`, `projects/${holder.id}/skills/held`, 'skill'])
    for (const [path, by, what] of gone) {
      await goTo(page, `${daemon.url}/${path}`)
      await expect(page.getByRole('button', { name: 'Save' })).toBeVisible()
      expect((await daemon.call('DELETE', `/api/${by}`)).ok).toBe(true)
      await page.clock.fastForward(6_000)
      await expect(page.getByText(`Couldn’t load the ${what}`)).toBeVisible()
    }

    const body = { template: 'custom', name: 'Short-lived' }
    const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', body)
    await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
    await expect(page.getByRole('heading', { name: 'Short-lived' }).first()).toBeVisible()
    expect((await daemon.call('DELETE', `/api/projects/${id}`)).ok).toBe(true)
    await page.clock.fastForward(16_000)
    await expect(page.getByText('Couldn’t load the project')).toBeVisible()
  })

  test('a skill is written with a preview, uploaded over, and removed with its last project', async ({
    page,
    daemon,
  }) => {
    await daemon.call('POST', '/api/projects', { template: 'custom', name: 'Shop' })
    await goTo(page, `${daemon.url}/skills/new`)
    await page.getByLabel('Name').fill('roll-back')
    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'Shop' }).click()
    await page.getByLabel('When it helps').fill('How to roll back a deploy.')
    await page.getByRole('textbox', { name: 'Instructions in Markdown' }).click()
    await page.keyboard.insertText('# Look twice\n\n<img src=x onerror="document.title=1">')
    await expect(page.getByRole('heading', { name: 'Look twice' })).toBeVisible()
    await page.getByRole('button', { name: 'Add skill' }).click()
    await expect(page.getByText('Used by Shop')).toBeVisible()
    expect(await page.title()).not.toBe('1')

    await goTo(page, `${daemon.url}/skills`)
    await page.setInputFiles('input[type=file]', {
      name: 'SKILL.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from('---\nname: roll-back\ndescription: Newer.\n---\n\nText.\n'),
    })
    await page.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'Shop' }).click()
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await expect(page.getByText('Newer.')).toBeVisible()

    await page.getByRole('link', { name: 'roll-back' }).click()
    await page.getByRole('button', { name: 'Remove…' }).click()
    await expect(page.getByText('No other project uses this skill')).toBeVisible()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect(page.getByText('No skills yet')).toBeVisible()
  })

  test('an agent outside records a finding with a project key, and a person marks it as handled', async ({
    page,
    daemon,
  }) => {
    const project = await daemon.ask<{ id: string }>('POST', '/api/projects', {
      template: 'custom',
      name: 'Scouted',
    })
    await goTo(page, `${daemon.url}/projects/${project.id}?tab=settings`)
    await page.getByLabel('Name of a new key').fill('scout')
    await page.getByRole('button', { name: 'Create key' }).click()
    await expect(page.getByText('scout: shown once')).toBeVisible()
    await daemon.call('POST', `/api/projects/${project.id}/findings`, {
      entity: 'checkout',
      finding: '# Payments time out\n\nSince the deploy.\n\nNext step: roll back',
      agent: 'scout',
    })
    await page.getByRole('tab', { name: 'Findings' }).click()
    await expect(page.getByRole('heading', { name: 'Payments time out' })).toBeVisible()
    await page.getByRole('button', { name: 'Mark as handled' }).click()
    await expect(page.getByText('handled by')).toBeVisible()
  })

  test('findings of all projects are one list, asked for at once and in pages, and say that they could not be read', async ({
    page,
    daemon,
  }) => {
    const ids: string[] = []
    for (const name of ['Calm', 'Busy'])
      ids.push((await daemon.ask<{ id: string }>('POST', '/api/projects', { template: 'custom', name })).id)
    const [calm, busy] = ids
    const record = (id: string, entity: string) =>
      daemon.call('POST', `/api/projects/${id}/findings`, {
        entity,
        finding: `# ${entity} fails`,
        agent: 'scout',
      })
    await record(busy!, 'oldest')
    await record(calm!, 'calm')
    for (let n = 0; n < 49; n++) await record(busy!, `busy-${n}`)

    await page.route('**/api/findings?*', (route) =>
      route.fulfill({ status: 500, json: { status: 500, detail: 'The disk is on fire.' } }),
    )
    await page.goto(`${daemon.url}/findings?project=${calm}`)
    const alert = page.getByRole('alert').filter({ hasText: 'Couldn’t load findings' })
    await expect(alert).toContainText('The disk is on fire.')
    await expect(page.getByText('No findings yet')).toHaveCount(0)
    await page.unroute('**/api/findings?*')
    await alert.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByRole('heading', { name: 'calm fails' })).toBeVisible()

    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (/\/(results|findings)$/.test(pathname) && pathname.startsWith('/api/')) asked.push(pathname)
    })
    await goTo(page, `${daemon.url}/findings`)
    await expect(page.getByRole('heading', { name: 'busy-0 fails' })).toBeVisible()
    await expect(page.getByRole('heading', { name: 'calm fails' })).toBeVisible()
    await expect(page.getByRole('heading', { name: 'oldest fails' })).toHaveCount(0)
    await page.getByRole('button', { name: 'Show older findings' }).click()
    await expect(page.getByRole('heading', { name: 'oldest fails' })).toBeVisible()
    expect(new Set(asked)).toEqual(new Set(['/api/findings']))

    await daemon.call('DELETE', `/api/projects/${calm}`)
    await goTo(page, `${daemon.url}/findings`)
    const kept = page.getByRole('article').filter({ hasText: 'calm fails' })
    await expect(kept).toContainText('Project Calm was deleted')
    await expect(kept.getByRole('button', { name: 'Mark as handled' })).toHaveCount(0)
    await kept.getByRole('button', { name: 'Read calm fails' }).click()
    await expect(page.getByRole('dialog')).toContainText('calm fails')
  })
})

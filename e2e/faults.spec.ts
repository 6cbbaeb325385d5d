/** Faults of a form stand at their fields, and one summary leads to each. */
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'
import { goTo, placeOf } from './go.ts'

share()

test('what a save of a source refuses stands at its fields, in folds too, and the summary leads to them', async ({
  page,
  daemon,
}) => {
  await page.goto(`${daemon.url}/sources/new?connector=webhook`)
  await page.getByRole('textbox', { name: 'Name' }).first().fill('shop')
  const label = page.getByRole('group', { name: 'Label 1' })
  await label.getByLabel('Name').fill('service')
  await label.getByLabel('Payload field').fill('service')
  await label.getByLabel('Pattern (RE2)').fill('(')
  await page.getByRole('button', { name: 'Create source' }).click()
  const summary = page.getByRole('alert').filter({ hasText: 'Couldn’t create the source' })
  const link = summary.getByRole('button', { name: /^Pattern \(RE2\) is not supported/ })
  await expect(link).toBeVisible()
  const pattern = label.getByLabel('Pattern (RE2)')
  await expect(pattern).toHaveAttribute('aria-invalid', 'true')
  await expect(pattern).toBeFocused()
  await expect(label.getByText(/^This is not supported/)).toBeVisible()
  await page.getByRole('textbox', { name: 'Name' }).first().focus()
  await link.click()
  await expect(pattern).toBeFocused()
  expect(await accessibilityFaults(page, 'faults of a source')).toEqual([])
  await pattern.fill('')
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect
    .poll(async () => (await daemon.ask<{ name: string }[]>('GET', '/api/sources')).map(({ name }) => name))
    .toEqual(['shop'])
})

test('what a form begins with is in what is sent, however soon that is', async ({ page, daemon }) => {
  // In the moment in which the form is drawn, before anything else can happen in the page.
  await page.addInitScript(`new MutationObserver(async (_, watch) => {
    const name = document.querySelector('input[data-field="name"]')
    if (!name || !document.querySelector('.config-form textarea, .config-form [id*="promql"]')) return
    watch.disconnect()
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(name, 'prom')
    name.dispatchEvent(new Event('input', { bubbles: true }))
    for (let turn = 0; turn < 20; turn++) await null
    document.querySelector('button[type="submit"]').click()
  }).observe(document, { childList: true, subtree: true })`)
  await page.goto(`${daemon.url}/sources/new?connector=prometheus`)
  const summary = page.getByRole('alert').filter({ hasText: 'Couldn’t create the source' })
  await expect(summary.getByRole('button')).toHaveText(['URL is required', 'PromQL is required'])
})

test('fields of a connector have their own faults, two at once, and the first has the focus', async ({
  page,
  daemon,
}) => {
  await page.goto(`${daemon.url}/sources/new?connector=prometheus`)
  // The form gives the first query once it is there: a save before that lacks all of them.
  await expect(page.locator('.config-form').getByRole('textbox', { name: /promql/i })).toBeVisible()
  await page.getByRole('textbox', { name: 'Name' }).first().fill('prom')
  await page.getByRole('button', { name: 'Create source' }).click()
  const summary = page.getByRole('alert').filter({ hasText: 'Couldn’t create the source' })
  await expect(summary.getByRole('button')).toHaveText(['URL is required', 'PromQL is required'])
  await expect(page.getByRole('textbox', { name: /url/i }).first()).toBeFocused()
  await expect(page.locator('.config-form').getByText('This is required')).toHaveCount(2)
})

test('faults of an agent stand at their fields, and a name that is taken at the name', async ({
  page,
  daemon,
}) => {
  await daemon.call('POST', '/api/agents/builtin', { name: 'digger', prompt: 'Dig.' })
  await page.goto(`${daemon.url}/agents/new`)
  await page.getByRole('textbox', { name: 'Name' }).fill('digger')
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Dig deeper.')
  await page.getByRole('button', { name: 'Add a verdict' }).click()
  const verdict = page.getByRole('textbox', { name: 'Verdict 1', exact: true })
  await verdict.fill('Not One')
  await page.getByRole('button', { name: 'Add agent' }).click()
  await expect(verdict).toHaveAttribute('aria-invalid', 'true')
  await expect(verdict).toBeFocused()
  await verdict.fill('investigate')
  await page.getByRole('button', { name: 'Add agent' }).click()
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused()
  await expect(
    page.getByRole('alert').getByRole('button', { name: /agent named digger exists/ }),
  ).toBeVisible()
})

/** Whether the focus comes to the first field of its form that has a fault, which says what it is. */
const leadsToFirstFault = (page: Page): Promise<boolean> =>
  expect
    .poll(() =>
      page.evaluate<string>(`(() => {
        const field = document.activeElement
        if (!field?.matches(':invalid, [aria-invalid="true"]')) return ''
        const first = [...field.closest('form').querySelectorAll('input, textarea')].find((one) =>
          one.matches(':invalid, [aria-invalid="true"]') && one.offsetParent !== null)
        const described = (field.getAttribute('aria-describedby') ?? '').split(' ')
        return first !== field ? 'not the first' : field.validationMessage ||
          described.map((id) => document.getElementById(id)?.textContent ?? '').join(' ')
      })()`),
    )
    .toMatch(/^(?!not the first).*\w{3}/)
    .then(
      () => true,
      () => false,
    )

/**
 * Every form: how it is opened, a text of it where the page has several, and what is typed that is refused; nothing: it is
 * sent as it is, with fields that must be filled.
 */
const FORMS: readonly { path: string; open?: string; form?: string; typed?: Record<string, string> }[] = [
  { path: '/triggers/new' },
  { path: '/agents/new' },
  { path: '/agents/new', typed: { Name: '!!', Prompt: 'Dig.' } },
  { path: '/sources/new?connector=webhook' },
  { path: '/sources/new?connector=webhook', typed: { Name: '!!' } },
  { path: '/skills/new' },
  { path: '/skills/new?project=SHOP' },
  { path: '/skills/new?project=SHOP', typed: { Name: 'Not One', 'When it helps': 'Never.' } },
  { path: '/entities/new' },
  { path: '/entities/new', typed: { Name: '!!', Names: 'service=api' } },
  { path: '/mcp-servers/new' },
  { path: '/mcp-servers/new', typed: { Name: '!!', Address: 'https://mcp.example/mcp' } },
  { path: '/projects/new' },
  { path: '/projects/new?template=custom' },
  { path: '/projects/new?template=deploy_watch' },
  { path: '/projects/new?template=deploy_watch', typed: { System: '!!' } },
  { path: '/projects/SHOP?tab=settings', typed: { Name: '' } },
  { path: '/settings', open: 'New key' },
  { path: '/settings?tab=providers', open: 'Add provider' },
  { path: '/settings?tab=github', open: 'Add credential' },
  { path: '/settings?tab=prices', open: 'Add a price' },
  // Its forms come as each is read, and that of rights may be sent without anybody in it.
  { path: '/settings?tab=slack', form: 'begins with xoxb-' },
]

test('a form that is refused leads to its first field with a fault, which says what it is', async ({
  page,
  daemon,
}) => {
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
    template: 'custom',
    name: 'Shop',
  })
  const lost: string[] = []
  for (const { path, open, form: text = '', typed = {} } of FORMS) {
    await goTo(page, daemon.url + path.replace('SHOP', id))
    if (open) await page.getByRole('button', { name: open }).first().click()
    const forms = page.locator('form:has([type=submit]:enabled)').filter({ hasText: text })
    const form = (open ? forms.last() : forms.first()).filter({ visible: true })
    for (const [label, text] of Object.entries(typed))
      await form
        .getByRole('textbox', { name: label, exact: true })
        .or(form.getByRole('combobox', { name: label, exact: true }))
        .first()
        .fill(text)
    await form.locator('[type=submit]').first().click()
    const at = `${path} ${JSON.stringify(typed)}`
    if (!(await leadsToFirstFault(page))) lost.push(at)
    await page.keyboard.press('Escape')
  }
  expect(lost).toEqual([])
})

/** Parts as they are made in the editor of a drawing: what is typed besides the name, and the field that is then at fault. */
const NEW_PARTS: readonly { part: string; typed?: Record<string, string>; field: RegExp }[] = [
  { part: 'trigger', field: /^Sources$/ },
  { part: 'agent', field: /^Prompt/ },
  { part: 'agent', typed: { Prompt: '  ' }, field: /^Prompt/ },
  { part: 'source', field: /^Connector/ },
  { part: 'MCP server', field: /^Address/ },
  { part: 'skill', field: /^Description/ },
]

test('a part that lacks something goes into no draft of a drawing, and its form leads to the first such field', async ({
  page,
  daemon,
}) => {
  await daemon.call('POST', '/api/mcp-servers', { name: 'logs', url: 'https://mcp.example/mcp' })
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
    template: 'custom',
    name: 'Drawn',
    objects: [{ kind: 'mcp_server', name: 'logs' }],
  })
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const parts = page.getByRole('region', { name: 'Add parts' })
  for (const { part, typed = {}, field } of NEW_PARTS) {
    await parts.getByRole('button', { name: `Add ${part}`, exact: true }).click()
    const form = page.locator('form').filter({ has: page.getByRole('heading', { name: `Add ${part}` }) })
    await form.getByRole('button', { name: 'Add to the draft' }).click()
    expect(await leadsToFirstFault(page), `${part} without a name`).toBe(true)
    await expect(form.getByRole('textbox', { name: 'Name', exact: true }).first()).toBeFocused()
    // As somebody types it: with keys, after which nothing leads away from the field.
    await form.getByRole('textbox', { name: 'Name', exact: true }).first().pressSequentially('one')
    for (const [label, text] of Object.entries(typed)) await form.getByLabel(label).first().fill(text)
    // A list that opened with the focus may lie over the button.
    await form.getByRole('button', { name: 'Add to the draft' }).press('Enter')
    expect(await leadsToFirstFault(page), `${part} ${JSON.stringify(typed)}`).toBe(true)
    await expect(form.getByLabel(field).first(), part).toBeFocused()
    await form.getByRole('button', { name: 'Cancel' }).press('Enter')
  }
  await expect(page.locator('.editor-bar').getByText(/^[1-9]\d* change/)).toHaveCount(0)
})

test('a field whose choices cannot be read says so by itself, moves nothing, and reads them again', async ({
  page,
  daemon,
}) => {
  await daemon.call('POST', '/api/mcp-servers', { name: 'notes', url: 'https://mcp.example/mcp' })
  let isAway = true
  await page.route(/\/api\/mcp-servers$/, (route) =>
    isAway
      ? route.fulfill({
          status: 404,
          json: { title: 'Not found', status: 404, detail: 'There is no such thing.' },
        })
      : route.continue(),
  )
  let asked = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/api/mcp-servers')) asked += 1
  })
  await goTo(page, `${daemon.url}/agents/new`)
  const field = page.getByRole('combobox', { name: 'MCP servers' })
  await expect(field).toBeVisible()
  // Nobody came near.
  expect(asked).toBe(0)
  const prompt = page.getByRole('textbox', { name: 'Prompt' })
  const place = await placeOf(prompt)
  await field.focus()
  await expect(page.getByRole('alert').filter({ hasText: 'Couldn’t load MCP servers' })).toBeAttached()
  await expect(field).toHaveAttribute('placeholder', 'Couldn’t load MCP servers')
  expect(await placeOf(prompt)).toEqual(place)
  expect(await accessibilityFaults(page, 'choices that cannot be read')).toEqual([])
  isAway = false
  await page.getByRole('button', { name: 'Load MCP servers again' }).click()
  await expect(field).not.toHaveAttribute('placeholder', 'Couldn’t load MCP servers')
  await field.click()
  await expect(page.getByRole('option', { name: 'notes' })).toBeVisible()
})

test('the dialog of a new source has its buttons once what draws the fields of any connector is there', async ({
  page,
  daemon,
}) => {
  const { project } = await daemon.ask<{ project: { id: string } }>('POST', '/api/setup/drafts', {
    goal: 'Tell me when orders fail',
    plan: {},
  })
  await goTo(page, `${daemon.url}/projects/${project.id}/setup`)
  const dialog = page.getByRole('dialog')
  const buttons: number[] = []
  await page.route('**/assets/fields-*.js', async (route) => {
    buttons.push(await dialog.getByRole('button', { name: 'Cancel' }).count())
    await route.continue()
  })
  await page.getByRole('button', { name: 'Add a source' }).click()
  await dialog.getByRole('combobox', { name: 'Connector' }).click()
  await page.getByRole('option', { name: 'PostgreSQL' }).click()
  await expect(dialog.getByLabel('Connection URL')).toBeVisible()
  expect(buttons).toEqual([0])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
})

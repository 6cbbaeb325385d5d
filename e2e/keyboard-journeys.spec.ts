/**
 * Whole journeys by keys alone, from an empty instance: a source, a trigger, an agent, what joins them in the drawing, and a
 * setup. Nothing is clicked and nothing is focused but by Tab and arrows, and each part is stored in the end.
 */
import { expect, type Locator, type Page } from '@playwright/test'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, press, settled } from './go.ts'
import { imported, partsOf, removeAll, source, trigger } from './graphs.ts'

share()
test.afterEach(({ daemon }) => removeAll(daemon))

/** More stops than the way to anything has. */
const FAR = 120

/** Presses Tab, or another key, until something has the focus. */
async function reach(what: Locator, key = 'Tab'): Promise<void> {
  const page = what.page()
  await expect(what).toBeVisible()
  await settled(page)
  for (let pressed = 0; pressed < FAR; pressed += 1) {
    if ((await what.and(page.locator(':focus')).count()) === 1) return
    await page.keyboard.press(key)
  }
  throw new Error(`${what} is not reached by ${FAR} times ${key}`)
}

/** Goes to something and types over what is in it. */
async function write(what: Locator, text: string): Promise<void> {
  await reach(what)
  await what.page().keyboard.press('ControlOrMeta+a')
  await what.page().keyboard.type(text)
}

/** Goes to something and pastes into it. */
async function paste(into: Locator, text: string): Promise<void> {
  await reach(into)
  await into.page().keyboard.insertText(text)
}

async function enter(what: Locator): Promise<void> {
  await reach(what)
  await press(what.page(), 'Enter')
}

/** Opens a dropdown list and selects the option of this name. */
async function choose(list: Locator, name: string): Promise<void> {
  const page = list.page()
  await reach(list)
  await press(page, 'ArrowDown')
  const option = page.getByRole('option', { name, exact: true })
  await expect(option).toBeVisible()
  await expect(async () => {
    await press(page, 'ArrowDown')
    await expect(page.locator('[data-combobox-selected]')).toHaveText(name, { timeout: 1 })
  }).toPass({ intervals: [1] })
  await press(page, 'Enter')
}

const box = (of: Page | Locator, name: string) => of.getByRole('textbox', { name, exact: true })
const button = (of: Page | Locator, name: string) => of.getByRole('button', { name, exact: true })

/** Goes to a page by the palette. */
async function openFromPalette(page: Page, label: string): Promise<void> {
  await press(page, 'ControlOrMeta+k')
  await expect(page.getByRole('textbox', { name: 'Search' })).toBeFocused()
  await page.keyboard.type(label)
  await expect(page.getByRole('dialog').getByText(label, { exact: true }).first()).toBeVisible()
  await press(page, 'Enter')
}

const stored = (daemon: RunningDaemon, path: string) => daemon.ask<Record<string, unknown>>('GET', path)

test('a source, a trigger on it and an agent that it wakes', async ({ page, daemon }) => {
  await goTo(page, `${daemon.url}/`)
  await openFromPalette(page, 'Add source')
  await expect(page).toHaveURL(/\/sources\/new/)
  await paste(
    page.getByLabel('Paste an event'),
    '{"service": "pay", "level": "error", "msg": "card declined"}',
  )
  await expect(page.getByRole('list', { name: 'On the timeline' })).toContainText('service=pay')
  await write(box(page, 'Name'), 'pay-logs')
  await enter(button(page, 'Create source'))
  await expect(page.getByText('Waiting for the first event…')).toBeVisible()
  const { ingest_key } = await stored(daemon, '/api/sources/pay-logs')
  for (let n = 0; n < 6; n += 1)
    await daemon.call('POST', `/ingest/${ingest_key}`, {
      service: 'pay',
      level: 'error',
      msg: 'card declined',
    })

  await openFromPalette(page, 'Add trigger')
  await expect(page).toHaveURL(/\/triggers\/new/)
  await choose(page.getByRole('combobox', { name: 'Sources' }).or(box(page, 'Sources')), 'pay-logs')
  await press(page, 'Escape')
  await write(box(page, 'Number'), '4')
  await write(box(page, 'Window'), '10m')
  await expect(page.getByText('Would have fired 1 time in 24 h')).toBeVisible()
  await write(box(page, 'Name'), 'pay-errors')
  await enter(button(page, 'Add trigger'))
  await expect(page.getByRole('heading', { name: 'pay-errors' })).toBeFocused()
  expect(await stored(daemon, '/api/triggers/pay-errors')).toMatchObject({ sources: ['pay-logs'] })

  await openFromPalette(page, 'Add agent')
  await expect(page).toHaveURL(/\/agents\/new/)
  await write(box(page, 'Name'), 'first-look')
  await write(box(page, 'Prompt'), 'Find out what broke.')
  await choose(page.getByRole('combobox', { name: 'Woken by' }).or(box(page, 'Woken by')), 'pay-errors')
  await enter(page.getByRole('button', { name: /^(Create|Add) agent$/ }))
  await expect(page.getByRole('heading', { name: 'first-look' })).toBeFocused()
  expect(await stored(daemon, '/api/agents/builtin/first-look')).toMatchObject({
    prompt: 'Find out what broke.',
    triggers: ['pay-errors'],
  })
})

test('parts are joined in the drawing, and what was drawn is applied', async ({ page, daemon }) => {
  const sources = [source('gateway')]
  const id = await imported(daemon, {
    sources,
    triggers: [trigger('gateway-errors', ['gateway'])],
    agents: [{ name: 'triage', project: 'Shop', prompt: 'Look.' }],
    projects: [partsOf(sources)],
  })
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await enter(button(page, 'Edit'))
  // The drawing is one stop, and arrows go from node to node.
  await reach(page.locator('.react-flow__node[tabindex="0"]'))
  await reach(page.locator('.react-flow__node[data-id="trigger:gateway-errors"]'), 'ArrowRight')
  await press(page, 'Enter')
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  await expect(panel.getByRole('heading', { name: 'gateway-errors' })).toBeVisible()
  await choose(panel.getByRole('combobox', { name: 'Connect to' }).or(box(panel, 'Connect to')), 'triage')
  await expect(page.locator('.editor-bar').getByText('1 change', { exact: true })).toBeVisible()
  // It leads to all it can lead to.
  await expect(panel.getByLabel('Connect to')).toHaveCount(0)
  await enter(page.getByRole('button', { name: 'Review and apply' }))
  await enter(page.getByRole('button', { name: /^Apply/ }))
  await expect
    .poll(async () => (await stored(daemon, '/api/agents/builtin/triage')).triggers)
    .toEqual(['gateway-errors'])
})

test('a plan is written by hand, and applied', async ({ page, daemon }) => {
  await goTo(page, `${daemon.url}/`)
  await openFromPalette(page, 'New project')
  await write(box(page, 'What do you want?'), 'Tell me when payments fail')
  await enter(button(page, 'Write it by hand'))
  const dialog = page.getByRole('dialog')
  const keep = button(dialog, 'Apply to the plan')

  await enter(button(page, 'Add a source'))
  await write(dialog.getByRole('textbox', { name: 'Name' }).first(), 'pay-logs')
  await choose(dialog.getByRole('combobox', { name: 'Connector' }), 'Webhook')
  await paste(dialog.getByLabel('Paste an event'), '{"service": "payments", "level": "error"}')
  await expect(dialog.getByRole('list', { name: 'On the timeline' })).toContainText('service=payments')
  await enter(keep)
  await expect(dialog).toHaveCount(0)
  await expect(page.locator('main :focus')).toHaveCount(1)

  await enter(button(page, 'Add a trigger'))
  await write(dialog.getByRole('textbox', { name: 'Name' }).first(), 'pay-errors')
  // The only source there is, is chosen already.
  await expect(dialog.getByText('pay-logs', { exact: true }).first()).toBeVisible()
  await write(dialog.getByLabel('Window', { exact: true }), '10m')
  await enter(keep)
  await expect(page.getByRole('region', { name: 'Wakes when' })).toContainText('pay-logs')

  await enter(button(page, 'Add an agent'))
  await write(dialog.getByRole('textbox', { name: 'Name' }).first(), 'first-look')
  await write(dialog.getByLabel('Prompt'), 'Find out what broke.')
  await enter(keep)
  await expect(dialog).toHaveCount(0)
  await enter(button(page, 'Apply the plan'))
  await expect(page.getByRole('region', { name: 'Source pay-logs' })).toBeVisible()
  expect((await daemon.call('GET', '/api/triggers/pay-errors')).status).toBe(200)
  expect((await daemon.call('GET', '/api/agents/builtin/first-look')).status).toBe(200)
})

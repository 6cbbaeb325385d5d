/** Editing a drawing: the room it has, what is not connected, what cannot be, and what Escape closes. */
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, placeOf, press } from './go.ts'
import { imported, partsOf, projectNamed, removeAll, source, trigger, verdicts } from './graphs.ts'

// With a provider, which nothing asks: without one a banner takes room.
share({ env: { PROVIDERA_BASE_URL: 'http://127.0.0.1:9', PROVIDERA_API_KEY: 'k' } })
test.afterEach(({ daemon }) => removeAll(daemon))

const node = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)
const chip = (page: Page, id: string) => page.locator(`.graph-strip-chip[data-node="${id}"]`)

function shop() {
  const sources = [source('gateway')]
  return {
    sources,
    triggers: [trigger('gateway-errors', ['gateway'])],
    mcp_servers: [{ name: 'logs', url: 'https://mcp.example.com/logs', project: 'Shop' }],
    agents: [
      { name: 'triage', project: 'Shop', prompt: 'Look.' },
      { name: 'watch', project: 'Shop', prompt: 'Watch.', trigger: 'gateway-errors', enabled: true },
    ],
    projects: [partsOf(sources)],
  }
}

/** Imports the shop, and opens its graph to be edited. */
async function edit(page: Page, daemon: RunningDaemon): Promise<void> {
  const id = await imported(daemon, shop())
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
}

test('the canvas has at least 60 % of the window beside an open form, and Escape closes the innermost thing alone', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  await expect(panel.getByRole('heading', { name: 'watch' })).toBeVisible()
  expect((await placeOf(panel)).width).toBe(360)
  await expect(panel).toContainText('svc agents rename changes its name and keeps its history')
  const menu = page.getByRole('navigation', { name: 'Pages' })
  await expect.poll(async () => (await menu.boundingBox())!.width).toBe(56)
  const bar = page.locator('.editor-bar')
  expect((await placeOf(bar)).height).toBe(48)
  const canvas = await placeOf(page.locator('.graph-stage'))
  expect((canvas.width * canvas.height) / (1440 * 900)).toBeGreaterThanOrEqual(0.6)
  await expect(node(page, 'agent:watch')).toBeInViewport({ ratio: 1 })

  await panel.getByRole('textbox', { name: 'Prompt' }).fill('Watch closely.')
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await expect(bar.getByText('1 change', { exact: true })).toBeVisible()
  expect(await accessibilityFaults(page, 'edit mode')).toEqual([])
  // The panel first, then the list of parts; never the draft.
  await panel.getByRole('button', { name: 'Close panel' }).focus()
  await press(page, 'Escape')
  await expect(panel).toHaveCount(0)
  await expect(page.getByRole('region', { name: 'Add parts' })).toBeVisible()
  await page.getByRole('button', { name: 'Add part', exact: true }).focus()
  await press(page, 'Escape')
  await expect(page.getByRole('region', { name: 'Add parts' })).toHaveCount(0)
  await press(page, 'Escape')
  await expect(bar.getByText('1 change', { exact: true })).toBeVisible()
  // Closing the editor keeps the draft, too.
  await bar.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Edit, 1 change' }).click()
  await expect(bar.getByText('1 change', { exact: true })).toBeVisible()
})

test('by keys alone: a form that is closed leads back to the node or chip it was opened from, and Enter finds a node', async ({
  page,
  daemon,
}) => {
  await edit(page, daemon)
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  for (const _ of ['before its code is loaded', 'after that']) {
    await node(page, 'agent:watch').focus()
    await press(page, 'Enter')
    await expect(panel.getByRole('heading', { name: 'watch' })).toBeVisible()
    await press(page, 'Escape')
    await expect(panel).toHaveCount(0)
    await expect(node(page, 'agent:watch')).toBeFocused()
  }
  await press(page, '/')
  await page.getByRole('combobox', { name: 'Find a node' }).fill('gateway-e')
  await press(page, 'Enter')
  await expect(node(page, 'trigger:gateway-errors')).toBeFocused()
})

test('a draft that svc could not be asked about is not called refused, and is asked about again by itself', async ({
  page,
  daemon,
}) => {
  await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  await panel.getByRole('textbox', { name: 'Prompt' }).fill('Watch closely.')
  let asked = 0
  await page.route('**/draft/preview', (route) => (asked++ === 0 ? route.abort() : route.continue()))
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await expect.poll(() => asked).toBe(1)
  await expect(page.locator('.editor-bar').getByRole('status')).toHaveText('1 change')
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('Applied', { exact: true })).toBeVisible()
  // The form begins with what was applied, not with what was read before; nothing typed is taken away.
  await node(page, 'agent:watch').dblclick()
  const prompt = panel.getByRole('textbox', { name: 'Prompt' })
  await prompt.waitFor()
  expect(await prompt.inputValue()).toBe('Watch closely.')
  await prompt.fill('Watch once more.')
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await expect(page.locator('.editor-bar').getByRole('status')).toHaveText('1 change')
  await expect(page.getByText('Applied', { exact: true })).toHaveCount(0)
})

test('what is typed stays where somebody else changes the part, and their fields are theirs', async ({
  page,
  daemon,
}) => {
  await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  const prompt = panel.getByRole('textbox', { name: 'Prompt' })
  await prompt.fill('Watch it.')
  const changed = await daemon.call('PUT', '/api/agents/builtin/watch', { mcp_servers: ['logs'] })
  expect(changed.status).toBe(200)
  await page.reload()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await node(page, 'agent:watch').dblclick()
  await expect(prompt).toHaveValue('Watch it.')
  await expect(panel.getByText('logs', { exact: true })).toBeVisible()
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('Applied', { exact: true })).toBeVisible()
  expect(await daemon.ask('GET', '/api/agents/builtin/watch')).toMatchObject({
    prompt: 'Watch it.',
    mcp_servers: ['logs'],
  })
  // Undone on another page: its way back is gone.
  const { change_sets } = await daemon.ask<{ change_sets: { id: number }[] }>(
    'GET',
    '/api/change-sets?limit=1',
  )
  expect((await daemon.call('POST', `/api/change-sets/${change_sets[0]!.id}/undo`, {})).status).toBe(200)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  await expect(page.getByText('Applied, and undone since')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Undo the change' })).toHaveCount(0)
})

test('a refused value is marked where it is, and made good where it was typed, for a new part, too', async ({
  page,
  daemon,
}) => {
  await edit(page, daemon)
  const bar = page.locator('.editor-bar')
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  const said = panel.getByText('verdict 1 must be one lowercase word')
  await page.getByRole('button', { name: 'Add agent', exact: true }).click()
  await panel.getByRole('textbox', { name: 'Name' }).fill('deep')
  await panel.getByRole('textbox', { name: 'Prompt' }).fill('Dig.')
  await panel.getByRole('button', { name: 'Add a verdict' }).click()
  await panel.getByRole('textbox', { name: 'Verdict 1', exact: true }).fill('dig deeper')
  await panel.getByRole('button', { name: 'Add to the draft' }).click()
  await expect(said).toBeVisible()
  await expect(bar.getByRole('status')).toContainText('1 change · refused')
  expect(await accessibilityFaults(page, 'a refused draft')).toEqual([])
  await panel.getByRole('textbox', { name: 'Verdict 1', exact: true }).fill('dig')
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await expect(bar.getByRole('status')).toHaveText('2 changes')
  await expect(said).toHaveCount(0)

  // The same of one that is there, whose node is in the drawing.
  await node(page, 'agent:watch').dblclick()
  await panel.getByRole('button', { name: 'Add a verdict' }).click()
  await panel.getByRole('textbox', { name: 'Verdict 1', exact: true }).fill('not one')
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await expect(node(page, 'agent:watch').locator('.graph-badge')).toContainText('must be one lowercase word')
  await panel.getByRole('textbox', { name: 'Verdict 1', exact: true }).fill('one')
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await expect(node(page, 'agent:watch').locator('.graph-badge')).toHaveCount(0)
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('Applied', { exact: true })).toBeVisible()
  const { verdicts: now } = await daemon.ask<{ verdicts: { verdict: string }[] }>(
    'GET',
    '/api/agents/builtin/deep',
  )
  expect(now.map(({ verdict }) => verdict)).toEqual(['dig'])
})

test('where no part exists there is none to add, which is not said as if the project had them all', async ({
  page,
  daemon,
}) => {
  const id = await imported(daemon, { projects: [partsOf([])] })
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const palette = page.getByRole('region', { name: 'Parts to add' })
  await expect(palette.getByText('No parts exist yet.')).toBeVisible()
  await expect(palette.getByText('All parts are in this project.')).toHaveCount(0)
})

test('what is worth a look stands with the steps, and the drawing begins at its beginning beside them', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const agents = [
    {
      ...{
        name: 'triage',
        project: 'Shop',
        prompt: 'Look.',
        verdicts,
        trigger: 'gateway-errors',
        enabled: true,
      },
      handoffs: [{ verdict: 'investigate', agent: 'digger' }],
    },
    { name: 'digger', project: 'Shop', prompt: 'Dig.' },
  ]
  const id = await imported(daemon, { ...shop(), agents })
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await node(page, 'agent:triage').dblclick()
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  await panel.getByRole('textbox', { name: 'Verdict 1', exact: true }).fill('dig')
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await expect(page.getByRole('tab', { name: 'Steps' })).toHaveAttribute('aria-selected', 'true')
  await expect(page.getByText(/worth a look/i)).toBeVisible()
  for (const part of ['source:gateway', 'agent:digger'])
    await expect(node(page, part)).toBeInViewport({ ratio: 1 })
})

test('an agent that is to write on GitHub has it as a destination, in the draft, once applied and in the outline', async ({
  page,
  daemon,
}) => {
  // All four columns beside the open form.
  await page.setViewportSize({ width: 1920, height: 900 })
  // Nothing answers there: nothing is written in this test.
  await daemon.call('POST', '/api/integrations/github', {
    ...{ name: 'bot', token: 'ghp_ofapersonfortests', api_url: 'http://127.0.0.1:9' },
  })
  await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  await panel.locator('.more-options').first().click()
  await panel.getByRole('combobox', { name: 'Credential for GitHub' }).click()
  await page.getByRole('option', { name: 'bot' }).click()
  await panel.getByRole('checkbox', { name: 'Comment on the pull request or issue' }).check()
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  const github = node(page, 'destination:github:watch')
  await expect(github).toContainText('GitHub, as bot')
  expect(await accessibilityFaults(page, 'a draft that writes on GitHub')).toEqual([])
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.locator('.editor-bar')).toContainText('No changes')
  await page.locator('.editor-bar').getByRole('button', { name: 'Close' }).click()
  await expect(github).toContainText('0 deliveries today')
  await page.getByRole('button', { name: 'Outline' }).click()
  await expect(
    page
      .getByRole('navigation', { name: 'Outline of Graph of Shop' })
      .getByRole('button', { name: 'tells destination GitHub, as bot' }),
  ).toBeVisible()
})

test('many parts without wires are rows of chips, of which three are seen at a time', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  for (let n = 0; n < 40; n++) await daemon.source(`loose-source-${n}`, {})
  await goTo(page, `${daemon.url}/projects/${await projectNamed(daemon, 'Default')}?tab=graph`)
  const strip = page.locator('.graph-strip')
  // The first of them is in the drawing, with what would come next beside it.
  await expect(strip).toContainText('Not connected: 39')
  expect((await placeOf(strip)).height).toBeLessThanOrEqual(118)
  const beside = `(() => { const shown = document.querySelector('.graph-strip'); return shown.scrollWidth - shown.clientWidth })()`
  expect(await page.evaluate(beside)).toBe(0)
})

test('parts without wires are chips under the canvas: dragged onto a part they are wired, or told why not', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const id = await imported(daemon, shop())
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  const strip = page.getByRole('list', { name: 'Not connected' })
  await expect(strip.getByRole('listitem')).toHaveText(['triage', 'logs'])
  expect((await placeOf(page.locator('.graph-strip'))).height).toBe(40)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()

  await chip(page, 'agent:triage').dragTo(node(page, 'source:gateway'))
  const why = page.locator('.graph-refusal')
  await expect(why).toHaveText('A source feeds a trigger; a trigger wakes an agent.')
  await expect(why).toBeHidden()
  await chip(page, 'agent:triage').dragTo(node(page, 'trigger:gateway-errors'))
  await expect(node(page, 'agent:triage')).toBeVisible()
  await expect(page.getByText('Trigger gateway-errors now wakes triage. Undo with Ctrl+Z.')).toBeAttached()

  // By the keyboard, from the chip's menu.
  await chip(page, 'mcp_server:logs').focus()
  await press(page, 'Enter')
  // The menu takes the focus a moment after it has opened; what was focused before that would lose it.
  await expect(page.getByRole('menu').locator(':focus')).toBeAttached()
  const item = page.getByRole('menuitem', { name: 'agent watch' })
  const focused = page.getByRole('menuitem', { name: 'agent watch' }).and(page.locator(':focus'))
  await expect(item).toBeVisible()
  while ((await focused.count()) === 0) await press(page, 'ArrowDown')
  await press(page, 'Enter')
  await expect(strip).toHaveCount(0)
  const tool = node(page, 'agent:watch').getByRole('button', { name: 'Tool logs' })
  await tool.click()
  await expect(page.getByRole('button', { name: 'Disconnect' })).toBeVisible()
})

test('what was put by hand is laid out again by Tidy up, and stands where it stood after Undo', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const id = await imported(daemon, shop())
  const put = { positions: [{ node: 'agent:watch', x: 160, y: 400 }] }
  expect((await daemon.call('PUT', `/api/projects/${id}/graph/positions`, put)).ok).toBe(true)
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  const positions = async () =>
    (await daemon.ask<{ positions: unknown[] }>('GET', `/api/projects/${id}/graph`)).positions
  await page.getByRole('button', { name: 'Tidy up' }).click()
  await expect.poll(positions).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(positions).toEqual(put.positions)
  await page.getByRole('button', { name: 'Tidy up' }).click()
  await expect.poll(positions).toEqual([])
  await press(page, 'ControlOrMeta+z')
  await expect.poll(positions).toEqual(put.positions)
  // While one edits, it is a step like every other: keys undo it and do it again, and discarding takes it back.
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('button', { name: 'Tidy up' }).click()
  await expect.poll(positions).toEqual([])
  await expect(page.getByText('1 change', { exact: true })).toBeVisible()
  await press(page, 'ControlOrMeta+z')
  await expect.poll(positions).toEqual(put.positions)
  await press(page, 'ControlOrMeta+Shift+z')
  await expect.poll(positions).toEqual([])
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await expect(page.getByText('all laid out again', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Keep', exact: true })).toBeEnabled()
  await page.getByRole('button', { name: 'Discard…' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Discard/ })
    .click()
  await expect.poll(positions).toEqual(put.positions)
})

test('a copy says whose secrets it lacks, Paste that there is nothing to paste, and a draft of a part that is gone does not fit', async ({
  page,
  daemon,
}) => {
  const id = await imported(daemon, shop())
  await daemon.ask('POST', '/api/sources', {
    ...{ name: 'feed', connector: 'http_poll', poll: '1h', project: id },
    config: {
      ...{ url: 'http://127.0.0.1:9/', credential: 'Bearer x' },
      labels: [{ name: 'service', field: 'service', primary: true }],
    },
  })
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByRole('button', { name: 'Paste', exact: true }).click()
  const notice = page.getByRole('alert').filter({ hasText: 'No parts are on the clipboard' })
  await expect(notice).toBeVisible()
  // It leaves the panel free, whose foot has its buttons.
  const [told, beside] = [await placeOf(notice), await placeOf(page.locator('.editor-panel'))]
  expect(told.x + told.width).toBeLessThanOrEqual(beside.x)
  await chip(page, 'source:feed').click()
  await page.getByRole('menuitem', { name: 'Edit feed' }).click()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await expect(page.getByRole('alert').getByText('One part is copied.')).toBeVisible()
  await page.getByRole('button', { name: 'Paste', exact: true }).click()
  await expect(page.getByRole('alert').getByText('Type those of feed in the copies.')).toBeVisible()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()

  // A key does both at once, and leaves the clipboard alone.
  await placeOf(node(page, 'agent:watch'))
  await node(page, 'agent:watch').click()
  await expect(page.getByRole('button', { name: 'Copy selected' })).toBeEnabled()
  await press(page, 'Control+d')
  await expect(node(page, 'agent:watch-2').or(chip(page, 'agent:watch-2'))).toBeVisible()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  // So does a button of its panel, which is that of the copy then.
  await node(page, 'agent:watch').dblclick()
  await page.getByRole('button', { name: 'Duplicate', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'watch-2', exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()

  // The notices stand over the form for a while.
  await page.reload()
  await node(page, 'agent:watch').dblclick()
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  await panel.getByRole('textbox', { name: 'Prompt' }).fill('Watch closely.')
  await panel.getByRole('button', { name: 'Change in the draft' }).click()
  expect((await daemon.call('DELETE', '/api/agents/builtin/watch')).status).toBe(200)
  await page.reload()
  await expect(page.getByText('Changed by somebody since')).toBeVisible()
  await expect(page.locator('.editor-bar').getByRole('status')).toContainText('refused')
  await expect(page.getByText('applying it keeps both')).toHaveCount(0)
  // Why it is changed is typed once, whatever closes the form.
  const why = page.getByRole('textbox', { name: 'Why' })
  await why.fill('Too many calls')
  await page.reload()
  await expect(why).toHaveValue('Too many calls')
})

test('Delete takes out the connection that was chosen by the mouse, and its part is marked as removed', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const id = await imported(daemon, shop())
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const edge = '.react-flow__edge[data-id="wakes:gateway-errors>watch"] path'
  await expect(page.locator(edge).first()).toBeAttached()
  // The middle of the line; that of its box may be beside it.
  const { x, y } = await page.evaluate<{ x: number; y: number }>(`(() => {
    const path = document.querySelector('${edge}')
    const { x, y } = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM())
    return { x, y }
  })()`)
  await page.mouse.click(x, y)
  await page.keyboard.press('Delete')
  await expect(page.getByText('1 change', { exact: true })).toBeVisible()
  await expect(page.locator('.graph-edge-label').getByText('Removed', { exact: true })).toBeVisible()
})

test('two agents are connected on the verdict that is asked for, and labels of several stand apart', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const parts = shop()
  const two = parts.agents.map((agent) => ({ ...agent, verdicts }))
  const id = await imported(daemon, { ...parts, agents: two })
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await node(page, 'agent:watch').dblclick()
  const panel = page.getByRole('region', { name: 'Edit what is selected' })
  await panel.getByRole('combobox', { name: 'Connect to' }).click()
  await page.getByRole('option', { name: 'triage' }).click()
  const dialog = page.getByRole('dialog', { name: 'Hand over on a verdict' })
  expect(await accessibilityFaults(page, 'asking for a verdict')).toEqual([])
  await dialog.getByRole('radio', { name: 'dismiss' }).check()
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await expect(page.getByText('Agent triage now takes over from watch on dismiss.')).toBeAttached()
  // Of the one that is left nothing is asked.
  await panel.getByRole('combobox', { name: 'Connect to' }).click()
  await page.getByRole('option', { name: 'triage' }).click()
  await expect(page.getByText('Agent triage now takes over from watch on investigate.')).toBeAttached()
  const labels = page.locator('.graph-edge-label[data-edge^="hands_off:"]')
  await expect(labels).toHaveCount(2)
  const [one, other] = [await placeOf(labels.first()), await placeOf(labels.last())]
  expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(Math.min(one.height, other.height))
})

import { expect, type Locator, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, startDaemon, test } from './daemon.ts'
import { goTo, placeOf, press } from './go.ts'
import { removeAll } from './graphs.ts'

share()
test.afterEach(({ daemon }) => removeAll(daemon))

const PARTS = [
  [
    '/api/sources',
    {
      name: 'gw',
      connector: 'webhook',
      config: { labels: [{ name: 'service', field: 'service', primary: true }] },
    },
  ],
  ['/api/agents/builtin', { name: 'triage', prompt: 'Look at it.', verdicts: [{ verdict: 'dig' }] }],
  ['/api/agents/builtin', { name: 'digger', prompt: 'Dig.' }],
] as const

/** An empty project, with parts of nobody beside it. */
async function emptyProject(daemon: RunningDaemon): Promise<string> {
  for (const [path, body] of PARTS) await daemon.call('POST', path, body)
  const body = { template: 'custom', name: 'Shop' }
  return (await daemon.ask<{ id: string }>('POST', '/api/projects', body)).id
}

interface Stored {
  wiring: { wakes: unknown[]; handoffs: unknown[] }
  objects: { kind: string; name: string }[]
  version: number
}
const stored = (daemon: RunningDaemon, id: string) => daemon.ask<Stored>('GET', `/api/projects/${id}`)

const WIRING = {
  wakes: [{ trigger: 'errs', agent: 'triage', enabled: true }],
  handoffs: [{ agent: 'triage', verdict: 'dig', to: 'digger', cooldown: '30m' }],
}

test('a project is built with the mouse from an empty canvas, applied, and an edit of it undone', async ({
  page,
  daemon,
}) => {
  const id = await emptyProject(daemon)
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await expect(page.getByText('Shop has no parts yet')).toBeVisible()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const canvas = page.locator('.react-flow__pane')
  await page
    .getByRole('button', { name: 'Add source gw' })
    .dragTo(canvas, { targetPosition: { x: 60, y: 80 } })
  await page
    .getByRole('button', { name: 'Add agent triage' })
    .dragTo(canvas, { targetPosition: { x: 420, y: 80 } })
  await page
    .getByRole('button', { name: 'Add agent digger' })
    .dragTo(canvas, { targetPosition: { x: 420, y: 330 } })
  await page
    .getByRole('button', { name: 'Add trigger', exact: true })
    .dragTo(canvas, { targetPosition: { x: 60, y: 330 } })
  await page.getByRole('textbox', { name: 'Name' }).fill('errs')
  await page.getByRole('button', { name: 'Add to the draft' }).click()
  await page.getByRole('button', { name: 'Close panel' }).click()
  await expect(node(page, 'trigger:errs')).toBeVisible()

  await draw(page, port(page, 'source:gw', '.source'), node(page, 'agent:triage'))
  await expect(page.getByText('A source feeds a trigger; a trigger wakes an agent.').first()).toBeAttached()
  await page.mouse.up()
  await connect(page, port(page, 'trigger:errs', '.source'), port(page, 'agent:triage', '.target'))
  await expect(page.getByText('Trigger errs now wakes triage. Undo with Ctrl+Z.')).toBeAttached()
  await connect(
    page,
    port(page, 'agent:triage', '[data-handleid="verdict:dig"]'),
    port(page, 'agent:digger', '.target'),
  )
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await expect(page.getByText('digger takes over from triage on dig', { exact: true })).toBeVisible()

  expect(await accessibilityFaults(page, 'editor, canvas')).toEqual([])
  await page.getByLabel('Why').fill('first wiring')
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('1 created, 2 changed, 0 deleted.')).toBeVisible()
  expect((await stored(daemon, id)).wiring).toEqual(WIRING)

  // What was drawn is at work: real events, seen live, and played again.
  await page.locator('.editor-bar').getByRole('button', { name: 'Close' }).click()
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/gw')
  const events = Array.from({ length: 10 }, (_, n) => ({ service: 'pay', msg: `error ${n}` }))
  await daemon.call('POST', `/ingest/${ingest_key}`, events)
  await expect(node(page, 'source:gw')).toContainText('10 events today')
  await expect(node(page, 'trigger:errs')).toContainText('1 firing today')
  await expect(node(page, 'agent:triage')).toContainText('1 run today')
  await goTo(page, `${daemon.url}/projects/${id}/replay`)
  await page.getByRole('button', { name: 'Previous firing' }).click()
  await expect(page.getByRole('region', { name: 'Player' })).toContainText('errs fired for pay')
  await expect(node(page, 'trigger:errs')).toContainText('cooldown until')
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()

  await node(page, 'trigger:errs').dblclick()
  await page.getByLabel('Cooldown', { exact: true }).fill('1h')
  await page.getByRole('button', { name: 'Change in the draft' }).click()
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await page.getByRole('tab', { name: 'Plan' }).click()
  await expect(page.getByText('cooldown: 5m (the default) → 1h')).toBeVisible()
  await page.getByRole('heading', { name: 'Draft' }).click()
  await press(page, 'Control+z')
  await expect(page.getByText('Every step is undone. Nothing would change.')).toBeVisible()
  await press(page, 'Control+Shift+z')
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  const undo = page.getByRole('button', { name: 'Undo the change' })
  await expect(undo).toBeVisible()
  await press(page, 'Control+z')
  await expect(page.getByText('The draft is applied: “Undo the change” takes it back.')).toBeVisible()
  await undo.click()
  await expect(page.getByText('Applied', { exact: true })).toBeHidden()
  expect((await daemon.ask<{ cooldown: string }>('GET', '/api/triggers/errs')).cooldown).toBe('5m')
})

test('a project of new parts is built: what is missing is said at its field, and what is typed outlives Escape', async ({
  page,
  daemon,
}) => {
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
    template: 'custom',
    name: 'Pay',
  })
  await goTo(page, `${daemon.url}/projects/${id}`)
  await page.getByRole('link', { name: 'draw the project' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await expect(page.getByText('Begin with a source of events')).toBeVisible()
  const add = page.getByRole('button', { name: 'Add to the draft' })
  const name = page.getByRole('textbox', { name: 'Name' })
  const panel = page.getByRole('region', { name: 'Edit what is selected' })

  await page.getByRole('button', { name: 'Add source', exact: true }).click()
  await add.click()
  await expect(panel.getByText('This is required')).toBeVisible()
  await expect(name).toBeFocused()
  await name.fill('pay-logs')
  await page.getByRole('combobox', { name: 'Connector' }).click()
  await page.getByRole('option', { name: 'Webhook' }).click()
  await page
    .getByLabel('Paste an event')
    .fill('{"service": "payments", "level": "error", "msg": "card declined"}')
  await expect(page.getByRole('list', { name: 'On the timeline' })).toContainText('service=payments')
  expect(await accessibilityFaults(page, 'editor, a new source')).toEqual([])
  await press(page, 'Escape')
  await page.getByRole('button', { name: 'Add source', exact: true }).click()
  await expect(panel.getByText('restored')).toBeVisible()
  await expect(name).toHaveValue('pay-logs')
  await add.click()
  await expect(page.getByText('Source pay-logs is new in the project. Undo with Ctrl+Z.')).toBeAttached()

  await page.getByRole('button', { name: 'Add a trigger on pay-logs' }).click()
  // Nothing is typed as its name: it is called after its sentence.
  await expect(name).toHaveAttribute('placeholder', 'pay-logs-events')
  await page.getByLabel('Window', { exact: true }).fill('10 min')
  await name.click()
  await expect(page.getByLabel('Window', { exact: true })).toHaveValue('10m')
  await add.click()
  await expect(node(page, 'trigger:pay-logs-events')).toBeInViewport({ ratio: 1 })

  await page.getByRole('button', { name: 'Add part' }).click()
  await page.getByRole('button', { name: 'Add agent', exact: true }).click()
  await name.fill('first-look')
  await page.getByLabel('Prompt').fill('Find out what broke.')
  await add.click()
  await expect(panel.getByRole('heading', { name: 'first-look' })).toBeVisible()
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await expect(page.getByText('Nothing wakes agent first-look')).toBeVisible()
  await page.locator('.graph-strip-chip[data-node="agent:first-look"]').click()
  await page.getByRole('menuitem', { name: 'Edit first-look' }).click()
  // Nothing comes behind it yet: what is offered is what may wake it.
  await panel.getByRole('combobox', { name: 'Connect to' }).click()
  await page.getByRole('option', { name: 'pay-logs-events' }).click()
  await page.getByLabel('Prompt').fill('Find out what broke, and since when.')
  await press(page, 'Escape')
  await node(page, 'agent:first-look').dblclick()
  await expect(page.getByLabel('Prompt')).toHaveValue('Find out what broke, and since when.')
  await page.getByRole('button', { name: 'Change in the draft' }).click()
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await expect(page.getByRole('button', { name: 'Apply', exact: true })).toBeEnabled()
  await expect(page.getByText('Nothing wakes agent')).toHaveCount(0)
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('3 created', { exact: false })).toBeVisible()
  await expect(page.getByRole('status').getByRole('link', { name: 'pay-logs' })).toHaveAttribute(
    'href',
    '/sources/pay-logs',
  )
  expect((await stored(daemon, id)).wiring.wakes).toEqual([
    { trigger: 'pay-logs-events', agent: 'first-look', enabled: true },
  ])
  expect(await daemon.ask('GET', '/api/agents/builtin/first-look')).toMatchObject({
    prompt: 'Find out what broke, and since when.',
  })
  expect(await daemon.ask('GET', '/api/triggers/pay-logs-events')).toMatchObject({
    condition: { window: '10m' },
    warnings: [],
  })
})

test('the same project is built in the list with the keyboard alone, merges with another writer, and its file makes it again', async ({
  page,
  daemon,
}) => {
  const id = await emptyProject(daemon)
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await pressOn(page.getByRole('button', { name: 'Edit', exact: true }))
  await page.getByRole('radio', { name: 'List' }).focus()
  await press(page, 'Space')
  for (const part of ['source gw', 'agent triage', 'agent digger'])
    await pressOn(page.getByRole('button', { name: `Add ${part}` }))
  await pressOn(page.getByRole('button', { name: 'Add trigger', exact: true }))
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused()
  await page.keyboard.type('errs')
  await press(page, 'Enter')
  await expect(page.getByText('Trigger errs is new in the project. Undo with Ctrl+Z.')).toBeAttached()
  await press(page, 'Escape')
  await choose(page, 'From', 'errs')
  await choose(page, 'To', 'triage')
  await pressOn(page.getByRole('button', { name: 'Connect', exact: true }))
  await expect(page.getByText('Trigger errs now wakes triage. Undo with Ctrl+Z.')).toBeAttached()
  await choose(page, 'From', 'triage')
  await choose(page, 'To', 'digger')
  await pressOn(page.getByRole('button', { name: 'Connect', exact: true }))
  await pressOn(page.getByRole('button', { name: 'Review and apply' }))
  await expect(page.getByRole('region', { name: 'Draft' })).toBeVisible()
  expect(await accessibilityFaults(page, 'editor, list')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Apply', exact: true }))
  await expect(page.getByText('Applied', { exact: true })).toBeVisible()
  expect((await stored(daemon, id)).wiring).toEqual(WIRING)

  await pressOn(page.getByRole('switch', { name: 'errs wakes triage' }), 'Space')
  const wait = page.getByRole('textbox', { name: 'Wait before it goes from triage to digger again' })
  await wait.fill('1h')
  await wait.press('Enter')
  const theirs = { ...WIRING, handoffs: [{ ...WIRING.handoffs[0], cooldown: '2h' }] }
  await daemon.call('PUT', `/api/projects/${id}/wiring`, theirs)
  await pressOn(page.getByRole('button', { name: 'Review and apply' }))
  await expect(page.getByText('Changed by somebody since')).toBeVisible()
  await expect(page.getByText('Somebody else changed the same fields')).toBeVisible()
  await page.getByRole('radio', { name: 'Take theirs' }).focus()
  await press(page, 'Space')
  await pressOn(page.getByRole('button', { name: 'Rebase the draft' }))
  await pressOn(page.getByRole('button', { name: 'Apply', exact: true }))
  await expect(page.getByText('Applied', { exact: true })).toBeVisible()
  expect((await stored(daemon, id)).wiring).toEqual({
    wakes: [{ ...WIRING.wakes[0], enabled: false }],
    handoffs: theirs.handoffs,
  })

  const yaml = await (await daemon.call('GET', '/api/catalog/export')).text()
  const again = await startDaemon()
  try {
    await again.call('POST', '/api/catalog/import', { yaml })
    expect(await (await again.call('GET', '/api/catalog/export')).text()).toBe(yaml)
  } finally {
    await again.stop()
  }
  const { plan } = await daemon.ask<{ plan: Record<string, number> }>('POST', '/api/catalog/check', { yaml })
  expect([plan.creates, plan.updates, plan.deletes]).toEqual([0, 0, 0])
})

const node = (page: Page, id: string): Locator => page.locator(`.react-flow__node[data-id="${id}"]`)
const port = (page: Page, id: string, which: string): Locator =>
  node(page, id).locator(`.react-flow__handle${which}`).first()

/** Draws a connection to a place, and holds it there. */
async function draw(page: Page, from: Locator, to: Locator): Promise<void> {
  const a = await centre(from)
  const b = await centre(to)
  await page.mouse.move(a.x, a.y)
  await page.mouse.down()
  await page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2, { steps: 4 })
  await page.mouse.move(b.x, b.y, { steps: 4 })
}

async function connect(page: Page, from: Locator, to: Locator): Promise<void> {
  await draw(page, from, to)
  await page.mouse.up()
}

/** Once it stands still: a canvas moves to fit what was just put on it. */
async function centre(locator: Locator): Promise<{ x: number; y: number }> {
  const box = await placeOf(locator)
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

/** As a keyboard does it. */
async function pressOn(button: Locator, key = 'Enter'): Promise<void> {
  await expect(button).toBeEnabled()
  await button.focus()
  await button.press(key)
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  const box = page.getByRole('combobox', { name: label, exact: true })
  await box.focus()
  await press(page, 'Control+a')
  await page.keyboard.type(option)
  await expect(page.getByRole('option', { name: option })).toBeVisible()
  await press(page, 'ArrowDown')
  await press(page, 'Enter')
  await expect(box).toHaveValue(option)
}

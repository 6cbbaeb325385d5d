/** One edits a project while others change it: what they do is seen, and nothing of either is lost. */
import { expect, type Page } from '@playwright/test'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, placeOf } from './go.ts'
import { imported, partsOf, removeAll, source, trigger } from './graphs.ts'

share()
test.afterEach(({ daemon }) => removeAll(daemon))

const node = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)
const panelOf = (page: Page) => page.getByRole('region', { name: 'Edit what is selected' })
const promptOf = (page: Page) => panelOf(page).getByRole('textbox', { name: 'Prompt' })

/** A shop whose graph is open to be edited. @returns its id */
async function edit(page: Page, daemon: RunningDaemon): Promise<string> {
  const sources = [source('gateway')]
  const id = await imported(daemon, {
    sources,
    triggers: [trigger('gateway-errors', ['gateway'])],
    agents: [{ name: 'watch', project: 'Shop', prompt: 'Watch.', trigger: 'gateway-errors', enabled: true }],
    projects: [partsOf(sources)],
  })
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  return id
}

test('a node that another moved while one moves one stays where it was put', async ({ page, daemon }) => {
  const id = await edit(page, daemon)
  const place = await placeOf(node(page, 'agent:watch'))
  await page.mouse.move(place.x + 40, place.y + 20)
  await page.mouse.down()
  await page.mouse.move(place.x + 40, place.y + 180, { steps: 8 })
  // Between two looks of the page at the graph.
  const theirs = { node: 'source:gateway', x: 0, y: 400 }
  await daemon.call('PUT', `/api/projects/${id}/graph/positions`, { positions: [theirs] })
  await page.mouse.up()
  const positions = async () =>
    (await daemon.ask<{ positions: { node: string }[] }>('GET', `/api/projects/${id}/graph`)).positions
  await expect
    .poll(async () => (await positions()).map((one) => one.node))
    .toEqual(['agent:watch', 'source:gateway'])
  expect(await positions()).toContainEqual(theirs)
  // The key takes back what was dragged, and nothing of the other's.
  await page.keyboard.press('Control+z')
  await expect.poll(positions).toEqual([theirs])
  await page.keyboard.press('Control+y')
  await expect.poll(async () => (await positions()).length).toBe(2)
})

test('a draft goes along when another renames the part that it changes', async ({ page, daemon }) => {
  await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  await promptOf(page).fill('Watch closely.')
  await panelOf(page).getByRole('button', { name: 'Change in the draft' }).click()
  await page.getByRole('button', { name: 'Review and apply' }).click()
  const draft = page.getByRole('region', { name: 'Draft' })
  await expect(draft.getByText('watch: prompt')).toBeVisible()
  await daemon.call('POST', '/api/agents/builtin/watch/rename', { to: 'guard' })
  await expect(draft.getByText('guard: prompt')).toBeVisible()
  await draft.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('0 created, 1 changed, 0 deleted.')).toBeVisible()
  expect(await daemon.ask('GET', '/api/agents/builtin/guard')).toMatchObject({ prompt: 'Watch closely.' })
})

test('the draft of a project that another deletes waits until that is undone', async ({ page, daemon }) => {
  await page.clock.install()
  const id = await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  await promptOf(page).fill('Watch closely.')
  await panelOf(page).getByRole('button', { name: 'Change in the draft' }).click()
  const { change_set: set } = await daemon.ask<{ change_set: number }>('DELETE', `/api/projects/${id}`)
  await page.clock.fastForward(16_000)
  await expect(page.getByText('Its draft is kept in this tab')).toBeVisible()
  // Asked again, it is not there.
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  await daemon.call('POST', `/api/change-sets/${set}/undo`, {})
  await page.clock.fastForward(16_000)
  await expect(
    page.getByRole('button', { name: 'Edit, 1 change' }).or(page.getByText('1 change', { exact: true })),
  ).toBeVisible()
})

test('parts that others make and delete are offered, and no more, without opening the page again', async ({
  page,
  daemon,
}) => {
  await daemon.call('POST', '/api/agents/builtin', { name: 'spare', prompt: 'Wait.' })
  await edit(page, daemon)
  const parts = page.getByRole('region', { name: 'Add parts' })
  await expect(parts.getByRole('button', { name: 'Add agent spare' })).toBeVisible()
  await daemon.call('DELETE', '/api/agents/builtin/spare')
  await daemon.call('POST', '/api/agents/builtin', { name: 'fresh', prompt: 'Look.' })
  await expect(parts.getByRole('button', { name: 'Add agent fresh' })).toBeVisible()
  await expect(parts.getByRole('button', { name: 'Add agent spare' })).toHaveCount(0)
})

test('a draft that deletes what another changed asks whose word holds, and theirs keeps the part', async ({
  page,
  daemon,
}) => {
  await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  await panelOf(page).getByRole('button', { name: 'Delete everywhere' }).click()
  await page.getByRole('button', { name: 'Review and apply' }).click()
  await daemon.call('PUT', '/api/agents/builtin/watch', { prompt: 'Watch closely.' })
  const draft = page.getByRole('region', { name: 'Draft' })
  await expect(draft).toContainText('Somebody else changed the same fields')
  await expect(draft).not.toContainText('keeps both')
  const theirs = draft.getByRole('radio', { name: 'Take theirs' })
  await theirs.focus()
  await theirs.press('Space')
  await expect(theirs).toBeChecked()
  // What others change elsewhere leaves what was chosen.
  const again = page.waitForResponse(/draft\/preview/)
  await daemon.call('POST', '/api/triggers/gateway-errors/pause', {})
  await again
  await expect(theirs).toBeChecked()
  await draft.getByRole('button', { name: 'Rebase the draft' }).click()
  await expect(draft.getByText('Delete agent watch')).toHaveCount(0)
  await expect(node(page, 'agent:watch')).toBeVisible()
})

test('what is typed into the form of a part goes along to its new name, and is shown where the part is deleted', async ({
  page,
  daemon,
}) => {
  await edit(page, daemon)
  await node(page, 'agent:watch').dblclick()
  await promptOf(page).fill('Watch closely.')
  await daemon.call('POST', '/api/agents/builtin/watch/rename', { to: 'guard' })
  await expect(panelOf(page)).toContainText(
    'This part was renamed while its form was open: its name is now guard.',
  )
  await panelOf(page).getByRole('button', { name: 'Edit guard' }).click()
  await expect(panelOf(page).getByRole('heading', { name: 'guard' })).toBeVisible()
  await expect(promptOf(page)).toHaveValue('Watch closely.')

  await daemon.call('DELETE', '/api/agents/builtin/guard')
  await expect(panelOf(page)).toContainText('This part was deleted, or taken out of this project')
  await expect(panelOf(page)).toContainText('prompt: Watch closely.')
  await panelOf(page).getByRole('button', { name: 'Discard it' }).click()
  await expect(panelOf(page)).toHaveCount(0)
})

test('the page of a project shows by itself what others change in it', async ({ page, daemon }) => {
  await page.clock.install()
  const id = await edit(page, daemon)
  await goTo(page, `${daemon.url}/projects/${id}?tab=parts`)
  await expect(page.getByRole('link', { name: 'watch', exact: true })).toBeVisible()
  await daemon.call('POST', '/api/agents/builtin/watch/rename', { to: 'guard' })
  await daemon.call('POST', `/api/projects/${id}/pause`, {})
  await page.clock.fastForward(16_000)
  await expect(page.getByRole('link', { name: 'guard', exact: true })).toBeVisible()
  await expect(page.getByRole('link', { name: 'watch', exact: true })).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Resume' })).toBeVisible()
})

test('what is typed into the page of a part that another renames or deletes goes along, or is made anew', async ({
  page,
  daemon,
}) => {
  await daemon.call('POST', '/api/agents/builtin', { name: 'spare', prompt: 'Wait.' })
  await goTo(page, `${daemon.url}/agents/spare?tab=edit`)
  const prompt = page.getByRole('textbox', { name: 'Prompt' })
  await prompt.fill('Wait, and look twice.')
  await daemon.call('POST', '/api/agents/builtin/spare/rename', { to: 'guard' })
  await page.getByRole('button', { name: 'Save' }).click()
  const alert = page.getByRole('alert')
  await expect(alert).toContainText('is called guard now')
  await alert.getByRole('button', { name: 'Go to guard' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'guard' })).toBeVisible()
  await expect(prompt).toHaveValue('Wait, and look twice.')
  await daemon.call('DELETE', '/api/agents/builtin/guard')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(alert).toContainText('was deleted')
  await expect(alert).toContainText('prompt: Wait, and look twice.')
  await alert.getByRole('button', { name: 'Make it anew' }).click()
  await expect(prompt).toHaveValue('Wait, and look twice.')
  await page.getByRole('button', { name: 'Add agent' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'guard' })).toBeVisible()
  const made = await daemon.ask<{ prompt: string }>('GET', '/api/agents/builtin/guard')
  expect(made.prompt).toBe('Wait, and look twice.')
  // Nothing of it is left where it was typed.
  expect(await page.evaluate(`Object.keys(localStorage).filter((key) => /form:.*agents/.test(key))`)).toEqual(
    [],
  )
})

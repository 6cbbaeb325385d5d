/** A result is replayed on the graph: stepped to its firing, played to its end, linked to, and forked. */
import { expect, type Page } from '@playwright/test'
import { ended, runsOf, test, wakeChain } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share } from './daemon.ts'
import { goTo } from './go.ts'

share({ prepare: wakeChain })

const player = (page: Page) => page.getByRole('region', { name: 'Player' })
const slider = (page: Page) => page.getByRole('slider')
const current = (page: Page) => page.getByRole('region', { name: /^Moments/ }).locator('[aria-current]')

async function projectOf(daemon: RunningDaemon): Promise<string> {
  const { projects } = await daemon.ask<{ projects: { id: string; name: string }[] }>('GET', '/api/projects')
  return projects.find(({ name }) => name === 'Default')!.id
}

test('a result is replayed from its firing to its finding, and a permalink opens at the instant', async ({
  page,
  daemon,
}) => {
  const project = await projectOf(daemon)
  const faults: string[] = []
  await goTo(page, `${daemon.url}/projects/${project}?tab=findings`)
  await page.getByRole('link', { name: 'Replay The deploy broke pay' }).click()
  await expect(page.getByRole('heading', { name: 'Replay of Default' })).toBeVisible()
  // It opens at the firing that the finding came of.
  await expect(player(page)).toContainText('gateway-errors fired for pay')
  await expect(current(page)).toContainText('gateway-errors fired for pay')
  const trigger = page.locator('[data-id="trigger:gateway-errors"]')
  await expect(trigger).toContainText('3 of more than 2 in 5 min')
  await trigger.click()
  await expect(page.getByRole('heading', { name: 'trigger gateway-errors' })).toBeVisible()
  await expect(page.getByRole('list', { name: 'How it stood' })).toContainText('in cooldown until')
  await expect(page.getByRole('region', { name: 'At this moment' })).toContainText('fired for pay')
  faults.push(...(await accessibilityFaults(page, 'why')))

  // A step back and one ahead is where one was.
  await page.getByRole('tab', { name: 'Moments' }).click()
  await slider(page).focus()
  await slider(page).press('ArrowLeft')
  await expect(player(page)).not.toContainText('fired for pay')
  await slider(page).press('ArrowRight')
  await expect(current(page)).toContainText('fired for pay')
  await expect(slider(page)).toHaveAttribute('aria-valuetext', /Moment \d+ of \d+: gateway-errors fired/)
  const there = (await slider(page).getAttribute('aria-valuetext'))!
  // The address follows when one stops: of its instant it is the second moment, after the event.
  await expect(page).toHaveURL(/at=.*&n=2(&|$)/)
  await page.reload()
  await expect(slider(page)).toHaveAttribute('aria-valuetext', there)
  faults.push(...(await accessibilityFaults(page, 'a moment')))

  await page
    .getByRole('textbox', { name: 'Speed' })
    .or(page.getByRole('combobox', { name: 'Speed' }))
    .click()
  await page.getByRole('option', { name: '× 10', exact: true }).click()
  await page.getByRole('tab', { name: 'Run' }).click()
  await page.getByRole('button', { name: 'Play' }).click()
  await expect(page.getByRole('button', { name: 'Play' })).toBeVisible()
  await expect(page.locator('[data-id="agent:digger"]')).toContainText(
    'The deploy broke pay (1 of 2 claims holds)',
  )
  await expect(page.getByRole('heading', { name: 'The deploy broke pay' })).toBeVisible()
  await expect(player(page)).toContainText('spent up to here')
  await page.getByRole('tab', { name: 'Timeline' }).click()
  await expect(page.getByText('as digger could read it')).toBeVisible()
  await expect(page.getByText('pay answered 503').first()).toBeVisible()
  await page.getByRole('tab', { name: 'Configuration' }).click()
  await expect(page.getByText(/^In effect since/)).toBeVisible()
  expect(faults).toEqual([])
})

test('a link to a moment of long ago opens there, says all of its span, and is shown where there is no clipboard', async ({
  page,
  daemon,
}) => {
  // As over plain http.
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  const at = new Date(Date.now() - 5 * 3_600_000).toISOString()
  await goTo(
    page,
    `${daemon.url}/projects/${await projectOf(daemon)}/replay?at=${encodeURIComponent(at)}&n=4`,
  )
  await expect(page.getByRole('heading', { name: 'Nothing in this span' })).toBeVisible()
  await expect(page).toHaveURL(/\?from=.*&to=.*&at=/)
  expect(new URL(page.url()).searchParams.get('at')).toBe(at)
  await page.getByRole('button', { name: 'Copy link' }).click()
  await expect(page.getByText('Couldn’t copy')).toBeVisible()
  await expect(page.locator('.notices')).toContainText(page.url())
  expect(faults).toEqual([])
})

test('at a handoff both agents are in sight, and its wait has a badge that hides nothing', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1280, height: 800 })
  const project = await projectOf(daemon)
  const span = `from=${new Date(Date.now() - 3_600_000).toISOString()}&to=${new Date().toISOString()}`
  const { moments } = await daemon.ask<{ moments: { kind: string; phase: string; at: string; n: number }[] }>(
    'GET',
    `/api/projects/${project}/replay?${span}`,
  )
  const handoff = moments.find(({ kind, phase }) => kind === 'handoff' && phase === 'started')!
  const n = moments.filter(({ at, n }) => at === handoff.at && n <= handoff.n).length
  await goTo(page, `${daemon.url}/projects/${project}/replay?at=${handoff.at}&n=${n}`)
  await expect(player(page)).toContainText('over to digger on investigate')
  for (const agent of ['triage', 'digger'])
    await expect(page.locator(`[data-id="agent:${agent}"]`)).toBeInViewport({ ratio: 1 })
  const label = page.locator('.graph-edge-label', { has: page.locator('.graph-badge') })
  await expect(label).toContainText('cooldown until')
  await expect.poll(async () => (await label.boundingBox())!.width).toBeLessThanOrEqual(84 * 1.25)

  // Moment by moment, where not all fits: the list and the drawing follow, whatever one looked at before.
  await page.setViewportSize({ width: 1280, height: 560 })
  const lit = page.locator('.replay-graph[data-lit="true"] .react-flow__node:not(.faded)')
  await slider(page).focus()
  for (let n = 0; n < 6; n++) {
    const before = await slider(page).getAttribute('aria-valuetext')
    await page.locator('.replay-graph').hover()
    await page.mouse.wheel(0, 400)
    await slider(page).press('ArrowLeft')
    await expect(slider(page)).not.toHaveAttribute('aria-valuetext', before!)
    await expect(current(page)).toBeInViewport()
    if ((await lit.count()) > 0) await expect(lit.last()).toBeInViewport({ ratio: 1 })
  }
})

test('what if: another threshold would not have fired, another prompt finds another thing', async ({
  page,
  daemon,
}) => {
  const [triage] = await runsOf(daemon)
  await goTo(page, `${daemon.url}/runs/${triage!.id}`)
  await page.getByRole('link', { name: 'Replay' }).click()
  await expect(player(page)).toContainText('gateway-errors fired for pay')
  await page.getByRole('button', { name: 'What if…' }).click()
  const dialog = page.getByRole('dialog')
  const rows = dialog.getByRole('table', { name: 'Firings beside each other' }).getByRole('row')
  await expect(dialog.getByText('Nothing differs: the same 1 firing.')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'Number' }).fill('9')
  await expect(dialog.getByText('1 firing is gone.')).toBeVisible()
  await expect(rows.nth(1)).toContainText('fires')
  await expect(rows.nth(1)).toContainText('does not fire')
  await expect(rows.nth(1).getByRole('link', { name: 'the firing' })).toBeVisible()
  const faults = await accessibilityFaults(page, 'what if')
  // Closed and opened again, it is as it was left.
  const reopen = async () => {
    await page.locator('.mantine-Modal-close').click()
    await expect(dialog).toHaveCount(0)
    await page.getByRole('button', { name: 'What if…' }).click()
  }
  await reopen()
  await expect(dialog.getByRole('textbox', { name: 'Number' })).toHaveValue('9')
  await expect(dialog.getByText('1 firing is gone.')).toBeVisible()

  await dialog.getByRole('combobox', { name: 'What is changed' }).click()
  await page.getByRole('option', { name: 'agent triage' }).click()
  await dialog.getByRole('textbox', { name: 'Prompt' }).fill('Say whether it is worth a person’s time.')
  await dialog.getByRole('button', { name: 'Run it as practice' }).click()
  const outcome = dialog.getByRole('region', { name: 'What would have happened' })
  await expect(outcome.getByText('pay fails, said another way').first()).toBeVisible()
  await expect(outcome.getByText('pay fails on every order').first()).toBeVisible()
  await expect(outcome.getByText('practice', { exact: true })).toBeVisible()
  expect(faults).toEqual([])
  await reopen()
  await dialog.getByRole('combobox', { name: 'What is changed' }).click()
  await page.getByRole('option', { name: 'agent triage' }).click()
  await expect(dialog.getByRole('textbox', { name: 'Prompt' })).toHaveValue(
    'Say whether it is worth a person’s time.',
  )
  await expect(outcome.getByText('pay fails, said another way').first()).toBeVisible()

  await dialog.getByRole('button', { name: 'Add to the draft' }).click()
  await expect(page).toHaveURL(/tab=graph/)
  await expect(page.getByText('triage: prompt').first()).toBeVisible()

  // Practice goes on to whom it hands over, and neither counts.
  await ended(daemon, 4)
  const { runs } = await daemon.ask<{ runs: { practice: boolean }[] }>('GET', '/api/runs')
  expect(runs.filter(({ practice }) => !practice)).toHaveLength(2)
})

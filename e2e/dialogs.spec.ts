/** Dialogs and drawers of the console have no accessibility fault, light or dark (issue 17). */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { practise, runsOf, test, wakeChain } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share } from './daemon.ts'
import { goTo, placeOf, press } from './go.ts'

share({ prepare: wakeChain })

/** Opens dialogs one after another, and keeps what is wrong with each. */
function looking(page: Page, { url }: RunningDaemon) {
  const faults: string[] = []
  const look = async (title: string | RegExp, path: string, open: () => Promise<void>): Promise<void> => {
    await goTo(page, url + path)
    await open()
    const dialog = page.getByRole('dialog', { name: title })
    await expect(dialog).toBeVisible()
    await expect(dialog.getByRole('button', { name: 'Close', exact: true }).first()).toBeVisible()
    // A menu that it was chosen from is still closing.
    await expect(page.getByRole('menu')).toHaveCount(0)
    faults.push(...(await accessibilityFaults(page, `dialog ${title}`)))
    await press(page, 'Escape')
    await expect(dialog).toBeHidden()
  }
  const button =
    (name: string | RegExp, exact = true) =>
    () =>
      page.getByRole('button', { name, exact }).first().click()
  return { faults, look, button }
}

test('of what is set up: keys, sources, triggers, skills, projects, settings', async ({ page, daemon }) => {
  const { faults, look, button } = looking(page, daemon)
  await daemon.source('app', { labels: [{ name: 'service', field: 'service', primary: true }] })
  await daemon.call('POST', '/api/keys', { name: 'k', scopes: ['read'] })
  await daemon.call('POST', '/api/triggers', {
    ...{ name: 'errs', sources: ['app'] },
    condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
  })
  await daemon.call('POST', '/api/proposals', {
    operations: [{ op: 'patch', kind: 'trigger', name: 'errs', spec: { cooldown: '1h' } }],
    why: 'It wakes too often',
  })
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
    ...{ template: 'webhook_watch', params: { service: 'checkout' } },
  })
  await daemon.call('POST', `/api/projects/${id}/findings`, { entity: 'checkout', finding: 'It broke.' })

  await daemon.call('POST', '/subscribe', { name: 'own', trigger: 'errs', url: 'https://own.example/' })
  await daemon.call('PUT', '/api/ask/sessions/0123456789abcdef', { title: 'Why pay fails' })

  await look('New API key', '/settings?tab=access', button('New key'))
  await look('Revoke k?', '/settings?tab=access', button('Revoke k'))
  await look('Delete app?', '/sources/app?tab=settings', button(/^Delete/, false))
  await look('Delete trigger errs?', '/triggers/errs?tab=edit', button('Delete…'))
  await look(/^Subscribe an address/, '/triggers/errs?tab=subscriptions', button('Subscribe a webhook'))
  await look('Unsubscribe own?', '/triggers/errs?tab=subscriptions', button('Unsubscribe own'))
  await look('Time range', `/projects/${id}/replay`, async () => {
    await button('Another span')()
    await page.getByRole('menuitem', { name: 'Another span…' }).click()
  })
  for (const what of ['Rename', 'Delete'] as const)
    await look(new RegExp(`^${what}`), '/ask', async () => {
      await button('Rename or delete Why pay fails')()
      await page.getByRole('menuitem', { name: `${what}…` }).click()
    })
  await look('Shortcuts', '/explore', button(/^Shortcuts/, false))
  await look('Undo this change?', '/changes?tab=history', async () => {
    await button(/^trigger errs created/, false)()
    // Its panel is still opening: what lies under the pointer moves.
    await page.getByRole('button', { name: 'Undo…' }).first().press('Enter')
  })
  await look('Decline this proposal?', '/changes', button('Decline…'))
  await look(/^Pause /, `/projects/${id}`, button('Pause…'))
  await look(/^Delete /, `/projects/${id}?tab=settings`, button(/^Delete/, false))
  await look(/It broke/, `/projects/${id}?tab=findings`, button(/^Read /, false))
  await look(/^Remove checkout-runbook/, `/skills/checkout-runbook?project=${id}`, button('Remove…'))
  const folder = mkdtempSync(join(tmpdir(), 'svc-e2e-'))
  writeFileSync(join(folder, 'SKILL.md'), '---\nname: own\ndescription: Mine.\n---\nText.\n')
  await look('Upload SKILL.md', '/skills', () =>
    page.locator('input[type=file]').setInputFiles(join(folder, 'SKILL.md')),
  )
  await look('Add a model provider', '/settings?tab=providers', async () => {
    await button(/^Add/, false)()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Address' }).waitFor()
  })
  await look('Add a GitHub credential', '/settings?tab=github', button(/^Add/, false))
  expect(faults).toEqual([])
})

test('of what agents did: runs, marks, scenarios, reports of evals', async ({ page, daemon }) => {
  const { faults, look, button } = looking(page, daemon)
  const [run] = await runsOf(daemon)
  // To compare it with.
  await practise(daemon, run!)
  const of = `/runs/${run!.id}`
  await look(/^Rerun triage/, of, async () => {
    await button('Rerun…')()
    await page.getByRole('switch', { name: /^Override the prompt/ }).press('Space')
    await page.getByRole('textbox', { name: 'Prompt' }).waitFor()
  })
  await look('Compare it with', of, async () => {
    await button('Compare…')()
    await page.getByRole('list', { name: 'Other runs' }).waitFor()
  })
  await look('Make a scenario for svc evals', of, button('Make a scenario…'))
  await look('Keep as example', of, button('Keep as example…'))
  await look(/^Mark the finding as wrong/, of, button('Wrong…'))
  expect(faults).toEqual([])
})

test('drawers of a narrow window: conversations of Ask, and the side of the editor', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const { faults, look, button } = looking(page, daemon)
  await look('Conversations', '/ask', button(/Conversations/, false))
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
    template: 'custom',
    name: 'Shop',
  })
  let read = (): void => undefined
  const isRead = new Promise<void>((resolve) => {
    read = resolve
  })
  await page.route(/\/api\/sources$/, async (route) => {
    await isRead
    await route.fallback()
  })
  await look('Edit', `/projects/${id}?tab=graph`, async () => {
    await button('Edit')()
    const rows = page.locator('.editor-main')
    const before = await rows.boundingBox()
    read()
    await expect(page.getByRole('button', { name: 'Add source gateway' })).toBeVisible()
    // What can be added is read once one edits: rows below it stay where they were.
    expect((await placeOf(rows)).y).toBe(before?.y)
    await button('Add trigger')()
  })
  expect(faults).toEqual([])
})

test('behind a dialog nothing scrolls or moves; a hint of a button comes with pointer and focus, and goes with Escape', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1_000, height: 300 })
  await goTo(page, `${daemon.url}/settings?tab=agents`)
  const scrolled = () => page.evaluate<number>('scrollY')
  const left = async () => (await page.getByRole('heading', { level: 1 }).boundingBox())!.x
  const before = await left()
  await page.getByRole('button', { name: 'Search' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.mouse.wheel(0, 200)
  expect([await scrolled(), await left()]).toEqual([0, before])
  await press(page, 'Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)

  const copy = page.getByRole('button', { name: /^Copy/ }).first()
  const hint = page.getByRole('tooltip')
  await copy.hover()
  await expect(hint).toBeVisible()
  await expect(copy).toHaveAccessibleDescription((await hint.textContent())!)
  const [of, at] = [await placeOf(copy), await placeOf(hint)]
  expect(Math.abs(of.x + of.width / 2 - (at.x + at.width / 2))).toBeLessThan(of.x + at.width > 960 ? 200 : 2)
  expect(at.y + at.height <= of.y || at.y >= of.y + of.height).toBe(true)
  await press(page, 'Escape')
  await expect(hint).toHaveCount(0)
  await page.mouse.move(0, 0)
  await copy.focus()
  await press(page, 'Shift+Tab')
  await press(page, 'Tab')
  await expect(hint).toBeVisible()
})

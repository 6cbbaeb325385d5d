/** The repository that the catalog is synced with: nothing followed, a plan that waits, drift, failure, and the way back. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { startDaemon, test } from './daemon.ts'
import { goTo } from './go.ts'

const SHOP = (threshold: number, source = 'gateway') => `catalog: shop
sources:
  - name: gateway
    connector: webhook
    config: { labels: [{ name: service, field: service, primary: true }] }
triggers:
  - { name: errors, sources: [${source}], condition: { aggregate: count, predicate: "> ${threshold}", window: 5m } }
`

/** A bare repository and a clone of it. */
function repository() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-e2e-git-'))
  const run = (...args: string[]) =>
    execFileSync('git', args, {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        GIT_AUTHOR_NAME: 'Ada Lovelace',
        GIT_AUTHOR_EMAIL: 'ada@example.com',
        GIT_COMMITTER_NAME: 'Ada Lovelace',
        GIT_COMMITTER_EMAIL: 'ada@example.com',
      },
      stdio: 'pipe',
    })
  const [bare, clone] = [join(folder, 'catalog.git'), join(folder, 'clone')]
  run('init', '--quiet', '--bare', '--initial-branch=main', bare)
  run('clone', '--quiet', bare, clone)
  run('-C', clone, 'checkout', '--quiet', '-B', 'main')
  return {
    bare,
    commit: (text: string, message: string) => {
      writeFileSync(join(clone, 'shop.yaml'), text)
      run('-C', clone, 'add', '--all')
      run('-C', clone, 'commit', '--quiet', '-m', message)
      run('-C', clone, 'push', '--quiet', 'origin', 'main')
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Pictures of what is on the screen, where somebody asked for them. */
async function shots(page: Page, name: string): Promise<void> {
  const folder = process.env.SVC_TEST_SHOTS
  if (!folder) return
  for (const width of [1440, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

const PAGE = '/changes?tab=catalog&view=repository'

test('a repository is followed by a form, changed, and followed no more', async ({ page, daemon }) => {
  const git = repository()
  git.commit(SHOP(5), 'The shop')
  await goTo(page, `${daemon.url}${PAGE}`)
  await expect(page.getByRole('heading', { name: 'No repository is followed' })).toBeVisible()
  await page.getByText('Where svc is started, instead').click()
  await expect(page.getByText('SVC_CATALOG_REPO=')).toBeVisible()
  expect(await accessibilityFaults(page, 'the repository')).toEqual([])
  await shots(page, 'sync-off')

  await page.getByRole('button', { name: 'Follow a repository' }).click()
  const form = page.getByRole('dialog', { name: 'Follow a git repository' })
  await form.getByLabel('Address').fill('shop')
  await form.getByRole('button', { name: 'Follow', exact: true }).click()
  await expect(form.getByRole('alert')).toContainText('address')
  expect(await accessibilityFaults(page, 'what is followed')).toEqual([])
  await shots(page, 'sync-follow')
  // What was typed stays, whatever closed it.
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Follow a repository' }).click()
  await expect(form.getByLabel('Address')).toHaveValue('shop')
  await form.getByLabel('Address').fill(git.bare)
  await form.getByRole('button', { name: 'Follow', exact: true }).click()
  const plan = page.getByRole('region', { name: 'Plan' })
  await expect(plan.getByText('2 to create')).toBeVisible()

  await page.getByRole('button', { name: 'Change', exact: true }).click()
  const change = page.getByRole('dialog', { name: 'Change what is followed' })
  await expect(change.getByLabel('Address')).toHaveValue(git.bare)
  await change.getByRole('combobox', { name: 'Policy' }).click()
  await page.getByRole('option', { name: 'Automatic', exact: true }).click()
  await change.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('status').filter({ hasText: /^synced/ })).toBeVisible()
  // What is followed is what the tab shows first.
  await goTo(page, `${daemon.url}/changes?tab=catalog`)
  await expect(page.getByText(`${git.bare}, main, policy auto`)).toBeVisible()

  await page.getByRole('button', { name: 'Stop following' }).click()
  const leave = page.getByRole('dialog', { name: 'Stop following the repository?' })
  await leave.getByRole('button', { name: 'Stop following' }).click()
  await goTo(page, `${daemon.url}${PAGE}`)
  await expect(page.getByRole('heading', { name: 'No repository is followed' })).toBeVisible()
  expect(await daemon.ask<object[]>('GET', '/api/triggers')).toHaveLength(1)
})

test('a commit is planned and applied, drift is seen, a failure keeps what runs, and a person goes back', async ({
  page,
}) => {
  const git = repository()
  git.commit(SHOP(5), 'The shop')
  const daemon = await startDaemon([], { SVC_CATALOG_REPO: git.bare, SVC_CATALOG_REPO_INTERVAL: '1h' })
  try {
    await goTo(page, `${daemon.url}${PAGE}`)
    const plan = page.getByRole('region', { name: 'Plan' })
    await expect(plan.getByText('2 to create')).toBeVisible()
    await expect(page.getByText('No commit of the repository')).toBeVisible()
    await shots(page, 'sync-waiting')
    await plan.getByLabel('Why').fill('first commit')
    await plan.getByRole('button', { name: /^Apply \d changes$/ }).click()
    await expect(page.getByText('The commit is applied')).toBeVisible()
    await expect(page.getByRole('status').filter({ hasText: 'synced' })).toBeVisible()
    await expect(page.getByText('No part')).toBeVisible()

    git.commit(SHOP(9), 'Nine')
    await page.getByRole('button', { name: 'Sync now' }).click()
    await expect(plan.getByText('> 5').first()).toBeVisible()
    await goTo(page, `${daemon.url}/`)
    await page.getByRole('link', { name: 'The repository is out of sync' }).click()
    await plan.getByRole('button', { name: 'Apply 1 change' }).click()
    await expect(plan).toHaveCount(0)

    await daemon.call('POST', '/api/catalog/import', { yaml: SHOP(7) })
    await page.getByRole('button', { name: 'Sync now' }).click()
    await expect(
      page.getByRole('alert').filter({ hasText: 'the instance was changed otherwise' }),
    ).toBeVisible()
    await shots(page, 'sync-drifted')

    git.commit(SHOP(9, 'gatewya'), 'A slip')
    await page.getByRole('button', { name: 'Sync now' }).click()
    await expect(page.getByRole('alert').filter({ hasText: 'shop.yaml:7' })).toBeVisible()
    await expect(page.getByText('The last sync failed; the instance is unchanged')).toBeVisible()
    await expect(page.getByRole('alert').getByText('gatewya')).toHaveCount(1)
    await shots(page, 'sync-failed')

    const history = page.getByRole('table', { name: 'History of the sync' })
    // Its row comes on top of the others, a moment after the alert.
    await expect(history.getByRole('row', { name: /A slip/ })).toBeVisible()
    await history
      .getByRole('row', { name: /The shop/ })
      .getByRole('button', { name: 'Roll back…' })
      .click()
    const back = page.getByRole('region', { name: 'Roll back' })
    await expect(back.getByText('1 to change')).toBeVisible()
    expect(await accessibilityFaults(page, 'a plan to roll back')).toEqual([])
    await shots(page, 'sync-roll-back')
    await back.getByRole('button', { name: 'Roll back' }).click()
    await expect(page.getByText('Runs, rolled back')).toBeVisible()
    // What has just been is not to come.
    expect(await page.getByText(/, in \d+ s\b/).allTextContents()).toEqual([])
    await expect(history.getByText('rolled back')).toBeVisible()
    expect(JSON.stringify(await daemon.ask('GET', '/api/triggers/errors'))).toContain('> 5')
    await shots(page, 'sync-full')
  } finally {
    await daemon.stop()
    git.remove()
  }
})

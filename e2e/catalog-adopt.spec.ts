/** What was changed by hand brought into the followed repository, and a conflict settled field by field: real git, a host on loopback. */
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { gitServer } from '../test/engine/reconcile/git-server.ts'
import { gitWorld } from '../test/engine/reconcile/git-world.ts'
import { accessibilityFaults } from './axe.ts'
import { startDaemon, test } from './daemon.ts'
import { goTo } from './go.ts'

const TOKEN = 'ghp_canary0token0of0the0repository'
const PAGE = '/changes?tab=catalog&view=repository'
const ERRORS = (above: number, cooldown: string): string => `kind: trigger
name: gateway-errors
sources: [gateway]
condition: { aggregate: count, predicate: "> ${above}", window: 5m } # five minutes
cooldown: ${cooldown}
`
const FILES = {
  'catalog.yaml':
    'catalog: shop\nsources: [{ name: gateway, connector: webhook, config: { event_type: request } }]\n',
  'triggers/errors.yaml': ERRORS(5, '10m'),
}

/** Pictures of what is on the screen, where somebody asked for them. */
async function shots(page: Page, name: string): Promise<void> {
  const folder = process.env.SVC_TEST_SHOTS
  if (!folder) return
  for (const width of [1920, 1440, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

async function followed() {
  const git = gitWorld()
  const host = await gitServer(git.folder)
  host.tokens = new Set([TOKEN])
  const bare = join(git.folder, 'catalog.git')
  renameSync(git.bare, bare)
  git.git('remote', 'set-url', 'origin', bare)
  mkdirSync(join(git.folder, 'acme'))
  symlinkSync(bare, join(git.folder, 'acme', 'catalog.git'))
  git.commit(FILES, 'The shop')
  const daemon = await startDaemon([], {
    SVC_CATALOG_REPO: `${host.url}/acme/catalog.git`,
    SVC_CATALOG_REPO_INTERVAL: '1h',
    SVC_CATALOG_REPO_CREDENTIAL: 'main',
    SVC_INSTANCE_NAME: 'shop-1',
  })
  await daemon.call('POST', '/api/integrations/github', {
    ...{ name: 'main', token: TOKEN },
    api_url: `${host.url}/api/v3`,
  })
  await daemon.ask('POST', '/api/catalog/sync', { apply: true })
  const byHand = (spec: object) =>
    daemon.ask('POST', '/api/change-sets', {
      operations: [{ op: 'patch', kind: 'trigger', name: 'gateway-errors', spec }],
      why: 'quieter nights',
    })
  const close = async () => {
    await daemon.stop()
    await host.close()
    git.remove()
  }
  return { git, host, daemon, byHand, close }
}

test('what was changed by hand is a patch to copy, and one pull request however often it is asked for', async ({
  page,
}) => {
  const { git, host, daemon, byHand, close } = await followed()
  try {
    await goTo(page, `${daemon.url}${PAGE}`)
    await expect(page.getByRole('status').filter({ hasText: 'synced' })).toBeVisible()
    await expect(page.getByRole('region', { name: 'Differences' })).toHaveCount(0)
    await shots(page, 'adopt-empty')

    await byHand({ cooldown: '1h' })
    await page.getByRole('button', { name: 'Sync now' }).click()
    const rows = page.getByRole('table', { name: 'Fields that differ' })
    const row = rows.getByRole('row', { name: /gateway-errors/ })
    for (const text of ['by hand', '10m', '1h', 'quieter nights', 'triggers/errors.yaml:5', 'In git: Ada'])
      await expect(row).toContainText(text)
    const adopt = page.getByRole('region', { name: 'Adopt into the files' })
    await expect(adopt.getByText('+cooldown: 1h')).toBeVisible()
    const patch = await adopt.getByRole('link', { name: 'Download .patch' }).getAttribute('href')
    expect(decodeURIComponent(patch!)).toContain('-cooldown: 10m\n+cooldown: 1h\n')
    expect(await accessibilityFaults(page, 'what was changed by hand')).toEqual([])

    await adopt.getByLabel('Why').fill('it woke people')
    await adopt.getByRole('button', { name: 'Open a pull request' }).click()
    await expect(adopt.getByRole('link', { name: 'Pull request 41' })).toHaveAttribute(
      'href',
      `${host.url}/acme/catalog/pull/41`,
    )
    expect(host.pulls.get(41)!.body).toContain('it woke people')
    await shots(page, 'adopt-full')
    await byHand({ cooldown: '2h' })
    await page.getByRole('button', { name: 'Sync now' }).click()
    await expect(adopt.getByText('+cooldown: 2h')).toBeVisible()
    await adopt.getByRole('button', { name: 'Update pull request 41' }).click()
    await expect(page.getByText('Pull request 41 is brought up to date')).toBeVisible()
    expect([...host.pulls.keys()]).toEqual([41])

    host.refusal = { status: 403, body: { message: 'Resource not accessible by personal access token' } }
    await adopt.getByRole('button', { name: 'Update pull request 41' }).click()
    await expect(adopt.getByRole('alert')).toContainText('needs the right to write pull requests')
    host.refusal = null

    git.git('fetch', '--quiet', 'origin')
    git.git('merge', '--quiet', '--ff-only', 'origin/svc/adopt-shop-1')
    git.git('push', '--quiet', 'origin', 'HEAD:main')
    await page.getByRole('button', { name: 'Sync now' }).click()
    await expect(page.getByRole('status').filter({ hasText: 'synced' })).toBeVisible()
    await expect(adopt).toHaveCount(0)
  } finally {
    await close()
  }
})

test('a conflict is settled field by field, and what stays by hand is then adopted', async ({ page }) => {
  const { git, daemon, byHand, close } = await followed()
  try {
    await byHand({ cooldown: '1h', condition: { aggregate: 'count', predicate: '> 6', window: '5m' } })
    git.commit({ 'triggers/errors.yaml': ERRORS(9, '3h') }, 'Rarer')
    await goTo(page, `${daemon.url}${PAGE}`)
    await page.getByRole('button', { name: 'Sync now' }).click()
    const merge = page.getByRole('region', { name: 'Merge' })
    await expect(merge).toContainText('2 fields were changed in the files and by hand')
    await expect(page.getByRole('region', { name: 'Plan' })).toContainText(
      'would do this, and overwrite 2 changes by hand; a merge, below, may keep them',
    )
    await expect(merge.getByRole('status')).toHaveText('0 of 2 chosen.')
    const apply = merge.getByRole('button', { name: 'Apply, and keep what was changed by hand' })
    await expect(apply).toBeDisabled()
    const row = page.getByRole('row', { name: /cooldown/ })
    for (const text of ['conflict', '10m', '3h', '1h']) await expect(row).toContainText(text)
    expect(await accessibilityFaults(page, 'a conflict')).toEqual([])
    await shots(page, 'adopt-conflict')
    await row.getByText('Instance', { exact: true }).click()
    await page
      .getByRole('row', { name: /predicate/ })
      .getByText('Files', { exact: true })
      .click()
    await expect(merge.getByText('1 to change')).toBeVisible()
    await expect(merge).toContainText('> 9')
    await shots(page, 'adopt-chosen')
    await apply.click()
    await expect(page.getByText('Merged; what was changed by hand')).toBeVisible()
    await expect(merge).toHaveCount(0)
    const adopt = page.getByRole('region', { name: 'Adopt into the files' })
    await expect(adopt.getByText('+cooldown: 1h')).toBeVisible()
    await expect(adopt.getByText('-cooldown: 3h')).toBeVisible()
    expect(await daemon.ask('GET', '/api/triggers/gateway-errors')).toMatchObject({
      ...{ cooldown: '1h', condition: { predicate: '> 9' } },
    })
  } finally {
    await close()
  }
})

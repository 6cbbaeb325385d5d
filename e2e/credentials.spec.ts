/** Stored credentials: added, used by a source, tested, rotated and deleted in the console. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'
import { startGithub } from './github.ts'
import { goTo } from './go.ts'

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

share()

test('a person stores a token once, reads a repository with it, rotates it, and sees what a delete stops', async ({
  page,
  daemon,
}) => {
  const github = await startGithub()
  try {
    github.accounts.ghp_one = 'octocat'
    await goTo(page, `${daemon.url}/settings?tab=github`)
    await page.getByRole('button', { name: 'Add credential' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('main')
    // Of the two kinds one is called Token, too.
    await dialog.locator('input[type=password]').fill('ghp_one')
    await dialog.getByLabel('API address').fill(github.url)
    await dialog.getByRole('button', { name: 'Add credential' }).click()
    const card = page.getByRole('region', { name: 'main' })
    await expect(card).toContainText('octocat')
    await expect(card).toContainText('expires on 2031-01-31')

    await goTo(page, `${daemon.url}/sources/new?connector=github`)
    await page.getByLabel('Name').fill('code')
    await page.getByRole('combobox', { name: 'Repository' }).fill('acme/shop')
    await page.getByRole('combobox', { name: 'Credential' }).click()
    await page.getByRole('option', { name: 'main (octocat)' }).click()
    await page.getByRole('button', { name: 'Test' }).click()
    await expect(page.getByText('1 event would be stored.')).toBeVisible()
    expect(await accessibilityFaults(page, 'source with a credential')).toEqual([])
    await page.getByRole('button', { name: 'Create source' }).click()
    await expect(page.getByText('Events arrive: 1 so far.')).toBeVisible()

    // Revoked at GitHub, then rotated here.
    delete github.accounts.ghp_one
    github.accounts.ghp_two = 'octocat'
    await goTo(page, `${daemon.url}/settings?tab=github`)
    await card.getByRole('button', { name: 'Test main' }).click()
    await expect(card.getByText('GitHub does not take the token (401)')).toBeVisible()
    expect(await accessibilityFaults(page, 'credentials')).toEqual([])
    await card.getByRole('button', { name: 'Rotate main' }).click()
    await dialog.getByLabel('Token').fill('ghp_two')
    expect(await accessibilityFaults(page, 'rotating a credential')).toEqual([])
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await expect(dialog).toBeHidden()
    await card.getByRole('button', { name: 'Test main' }).click()
    await expect(card.getByText('A token of octocat')).toBeVisible()

    await card.getByRole('button', { name: 'Delete main' }).click()
    await expect(dialog).toContainText('code will no longer be polled until a credential of the same name')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await expect(page.getByText('No GitHub credential yet')).toBeVisible()
    await goTo(page, `${daemon.url}/sources/code`)
    await expect(page.getByText(/not polled: no credential is named main/).first()).toBeVisible()
  } finally {
    github.stop()
  }
})

test('a person stores an app by its key, and an agent that writes on GitHub is set up', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/settings?tab=github`)
  await page.getByRole('button', { name: 'Add credential' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('app')
  await dialog.getByText('GitHub App', { exact: true }).click()
  await expect(dialog.getByText('Generate a private key there')).toBeVisible()
  await dialog.getByLabel('App id').fill('4711')
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
  await dialog.getByLabel('Private key').fill(privateKey)
  await dialog.getByLabel('API address').fill('http://127.0.0.1:9')
  await dialog.getByLabel('Installation').fill('one')
  await expect(dialog.getByText('An installation is a number')).toBeVisible()
  await dialog.getByRole('button', { name: 'Add credential' }).click()
  await expect(dialog.getByLabel('Installation')).toBeFocused()
  await dialog.getByLabel('Installation').fill('12')
  expect(await accessibilityFaults(page, 'adding an app')).toEqual([])
  await shots(page, 'credential-app')
  await dialog.getByRole('button', { name: 'Add credential' }).click()
  // Nothing answers there: it is stored all the same, and says so.
  await expect(dialog.getByText('Stored, but not working yet')).toBeVisible()
  await dialog.getByRole('button', { name: 'Done' }).click()
  const card = page.getByRole('region', { name: 'app' })
  await expect(card).toContainText('App, installation 12')
  await expect(card).not.toContainText('BEGIN')
  await shots(page, 'credentials-app')

  await goTo(page, `${daemon.url}/agents/new`)
  await page.locator('.more-options').first().click()
  await page.getByRole('combobox', { name: 'Credential for GitHub' }).click()
  await page.getByRole('option', { name: 'app' }).click()
  await page.getByLabel('Check of the commit').check()
  await page.getByRole('button', { name: 'Add a verdict' }).click()
  await expect(page.getByRole('combobox', { name: 'Check of verdict 1' })).toBeVisible()
  expect(await accessibilityFaults(page, 'an agent that writes on GitHub')).toEqual([])
  await shots(page, 'agent-on-github')

  await goTo(page, `${daemon.url}/sources/new?connector=github_app`)
  await expect(page.getByLabel(/^Webhook secret/).first()).toBeVisible()
  expect(await accessibilityFaults(page, 'a source of an app')).toEqual([])
  await shots(page, 'source-github-app')
})

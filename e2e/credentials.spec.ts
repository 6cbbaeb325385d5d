/** Stored credentials: added, used by a source, tested, rotated and deleted in the console. */
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { test } from './daemon.ts'
import { startGithub } from './github.ts'
import { goTo } from './go.ts'

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
    await dialog.getByLabel('Token').fill('ghp_one')
    await dialog.getByLabel('API address').fill(github.url)
    await dialog.getByRole('button', { name: 'Add credential' }).click()
    const card = page.getByRole('region', { name: 'main' })
    await expect(card).toContainText('octocat')
    await expect(card).toContainText('expires on 2031-01-31')

    await goTo(page, `${daemon.url}/sources/new?connector=github`)
    await page.getByLabel('Name').fill('code')
    await page.getByLabel('Repository').fill('acme/shop')
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

/** `npm run pictures` takes the pictures of the README from the demo: its data is made up, and the bar on each says so. */
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, expect, type Page } from '@playwright/test'
import { ensureBrowser } from '../scripts/browser.mjs'
import { startDaemon } from './daemon.ts'

const FOLDER = fileURLToPath(new URL('../docs/pictures', import.meta.url))

interface Incidents {
  incidents: { result: { chain: string[] } | null }[]
}

/** What each shows, and how to come there from Home. */
const PICTURES: Record<string, (page: Page) => Promise<void>> = {
  incident: async (page) => {
    await page
      .getByRole('link', { name: /checkout fails/ })
      .first()
      .click()
    await expect(page.getByText(/^◆ Fired/)).toBeVisible()
  },
  project: async (page) => {
    await page.getByRole('link', { name: 'Projects', exact: true }).click()
    await page.getByRole('link', { name: 'Demo shop' }).first().click()
    await page.getByRole('tab', { name: 'Graph' }).click()
    await expect(page.locator('.react-flow__node').first()).toBeVisible()
  },
}

mkdirSync(FOLDER, { recursive: true })
const daemon = await startDaemon(['--demo'])
const browser = await chromium.launch({ executablePath: await ensureBrowser(), args: ['--no-sandbox'] })
try {
  const chain = async () =>
    (await daemon.ask<Incidents>('GET', '/api/incidents')).incidents.flatMap(
      ({ result }) => result?.chain ?? [],
    )
  await expect.poll(chain, { timeout: 60_000 }).toHaveLength(2)
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } })
    for (const [name, open] of Object.entries(PICTURES)) {
      await page.goto(daemon.url)
      await open(page)
      await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0)
      await page.screenshot({ path: `${FOLDER}/${name}-${colorScheme}.png`, animations: 'disabled' })
    }
    await page.close()
  }
} finally {
  await browser.close()
  await daemon.stop()
}

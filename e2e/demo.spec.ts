/** 19, step 8: on fire at once, offline; broken again by the switch; removal leaves nothing. How long it took is noted. */
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { startDaemon, test } from './daemon.ts'
import { placeOf } from './go.ts'

interface Incidents {
  incidents: { key: string; state: string; claims: { held: number; total: number } | null }[]
}

test('the demo is on fire, is broken by its bar, is removed whole, and is loaded again by its door', async ({
  page,
}) => {
  const began = Date.now()
  const daemon = await startDaemon(['--demo'])
  try {
    const open = async () => (await daemon.ask<Incidents>('GET', '/api/incidents')).incidents
    await expect
      .poll(async () => (await open())[0])
      .toMatchObject({ key: 'checkout', state: 'open', claims: { held: 3, total: 3 } })
    test.info().annotations.push({ type: 'on fire', description: `${Date.now() - began} ms` })
    await page.goto(daemon.url)
    await expect(page.getByRole('heading', { level: 1, name: '1 open incident' })).toBeVisible()
    await expect(page.getByRole('list', { name: 'Incidents' })).toContainText('Roll back checkout')
    const bar = page.getByRole('region', { name: 'Demo', exact: true })
    await expect(bar).toContainText('Demo data')
    await expect(bar.getByRole('link', { name: 'Use your own data' })).toHaveAttribute('href', '/sources/new')
    await page.setViewportSize({ width: 1440, height: 900 })
    // Pages that fill the window leave room for what stands above them.
    const room = () =>
      page.evaluate<number>(
        "Number.parseInt(document.documentElement.style.getPropertyValue('--banner')) - document.querySelector('main > div').offsetHeight",
      )
    await expect.poll(room).toBe(0)
    expect((await bar.boundingBox())?.height).toBeGreaterThan(20)
    await expect(bar).toContainText('Next: press J, then Enter')
    const remove = bar.getByRole('button', { name: 'Remove demo…' })
    const place = await placeOf(remove)
    await page
      .getByRole('link', { name: /checkout fails/ })
      .first()
      .click()
    // Rows come one read after another, and the demo's bar stands above them.
    await expect(page.getByText(/^◆ Fired/)).toBeInViewport({ ratio: 1 })
    await expect(bar).toContainText('Next: open an event of a claim')
    expect(await placeOf(remove), 'whatever the tip says').toEqual(place)
    await bar.getByRole('button', { name: 'Hide tips' }).click()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await expect(bar).not.toContainText('Next:')
    await page.goto(`${daemon.url}/sources/demo-app-logs?tab=settings`)
    await expect(page.getByText('There is nothing to set here.')).toBeVisible()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await bar.getByRole('button', { name: 'Break something' }).click()
    await page.getByRole('menuitem', { name: 'Break payments' }).click()
    const broken = Date.now()
    await expect
      .poll(async () => (await open()).find(({ key }) => key === 'payments')?.claims)
      .toEqual({ held: 3, total: 3 })
    test.info().annotations.push({ type: 'broken', description: `${Date.now() - broken} ms` })
    expect(await accessibilityFaults(page, 'the bar of the demo')).toEqual([])
    await remove.press('Enter')
    const asked = page.getByRole('dialog', { name: 'Remove the demo?' })
    await asked.getByRole('button', { name: 'Cancel' }).press('Escape')
    await expect(asked).toBeHidden()
    await expect(remove).toBeFocused()
    await remove.click()
    await asked.getByRole('button', { name: 'Remove', exact: true }).click()
    await expect(bar).toBeHidden()
    await expect.poll(room).toBe(0)
    expect(await open()).toEqual([])
    expect((await daemon.ask<{ loaded: boolean }>('GET', '/api/demo')).loaded).toBe(false)
    await page.getByRole('region', { name: 'Load the demo' }).getByRole('button').click()
    await expect(page.getByRole('heading', { level: 1, name: '1 open incident' })).toBeVisible()
    await expect(bar).toBeVisible()
  } finally {
    await daemon.stop()
  }
})

/** 19, step 8: on fire within 10 s, offline; broken again by the switch within 30 s; removal leaves nothing. */
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { startDaemon, test } from './daemon.ts'

interface Incidents {
  incidents: { key: string; state: string; claims: { held: number; total: number } | null }[]
}

test('the demo is on fire within 10 s, is broken by its bar within 30 s, and is removed whole', async ({
  page,
}) => {
  const began = Date.now()
  const daemon = await startDaemon(['--demo'])
  try {
    const open = async () => (await daemon.ask<Incidents>('GET', '/api/incidents')).incidents
    await expect
      .poll(async () => (await open())[0], { timeout: 10_000 })
      .toMatchObject({ key: 'checkout', state: 'open', claims: { held: 3, total: 3 } })
    expect(Date.now() - began).toBeLessThan(10_000)
    await page.goto(daemon.url)
    const bar = page.getByRole('region', { name: 'Demo' })
    await expect(bar).toContainText('Demo data')
    await bar.getByRole('button', { name: 'Break something' }).click()
    await page.getByRole('menuitem', { name: 'Break payments' }).click()
    const broken = Date.now()
    await expect
      .poll(async () => (await open()).find(({ key }) => key === 'payments')?.claims, { timeout: 30_000 })
      .toEqual({ held: 3, total: 3 })
    test.info().annotations.push({ type: 'broken', description: `${Date.now() - broken} ms` })
    expect(await accessibilityFaults(page, 'the bar of the demo')).toEqual([])
    await bar.getByRole('button', { name: 'Remove demo' }).click()
    await expect(bar).toBeHidden()
    expect(await open()).toEqual([])
    expect((await daemon.ask<{ loaded: boolean }>('GET', '/api/demo')).loaded).toBe(false)
  } finally {
    await daemon.stop()
  }
})

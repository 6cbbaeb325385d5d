/** Add a source: the containers beside the daemon are scanned, and those that were chosen are read. */
import { expect } from '@playwright/test'
import { composed, idOf, serveEngine } from '../test/engine/sources/docker/engine-server.ts'
import { accessibilityFaults } from './axe.ts'
import { startDaemon, test } from './daemon.ts'

test('containers are scanned, some are chosen, and their lines arrive', async ({ page }) => {
  const service = (n: number, name: string, image: string) => ({
    id: idOf(n),
    name: `shop-${name}-1`,
    image,
    labels: composed('shop', name),
    log: [{ at: new Date().toISOString(), text: 'ERROR payment refused' }],
  })
  const docker = await serveEngine([
    service(1, 'api', 'ghcr.io/shop/api:3'),
    service(2, 'web', 'ghcr.io/shop/web:3'),
    service(3, 'db', 'postgres:16'),
    { id: idOf(4), name: 'job', image: 'shop/job:1', running: false, log: [] },
  ])
  const daemon = await startDaemon([], { DOCKER_HOST: docker.host })
  await page.goto(`${daemon.url}/sources/new`)
  await page.getByRole('button', { name: 'Scan local containers' }).click()
  await expect(page.getByRole('checkbox', { name: /^api_logs/ })).toBeChecked()
  await expect(page.getByRole('checkbox', { name: /^db_logs/ })).not.toBeChecked()
  await expect(page.getByRole('row', { name: /job/ })).toContainText('it is not running')
  expect(await accessibilityFaults(page, 'scan')).toEqual([])
  await page.getByRole('checkbox', { name: /^web_logs/ }).uncheck()
  await page.getByRole('button', { name: 'Create 1 source' }).click()
  await expect(page.getByRole('heading', { name: '1 source is made' })).toBeVisible()
  await expect(page.getByRole('row', { name: /api_logs/ })).toContainText(
    /receiving|waiting for its first event/,
  )
  await page.getByRole('link', { name: 'api_logs' }).click()
  await page.getByRole('tab', { name: 'Events' }).click()
  await expect(page.getByText('payment refused').first()).toBeVisible()
  await daemon.stop()
  await docker.close()
})

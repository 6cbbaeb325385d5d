/** Ask over a restart of the daemon: the page that shows a question that waits takes its answer up again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '@playwright/test'
import { startDaemon } from '../test/chaos/daemon.ts'
import { questionWaited } from '../test/chaos/outage.ts'
import { startScriptedModels } from '../test/models/scripted-server.ts'
import { test } from './daemon.ts'

for (const how of ['stopped', 'killed'] as const)
  test(`a question that waits for its model is answered on its page after the daemon was ${how}`, async ({
    context,
  }) => {
    // Faults of the page are no faults here: for a moment there is no daemon.
    const page = await context.newPage()
    const folder = mkdtempSync(join(tmpdir(), 'svc-e2e-ask-'))
    const models = await startScriptedModels()
    const busy = { status: 529, error: 'Overloaded', errorType: 'overloaded_error' }
    models.reply('m1', [
      { calls: [{ name: 'catalog', id: 'c1', arguments: {} }] },
      { ...busy, headers: { 'retry-after': '600' } },
      { text: 'The database was full.' },
    ])
    const env = { PROVIDERA_BASE_URL: models.url, PROVIDERA_API_KEY: 'scripted', SVC_AGENT_MODEL: 'm1' }
    let daemon = await startDaemon(folder, [], env)
    await page.goto(`${daemon.url}/ask`)
    await page.getByRole('textbox', { name: 'Question' }).fill('What broke?')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('status').getByText(/Overloaded/)).toBeVisible()

    // As one answers that is still stopping when it is asked again.
    await page.route(
      '**/api/agent/chat/*',
      (route) => route.fulfill({ status: 503, json: { status: 503 } }),
      {
        times: 1,
      },
    )
    const { port } = new URL(daemon.url)
    if (how === 'killed') await daemon.kill()
    else await daemon.stop()
    questionWaited(folder, 600_000)
    daemon = await startDaemon(folder, ['--port', port], env)
    // It is told again that it waits, and then its answer, once.
    await expect(page.getByText('The database was full.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Ask again' })).toBeVisible()
    expect(models.requests).toHaveLength(3)
    await daemon.stop()
    await models.close()
    rmSync(folder, { recursive: true })
  })

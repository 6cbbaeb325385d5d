/** The page Evals, marks on findings, and a scenario made from a run; one daemon serves all tests of this file. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, press } from './go.ts'
import { walkThrough } from './walk.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-e2e-evals-'))
const file = join(folder, 'report.json')
const only = 'a-certificate-ends,a-deploy-breaks-it,nothing-is-wrong'

interface Report {
  runs: { scenario: string; scripted: boolean; variant: string; repeat: number; stale: string | null }[]
}

/** Runs of the rules again as those of a model: twice, one of them stale, one flaky. */
function asModel(report: Report): Report {
  const rules = report.runs.filter(({ variant }) => variant === 'script rules')
  const newest = report.runs.filter(({ variant }) => variant === 'script newest')
  const ofModel = rules.flatMap((run, i) =>
    [run, i === 0 ? newest[i]! : run].map((one, n) => ({
      ...one,
      ...{ scripted: false, variant: 'model-a brief', repeat: n + 1 },
      stale: i === 1 ? 'message 1 differs: at character 8 it was "a" and is "b"' : null,
    })),
  )
  return { ...report, runs: [...report.runs, ...ofModel] }
}

// The first publishes what the others look at.
share()

test('reports that the command published are listed and shown; a cell opens its run with the truth laid over it', async ({
  page,
  daemon,
}) => {
  const command = fileURLToPath(new URL('../bin/svc.mjs', import.meta.url))
  const known = await goToEmpty(page, daemon)
  expect(known).toEqual([])
  const args = ['evals', 'run', '--scripted', '--noise', '200', '--only', only, '--out', file, '--publish']
  execFileSync(process.execPath, [command, ...args, '--svcd', daemon.url], { stdio: 'pipe' })
  writeFileSync(file, JSON.stringify(asModel(JSON.parse(readFileSync(file, 'utf8')) as Report)))
  await page.reload()
  await page.getByRole('link', { name: /ago|now/ }).click()
  const levels = page.getByRole('region', { name: 'By level' })
  await expect(levels.getByRole('row', { name: /script rules scripted 200/ })).toContainText('1.00 of')
  await expect(
    levels.getByText(/^level \d, 200 events around: the rules name all causes of/).first(),
  ).toBeVisible()
  await expect(page.getByRole('columnheader', { name: /script rules scripted/ })).toBeVisible()
  expect((await walkThrough(page)).faults).toEqual([])
  const cell = page.getByRole('button', { name: /^a-certificate-ends, script told: pass/ })
  await cell.focus()
  await press(page, 'Enter')
  const drawer = page.getByRole('dialog')
  await expect(drawer.getByText('A program answered, no model.')).toBeVisible()
  await expect(drawer.getByRole('row', { name: /certificate.*cause.*cited as cause/ }).first()).toBeVisible()
  await expect(drawer.getByText(/^conclude/)).toBeVisible()
  expect(await accessibilityFaults(page, 'a run over its timeline')).toEqual([])
  await press(page, 'Escape')
  await page.getByRole('button', { name: /^a-certificate-ends, script newest: failed/ }).click()
  await expect(drawer.getByText('missed').first()).toBeVisible()
})

test('a report opened from a file stays in the browser: flaky, stale and failed are told apart by words; two are compared', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/evals`)
  await page.getByLabel('Report file').setInputFiles(file)
  await expect(page.getByText(/which stays in this browser/)).toBeVisible()
  await expect(page.getByRole('button', { name: /model-a brief: FLAKY 1\/2/ })).toBeVisible()
  await expect(page.getByRole('button', { name: /model-a brief: stale/ })).toBeVisible()
  expect(await accessibilityFaults(page, 'the grid of a report')).toEqual([])
  await page.getByRole('combobox', { name: 'Earlier report' }).click()
  await page.getByRole('option').first().click()
  await expect(page.getByLabel('Comparison')).toContainText(
    'script rules: no difference shown over 3 scenarios',
  )
  writeFileSync(file, '{"version": 1}')
  await page.getByLabel('Report file').setInputFiles(file)
  await expect(page.getByText('The file is no report of svc evals')).toBeVisible()
})

test('a wrong finding is marked, unmarked by Undo, found by the filter, and becomes a scenario', async ({
  page,
  daemon,
}) => {
  const project = await daemon.ask<{ id: string }>('POST', '/api/projects', {
    template: 'custom',
    name: 'Shop',
  })
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('POST', '/api/sources', {
    ...{ name: 'app', connector: 'webhook', project: project.id },
    config: {
      text_template: '{text}',
      labels: [
        { name: 'service', field: 'service', primary: true },
        { name: 'customer', field: 'customer' },
      ],
    },
  })
  const sent = { service: 'shop', text: 'deployed v2 for Acme Ltd', customer: 'Acme Ltd' }
  const { ids } = await daemon.ask<{ ids: string[] }>('POST', `/ingest/${ingest_key}`, sent)
  const found = { entity: 'shop', finding: 'The cache broke it.', agent: 'maria', headline: 'Cache' }
  const { run_id } = await daemon.ask<{ run_id: string }>(
    'POST',
    `/api/projects/${project.id}/findings`,
    found,
  )
  await goTo(page, `${daemon.url}/projects/${project.id}?tab=findings`)
  await page.getByRole('tab', { name: 'Findings' }).click()
  await page.getByRole('button', { name: 'Wrong…' }).click()
  await page.getByLabel('Event that was the cause').fill(ids[0]!)
  await page.getByRole('button', { name: 'Mark as wrong' }).click()
  await expect(page.getByText('The cause was')).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('The cause was')).toBeHidden()
  await page.getByRole('button', { name: 'Right', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Right', exact: true })).toHaveAttribute(
    'aria-pressed',
    'true',
  )
  await page.getByRole('combobox', { name: 'Marked as' }).click()
  await page.getByRole('option', { name: 'Wrong' }).click()
  await expect(page.getByText('No findings match. Remove the filter to see more.')).toBeVisible()

  await goTo(page, `${daemon.url}/runs/${run_id}`)
  await page.getByRole('button', { name: 'Make a scenario…' }).click()
  await expect(page.getByText('No cause is known')).toBeVisible()
  await page.getByLabel('Events that show the cause').fill(ids[0]!)
  await page.getByLabel('More names to replace').fill('Nobody Ltd, deployed')
  await press(page, 'Enter')
  await expect(page.getByText('customer: 1')).toBeVisible()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download scenario' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`${run_id}.scenario.json`)
  const text = readFileSync((await download.path())!, 'utf8')
  expect(text).toContain('name-2 v2 for customer-1')
  expect(text).not.toContain('Acme')
})

/** @returns accessibility faults of the page before any report was published */
async function goToEmpty(page: Parameters<typeof goTo>[0], daemon: RunningDaemon): Promise<string[]> {
  await goTo(page, `${daemon.url}/evals`)
  await expect(page.getByText('No report yet')).toBeVisible()
  return accessibilityFaults(page, 'Evals without a report')
}

/** A project as a graph: read, walked by keys, live, exported. */
import { readFileSync } from 'node:fs'
import { expect, type Page } from '@playwright/test'
import { test } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share } from './daemon.ts'
import { press } from './go.ts'
import { each, imported, partsOf, projectNamed, source, trigger, verdicts } from './graphs.ts'

function chain() {
  const sources = [source('gateway'), source('deploys')]
  return {
    sources,
    triggers: [trigger('gateway-errors', ['gateway']), trigger('deploy-failed', ['deploys'])],
    mcp_servers: [{ name: 'logs', url: 'https://mcp.example.com/logs', project: 'Shop' }],
    agents: [
      {
        name: 'triage',
        project: 'Shop',
        prompt: 'Look.',
        trigger: 'gateway-errors',
        enabled: true,
        verdicts,
        handoffs: [{ verdict: 'investigate', agent: 'digger', cooldown: '1h' }],
        mcp_servers: ['logs'],
      },
      { name: 'digger', project: 'Shop', prompt: 'Dig.' },
      { name: 'watch', project: 'Shop', prompt: 'Watch.', trigger: 'deploy-failed', enabled: false },
    ],
    skills: [{ project: 'Shop', name: 'roll-back', description: 'How to roll back.', body: '# Roll back' }],
    projects: [partsOf(sources)],
  }
}

share({ prepare: (daemon) => imported(daemon, chain()) })

const nodes = (page: Page) => page.locator('.react-flow__node')
const node = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)

// What runs in the page is text, as these files know no browser.
const FOCUSED = `document.activeElement?.closest('.react-flow__node')?.dataset.id`
const focused = (page: Page) => page.evaluate<string | undefined>(FOCUSED)

/** Titles in an SVG, and what is no XML in it. */
const titlesOf = (page: Page, svg: string) =>
  page.evaluate<string[]>(
    `[...new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml')
      .querySelectorAll('title, parsererror')].map((element) => element.textContent)`,
  )

const COUNT_PULSES = `window.pulses = 0
  new MutationObserver((changes) => {
    for (const change of changes)
      for (const added of change.addedNodes) if (added.className === 'graph-pulse') window.pulses++
  }).observe(document.body, { childList: true, subtree: true })`

async function openGraph(page: Page, daemon: RunningDaemon): Promise<void> {
  const id = await projectNamed(daemon, 'Shop')
  await page.goto(`${daemon.url}/projects/${id}?tab=graph`)
  await nodes(page).first().waitFor()
}

test('a project is drawn, walked by keys, searched, collapsed, and saved as a picture', async ({
  page,
  daemon,
}) => {
  await openGraph(page, daemon)
  await expect(nodes(page)).toHaveCount(7)
  // A tool stands in its agent, a skill under the drawing.
  await expect(node(page, 'agent:triage').locator('.graph-tool')).toHaveAttribute('title', 'tools logs')
  await expect(page.getByRole('list', { name: 'Skills, seen by every agent' })).toContainText('roll-back')
  const gap = async () => {
    const from = (await node(page, 'source:gateway').boundingBox())!
    return (await node(page, 'agent:triage').boundingBox())!.x - (from.x + from.width)
  }
  await expect.poll(gap).toBeGreaterThan(0)
  await expect(page.locator('.graph-edge-label')).toHaveText(['1h', 'off'])
  await expect(node(page, 'agent:watch')).toContainText('Off')

  await press(page, '/')
  await expect(page.getByRole('combobox', { name: 'Find a node' })).toBeFocused()
  await page.keyboard.type('gateway-e')
  await expect(page.getByRole('option', { name: 'gateway-errors · trigger' })).toBeVisible()
  await press(page, 'ArrowDown')
  await press(page, 'Enter')
  await expect.poll(() => focused(page)).toBe('trigger:gateway-errors')
  for (const [key, at] of [
    ['ArrowRight', 'agent:triage'],
    ['ArrowRight', 'agent:digger'],
    ['ArrowLeft', 'agent:triage'],
    ['ArrowLeft', 'trigger:gateway-errors'],
    ['ArrowLeft', 'source:gateway'],
  ] as const) {
    await press(page, key)
    await expect.poll(() => focused(page)).toBe(at)
  }
  const said = page.getByRole('status').filter({ hasText: 'Selected' })
  await expect(said).toContainText('Selected: source gateway, webhook')
  await press(page, 'Escape')
  await expect(said).toHaveCount(0)

  await page.getByRole('button', { name: 'Outline' }).click()
  const outline = page.getByRole('navigation', { name: 'Outline of Graph of Shop' })
  await expect(
    outline.getByRole('button', { name: 'hands over to agent digger, on investigate' }),
  ).toBeVisible()
  await outline.getByRole('button', { name: 'wakes agent triage', exact: true }).click()
  await page.getByRole('button', { name: 'Focus path' }).click()
  await page.getByRole('button', { name: 'Fit the graph into view' }).click()
  await expect(node(page, 'source:deploys')).toHaveClass(/faded/)
  await expect(node(page, 'agent:digger')).not.toHaveClass(/faded/)
  await page.getByRole('button', { name: 'Focus path' }).click()
  // The hint of the button under the pointer goes first.
  await page.mouse.move(0, 0)
  await expect(page.getByRole('tooltip')).toHaveCount(0)
  expect(await accessibilityFaults(page, 'graph')).toEqual([])
  await page.getByRole('button', { name: 'Outline' }).click()

  await page.getByRole('button', { name: 'Export' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'As SVG' }).click(),
  ])
  const titles = await titlesOf(page, readFileSync(await download.path(), 'utf8'))
  expect(titles[0]).toBe('Graph of Shop')
  expect(titles.slice(1).map((title) => title.split(',')[0])).toEqual([
    ...[
      'source deploys',
      'source gateway',
      'trigger deploy-failed',
      'trigger gateway-errors',
      'agent digger',
    ],
    ...['agent triage', 'agent watch', 'MCP server logs', 'skill roll-back'],
  ])
  await page.getByRole('button', { name: 'Export' }).click()
  const [picture] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'As PNG' }).click(),
  ])
  expect(
    readFileSync(await picture.path())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')

  await page.getByRole('button', { name: 'Groups' }).click()
  await page.getByRole('menuitem', { name: 'Collapse 3 agents' }).click()
  await press(page, 'Escape')
  await expect(node(page, 'group:agent')).toContainText('3 agents')
  await expect(nodes(page)).toHaveCount(5)
  await node(page, 'group:agent').dblclick()
  await expect(nodes(page)).toHaveCount(7)
  await node(page, 'trigger:gateway-errors').focus()
  await press(page, 'Enter')
  await expect(page.getByRole('heading', { name: 'gateway-errors' })).toBeVisible()
})

test('what comes in is told by the nodes and runs along the edges, unless motion is not wanted', async ({
  page,
  daemon,
}) => {
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/gateway')
  const body = each(20, () => ({ service: 'pay', status: 500 }))
  const send = () => daemon.call('POST', `/ingest/${ingest_key}`, body)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await openGraph(page, daemon)
  await page.evaluate(COUNT_PULSES)
  const pulses = () => page.evaluate<number>('window.pulses')
  expect((await send()).ok).toBe(true)
  await expect(node(page, 'source:gateway')).toContainText('20 events today')
  await expect(node(page, 'trigger:gateway-errors')).toContainText('1 firing today')
  await expect.poll(pulses).toBeGreaterThanOrEqual(3)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  // Of twenty events three run along an edge, the firing once; from here on none begins.
  const moved = await pulses()
  expect(moved).toBeLessThanOrEqual(6)
  await send()
  await expect(node(page, 'source:gateway')).toContainText('40 events today')
  expect(await pulses()).toBe(moved)
})

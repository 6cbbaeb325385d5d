/** A project as a graph: read, walked by keys, live, exported, and with 300 parts. */
import { readFileSync } from 'node:fs'
import { expect, type Page } from '@playwright/test'
import { test } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import type { RunningDaemon } from './daemon.ts'
import { press } from './go.ts'

const two = (n: number): string => String(n).padStart(3, '0')
const each = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))

/** Imports a catalog, as JSON, which is YAML. @returns the id of its project */
async function imported(daemon: RunningDaemon, catalog: unknown): Promise<string> {
  const answer = await daemon.call('POST', '/api/catalog/import', { yaml: JSON.stringify(catalog) })
  expect(answer.status, await answer.text()).toBe(200)
  const { projects } = await daemon.ask<{ projects: { id: string; name: string }[] }>('GET', '/api/projects')
  return projects.find((project) => project.name === 'Shop')!.id
}

const LABELS = [
  { name: 'service', field: 'service', primary: true },
  { name: 'status', field: 'status', type: 'number' },
]
const source = (name: string) => ({
  name,
  connector: 'webhook',
  config: { event_type: 'request', labels: LABELS },
})
const trigger = (name: string, sources: string[]) => ({
  name,
  project: 'Shop',
  sources,
  condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
})
const project = (sources: { name: string }[]) => ({
  template: 'custom',
  name: 'Shop',
  objects: sources.map(({ name }) => ({ kind: 'source', name })),
})
const verdicts = [
  { verdict: 'investigate', when: 'a deploy looks guilty' },
  { verdict: 'dismiss', when: 'it is over' },
]

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
    projects: [project(sources)],
  }
}

/** 298 parts: 60 sources, 140 triggers, 90 agents in pairs, 8 MCP servers. */
function large() {
  const sources = each(60, (i) => source(`source-${two(i)}`))
  return {
    sources,
    triggers: each(140, (i) => trigger(`trigger-${two(i)}`, [`source-${two(i % 60)}`])),
    mcp_servers: each(8, (i) => ({
      name: `server-${two(i)}`,
      url: `https://mcp${i}.example.com`,
      project: 'Shop',
    })),
    agents: each(90, (i) => ({
      name: `agent-${two(i)}`,
      project: 'Shop',
      prompt: 'Look.',
      trigger: `trigger-${two(i)}`,
      enabled: true,
      verdicts,
      mcp_servers: [`server-${two(i % 8)}`],
      ...(i % 2 ? {} : { handoffs: [{ verdict: 'investigate', agent: `agent-${two(i + 1)}` }] }),
    })),
    projects: [project(sources)],
  }
}

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

/** Nodes out of sight, and nodes that overlap. */
const MISPLACED = `(() => {
  const frame = document.querySelector('.graph-flow').getBoundingClientRect()
  const boxes = [...document.querySelectorAll('.react-flow__node')].map((element) => ({
    id: element.dataset.id,
    ...element.getBoundingClientRect().toJSON(),
  }))
  const outside = boxes.filter(
    (a) => a.left < frame.left || a.right > frame.right || a.top < frame.top || a.bottom > frame.bottom,
  )
  const overlapping = boxes.filter((a, i) =>
    boxes
      .slice(i + 1)
      .some((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom),
  )
  return [...outside, ...overlapping].map((a) => a.id)
})()`

async function openGraph(page: Page, daemon: RunningDaemon, id: string): Promise<void> {
  await page.goto(`${daemon.url}/projects/${id}?tab=graph`)
  await nodes(page).first().waitFor()
}

test('a project is drawn, walked by keys, searched, collapsed, and saved as a picture', async ({
  page,
  daemon,
}) => {
  const id = await imported(daemon, chain())
  await openGraph(page, daemon, id)
  await expect(nodes(page)).toHaveCount(9)
  const gap = async () => {
    const from = (await node(page, 'source:gateway').boundingBox())!
    return (await node(page, 'agent:triage').boundingBox())!.x - (from.x + from.width)
  }
  await expect.poll(gap).toBeGreaterThan(0)
  await expect(page.locator('.graph-edge-label')).toHaveText(['investigate · 1h', 'off'])
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
  await expect(nodes(page)).toHaveCount(7)
  await node(page, 'group:agent').dblclick()
  await expect(nodes(page)).toHaveCount(9)
  await node(page, 'trigger:gateway-errors').focus()
  await press(page, 'Enter')
  await expect(page.getByRole('heading', { name: 'gateway-errors' })).toBeVisible()
})

test('what comes in is told by the nodes and runs along the edges, unless motion is not wanted', async ({
  page,
  daemon,
}) => {
  const id = await imported(daemon, chain())
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/gateway')
  const body = each(20, () => ({ service: 'pay', status: 500 }))
  const send = () => daemon.call('POST', `/ingest/${ingest_key}`, body)
  await openGraph(page, daemon, id)
  await page.evaluate(COUNT_PULSES)
  const pulses = () => page.evaluate<number>('window.pulses')
  expect((await send()).ok).toBe(true)
  await expect(node(page, 'source:gateway')).toContainText('20 events today')
  await expect(node(page, 'trigger:gateway-errors')).toContainText('1 firing today')
  await expect.poll(pulses).toBeGreaterThanOrEqual(3)
  // Of twenty events three run along an edge, the firing once.
  const moved = await pulses()
  expect(moved).toBeLessThanOrEqual(6)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await send()
  await expect(node(page, 'source:gateway')).toContainText('40 events today')
  expect(await pulses()).toBe(moved)
})

test('300 parts are drawn without overlap and found again, at a desk and on a phone', async ({
  page,
  daemon,
}) => {
  const id = await imported(daemon, large())
  await openGraph(page, daemon, id)
  await expect(nodes(page)).toHaveCount(298)
  // The drawing is fitted into view after its nodes are measured.
  await expect.poll(() => page.evaluate(MISPLACED)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  // A phone has the lists first.
  await page.getByText('Canvas', { exact: true }).click()
  await page.getByRole('combobox', { name: 'Find a node' }).fill('agent-077')
  await page.getByRole('option', { name: 'agent-077 · agent' }).click()
  await expect.poll(() => focused(page)).toBe('agent:agent-077')
  await expect(node(page, 'agent:agent-077')).toBeInViewport({ ratio: 1 })
  // Only what is in sight is in the document.
  expect(await nodes(page).count()).toBeLessThan(30)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
})

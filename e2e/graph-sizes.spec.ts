/** A drawing of any size is readable: names are never small, and what is large is a list of flows. */
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, placeOf, press } from './go.ts'
import { imported, nameHeights, projectNamed, SIZES } from './graphs.ts'

const nodes = (page: Page) => page.locator('.react-flow__node')
const node = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)
const rows = (page: Page) => page.getByRole('list', { name: 'Flows' }).getByRole('listitem')

async function openGraph(page: Page, daemon: RunningDaemon, id: string): Promise<void> {
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  await nodes(page).or(rows(page)).first().waitFor()
}

const edit = (page: Page) => page.getByRole('button', { name: 'Edit', exact: true }).click()

/** Nodes that overlap. */
const OVERLAPPING = `(() => {
  const boxes = [...document.querySelectorAll('.react-flow__node')].map((element) => ({
    id: element.dataset.id,
    ...element.getBoundingClientRect().toJSON(),
  }))
  return boxes
    .filter((a, i) =>
      boxes
        .slice(i + 1)
        .some((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom),
    )
    .map((a) => a.id)
})()`

/** Finds edges that are drawn behind a node they do not connect. */
const HIDDEN_LINES = `(() => {
  const boxes = [...document.querySelectorAll('.react-flow__node')].map((element) => [
    element.dataset.id,
    element.getBoundingClientRect(),
  ])
  return [...document.querySelectorAll('.react-flow__edge')].flatMap((edge) => {
    const path = edge.querySelector('.react-flow__edge-path')
    const [length, matrix] = [path.getTotalLength(), path.getScreenCTM()]
    const hidden = boxes.filter(([id, { left, right, top, bottom }]) => {
      if (edge.dataset.id.includes(id)) return false
      for (let i = 0; i <= 100; i++) {
        const { x, y } = path.getPointAtLength((length * i) / 100).matrixTransform(matrix)
        if (x > left + 1 && x < right - 1 && y > top + 1 && y < bottom - 1) return true
      }
      return false
    })
    return hidden.map(([id]) => edge.dataset.id + ' behind ' + id)
  })
})()`

// Nothing answers there; without a provider an instance whose agents are on has a banner, which takes room.
share({
  env: { PROVIDERA_API_KEY: 'k', PROVIDERA_BASE_URL: 'http://127.0.0.1:9' },
  prepare: async (daemon) => {
    for (const [size, catalog] of Object.entries(SIZES)) await imported(daemon, catalog, `Shop ${size}`)
  },
})

for (const size of [1, 16, 60, 300] as const)
  test(`Graph: names are at 11 px or more with ${size} parts, in view, edit and replay`, async ({
    page,
    daemon,
  }) => {
    await page.setViewportSize({ width: 1440, height: 900 })
    const id = await projectNamed(daemon, `Shop ${size}`)
    const readable = async (what: string) => {
      await nodes(page).or(rows(page)).first().waitFor()
      // On its way to where it fits a drawing is smaller for a moment.
      const areReadable = async () => {
        const { least, names } = await nameHeights(page)
        return names > 0 && least >= 11
      }
      await expect.poll(areReadable, { message: what }).toBe(true)
    }
    await openGraph(page, daemon, id)
    await readable('view')
    if (size === 300) await expect(rows(page)).not.toHaveCount(0)
    else await expect(rows(page)).toHaveCount(0)
    await expect.poll(() => page.evaluate(OVERLAPPING)).toEqual([])
    await expect.poll(() => page.evaluate(HIDDEN_LINES)).toEqual([])
    await edit(page)
    await expect(page.getByRole('heading', { name: `Shop ${size}`, level: 1 })).toBeVisible()
    await readable('edit')
    await goTo(page, `${daemon.url}/projects/${id}/replay`)
    await readable('replay')
  })

test('a project of 300 parts says in short what it does and what is wrong, and all of it on demand', async ({
  page,
  daemon,
}) => {
  const id = await projectNamed(daemon, 'Shop 300')
  await goTo(page, `${daemon.url}/projects/${id}`)
  await expect(page.getByText('wakes agent-c000, agent-c001, agent-c002 and 87 more.')).toBeVisible()
  const idle = page.getByRole('listitem').filter({ hasText: 'wakes no agent' })
  await expect(idle).toHaveCount(5)
  await page.getByRole('button', { name: 'Show all 50' }).click()
  await expect(idle).toHaveCount(50)
  await page.getByRole('button', { name: 'Show fewer' }).click()
  await expect(idle).toHaveCount(5)
})

test('a part that is alone is large, in the middle, with what would come next beside it', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const id = await projectNamed(daemon, 'Shop 1')
  await openGraph(page, daemon, id)
  const width = async () => (await node(page, 'source:app-logs').boundingBox())!.width
  await expect.poll(async () => (await width()) / 208).toBeCloseTo(1.25)
  await page.getByRole('button', { name: 'Add a trigger on app-logs' }).click()
  await expect(page.getByRole('heading', { name: 'Add trigger' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Shop 1', level: 1 })).toBeVisible()
})

test('a drawing that does not fit begins at the top left; the wheel moves it, with Ctrl it zooms', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const id = await projectNamed(daemon, 'Shop 60')
  await openGraph(page, daemon, id)
  const frame = await placeOf(page.locator('.graph-stage'))
  const zoom = () =>
    page.evaluate<number>(
      `new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a`,
    )
  const top = () =>
    page.evaluate<number>(
      `Math.min(...[...document.querySelectorAll('.react-flow__node')].map((one) => one.getBoundingClientRect().top))`,
    )
  await expect.poll(zoom).toBeCloseTo(0.85)
  await expect.poll(async () => (await top()) - frame.y).toBeLessThan(40)
  await page.mouse.move(frame.x + 300, frame.y + 200)
  // Nodes out of sight leave the document: what is followed is one that stays.
  const middle = async () => (await node(page, 'trigger:trigger-b003').boundingBox())!.y
  const there = (await placeOf(node(page, 'trigger:trigger-b003'))).y
  await page.mouse.wheel(0, 60)
  await expect.poll(middle).toBeLessThan(there - 20)
  expect(await zoom()).toBeCloseTo(0.85)
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -120)
  await page.keyboard.up('Control')
  await expect.poll(zoom).toBeGreaterThan(0.9)
  await page.getByRole('button', { name: 'Fit the graph into view' }).click()
  await expect.poll(zoom).toBeCloseTo(0.85)
})

test('300 parts open as flows, few of which are in the document; a row opens its own drawing', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const id = await projectNamed(daemon, 'Shop 300')
  const name = `trigger-c003-${'of-a-long-name-'.repeat(5)}003`
  await page.route('**/api/projects/*/graph*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replaceAll('trigger-c003', name) })
  })
  await openGraph(page, daemon, id)
  await expect(page.getByText('140 flows, the last to fire first')).toBeVisible()
  expect((await placeOf(rows(page).first())).height).toBe(48)
  expect(await page.evaluate<number>(`document.querySelectorAll('*').length`)).toBeLessThanOrEqual(2_500)
  // Of a name that is too long its end is shown, and what its trigger did is not cut.
  const long = page.locator('.graph-flow-row', { hasText: name })
  const cut = (part: string): Promise<number> =>
    long
      .locator(part)
      .first()
      .evaluate((of: unknown) => {
        const { scrollWidth, clientWidth } = of as Record<'scrollWidth' | 'clientWidth', number>
        return scrollWidth - clientWidth
      })
  expect(await cut('[data-kind="trigger"] .graph-flow-name')).toBe(0)
  expect(await cut('.graph-flow-aside')).toBe(0)
  const faults = await accessibilityFaults(page, 'flows')

  await page.getByRole('textbox', { name: 'Filter flows' }).fill('agent-c077')
  await expect(page.getByText('2 of 140 flows')).toBeVisible()
  await rows(page).nth(1).getByRole('button').click()
  await expect(nodes(page)).toHaveCount(3)
  await expect(node(page, 'agent:agent-c077')).toBeInViewport({ ratio: 1 })
  await node(page, 'agent:agent-c077').focus()
  await press(page, 'Escape')
  await expect(page.getByText('140 flows, the last to fire first')).toBeVisible()

  // All of it can be drawn still, and something found in it by name.
  await page.getByRole('button', { name: 'Flows' }).click()
  await nodes(page).first().waitFor()
  await expect.poll(() => page.evaluate(OVERLAPPING)).toEqual([])
  expect(await nodes(page).count()).toBeLessThan(80)
  await page.getByRole('button', { name: 'Outline' }).click()
  await expect(page.getByRole('switch', { name: 'Overview' })).toBeVisible()
  expect(await page.locator('.react-flow__minimap').count()).toBe(0)
  expect(faults).toEqual([])
  // The graph is read again now and then: one that is under way would outlive the test.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('on a phone flows fit, and a part is found by its name', async ({ page, daemon }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const id = await projectNamed(daemon, 'Shop 300')
  await goTo(page, `${daemon.url}/projects/${id}?tab=graph`)
  // A phone has the lists first.
  await page.getByText('Canvas', { exact: true }).click()
  await rows(page).first().waitFor()
  await expect.poll(async () => (await nameHeights(page)).least).toBeGreaterThanOrEqual(11)
  await page.getByRole('combobox', { name: 'Find a node' }).fill('agent-c077')
  await page.getByRole('option', { name: 'agent-c077 · agent' }).click()
  await expect(node(page, 'agent:agent-c077')).toBeInViewport({ ratio: 1 })
  // On its way to the part the drawing is smaller for a moment.
  await expect.poll(async () => (await nameHeights(page)).least).toBeGreaterThanOrEqual(11)
  const wide = () => page.evaluate<number>('document.documentElement.scrollWidth')
  await expect.poll(wide).toBeLessThanOrEqual(390)
})

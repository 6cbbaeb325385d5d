/**
 * Pages on paper, and pages on which the system forces its own colours, such as the contrast themes of Windows (forced
 * colors: CSS Color Adjustment 1, section 3). Forced colours replace every background colour: what the console shows by a
 * background alone must be visible in another way, and all text must have enough contrast.
 */
import { expect, type Page } from '@playwright/test'
import { shareDemo, test } from './daemon.ts'
import { goTo, settled, stillLoading } from './go.ts'
import { LUMINANCE } from './luminance.ts'

shareDemo()

/**
 * Runs in the page. The first run, in the page's own colours, remembers the marks that are visible and the chosen elements
 * that look chosen, and returns the number of marks. The second run, in forced colours, returns a line for each that is no
 * longer so, and for each text with too little contrast. It reads computed styles, which have the forced colours; axe cannot
 * be used, as it reads `-webkit-text-fill-color`, which has not.
 */
const LOOKS = `(() => {
  const CHOSEN = '[aria-current]:not([aria-current=false]), [aria-selected=true], [aria-pressed=true], [data-active]:not([data-active=false]), input:checked'
  const clear = (colour) => colour === 'transparent' || /^rgba\\(.*, 0\\)$/.test(colour)
  const groundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const { backgroundColor } = getComputedStyle(one)
      if (!clear(backgroundColor)) return backgroundColor
    }
    return 'rgb(255, 255, 255)'
  }
  const SIDES = ['Top', 'Right', 'Bottom', 'Left']
  const bordersOf = (style, ground) =>
    SIDES.map((side) => {
      const [width, kind, colour] = ['Width', 'Style', 'Color'].map((part) => style['border' + side + part])
      return parseFloat(width) > 0 && kind !== 'none' && !clear(colour) && colour !== ground ? width + colour : ''
    }).join()
  // Whether an element without words is visible.
  const paints = (element, pseudo) => {
    const style = getComputedStyle(element, pseudo)
    const ground = groundOf(pseudo ? element : element.parentElement)
    return (!clear(style.backgroundColor) && style.backgroundColor !== ground) || style.backgroundImage !== 'none' || bordersOf(style, ground) !== ',,,'
  }
  const lookOf = (element) => {
    const one = (style, ground) => [style.backgroundColor, bordersOf(style, ground), style.outlineStyle + style.outlineColor + style.outlineWidth, style.color].join()
    return ['', '::before', '::after'].map((pseudo) => one(getComputedStyle(element, pseudo || null), groundOf(element.parentElement))).join()
  }
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + String(element.className).replaceAll(' ', '.') + ' "' + element.textContent.trim().slice(0, 40) + '"'
  const isSeen = (element) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 2 && height > 1 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }
  for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish()
  const numbersOf = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number)
    return a < 1 ? [NaN] : [r, g, b]
  }
  const lightOf = ${LUMINANCE}
  const contrastOf = (element) => {
    const [words, ground] = [getComputedStyle(element).color, groundOf(element)].map((colour) => lightOf(numbersOf(colour)))
    return (Math.max(words, ground) + 0.05) / (Math.min(words, ground) + 0.05)
  }
  if (!window.told) {
    const marks = []
    for (const element of document.querySelectorAll('body *')) {
      if (element.closest('svg') || !isSeen(element)) continue
      if (element.textContent.trim() === '' && !element.querySelector('svg, img, input') && paints(element, null)) marks.push([element, null])
      // What is chosen is compared below, as a whole: a part of it may have been replaced by another.
      if (element.matches(CHOSEN)) continue
      for (const pseudo of ['::before', '::after'])
        if (!['none', 'normal'].includes(getComputedStyle(element, pseudo).content) && paints(element, pseudo)) marks.push([element, pseudo])
    }
    const pairs = []
    for (const chosen of document.querySelectorAll(CHOSEN)) {
      if (!isSeen(chosen)) continue
      const isPeer = (other) => other.tagName === chosen.tagName && other.className === chosen.className && !other.matches(CHOSEN) && isSeen(other)
      let peer
      for (let around = chosen.parentElement; around && !peer; around = around.parentElement) peer = [...around.querySelectorAll(chosen.tagName)].find(isPeer)
      if (peer && lookOf(chosen) !== lookOf(peer)) pairs.push([chosen, peer])
    }
    window.told = { marks, pairs }
    return marks.length
  }
  const lost = []
  for (const [element, pseudo] of told.marks)
    if (element.isConnected && isSeen(element) && !paints(element, pseudo)) lost.push('not seen: ' + nameOf(element) + (pseudo ?? ''))
  for (const [chosen, peer] of told.pairs)
    if (chosen.isConnected && peer.isConnected && chosen.matches(CHOSEN) && !peer.matches(CHOSEN) && lookOf(chosen) === lookOf(peer)) lost.push('looks as if not chosen: ' + nameOf(chosen))
  for (const element of document.querySelectorAll('body *')) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!isText || element.closest('svg, :disabled, [data-disabled]') || !isSeen(element)) continue
    if (!(contrastOf(element) >= 4.5)) lost.push('not read: ' + nameOf(element) + ' ' + contrastOf(element).toFixed(1))
  }
  delete window.told
  return [...new Set(lost)]
})()`

async function lostIn(page: Page, path: string, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.emulateMedia({ forcedColors: 'none', colorScheme, reducedMotion: 'reduce' })
  await settled(page)
  expect(await page.evaluate<number>(LOOKS), `${path}: number of visible marks`).toBeGreaterThan(0)
  await page.emulateMedia({ forcedColors: 'active', colorScheme, reducedMotion: 'reduce' })
  await settled(page)
  const lost = await page.evaluate<string[]>(LOOKS)
  return lost.map((fault) => `${path}, ${colorScheme}: ${fault}`)
}

test('in forced colours, marks without words are visible, what is chosen looks chosen, and text can be read', async ({
  page,
  daemon,
}) => {
  const { projects } = await daemon.ask<{ projects: { id: string; name: string }[] }>('GET', '/api/projects')
  const id = projects.find(({ name }) => name !== 'Default')!.id
  const { runs } = await daemon.ask<{ runs: { id: number }[] }>('GET', '/api/runs')
  const { traces } = await daemon.ask<{ traces: { trace_id: string }[] }>('GET', '/api/traces')
  const faults: string[] = []
  for (const path of [
    '/',
    '/incidents',
    '/incidents/1',
    '/explore?l=service%3Dcheckout',
    '/traces',
    `/traces/${traces[0]!.trace_id}`,
    `/projects/${id}?tab=graph`,
    `/projects/${id}/replay`,
    '/sources',
    '/sources/demo-app-logs?tab=fields',
    '/triggers/demo-errors?tab=why',
    '/triggers/demo-errors?tab=edit',
    `/runs/${runs[0]!.id}`,
    '/usage',
    '/settings?tab=providers',
    '/agents/demo-first-look?tab=edit',
    '/help/glossary',
  ]) {
    await page.emulateMedia({ forcedColors: 'none' })
    await goTo(page, daemon.url + path)
    await expect(stillLoading(page)).toHaveCount(0)
    await settled(page)
    for (const scheme of ['light', 'dark'] as const) faults.push(...(await lostIn(page, path, scheme)))
  }
  expect(faults).toEqual([])
})

test('on paper an incident is light and whole, names the zone of its times, and has nothing to press', async ({
  page,
  daemon,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(`${daemon.url}/incidents/1`)
  const rows = page.locator('.evidence-rows')
  await expect(rows.getByText(/pool exhausted/).first()).toBeVisible()
  const scheme = (): Promise<string> => page.evaluate('document.documentElement.dataset.mantineColorScheme')
  expect(await scheme()).toBe('dark')
  await page.evaluate(
    `addEventListener('beforeprint', () => { window.printed = document.documentElement.dataset.mantineColorScheme })`,
  )
  expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-')
  expect(await page.evaluate('window.printed')).toBe('light')
  expect(await scheme()).toBe('dark')
  await page.emulateMedia({ media: 'print' })
  await expect(page.getByRole('navigation', { name: 'Pages' })).toBeHidden()
  await expect(page.getByRole('button', { name: 'Acknowledge' })).toHaveCount(0)
  await expect(page.getByRole('banner').getByText(/^UTC/)).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Finding' })).toBeVisible()
  const cut =
    '[...document.querySelectorAll(".evidence-rows, .evidence-rows *, .three-lines")].filter((one) => one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflowY !== "visible").length'
  expect(await page.evaluate(cut)).toBe(0)
  await page.emulateMedia({ media: 'screen' })
  await expect.poll(() => page.evaluate<number>(cut)).toBeGreaterThan(0)
})

test('lists fit the width of a tablet beside the menu: nothing has to be scrolled sideways', async ({
  page,
  daemon,
}) => {
  const lists = [
    '/runs',
    '/deliveries',
    '/incidents?tab=firings',
    '/triggers',
    '/agents',
    '/sources',
    '/usage',
  ]
  const over: string[] = []
  for (const width of [768, 1024]) {
    await page.setViewportSize({ width, height: 1_000 })
    for (const path of lists) {
      await goTo(page, daemon.url + path)
      await expect(page.locator('main td').first()).toBeVisible()
      await expect(stillLoading(page)).toHaveCount(0)
      const wide = await page.evaluate<number>(
        `[...document.querySelectorAll('.rows-frame, .wide-table')].filter((box) => box.scrollWidth > box.clientWidth).length`,
      )
      if (wide > 0) over.push(`${path} at ${width}`)
    }
  }
  expect(over).toEqual([])
})

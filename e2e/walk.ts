/**
 * Walks through a page of the console by Tab, as one does without a mouse, and says what is wrong on the way: what is
 * never reached, what is focused and not to be seen, what shows no focus, what keeps it, and what is clicked alone.
 */
import { type CDPSession, expect, type Page } from '@playwright/test'
import { focusKept, settled } from './go.ts'
import { LUMINANCE } from './luminance.ts'

interface Walked {
  /** Names of what was focused, in that order. */
  stops: string[]
  faults: string[]
}

/** More stops than any page has. */
const MOST = 400
/** Of those that come after it is round again, few are pressed in vain. */
const AT_ONCE = 8

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** Presses a key many times over: in order, and without a round trip for each, as one who keeps it down. */
async function pressMany(page: Page, times: number): Promise<void> {
  if (!sessions.has(page)) sessions.set(page, page.context().newCDPSession(page))
  const session = await sessions.get(page)!
  const tab = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 }
  await Promise.all(
    Array.from({ length: times }, () =>
      session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...tab }),
    ),
  )
}

/**
 * @param from where it begins: at the skip link, or at the start of what it leads to
 * @returns what it met; it has come round to the start of the window
 */
export async function walkThrough(page: Page, from: 'start' | 'main' = 'main'): Promise<Walked> {
  await settled(page)
  await page.evaluate(WALKER)
  return walkFrom(page, from)
}

async function walkFrom(page: Page, from: 'start' | 'main' | 'dialog'): Promise<Walked> {
  await page.evaluate(`walker.begin('${from}')`)
  let is = 'on'
  for (let pressed = 0; is === 'on' && pressed < MOST; pressed += AT_ONCE) {
    await pressMany(page, AT_ONCE)
    is = await page.evaluate<string>('walker.state()')
  }
  return page.evaluate<Walked>(`walker.end(${JSON.stringify(is)})`)
}

/** Runs in the page. */
const WALKER = `(() => {
  if (window.walker) return
  const CONTROLS = [
    'a[href]', 'button', 'input:not([type=hidden])', 'select', 'textarea', 'summary', '[contenteditable=true]',
    '[tabindex]:not([tabindex="-1"])',
    ...['button', 'link', 'tab', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'option', 'checkbox', 'radio', 'switch', 'slider',
        'treeitem', 'combobox', 'textbox', 'searchbox', 'spinbutton', 'gridcell'].map((role) => '[role=' + role + ']'),
  ].join(',')
  // Of these one part is a stop, and arrow keys reach the others (ARIA: managing focus within components).
  const COMPOSITE = '[role=tablist],[role=menu],[role=menubar],[role=radiogroup],[role=listbox],[role=grid],[role=treegrid],[role=tree],.react-flow,[role=toolbar],[data-arrows]'
  let focused, all, state, seen, inDialog

  const styleOf = (element, pseudo) => {
    const s = getComputedStyle(element, pseudo)
    const outline = s.outlineStyle === 'none' || parseFloat(s.outlineWidth) === 0 ? '' : s.outline
    return [outline, s.boxShadow, s.borderTopColor, s.borderBottomColor, s.borderBottomWidth, s.backgroundColor, s.opacity, s.visibility, s.textDecorationLine].join('|')
  }
  const lookOf = (element) => {
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish()
    const around = [element, element.parentElement, element.parentElement?.parentElement, element.parentElement?.parentElement?.parentElement,
      element.nextElementSibling, element.previousElementSibling, ...element.querySelectorAll(':scope > *')].filter(Boolean)
    return [...around.map((one) => styleOf(one)), styleOf(element, '::after'), styleOf(element, '::before')].join('\\n')
  }
  const light = ${LUMINANCE}
  const coloursOf = (css) => (/^rgba?\\(/.test(css) ? css.match(/[\\d.]+/g).map(Number) : null)
  // How the ring stands out from what is around it: 3 is asked for (WCAG 2.2, 1.4.11); what has another sign than a ring has none.
  const faintness = (element) => {
    const style = getComputedStyle(element)
    const ring = style.outlineStyle === 'none' ? null : coloursOf(style.outlineColor)
    if (!ring) return 21
    for (let one = element.parentElement; one; one = one.parentElement) {
      const ground = coloursOf(getComputedStyle(one).backgroundColor)
      if (!ground || ground[3] === 0) continue
      const [a, b] = [light(ring.slice(0, 3)), light(ground.slice(0, 3))].sort((x, y) => y - x)
      return (a + 0.05) / (b + 0.05)
    }
    return 21
  }
  const nameOf = (element) => {
    if (element === document.body) return 'the page, on nothing'
    const label = element.getAttribute('aria-label') || (element.labels && element.labels[0]?.textContent) || element.textContent || element.getAttribute('title') || element.getAttribute('placeholder') || ''
    const cls = typeof element.className === 'string' && element.className ? '.' + element.className.split(' ').filter((c) => !/^m_|^_/.test(c)).slice(0, 2).join('.') : ''
    return (element.getAttribute('role') || element.tagName.toLowerCase()) + cls + ' "' + label.trim().replace(/\\s+/g, ' ').slice(0, 50) + '"'
  }
  const isHidden = (element) => {
    const r = element.getBoundingClientRect()
    return r.width < 2 || r.height < 2 || parseFloat(getComputedStyle(element).opacity) === 0
  }
  // What one sees of it: a box that is drawn in place of a hidden field, or its label.
  const boxOf = (element) => {
    let one = element
    if (isHidden(one)) one = one.labels?.[0] ?? one.parentElement
    return one
  }
  const isShown = (element) => {
    if (!element.isConnected || !element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true, opacityProperty: true })) {
      if (!(element instanceof HTMLInputElement) || !element.checkVisibility({ checkVisibilityCSS: true })) return false
    }
    const r = boxOf(element)?.getBoundingClientRect()
    return r && r.width > 1 && r.height > 1
  }
  const isOff = (element) =>
    element.matches(':disabled,[aria-disabled=true],[data-disabled=true]') || element.closest('[inert],[aria-hidden=true]') !== null
  const isSeen = (element) => {
    const box = boxOf(element)
    const r = box.getBoundingClientRect()
    const [left, right] = [Math.max(0, r.left), Math.min(innerWidth, r.right)]
    const [top, bottom] = [Math.max(0, r.top), Math.min(innerHeight, r.bottom)]
    if (right - left < 1 || bottom - top < 1) return 'out of the window'
    let hits = 0, over = ''
    const at = [0.5, 0.1, 0.9]
    for (const x of at) for (const y of at) {
      const hit = document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y)
      if (!hit) continue
      if (hit === box || box.contains(hit) || hit.contains(element) || element.labels?.[0]?.contains(hit)) hits++
      else over = nameOf(hit)
    }
    return hits === 0 ? 'under ' + over : ''
  }
  const clicked = (element) => {
    const key = Object.keys(element).find((k) => k.startsWith('__reactProps$'))
    const props = key && element[key]
    return props && typeof props.onClick === 'function'
  }
  const keyed = () => {
    if (state !== 'on') return
    const now = document.activeElement
    if (!now || now === document.body || now.matches('.skip-link')) { state = 'round'; return }
    const last = focused.at(-1)
    if (last && last.element === now) {
      // It is all there is in a dialog.
      if (inDialog) { state = 'round'; return }
      // Inside a date input, Tab goes through its parts: day, hour and so on.
      if (!/^(date|time|month|week)/.test(now.type) || ++last.times > 9) state = 'kept by ' + nameOf(now)
      return
    }
    if (seen.has(now)) { state = inDialog ? 'round' : 'again at ' + nameOf(now); return }
    seen.add(now)
    const faint = faintness(now)
    focused.push({ faint, element: now, look: lookOf(now), hidden: isSeen(now), name: nameOf(now), positive: now.tabIndex > 0, times: 0 })
  }
  // What a key did is looked at before the next one does something, and when the state is asked for.
  let isPressed = false
  const look = () => { if (isPressed) keyed(); isPressed = false }
  addEventListener('keydown', (event) => {
    if (event.key !== 'Tab') return
    look()
    if (state === 'on') isPressed = true
    else event.preventDefault()
  }, true)
  window.walker = {
    begin(from) {
      focused = []; seen = new Set(); state = 'on'; isPressed = false
      inDialog = from === 'dialog'
      if (inDialog) {
        all = [...document.activeElement.closest('[role=dialog]').querySelectorAll(CONTROLS)]
        return
      }
      const root = from === 'main' ? document.querySelector('main') : document.body
      all = [...document.body.querySelectorAll(CONTROLS)].filter((one) => (from === 'start' || root.contains(one) || !one.closest('header,nav[aria-label=Pages],.skip-link')))
      all = all.filter((one) => !isOff(one))
      const start = document.querySelector(from === 'main' ? 'main' : '.skip-link')
      start.focus()
    },
    state() { look(); return state },
    openers() {
      const named = [...document.querySelectorAll('main button, main [role=combobox], header button')].filter((one) =>
        isShown(one) && !isOff(one) && (/^(true|menu|dialog|listbox)$/.test(one.getAttribute('aria-haspopup') ?? '') && one.tagName === 'BUTTON' || /…$/.test(one.textContent.trim())))
      this.found = named
      return named.map((one) => location.pathname.split('/')[1] + ' ' + nameOf(one))
    },
    focusOpener(at) {
      const one = this.found[at]
      if (!one.isConnected) this.openers()
      this.opener = this.found[at]
      if (!this.opener) return false
      this.name = nameOf(this.opener)
      this.opener.focus()
      return document.activeElement === this.opener
    },
    isInside: () => document.activeElement?.closest('[role=dialog],[role=menu],[role=listbox]') !== null && !document.activeElement.matches('main'),
    isDialog: () => document.activeElement?.closest('[role=dialog]') !== null,
    isRead: () => !document.activeElement?.closest('[role=dialog]')?.querySelector('[data-loading=true],[aria-label="Loading"],[class*=Skeleton]'),
    isBack() {
      return document.activeElement === this.opener || (document.activeElement !== document.body && nameOf(document.activeElement) === this.name)
    },
    now: () => nameOf(document.activeElement),
    end(is) {
      if (!inDialog) document.activeElement?.blur()
      const faults = []
      if (is !== 'round') faults.push(is === 'on' ? 'it goes on and on: ' + focused.slice(-3).map((f) => f.name).join(', ') : is)
      const reached = new Set(focused.map(({ element }) => element))
      for (const { element, look, hidden, name, positive, faint } of focused) {
        if (hidden) faults.push('not seen: ' + name + ' ' + hidden)
        if (faint < 3) faults.push('a faint sign of focus, ' + faint.toFixed(1) + ': ' + name)
        if (positive) faults.push('out of order: ' + name)
        if (element.isConnected && element !== document.activeElement && look === lookOf(element)) faults.push('no sign of focus: ' + name)
      }
      for (const one of all) {
        if (reached.has(one) || !isShown(one) || isOff(one)) continue
        if (one.matches('.skip-link, main, h1')) continue
        const composite = one.closest(COMPOSITE)
        if (composite && [...reached].some((r) => r === composite || composite.contains(r))) continue
        if (one.type === 'radio' && [...reached].some((r) => r.type === 'radio' && r.name === one.name)) continue
        faults.push('not reached: ' + nameOf(one))
      }
      for (const one of inDialog ? [] : document.querySelectorAll('main *')) {
        if (!clicked(one) && getComputedStyle(one).cursor !== 'pointer') continue
        if (!isShown(one) || isOff(one)) continue
        if (one.closest(CONTROLS + ',label,.react-flow,[role=treegrid]')) continue
        // The frame of a field leads to it.
        if (one.matches('[class*=labelWrapper]') || one.querySelector('.mantine-PillsInputField-field')) continue
        if (!clicked(one) && one.querySelector(CONTROLS)) continue
        if (!clicked(one) && one.parentElement && getComputedStyle(one.parentElement).cursor === 'pointer') continue
        faults.push((clicked(one) ? 'clicked alone: ' : 'a pointer alone: ') + nameOf(one))
      }
      return { stops: focused.map(({ name }) => name), faults: [...new Set(faults)] }
    },
  }
})()`

/** @returns plain words of the page that are split over two lines, as a column that is too narrow splits them */
export function splitWords(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const split = new Set()
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (!text.parentElement.checkVisibility()) continue
      for (const { 0: word, index } of text.data.matchAll(/(?<![\\w.@:/-])[A-Za-z]{2,14}(?![\\w@:/-])/g)) {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + word.length)
        const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)))
        if (lines.size > 1) split.add('split over two lines: ' + word + ' in ' + text.parentElement.className)
      }
    }
    return [...split]
  })()`)
}

/**
 * Opens what the page has to open, each by Enter, and closes it by Escape: menus, and dialogs by the dots that their
 * buttons end with. The focus goes in, and comes back to what it was opened by.
 * @param known names of those that were opened on pages before: they are left out, and those of this page come to it
 * @returns what is wrong
 */
export async function openEach(page: Page, known: Set<string>): Promise<string[]> {
  const faults: string[] = []
  await settled(page)
  await page.evaluate(WALKER)
  const openers = await page.evaluate<string[]>('walker.openers()')
  for (const [at, name] of openers.entries()) {
    if (known.has(name)) continue
    known.add(name)
    const is = async (asked: string) => page.evaluate<boolean>(`walker.${asked}`)
    if (!(await is(`focusOpener(${at})`))) {
      faults.push(`gone before it was opened: ${name}`)
      continue
    }
    await page.keyboard.press('Enter')
    if (!(await within(() => is('isInside()'))))
      faults.push(`the focus does not go into what is opened by ${name}`)
    else if (await is('isDialog()')) {
      // What is off while it reads would be on, and not reached, once the walk is over.
      if (!(await within(() => is('isRead()')))) faults.push(`it goes on reading: ${name}`)
      await focusKept(page)
      const walked = await walkFrom(page, 'dialog')
      faults.push(...[...walked.faults, ...(await splitWords(page))].map((fault) => `in ${name}: ${fault}`))
    }
    await page.keyboard.press('Escape')
    if (!(await within(() => is(`isBack(${at})`))))
      faults.push(`after Escape the focus is on ${await page.evaluate('walker.now()')}, not on ${name}`)
  }
  return faults
}

/** What is loaded when it is opened comes after a while. */
async function within(is: () => Promise<boolean>): Promise<boolean> {
  try {
    await expect.poll(is, { intervals: [20, 50, 100] }).toBe(true)
    return true
  } catch {
    return false
  }
}

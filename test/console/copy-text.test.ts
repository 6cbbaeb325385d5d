/** What a browser without a clipboard, or one that refuses it, shows instead. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { copyText } from '../../console/lib/copy-text.ts'
import { notifications, shownNotices } from '../../console/lib/notices.ts'

const LINK = 'http://svc.example/projects/p1/replay?at=2026-11-20T12:00:00.000Z'

beforeEach(() => notifications.hide('copy'))
afterEach(() => vi.unstubAllGlobals())

const clipboard = (writeText?: (text: string) => Promise<void>) =>
  vi.stubGlobal('navigator', writeText ? { clipboard: { writeText } } : {})

describe('text that is copied', () => {
  it('is on the clipboard, and nothing is said of it', async () => {
    const written: string[] = []
    clipboard(async (text) => void written.push(text))
    expect(await copyText(LINK)).toBe(true)
    expect([written, shownNotices()]).toEqual([[LINK], []])
  })

  it.each([
    ['is missing, as over plain http', undefined],
    ['is refused', () => Promise.reject(new Error('not allowed'))],
  ])('is shown to be copied by hand where the clipboard %s', async (_how, write) => {
    clipboard(write)
    expect(await copyText(LINK)).toBe(false)
    expect(shownNotices()).toMatchObject([{ title: expect.stringContaining('clipboard'), message: LINK }])
  })

  it('is not shown once more where it stands on the page, as a key does, nor where it is too long', async () => {
    clipboard()
    expect(await copyText('svc_secret', true)).toBe(false)
    expect(JSON.stringify(shownNotices())).not.toContain('svc_secret')
    expect(await copyText('x'.repeat(5_000))).toBe(false)
    expect(shownNotices()).toHaveLength(1)
    expect(JSON.stringify(shownNotices())).not.toContain('x'.repeat(100))
  })

  it('is put on the clipboard in one place; parts that are copied stay in the tab where it is refused', () => {
    const console = fileURLToPath(new URL('../../console/', import.meta.url))
    const copying = readdirSync(console, { recursive: true, encoding: 'utf8' }).filter(
      (path) =>
        /\.tsx?$/.test(path) &&
        !path.includes('node_modules') &&
        /clipboard\W+writeText|CopyButton|useClipboard/.test(readFileSync(console + path, 'utf8')),
    )
    expect(copying.sort()).toEqual(['graph/editor/state/use-actions.ts', 'lib/copy-text.ts'])
  })
})

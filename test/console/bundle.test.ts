/**
 * What browsers load, over the manifest of the build: the shell with the first pages, and each part. The numbers
 * are those of the console's brief: 200 kB and 30 files, 60 kB more for a page and 130 kB for a drawing. What is opened
 * on a page may be as much again. A page that has grown over its bound may fit again after `npm run split`
 * (console/build/chunk-groups.ts).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const built = fileURLToPath(new URL('../../dist/console', import.meta.url))
const manifestFile = join(built, '.vite', 'manifest.json')

interface Chunk {
  file: string
  isEntry?: boolean
  isDynamicEntry?: boolean
  imports?: string[]
}

describe.skipIf(!existsSync(manifestFile))('the built console', () => {
  const chunks = JSON.parse(readFileSync(manifestFile, 'utf8')) as Record<string, Chunk>
  const sizeOf = (file: string, end: string): number => {
    const packed = join(built, file + end)
    return readFileSync(existsSync(packed) ? packed : join(built, file)).length
  }
  const closure = (name: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(name)) return seen
    seen.add(name)
    for (const next of chunks[name]?.imports ?? []) closure(next, seen)
    return seen
  }
  const kilobytes = (names: Iterable<string>, end = '.gz'): number =>
    Math.round([...names].reduce((sum, name) => sum + sizeOf(chunks[name]!.file, end), 0) / 1_000)
  const entry = Object.keys(chunks).find((name) => chunks[name]!.isEntry)!
  const first = closure(entry)

  it('has at most 30 scripts and styles, each file with what is sent packed beside it', () => {
    const assets = readdirSync(join(built, 'assets'))
    const plain = assets.filter((name) => !/\.(gz|br)$/.test(name))
    expect(plain.filter((name) => /\.(js|css)$/.test(name)).length).toBeLessThanOrEqual(30)
    const large = plain.filter((name) => readFileSync(join(built, 'assets', name)).length >= 1_000)
    expect(large.filter((name) => !assets.includes(`${name}.gz`) || !assets.includes(`${name}.br`))).toEqual(
      [],
    )
  })

  it('sends 200 kB or less of script for the shell and the first pages, 170 kB as Brotli', () => {
    expect(kilobytes(first)).toBeLessThanOrEqual(200)
    expect(kilobytes(first, '.br')).toBeLessThanOrEqual(170)
  })

  const parts = JSON.parse(readFileSync(join(built, '.vite', 'parts.json'), 'utf8')) as Record<
    string,
    string[]
  >
  /** Of several parts that are there together, such as a page and the form on it. */
  const more = (...names: string[]): number => {
    const files = new Set(names.flatMap((name) => parts[name] ?? [`no such part: ${name}`]))
    return Math.round([...files].reduce((sum, file) => sum + sizeOf(`assets/${file}`, '.gz'), 0) / 1_000)
  }

  it('sends 60 kB or less for a page besides the shell, and 130 kB for replay, which draws', () => {
    const pages = Object.keys(parts).filter((name) => /-page\.tsx$/.test(name))
    expect(pages.length).toBeGreaterThan(35)
    const limitOf = (name: string): number => (name.startsWith('replay/') ? 130 : 60)
    expect(
      pages.filter((name) => more(name) > limitOf(name)).map((name) => `${name}: ${more(name)}`),
    ).toEqual([])
  })

  it('sends 40 kB or less of styles, which every page waits for', () => {
    const styles = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.css'))
    const bytes = styles.reduce((sum, name) => sum + sizeOf(`assets/${name}`, '.gz'), 0)
    expect(bytes).toBeLessThanOrEqual(40_000)
  })

  it('sends what a page opens on top of itself when it is opened', () => {
    const graph = ['pages/projects/project-page.tsx', 'pages/projects/graph-tab.tsx']
    const source = ['pages/sources/new-source-page.tsx', 'pages/sources/new-source-form.tsx']
    const limits: readonly [string[], number][] = [
      [['pages/triggers/trigger-page.tsx', 'pages/triggers/trigger-editor.tsx'], 120],
      [['pages/agents/agent-page.tsx', 'pages/agents/agent-editor.tsx'], 120],
      [['pages/sources/source-page.tsx', 'pages/sources/settings-tab.tsx'], 120],
      [['pages/runs/run-page.tsx', 'pages/runs/rerun-dialog.tsx'], 120],
      [source, 120],
      // The kit that makes a form of a connector's schema is 45 of it.
      [[...source, 'forms/config-fields.tsx'], 155],
      [['pages/projects/graph-tab.tsx'], 130],
      [graph, 150],
      [[...graph, 'graph/editor/panel/node-panel.tsx'], 200],
      [['replay/replay-page.tsx', 'replay/panels/why-panel.tsx'], 145],
      [['parts/palette.tsx'], 65],
      [['parts/markdown-text.tsx'], 38],
      [['parts/code-editor.tsx'], 224],
    ]
    expect(
      limits
        .filter(([names, limit]) => more(...names) > limit)
        .map(([names]) => `${names}: ${more(...names)}`),
    ).toEqual([])
  })

  it('loads what only forms need with the forms', () => {
    const forms = new Set(parts['pages/triggers/trigger-editor.tsx'])
    const lists = ['incidents/incidents', 'projects/projects', 'changes/changes', 'sources/sources']
    for (const list of lists)
      expect(parts[`pages/${list}-page.tsx`]!.filter((file) => forms.has(file)).length).toBeLessThan(
        forms.size - 1,
      )
    expect(more('forms/config-fields.tsx')).toBeGreaterThan(more('pages/triggers/trigger-editor.tsx'))
  })
})

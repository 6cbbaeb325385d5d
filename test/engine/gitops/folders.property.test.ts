/** Folders at random: applying a plan from one to another gives the other, and what is split says what was whole. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import YAML from 'yaml'
import { type Composed, compose } from '../../../engine/gitops/compose.ts'
import { createEngine } from '../../../engine/local.ts'
import { longOr } from '../../chaos/scale.ts'
import { type RandomCatalog, randomCatalog } from '../declared/catalog/random-catalog.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const open = () => createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
type Engine = ReturnType<typeof open>
const RUNS = longOr(25, 8)
const KINDS: Record<string, string> = {
  sources: 'source',
  triggers: 'trigger',
  agents: 'agent',
  mcp_servers: 'mcp_server',
  projects: 'project',
  skills: 'skill',
}

/** The parts of a catalog over so many files: some as sections, some a file each. */
function split(catalog: Record<string, unknown>, at: readonly number[]): Composed {
  const files = new Map<string, string>()
  const sections = new Map<string, Record<string, unknown[]>>()
  let n = 0
  for (const [section, entries] of Object.entries(catalog))
    for (const entry of (entries as unknown[]) ?? []) {
      const choice = at[n++ % at.length]!
      if (choice === 0 && KINDS[section])
        files.set(`parts/${n}.yaml`, YAML.stringify({ kind: KINDS[section], ...(entry as object) }))
      else {
        const file = sections.get(`${choice}.yaml`) ?? {}
        file[section] = [...(file[section] ?? []), entry]
        sections.set(`${choice}.yaml`, file)
      }
    }
  for (const [path, file] of sections) files.set(path, YAML.stringify(file))
  const texts = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, text]) => ({ path, text }))
  return compose({ roots: [{ name: 'all', files: texts }] })
}

const body = ({ owned }: Composed) => ({ yaml: owned[0]!.text, name: owned[0]!.name })
const saying = async (engine: Engine): Promise<string> => {
  await engine.forgetCatalogFile('all')
  return engine.exportCatalog()
}
const isFit = async (catalog: RandomCatalog) =>
  (await open().checkCatalog({ yaml: JSON.stringify(catalog) })).problems.length === 0

describe('any two folders A and B', () => {
  it('are such that applying the plan from A to B on A gives B', async () => {
    let applied = 0
    await fc.assert(
      fc.asyncProperty(
        randomCatalog,
        randomCatalog,
        fc.array(fc.nat(3), { minLength: 1, maxLength: 9 }),
        async (a, b, at) => {
          const [first, second] = [open(), open()]
          if (!(await isFit(a)) || !(await isFit(b))) return
          await first.importCatalog(body(split(a, at)), BY)
          const to = { ...body(split(b, at)), prune: true, allow_empty: true, max_deletions: 99 }
          const { plan, problems, fingerprint } = await first.checkCatalog(to)
          // Two may differ in what cannot change, such as the template of a project.
          if (problems.length || !plan) return
          await first.importCatalog({ ...to, fingerprint: fingerprint! }, BY)
          applied++
          expect(
            (await first.checkCatalog(to)).plan!.changes.filter(({ action }) => action !== 'none'),
          ).toEqual([])
          await second.importCatalog(to, BY)
          expect(names(await saying(first))).toEqual(names(await saying(second)))
        },
      ),
      { numRuns: RUNS },
    )
    expect(applied).toBeGreaterThan(RUNS / 3)
  })
})

/** What an export declares, by section and name; the Default project, which has none, is never pruned. */
const names = (text: string) =>
  Object.entries((YAML.parse(text) ?? {}) as Record<string, { name?: string }[]>)
    .flatMap(([section, entries]) => entries.map(({ name }) => `${section} ${name ?? ''}`))
    .filter((one) => !one.startsWith('wiring') && one !== 'projects ')
    .sort()

describe('an export', () => {
  it('that is split into files and imported is the instance that was exported', async () => {
    let split2 = 0
    await fc.assert(
      fc.asyncProperty(
        randomCatalog,
        fc.array(fc.nat(4), { minLength: 1, maxLength: 9 }),
        async (catalog, at) => {
          if (!(await isFit(catalog))) return
          const [first, second] = [open(), open()]
          await first.importCatalog({ yaml: JSON.stringify(catalog), name: 'all' }, BY)
          const exported = await saying(first)
          const composed = split(YAML.parse(exported) as Record<string, unknown>, at)
          expect(composed.problems).toEqual([])
          const { plan } = await first.checkCatalog({ ...body(composed), prune: true, max_deletions: 99 })
          expect(plan!.changes.filter(({ action }) => action !== 'none')).toEqual([])
          await second.importCatalog(body(composed), BY)
          expect(await saying(second)).toBe(exported)
          split2++
        },
      ),
      { numRuns: RUNS },
    )
    expect(split2).toBeGreaterThan(RUNS / 3)
  })
})

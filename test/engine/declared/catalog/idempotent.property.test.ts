/** Catalogs at random: what is applied is planned as no change, and what is exported says the instance. */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'
import { type RandomCatalog, randomCatalog } from './random-catalog.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const opened: Engine[] = []
const open = (): Engine => {
  const engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
  opened.push(engine)
  return engine
}
/** Closes those of a run: each holds some 5 MB. */
const closeAll = async (): Promise<void> => {
  for (const engine of opened.splice(0)) await engine.close()
}
type Engine = ReturnType<typeof createEngine>
const RUNS = 12
afterEach(closeAll)

/** What importing a file would do, by object and field. */
async function planned(engine: Engine, yaml: string, prune: boolean): Promise<string[]> {
  const { plan, problems } = await engine.checkCatalog({ yaml, prune, max_deletions: 99 })
  if (!plan) throw new Error(JSON.stringify(problems))
  return plan.changes
    .filter(({ action }) => action !== 'none')
    .map(({ action, kind, name, fields }) => `${action} ${kind} ${name} ${JSON.stringify(fields)}`)
}

const unlabelled = (entries: readonly Record<string, unknown>[]) =>
  entries.map(({ project: _project, ...entry }) => entry)

describe('any catalog', () => {
  it('that was applied is planned as no change, with and without prune', async () => {
    let applied = 0
    await fc.assert(
      fc.asyncProperty(randomCatalog, async (catalog) => {
        const engine = open()
        const yaml = JSON.stringify(catalog)
        const { problems } = await engine.checkCatalog({ yaml })
        if (problems.length) return
        await engine.importCatalog({ yaml }, BY)
        applied++
        expect(await planned(engine, yaml, false)).toEqual([])
        await engine.importCatalog({ yaml, prune: true, max_deletions: 99 }, BY)
        expect(await planned(engine, yaml, true)).toEqual([])
        expect(await planned(engine, yaml, false)).toEqual([])
      }),
      { numRuns: RUNS },
    )
    // Most can be applied, or this proved nothing.
    expect(applied).toBeGreaterThan(RUNS / 2)
  })

  it.each([
    ['without', false],
    ['with', true],
  ])(
    'whose project labels are taken away %s prune flips nothing back when it is applied twice',
    async (_how, prune) => {
      await fc.assert(
        fc.asyncProperty(randomCatalog, async (catalog) => {
          const engine = open()
          const yaml = JSON.stringify(catalog)
          const { problems } = await engine.checkCatalog({ yaml })
          if (problems.length) return
          await engine.importCatalog({ yaml }, BY)
          const bare = JSON.stringify({
            ...catalog,
            triggers: unlabelled(catalog.triggers!),
            agents: unlabelled(catalog.agents!),
          })
          await engine.importCatalog({ yaml: bare, prune, max_deletions: 99 }, BY)
          expect(await planned(engine, bare, prune)).toEqual([])
        }),
        { numRuns: RUNS / 2 },
      )
    },
  )

  it('that is exported imports as no change, and into another instance, which exports the same', async () => {
    await fc.assert(
      fc.asyncProperty(randomCatalog, async (catalog) => {
        const [first, second] = [open(), open()]
        const yaml = JSON.stringify(catalog)
        const { problems } = await first.checkCatalog({ yaml })
        if (problems.length) return
        await first.importCatalog({ yaml }, BY)
        // As the instance says it, not as the file that was imported does.
        await first.forgetCatalogFile('catalog')
        const exported = await first.exportCatalog()
        expect(await planned(first, exported, false)).toEqual([])
        expect(await planned(first, exported, true)).toEqual([])
        await second.importCatalog({ yaml: exported }, BY)
        expect(await second.exportCatalog()).toBe(exported)
      }),
      { numRuns: RUNS },
    )
  })

  it('that is exported in the words of its file imports as no change, and is exported the same again', async () => {
    await fc.assert(
      fc.asyncProperty(randomCatalog, async (catalog) => {
        const engine = open()
        const yaml = JSON.stringify(catalog)
        const { problems } = await engine.checkCatalog({ yaml })
        if (problems.length) return
        await engine.importCatalog({ yaml, prune: true, max_deletions: 99 }, BY)
        const exported = await engine.exportCatalog()
        expect(await planned(engine, exported, true)).toEqual([])
        expect(await engine.updateCatalogFile(exported)).toBe(exported)
        const other = open()
        await other.importCatalog({ yaml: exported }, BY)
        expect(await planned(other, exported, true)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})

/** A catalog as two, each with its name: what is in which is said by `at`. */
function asTwo(catalog: RandomCatalog, at: readonly boolean[]): [string, string] {
  const two: Record<string, unknown>[] = [{ catalog: 'one' }, { catalog: 'two' }]
  let n = 0
  for (const [section, entries] of Object.entries(catalog))
    for (const entry of entries) {
      const own = two[at[n++ % at.length] ? 0 : 1]!
      own[section] = [...((own[section] ?? []) as unknown[]), entry]
    }
  return [JSON.stringify(two[0]), JSON.stringify(two[1])]
}

describe('any two catalogs of one instance, whatever of one is in which', () => {
  it('are planned as no change after they were applied, together and each by itself, and are no drift', async () => {
    let alone = 0
    const choices = fc.array(fc.boolean(), { minLength: 3, maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(randomCatalog, choices, fc.boolean(), async (catalog, at, prune) => {
        const engine = open()
        const [yaml, other] = asTwo(catalog, at)
        const body = { yaml, others: [{ name: 'two', yaml: other }], allow_empty: true, max_deletions: 99 }
        if ((await engine.checkCatalog(body)).problems.length) return closeAll()
        await engine.importCatalog(body, BY)
        for (const own of [yaml, other]) {
          const checked = await engine.checkCatalog({ ...body, yaml: own, others: [], prune })
          // One that wires what the other deletes with its project, say, cannot be applied by itself.
          if (checked.problems.length) continue
          expect(checked.plan!.changes.filter(({ action }) => action !== 'none')).toEqual([])
          alone++
        }
        const { files } = await engine.catalogDrift()
        expect(files.map(({ plan }) => plan?.changes ?? [])).toEqual([[], []])
        return closeAll()
      }),
      { numRuns: RUNS * 2 },
    )
    expect(alone).toBeGreaterThan(RUNS)
  })
})

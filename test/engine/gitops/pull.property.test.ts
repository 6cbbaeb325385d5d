/** Random folders: edit the instance, pull, and the files say it; what was not touched stays to the byte. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import YAML from 'yaml'
import { compose } from '../../../engine/gitops/compose.ts'
import { pullInto } from '../../../engine/gitops/pull.ts'
import { createEngine } from '../../../engine/local.ts'
import type { Catalog } from '../../../schemas/types.ts'
import { longOr } from '../../chaos/scale.ts'
import { type RandomCatalog, randomCatalog } from '../declared/catalog/random-catalog.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const RUNS = longOr(20, 6)
const KINDS: Record<string, string> = {
  sources: 'source',
  triggers: 'trigger',
  agents: 'agent',
  mcp_servers: 'mcp_server',
  skills: 'skill',
}

/** The parts of a catalog over files: some as sections, some a file each. */
function filesOf(catalog: RandomCatalog, at: readonly number[]) {
  const files = new Map<string, string>()
  const sections = new Map<string, Record<string, unknown[]>>()
  let n = 0
  for (const [section, entries] of Object.entries(catalog))
    for (const entry of entries) {
      const choice = at[n++ % at.length]!
      if (choice === 0 && KINDS[section])
        files.set(
          `${section}/${n}.yaml`,
          `# Part ${n}.\n${YAML.stringify({ kind: KINDS[section], ...entry })}`,
        )
      else {
        const file = sections.get(`${choice}.yaml`) ?? {}
        file[section] = [...(file[section] ?? []), entry]
        sections.set(`${choice}.yaml`, file)
      }
    }
  for (const [path, file] of sections) files.set(path, `# Some.\n${YAML.stringify(file)}`)
  return [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, text]) => ({ path, text }))
}
const composed = (files: { path: string; text: string }[]) => compose({ roots: [{ name: 'all', files }] })

it('after a pull, a plan of the files is no change', async () => {
  let pulledOnes = 0
  await fc.assert(
    fc.asyncProperty(
      randomCatalog,
      randomCatalog,
      fc.array(fc.nat(3), { minLength: 1, maxLength: 9 }),
      async (a, b, at) => {
        const engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
        const files = filesOf(a, at)
        const first = composed(files)
        if (first.problems.length) return
        const body = { yaml: first.owned[0]!.text, name: 'all' }
        if ((await engine.checkCatalog(body)).problems.length) return
        await engine.importCatalog(body, BY)
        // Another catalog that is forgotten stands for what people do by hand.
        const hand = { yaml: JSON.stringify(b), name: 'hand' }
        if ((await engine.checkCatalog(hand)).problems.length) return
        await engine.importCatalog(hand, BY)
        await engine.forgetCatalogFile('hand')
        const current = JSON.parse(await engine.updateCatalogFile({ ...body, merge: true })) as Catalog
        const { files: changed, notPulled } = pullInto(first, current, (now) =>
          composed(withFiles(files, now)),
        )
        expect(notPulled).toEqual([])
        const after = withFiles(files, changed)
        const again = composed(after)
        expect(again.problems).toEqual([])
        const { plan, problems } = await engine.checkCatalog({ yaml: again.owned[0]!.text, name: 'all' })
        expect(problems).toEqual([])
        // Two imports in a row leave parts with the Default project that a third takes out of it, pulled or not.
        const told = plan!.changes.flatMap(({ kind, name, fields, action }) =>
          action === 'none'
            ? []
            : fields
                .filter(({ path }) => !path.startsWith('/uses'))
                .map(({ path }) => `${kind} ${name} ${path}`),
        )
        expect(told).toEqual([])
        for (const { before, after: now } of changed)
          if (before !== null && now !== null) expect(now.startsWith(before.split('\n')[0]!)).toBe(true)
        pulledOnes++
      },
    ),
    { numRuns: RUNS },
  )
  expect(pulledOnes).toBeGreaterThan(RUNS / 3)
})

function withFiles(
  files: { path: string; text: string }[],
  changed: readonly { path: string; after: string | null }[],
): { path: string; text: string }[] {
  const all = new Map(files.map(({ path, text }) => [path, text]))
  for (const { path, after } of changed) {
    if (after === null) all.delete(path)
    else all.set(path, after)
  }
  return [...all].map(([path, text]) => ({ path, text }))
}

/** The same files whatever folder the console is built in, and in whatever order the bundler found its modules. */
import { describe, expect, it } from 'vitest'
import { chunkGroups } from '../../console/build/chunk-groups.ts'
import type { Graph } from '../../console/build/needs.ts'

const PAGES = ['incidents/incidents', 'triggers/trigger', 'sources/source', 'agents/agent', 'login/login']

/** Shared modules of two pages each, and one with the folder's path in its code, as modules that stand for others have. */
function built(folder: string, isTurned: boolean): Record<string, string | null> {
  const at = (path: string) => `${folder}/console/${path}`
  const [main, html] = [at('main.tsx'), at('index.html')]
  const pages = PAGES.map((page) => at(`pages/${page}-page.tsx`))
  const modules = new Map<string, { imported: string[]; dynamic: string[]; size: number }>()
  modules.set(main, { imported: [at('shell.tsx')], dynamic: pages, size: 1_000 })
  modules.set(at('shell.tsx'), { imported: [], dynamic: [], size: 90_000 })
  pages.forEach((page, n) => {
    const shared = [n, (n + 1) % pages.length].map((of) => at(`parts/shared${of}.tsx`))
    modules.set(page, { imported: shared, dynamic: [], size: 40_000 + n })
    modules.set(at(`parts/shared${n}.tsx`), { imported: [], dynamic: [], size: 60_000 + 7 * n })
  })
  const turned = <T>(list: T[]): T[] => (isTurned ? list.toReversed() : list)
  const graph: Graph = {
    getModuleInfo: (id) => {
      const found = modules.get(id)
      if (!found) return null
      const code = `export * from '${folder}/x.ts'\n${'x'.repeat(found.size)}`
      return { importedIds: turned(found.imported), dynamicallyImportedIds: turned(found.dynamic), code }
    },
  }
  const groups = chunkGroups(main, html)
  return Object.fromEntries(
    [...modules.keys()].map((id) => [
      id.slice(folder.length),
      groups.map(({ name }) => name(id, graph)).find((name) => name !== null) ?? null,
    ]),
  )
}

describe('files of the console', () => {
  it('are the same in another folder, found in another order', () => {
    const here = built('/srv/svc', false)
    expect(new Set(Object.values(here)).size).toBeGreaterThan(4)
    expect(built('/opt/somebody/checkouts/with/a/longer/path/svc', true)).toEqual(here)
  })
})

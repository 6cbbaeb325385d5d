/** Which modules a module needs, seen through those that only hand on others. */
import { dirname, resolve } from 'node:path'

interface Module {
  importedIds: readonly string[]
  dynamicallyImportedIds: readonly string[]
  code: string | null
}

export interface Graph {
  getModuleInfo(id: string): Module | null
}

/** Modules that only hand on others: whoever imports a name of them needs the module of that name alone. */
const HANDS_ON = /node_modules\/(@mantine\/[a-z]+\/esm\/index\.mjs|lucide-react\/.*\/lucide-react\.mjs)$/
const NAMES = /\{([^}]*)\}\s*from\s*["']([^"']+)["']/g

/** @returns ids of what it imports, of modules that hand on names the modules of the names it takes */
export function needsOf(id: string, graph: Graph): string[] {
  const { importedIds = [], code } = graph.getModuleInfo(id) ?? {}
  if (HANDS_ON.test(id)) return []
  const handing = importedIds.filter((one) => HANDS_ON.test(one))
  const direct = importedIds.filter((one) => !HANDS_ON.test(one))
  if (handing.length === 0) return direct
  const names = [...(code ?? '').matchAll(NAMES)].flatMap(([, list]) => namesIn(list!, 0))
  return [...direct, ...handing.flatMap((one) => modulesOf(one, names, graph))]
}

/** @param side of `a as b`: 0 for a, 1 for b */
const namesIn = (list: string, side: 0 | 1): string[] =>
  list.split(',').map((one) => {
    const [from = '', to = from] = one.trim().split(/\s+as\s+/)
    return side === 0 ? from : to
  })

/** Modules that hold the names of one that hands them on. */
function modulesOf(id: string, names: readonly string[], graph: Graph): string[] {
  const { code, importedIds = [] } = graph.getModuleInfo(id) ?? {}
  const held = new Map<string, string>()
  for (const [, list, path] of (code ?? '').matchAll(NAMES))
    for (const name of namesIn(list!, 1)) held.set(name, resolve(dirname(id), path!))
  const known = new Set(importedIds)
  return names.flatMap((name) => {
    const module = held.get(name)
    return module !== undefined && known.has(module) ? [module] : []
  })
}

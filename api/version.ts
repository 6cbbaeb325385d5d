/** The version of this program, and of the Node it needs, from package.json. */
import manifest from '../package.json' with { type: 'json' }

export const version: string = manifest.version

/**
 * Why a Node cannot run this program; null: it can. bin/svc.mjs chooses one, and what is built may be started past it.
 * @param node its version, such as 22.15.0
 */
export function nodeRefusal(node: string): string | null {
  const needed = manifest.engines.node.replace('>=', '')
  if (node.localeCompare(needed, 'en', { numeric: true }) >= 0) return null
  return `this is Node ${node}, and ${needed} or newer is needed; start it by bin/svc.mjs, which chooses one, or install a newer Node`
}

/** Paths into a catalog file: as text, and as steps through its tree. */
import { itemAt, type TreeNode } from './tree.ts'

/** Steps from the root of the file. */
export type Path = readonly (string | number)[]

/** triggers[2].sources[0]; a key that is no word is written in brackets and quotes. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text ? `${text}.${step}` : step
  }, '')
}

/** Today's word of a section or field to the one a file of before 1.14 has (SPEC.md, Catalog YAML). */
const OLD_WORDS: Record<string, string> = { projects: 'usecases', template: 'recipe' }

/** The node one step below, with its key. A number also reads an array given as text. */
export function childAt(
  node: TreeNode,
  step: string | number,
): { value: TreeNode; key: TreeNode | null } | null {
  if (node.kind === 'seq') {
    const item = node.items[Number(step)]
    return item ? { value: item.value, key: null } : null
  }
  if (node.kind !== 'map') return null
  const key = String(step)
  const item = itemAt(node, key) ?? (OLD_WORDS[key] ? itemAt(node, OLD_WORDS[key]) : undefined)
  return item ? { value: item.value, key: item.key } : null
}

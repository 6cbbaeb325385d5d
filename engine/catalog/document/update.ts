/**
 * Brings a catalog file to say another catalog by editing its text where it changed: comments,
 * order, quotes, line breaks and the formatting of all else stay to the byte.
 */
import type { Catalog } from '../../../schemas/types.ts'
import { equal } from '../../changes/fields.ts'
import { Edit } from './edit.ts'
import { RootEdit } from './edit-root.ts'
import { layoutOf } from './layout.ts'
import { type Reading, readTree } from './read.ts'
import { renderCatalog } from './render.ts'
import { NAME_KEY } from './sections.ts'
import { Splices } from './splices.ts'
import { type Same, targetOf } from './target.ts'

/**
 * @param text a catalog file; one that is no YAML is written anew, other faults are edited away
 * @param catalog what the file is to say; entries are matched by name and keep the file's order
 * @param same whether two entries mean the same; then the words of the file stay, field by field.
 *   With it, a section that is absent means the same as one that is empty.
 * @param reading of the text, where it was read before: of a large file that takes as long as the rest
 * @returns a text that reads back as `catalog`, in the order of the file
 */
export function updateCatalog(
  text: string,
  catalog: Catalog,
  same?: Same,
  reading: Reading = readTree(text),
): string {
  if (!reading.said) return renderCatalog(catalog)
  const target = targetOf(reading.said, catalog, same)
  if (reading.catalog && equal(reading.catalog, target)) return text
  for (const isCoarse of [false, true]) {
    const updated = edited(text, reading, target, isCoarse)
    if (equal(readTree(updated).said, target)) return updated
  }
  // What the file says matters more than its form, should YAML know a form that is not met above.
  return `${reading.name === null ? '' : `${NAME_KEY}: ${reading.name}\n\n`}${renderCatalog(target)}`
}

function edited(text: string, { root, values }: Reading, target: Catalog, isCoarse: boolean): string {
  const splices = new Splices(text)
  if (root?.kind !== 'map' || !values) {
    const isEnded = text === '' || text.endsWith('\n')
    return `${text}${isEnded ? '' : splices.eol}${renderCatalog(target).replaceAll('\n', splices.eol)}`
  }
  const edit = new Edit(splices, root, values, layoutOf(root, splices), isCoarse)
  new RootEdit(edit, root, target).run()
  return splices.apply()
}

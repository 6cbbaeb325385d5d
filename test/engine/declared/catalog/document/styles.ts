/** Catalog files as people write them: one catalog in many styles. */
import fc from 'fast-check'
import YAML from 'yaml'
import { renderCatalog } from '../../../../../engine/gitops/update.ts'
import type { Catalog } from '../../../../../schemas/types.ts'

type Options = YAML.ToStringOptions & YAML.CreateNodeOptions

/** How a file is written; `own` is the canonical style. */
const options = fc.record({
  indent: fc.constantFrom(2, 3, 4),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom<'any' | 'flow'>('any', 'any', 'flow'),
  defaultStringType: fc.constantFrom<YAML.Scalar.Type>(
    'PLAIN',
    'QUOTE_SINGLE',
    'QUOTE_DOUBLE',
    'BLOCK_LITERAL',
    'BLOCK_FOLDED',
  ),
  lineWidth: fc.constantFrom(0, 20, 80),
  aliasDuplicateObjects: fc.boolean(),
})

/** Turns a catalog into the text of a file. */
export const styles: fc.Arbitrary<(catalog: Catalog) => string> = fc
  .record({
    options,
    isOwn: fc.boolean(),
    isCrlf: fc.boolean(),
    hasComments: fc.boolean(),
    isOpen: fc.boolean(),
  })
  .map(({ options, isOwn, isCrlf, hasComments, isOpen }) => (catalog) => {
    let text = isOwn ? renderCatalog(catalog) : YAML.stringify(interned(catalog), options as Options)
    if (hasComments) text = text.replace(/^( *)- /gm, '$1# what comes next\n$1- ')
    if (isCrlf && !text.includes('\r')) text = text.replaceAll('\n', '\r\n')
    return isOpen ? text.trimEnd() : text
  })

/** The same catalog with equal parts being one object, which the library writes as an alias. */
function interned(catalog: Catalog): unknown {
  const known = new Map<string, unknown>()
  const intern = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const copy = Array.isArray(value)
      ? value.map(intern)
      : Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, intern(entry)]))
    const text = JSON.stringify(copy)
    if (!known.has(text)) known.set(text, copy)
    return known.get(text)
  }
  return intern(catalog)
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import YAML from 'yaml'
import { formatCatalog } from '../../../engine/declared/catalog/lint.ts'
import { plain, readValue } from '../../../engine/gitops/nodes.ts'
import { longOr } from '../../chaos/scale.ts'
import { randomCatalog as catalogs } from '../declared/catalog/random-catalog.ts'

const format = (text: string) => formatCatalog({ path: 'a.yaml', text }).text
const meaning = (text: string) => {
  const { value } = readValue({ path: 'a.yaml', text })
  return value && plain(value)
}

describe('the layout of a catalog file', () => {
  it('has two spaces, the name first, the fields in order, and keeps comments and the order of parts', () => {
    expect(
      format(`# the shop
sources:
# the way in
-   connector:   webhook   # pushed
    name: gateway

-   {name: b,connector: webhook}
triggers:
    - condition: {event: any}
      sources: [ gateway ]
      # what it is called
      name: t
`),
    ).toBe(`# the shop
sources:
  # the way in
  - name: gateway
    connector: webhook # pushed

  - { name: b, connector: webhook }

triggers:
  # what it is called
  - name: t
    sources: [gateway]
    condition: { event: any }
`)
  })

  it('leaves a comment above a part there, and one beside a field beside it', () => {
    expect(
      format(`triggers:
  -
    # about it
    condition: { event: any } # why
    name: t
`),
    ).toBe(`triggers:
  # about it
  - name: t
    condition: { event: any } # why
`)
  })

  it('leaves tests, values and texts in blocks as they say', () => {
    const text = `values: { a: 1 }

skills:
  - name: s
    body: |
      # Roll back

      1. Stop.
tests: []
`
    expect(meaning(format(text))).toEqual(meaning(text))
    expect(format(text)).toContain('body: |\n      # Roll back\n\n      1. Stop.\n')
  })

  it('leaves a text that is no YAML, with its problem', () => {
    expect(formatCatalog({ path: 'a.yaml', text: 'a: [' })).toMatchObject({
      text: 'a: [',
      problems: [{ file: 'a.yaml', line: 1 }],
    })
  })

  it('changes no meaning, loses no comment, and is the same when it is laid out again', () => {
    const styles = fc.record({
      indent: fc.constantFrom(2, 4, 6),
      indentSeq: fc.boolean(),
      defaultStringType: fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const, 'QUOTE_SINGLE' as const),
      collectionStyle: fc.constantFrom('any' as const, 'block' as const, 'flow' as const),
      lineWidth: fc.constantFrom(0, 40, 80),
    })
    fc.assert(
      fc.property(catalogs, styles, fc.boolean(), fc.boolean(), (catalog, style, hasComments, isCrlf) => {
        let text = YAML.stringify(catalog, style)
        if (hasComments) text = text.replace(/^( *)- /gm, '$1# what comes next\n$1- ')
        if (isCrlf && !text.includes('\r')) text = text.replaceAll('\n', '\r\n')
        const laid = format(text)
        expect(meaning(laid)).toEqual(meaning(text))
        expect(format(laid)).toBe(laid)
        expect(laid.split('# what comes next').length).toBe(text.split('# what comes next').length)
      }),
      { numRuns: longOr(200, 50) },
    )
  })
})

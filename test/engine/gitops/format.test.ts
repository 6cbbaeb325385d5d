import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import YAML from 'yaml'
import { formatCatalog } from '../../../engine/declared/catalog/lint.ts'
import { plain, readValue } from '../../../engine/gitops/nodes.ts'
import { readCatalog, renderCatalog, updateCatalog } from '../../../engine/gitops/update.ts'
import { longOr } from '../../chaos/scale.ts'
import { catalogs as nasty } from '../declared/catalog/document/arbitrary.ts'
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
  it('keeps what is in double quotes on one line as it is written', () => {
    const text =
      'skills:\n  - name: s\n    description: "\\u200b \\u001b[0m \\x41 /"\n    body: "a\\n \\nb"\n'
    expect(format(text)).toBe(text)
  })

  it('is that of what is exported, and of what is put into a file in it', () => {
    fc.assert(
      fc.property(nasty, nasty, fc.boolean(), fc.boolean(), (before, after, hasComments, isCrlf) => {
        expect(format(renderCatalog(before))).toBe(renderCatalog(before))
        let text = renderCatalog(before)
        if (hasComments) text = text.replace(/^( *)- /gm, '$1# what comes next\n$1- ')
        if (isCrlf && !text.includes('\r')) text = text.replaceAll('\n', '\r\n')
        const updated = updateCatalog(format(text), after)
        expect(format(updated)).toBe(updated)
      }),
      { numRuns: longOr(200, 50) },
    )
  })

  it('stays where sections at an end of the file, or between others, go', () => {
    const sections = {
      sources: '  - name: a\n    connector: memory\n',
      triggers: '  - name: t\n    sources: [a]\n    condition: { event: any }\n',
      agents: '  - name: g\n    prompt: x\n',
      skills: '  - name: k\n    description: d\n    body: |\n      x\n',
    }
    const texts = Array.from({ length: 16 }, (_, bits) =>
      Object.entries(sections)
        .filter((_section, i) => bits & (1 << i))
        .map(([section, entries]) => `# ${section}\n${section}:\n${entries}`)
        .join('\n'),
    )
    for (const before of texts)
      for (const after of texts) {
        const updated = updateCatalog(before, readCatalog(after).catalog!)
        expect(format(updated)).toBe(updated)
      }
  })
})

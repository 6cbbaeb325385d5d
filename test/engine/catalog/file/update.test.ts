import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCatalog, renderCatalog, updateCatalog } from '../../../../engine/catalog/file/index.ts'
import type { Catalog } from '../../../../schemas/types.ts'
import { catalogs } from './arbitrary.ts'

const read = (text: string): Catalog => {
  const { catalog, problems } = readCatalog(text)
  expect(problems).toEqual([])
  return catalog!
}
/** Without sections that hold nothing, which an update need not write. */
const held = (catalog: Catalog) =>
  Object.fromEntries(Object.entries(catalog).filter(([, entries]) => (entries as unknown[]).length))
const byName = (catalog: Catalog) =>
  Object.fromEntries(
    Object.entries(held(catalog)).map(([section, entries]) => [
      section,
      [...(entries as object[])].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    ]),
  )
/** Lines that differ between two texts. */
function changedLines(before: string, after: string): { removed: string[]; added: string[] } {
  const [a, b] = [before.split('\n'), after.split('\n')]
  return {
    removed: a.filter((line) => !b.includes(line)),
    added: b.filter((line) => !a.includes(line)),
  }
}

/** About 300 lines with comments, odd spacing and several styles. */
const big = `# The shop's catalog. Reviewed by the platform team.
sources:   # where events come from
${Array.from(
  { length: 20 },
  (_, i) => `  # gateway ${i}
  - name: gateway-${i}
    connector:   webhook
    config:
      event_type: 'request'   # fixed
      labels:
        - {name: service, field: service,   primary: true}
        - name: status
          field: "status"
          type: number

`,
).join('')}
triggers:
${Array.from(
  { length: 10 },
  (_, i) => `  - name: errors-${i}
    sources: [ gateway-${i} ]
    condition: {aggregate: count, predicate: "> 5",   window: 5m}
    cooldown: 10m # long enough
`,
).join('')}
skills:
  - name: roll-back
    description: >-
      How to roll back
      a deploy.
    body: |
      # Roll back

      1. Look   twice.
# the end
`

describe('a catalog file brought up to date', () => {
  it('changes one line where one field changed, whatever surrounds it', () => {
    const catalog = structuredClone(read(big))
    catalog.triggers![7]!.cooldown = '1h'
    const updated = updateCatalog(big, catalog)
    expect(changedLines(big, updated)).toEqual({
      removed: [],
      added: ['    cooldown: 1h # long enough'],
    })
    expect(updated.split('\n')).toHaveLength(big.split('\n').length)
  })

  it('is the same to the byte when it says the same already', () => {
    const styles = [
      big,
      big.replaceAll('\n', '\r\n'),
      '',
      '# nothing yet\n',
      'sources: []\n',
      '{sources: [{name: a, connector: memory}]}\n',
      "---\nsources:\n- name: 'a'\n  connector: memory\n...\n",
      'sources:\n    - connector: memory\n      name: a\ntriggers: []\n',
      'sources:\n  - &one\n    name: a\n    connector: memory\n',
    ]
    for (const text of styles) expect(updateCatalog(text, read(text))).toBe(text)
  })

  it('keeps the line ends, the quotes and the order of fields', () => {
    const text = "sources:\r\n  - connector: 'memory'\r\n    name: a\r\n    poll: '5s'\r\n"
    const updated = updateCatalog(text, { sources: [{ name: 'a', connector: 'memory', poll: '9s' }] })
    expect(updated).toBe("sources:\r\n  - connector: 'memory'\r\n    name: a\r\n    poll: '9s'\r\n")
  })

  it('appends what is new where it belongs, and takes away what is gone with its comment', () => {
    const text = `sources:
  # the first
  - name: a
    connector: memory
  # the second
  - name: b
    connector: memory
triggers:
  - name: t
    sources: [a]
    condition: { aggregate: count, predicate: "> 5", window: 5m }
`
    const catalog = structuredClone(read(text))
    catalog.sources!.splice(1, 1, { name: 'c', connector: 'memory' })
    catalog.triggers![0]!.description = 'it breaks'
    catalog.skills = [{ name: 's', description: 'd', body: 'one\ntwo' }]
    expect(updateCatalog(text, catalog)).toBe(`sources:
  # the first
  - name: a
    connector: memory
  - name: c
    connector: memory
triggers:
  - name: t
    sources: [a]
    condition: { aggregate: count, predicate: "> 5", window: 5m }
    description: it breaks
skills:
  - name: s
    description: d
    body: |-
      one
      two
`)
  })

  it('leaves alone what is written otherwise and means the same', () => {
    const text = 'triggers:\n  - name: t\n    sources: [a]\n    cooldown: 5m\n    description: old\n'
    const same = (_section: string, _name: string, a: unknown, b: unknown) => {
      const meaning = (entry: unknown) =>
        JSON.stringify(
          { cooldown: '5m', ...(entry as object) },
          Object.keys({ cooldown: 0, ...(entry as object), name: 0 }).sort(),
        )
      return meaning(a) === meaning(b)
    }
    const catalog = { triggers: [{ name: 't', sources: ['a'], description: 'new' }] } as unknown as Catalog
    expect(updateCatalog(text, catalog, same)).toBe(text.replace(': old', ': new'))
  })

  it('changes an aliased value only where it is used', () => {
    const text =
      'sources:\n  - name: a\n    connector: memory\n    poll: &p 5s\n  - name: b\n    connector: memory\n    poll: *p\n'
    const catalog = structuredClone(read(text))
    catalog.sources![1]!.poll = '9s'
    expect(updateCatalog(text, catalog)).toBe(text.replace('*p', '9s'))
  })

  it('says what it is to say, for any two catalogs', () => {
    fc.assert(
      fc.property(catalogs, catalogs, (before, after) => {
        const updated = updateCatalog(renderCatalog(before), after)
        expect(byName(read(updated))).toEqual(byName(after))
      }),
      { numRuns: 300 },
    )
  })

  it('says what it is to say when a few fields change, and stays the same elsewhere', () => {
    fc.assert(
      fc.property(catalogs, fc.string({ minLength: 1, maxLength: 12 }), (before, poll) => {
        const after = structuredClone(before)
        if (after.sources?.[0]) after.sources[0].config = { event_type: poll }
        const text = renderCatalog(before)
        const updated = updateCatalog(text, after)
        expect(read(updated)).toEqual(after)
        if (!after.sources?.[0]) expect(updated).toBe(text)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a catalog as text', () => {
  it('is read back as it was, whatever its texts hold', () => {
    fc.assert(
      fc.property(catalogs, (catalog) => {
        expect(read(renderCatalog(catalog))).toEqual(catalog)
      }),
      { numRuns: 500 },
    )
  })

  it('is the same text for the same catalog', () => {
    fc.assert(
      fc.property(catalogs, (catalog) => {
        const text = renderCatalog(catalog)
        expect(renderCatalog(read(text))).toBe(text)
      }),
      { numRuns: 200 },
    )
  })
})

/** Files with merge keys (`<<: *base`) that are brought to say another catalog. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import YAML from 'yaml'
import { readTree, updateCatalog } from '../../../../../engine/gitops/update.ts'
import type { Catalog } from '../../../../../schemas/types.ts'
import { longOr } from '../../../../chaos/scale.ts'
import { catalogs } from './arbitrary.ts'
import { inNameOrder } from './compare.ts'

// Triggers are changed as the JSON they are.
// biome-ignore lint/suspicious/noExplicitAny: tests reach into conditions of every kind
type Loose = any[]

describe('a file with merge keys', () => {
  const TEXT = `# Ours.
triggers:
  - &base
    name: a
    sources: [s]
    condition: { every: 5m }
    cooldown: 10m
  # as the first
  - <<: *base
    name: b
  - { <<: [*base], name: c, cooldown: 1h } # rarer
`
  const become = (text: string, change: (triggers: Loose) => void): string => {
    const wanted = structuredClone(readTree(text, true).said!)
    change(wanted.triggers!)
    const updated = updateCatalog(text, wanted)
    expect(inNameOrder(readTree(updated, true).said!)).toEqual(inNameOrder(wanted))
    return updated
  }

  it('stays to the byte where it says what it is to say', () => {
    expect(become(TEXT, () => {})).toBe(TEXT)
  })

  it('gets a field of its own beside the merge where that gives another value', () => {
    expect(become(TEXT, ([, b]) => (b.cooldown = '2h'))).toBe(
      TEXT.replace('name: b', 'name: b\n    cooldown: 2h'),
    )
    expect(become(TEXT, ([, , c]) => (c.condition = { every: '9m' }))).toBe(
      TEXT.replace('name: c,', 'name: c, condition: { every: 9m },'),
    )
    expect(become(TEXT, ([, , c]) => (c.cooldown = '10m'))).toBe(TEXT.replace('1h', '10m'))
  })

  it('keeps what the others say where the map they merge changes, or goes', () => {
    expect(become(TEXT, ([a]) => (a.cooldown = '2h'))).toBe(
      TEXT.replace('10m', '2h').replace('name: b', 'name: b\n    cooldown: 10m'),
    )
    expect(
      become(TEXT, (all) => {
        for (const trigger of all) trigger.condition = { every: '9m' }
      }),
    ).toBe(TEXT.replace('every: 5m', 'every: 9m'))
    expect(become(TEXT, (all) => all.shift())).toBe(`# Ours.
triggers:
  # as the first
  - name: b
    sources: [s]
    condition:
      every: 5m
    cooldown: 10m
  - { name: c, sources: [s], condition: { every: 5m }, cooldown: 1h } # rarer
`)
  })

  it('has the fields written out where one of the merge is to go: nothing beside it takes it away', () => {
    expect(become(TEXT, ([, b]) => delete b.cooldown)).toBe(
      TEXT.replace(
        '- <<: *base\n    name: b',
        '- name: b\n    sources: [s]\n    condition:\n      every: 5m',
      ),
    )
  })

  it('says that catalog, whatever the two are, and keeps its head', () => {
    fc.assert(
      fc.property(catalogs, catalogs, fc.boolean(), fc.nat(255), (before, after, isFlow, picks) => {
        const text = merging(before, isFlow, picks)
        const { said } = readTree(text, true)
        if (!said) return
        expect(updateCatalog(text, said)).toBe(text)
        const updated = updateCatalog(text, after)
        expect(inNameOrder(readTree(updated, true).said!)).toEqual(inNameOrder(after))
        if (Object.keys(before).length) expect(updated.startsWith('# Ours.\n')).toBe(true)
      }),
      { numRuns: longOr(300, 60) },
    )
  })
})

/** A catalog whose parts merge the first of their section. @param picks which do, and what each says itself */
function merging(catalog: Catalog, isFlow: boolean, picks: number): string {
  const document = new YAML.Document(catalog)
  const sections = (document.contents as unknown as YAML.YAMLMap<YAML.Scalar, YAML.YAMLSeq<YAML.YAMLMap>>)
    .items
  for (const { key, value: list } of sections) {
    const [base, ...others] = list!.items
    if (!base || ['wiring', 'projects'].includes(String(key.value))) continue
    base.anchor = String(key.value)
    others.forEach((other, i) => {
      if ((picks >> i) & 1) return
      other.items = other.items.filter((pair, at) => String(pair.key) === 'name' || (picks >> (at % 8)) & 1)
      other.items.unshift(new YAML.Pair(new YAML.Scalar('<<'), new YAML.Alias(base.anchor!)))
      other.flow = isFlow
    })
  }
  return `# Ours.\n${document.toString({ lineWidth: 0 })}`
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCatalog, renderCatalog } from '../../../../../engine/gitops/update.ts'
import type { Catalog } from '../../../../../schemas/types.ts'
import { catalogs } from './arbitrary.ts'

const CANONICAL = `sources:
  - name: gateway
    connector: webhook
    poll: 5s
    config:
      event_type: request
      text_template: "{method} {path} -> {status}"
      labels:
        - { name: service, field: service, primary: true }
        - { name: env, const: prod }
    projects: [Storefront]

triggers:
  - name: gateway-errors
    project: Storefront
    sources: [gateway]
    condition:
      aggregate: count
      predicate: "> 5"
      window: 5m
    filters:
      - { field: status, op: gte, value: 500 }
      - { field: tag, op: in, value: ["on", "1.0", 1, true] }

agents:
  - name: first-look
    trigger: gateway-errors
    prompt: |-
      Say what broke.

        Then conclude.
    max_rounds: null
    verdicts:
      - { verdict: investigate, when: a deploy looks guilty }

projects:
  - name: Storefront
    template: custom
    objects:
      - { kind: source, name: gateway }
    goal: "Catch: bad deploys"

skills:
  - name: rollback
    description: "yes"
    body: |2
        indented
      not

wiring:
  - { project: Storefront, wake: gateway-errors, agent: first-look, enabled: false }
`

describe('a catalog as canonical text', () => {
  it('has its sections and fields in one order, whatever order they are given in', () => {
    const catalog = readCatalog(CANONICAL).catalog!
    expect(renderCatalog(catalog)).toBe(CANONICAL)
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value) || typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).reverse())
    }
    const shuffled = Object.entries(catalog)
      .reverse()
      .map(([section, entries]) => [section, (entries as unknown[]).map(reversed)])
    expect(renderCatalog(Object.fromEntries(shuffled) as Catalog)).toBe(CANONICAL)
  })

  it('leaves nothing out but what is undefined', () => {
    const sources = [{ name: 'a', connector: 'memory', poll: undefined, config: {}, projects: [] }]
    expect(renderCatalog({ sources, triggers: [] })).toBe(
      'sources:\n  - name: a\n    connector: memory\n    config: {}\n    projects: []\n\ntriggers: []\n',
    )
    expect(renderCatalog({})).toBe('{}\n')
  })

  it('A13: writes characters beyond U+FFFF so that readers built on libyaml take them', () => {
    // A tag of a flag, private use, an emoji, and one that is assigned after this Unicode.
    const prompt = '\u{e0067} \u{f0000} \u{1f600} \u{3ffff} "quoted": \u200d'
    const text = renderCatalog({ agents: [{ name: 'a', trigger: '', prompt }] } as unknown as Catalog)
    expect(text).toContain('"\\U000e0067 \\U000f0000 \u{1f600} \\U0003ffff \\"quoted\\": \\u200d"')
    expect(text).not.toMatch(/\\ud[89a-f]/i)
    expect(readCatalog(text).catalog!.agents![0]!.prompt).toBe(prompt)
  })

  it('reads back as it was, whatever its texts hold, and is written the same again', () => {
    fc.assert(
      fc.property(catalogs, (catalog) => {
        const text = renderCatalog(catalog)
        const read = readCatalog(text)
        expect(read.problems).toEqual([])
        expect(read.catalog).toEqual(catalog)
        expect(renderCatalog(read.catalog!)).toBe(text)
      }),
      { numRuns: 400 },
    )
  })
})

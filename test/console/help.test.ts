/** Help shows each of the docs once, under its title, and its links stay in the console. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { bodyOf, helpFound, helpGroups, helpLink, titleOf } from '../../console/lib/help.ts'

const folder = new URL('../../docs/', import.meta.url)
const docs = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name.slice(0, -3), readFileSync(new URL(name, folder), 'utf8')]),
)

describe('help', () => {
  it('has each of the docs once, with its title', () => {
    const pages = helpGroups(docs).flatMap(({ pages }) => pages)
    expect(pages.map(({ name }) => name).sort()).toEqual(Object.keys(docs).sort())
    expect(titleOf('triggers', docs.triggers!)).toBe('Triggers')
    expect(bodyOf('# Title\n\nText')).toBe('Text')
    // A page that no group names is not lost.
    expect(helpGroups({ novel: '# New' })).toEqual([
      { group: 'Reference', pages: [{ name: 'novel', title: 'New' }] },
    ])
  })

  it('leads from page to page, to headings and the web, and nowhere else', () => {
    expect(helpLink('agents.md', docs)).toBe('/help/agents')
    expect(helpLink('triggers.md#deliveries', docs)).toBe('/help/triggers#deliveries')
    expect([helpLink('#fields', docs), helpLink('https://svc.example', docs)]).toEqual([
      '#fields',
      'https://svc.example',
    ])
    for (const href of ['svc.1', 'decisions/0006-kernel-in-webassembly.md', '../README.md', 'nothing.md'])
      expect(helpLink(href, docs)).toBeNull()
  })

  it('is searched by all words', () => {
    expect(helpFound(docs, 'cooldown')[0]!.name).toBe('triggers')
    expect(helpFound(docs, 'cooldown zzqx')).toEqual([])
    expect(helpFound(docs, '  ')).toEqual([])
  })
})

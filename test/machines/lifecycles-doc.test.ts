import { describe, expect, it } from 'vitest'
import { lifecycles } from '../../machines/index.ts'
import { eventsOf, start } from '../../machines/step.ts'
import { diagramOf, renderLifecycles } from '../../scripts/lifecycles-doc.ts'
import { textOf } from '../house/project-files.ts'
import { tables } from './tables.ts'

const words = (name: string) => name.replaceAll('_', ' ')

describe('docs/lifecycles.md', () => {
  const text = textOf('docs/lifecycles.md')

  it('is what npm run generate writes', () => {
    expect(text === renderLifecycles(), 'docs/lifecycles.md is stale: npm run generate').toBe(true)
  })

  it('has a diagram, and each state and event in words, of every machine', () => {
    const sections = text.split(/^## /m).slice(1)
    expect(sections).toHaveLength(Object.keys(lifecycles).length)
    for (const [index, lifecycle] of Object.values(lifecycles).entries()) {
      const section = sections[index]!
      expect(section).toContain(diagramOf(lifecycle))
      for (const name of [...Object.keys(lifecycle.machine.states), ...eventsOf(lifecycle)])
        expect(section).toMatch(new RegExp(`^\\| ${words(name)} +\\| [A-Z]`, 'm'))
    }
  })
})

describe.each(Object.keys(lifecycles) as (keyof typeof tables)[])('the diagram of a %s', (kind) => {
  const lines = diagramOf(lifecycles[kind]).split('\n')
  const arrows = new Map(
    lines.flatMap((line) => {
      const [, from, to, labels] = /^ {2}(\w+) --> (\w+): (.+)$/.exec(line) ?? []
      return from ? [[`${from} ${to}`, labels!.split(', ').map((label) => label.replace(/ \[.*/, ''))]] : []
    }) as [string, string[]][],
  )

  it('has an arrow for each row of its table', () => {
    for (const { state, takes } of tables[kind])
      for (const [event, taken] of Object.entries(takes)) {
        const to = typeof taken === 'string' ? taken : taken.to
        expect(arrows.get(`${state} ${to}`), `${state} ${event}`).toContain(words(event))
      }
  })

  it('has no arrow that its table does not have', () => {
    const rows = new Set(
      tables[kind].flatMap(({ state, takes }) =>
        Object.entries(takes).map(
          ([event, taken]) => `${state} ${typeof taken === 'string' ? taken : taken.to} ${words(event)}`,
        ),
      ),
    )
    const drawn = [...arrows].flatMap(([arrow, labels]) => labels.map((label) => `${arrow} ${label}`))
    expect(drawn.filter((arrow) => !rows.has(arrow))).toEqual([])
  })

  it('begins where an object begins and ends where it ends', () => {
    expect(lines).toContain(`  [*] --> ${start(lifecycles[kind]).value}`)
    const ends = lines.filter((line) => line.endsWith('--> [*]')).map((line) => line.trim().split(' ')[0])
    const finals = tables[kind].filter(({ isFinal }) => isFinal).map(({ state }) => state)
    expect(ends.sort()).toEqual([...new Set(finals)].sort())
  })
})

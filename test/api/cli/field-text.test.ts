import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { conflictLines, fieldLines, fieldName, keptLines, mergeLines } from '../../../api/cli/field-text.ts'
import { planText } from '../../../api/cli/plan-text.ts'

const plain = { colour: false }
const text = (path: string, from?: unknown, to?: unknown) => fieldLines(plain, { path, from, to })

describe('a changed field', () => {
  it('is one line when its values are short', () => {
    expect(text('/condition/window', '5m', '10m')).toEqual(['condition.window: "5m" → "10m"'])
    expect(text('/paused', undefined, true)).toEqual(['paused: not set → true'])
    expect(text('/goal', 'x')).toEqual(['goal: "x" → not set'])
    expect(text('', { a: 1 }, [2])).toEqual(['all of it: {"a":1} → [2]'])
  })

  it('says what holds where it is not set, which a file may say itself', () => {
    const told = (path: string, from?: unknown, to?: unknown, kind = 'trigger') =>
      fieldLines(plain, { path, from, to }, kind)
    expect(told('/cooldown', '9m')).toEqual(['cooldown: "9m" → "5m" (the default)'])
    expect(told('/emit/context_window', undefined, '1h')).toEqual([
      'emit.context_window: "15m" (the default) → "1h"',
    ])
    expect(told('/severity', 'critical')).toEqual(['severity: "critical" → the default'])
    expect(told('/description', 'x')).toEqual(['description: "x" → not set'])
    expect(told('/auth_header', 'X-Key', undefined, 'mcp_server')).toEqual([
      'auth_header: "X-Key" → "Authorization" (the default)',
    ])
    const conflict = {
      kind: 'trigger',
      name: 't',
      path: '/cooldown',
      base: '1m',
      mine: null,
      theirs: '9m',
    } as const
    expect(mergeLines(conflict)[1]).toBe(
      '  was applied as "1m", the instance has "9m", the file says "5m" (the default)',
    )
    expect(keptLines(conflict)).toEqual(['trigger t, cooldown: "9m", the file says "5m" (the default)'])
  })

  it('is another secret where both values are masks', () => {
    expect(text('/config/dsn', '••••••••', '••••••••')).toEqual(['config.dsn: another secret'])
    const url = 'https://maria:••••••••@example.com/hook'
    expect(text('/url', url, url)).toEqual([`url: another secret in "${url}"`])
  })

  it('is named by its keys, whatever they hold', () => {
    expect(fieldName('/headers/a~1b~0c')).toBe('headers.a/b~c')
    expect(fieldName('/headers/\u001b[31m')).toBe('headers.\\u001b[31m')
  })

  it('is a diff by line when its text has lines', () => {
    const from = 'Read the timeline.\nLook at deploys.\nConclude.\n'
    expect(text('/prompt', from, from.replace('Conclude', 'End'))).toEqual([
      'prompt:',
      '    Read the timeline.',
      '    Look at deploys.',
      '  - Conclude.',
      '  + End.',
    ])
  })

  it('shows where a long line differs, on both sides', () => {
    const from = `${'so '.repeat(100)}this${' on'.repeat(100)}`
    const [line] = text('/description', from, from.replace('this', 'that'))
    expect(line).toContain('this on')
    expect(line).toContain('that on')
    expect(line!.length).toBeLessThan(300)
  })

  it('is a diff of its JSON when it is a long list', () => {
    const labels = Array.from({ length: 12 }, (_, i) => ({ name: `label_${i}`, field: `field.${i}` }))
    const lines = text('/config/labels', labels, labels.with(6, { name: 'label_6', field: 'other' }))
    expect(lines).toContain('  -     "field": "field.6"')
    expect(lines).toContain('  +     "field": "other"')
    expect(lines.length).toBeLessThan(10)
  })

  it('says in which of several places a text changed', () => {
    const from = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n')
    const to = from.replace('line 3\n', 'line three\n').replace('line 27', 'line twenty-seven')
    expect(text('/body', from, to).filter((line) => line === '  …')).toHaveLength(1)
  })

  it('never holds a character that acts on a terminal', () => {
    expect(text('/body', 'a\nb\u001b[2J\n', 'a\nc\u202e\n')).toEqual([
      'body:',
      '    a',
      '  - b\\u001b[2J',
      '  + c\\u202e',
    ])
  })
})

describe('a conflict', () => {
  const where = { kind: 'agent', name: 'first', path: '/prompt' } as const

  it('names what was, what is and what was wanted', () => {
    expect(conflictLines({ ...where, base: 'a', mine: 'b', theirs: null })).toEqual([
      'agent first, prompt:',
      '  was "a", is now not set, this change wants "b"',
    ])
  })

  it('shows what both writers did to a text of lines', () => {
    const lines = conflictLines({ ...where, base: 'one\ntwo', mine: 'one\nmine', theirs: 'one\ntheirs' })
    expect(lines).toEqual([
      'agent first, prompt:',
      '  changed by the other:',
      '      one',
      '    - two',
      '    + theirs',
      '  changed by this:',
      '      one',
      '    - two',
      '    + mine',
    ])
  })
})

describe('a plan', () => {
  const plan = {
    changes: [
      {
        action: 'update',
        kind: 'mcp_server',
        key: 'm',
        name: 'm',
        fields: [{ path: '/url', from: 'a', to: 'b' }],
      },
      { action: 'delete', kind: 'skill', key: 's', name: 's', fields: [{ path: '/body', from: 'x' }] },
      { action: 'none', kind: 'source', key: 'g', name: 'g', fields: [] },
    ],
    creates: 0,
    updates: 1,
    deletes: 1,
    unchanged: 1,
  } satisfies Parameters<typeof planText>[1]

  it('has the fields of what changes and counts the rest', () => {
    expect(planText(plain, plan)).toBe(
      '~ MCP server m\n    url: "a" → "b"\n- skill s\n0 to create, 1 to change, 1 to delete, 1 as they are\n',
    )
  })

  it('says what a project uses and wires in sentences, not by how it is stored', () => {
    const project = (path: string, from?: unknown, to?: unknown) => {
      const fields = [{ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }]
      const changes = [
        { action: 'update' as const, kind: 'project' as const, key: 'p', name: 'Shop', fields },
      ]
      const [, ...lines] = planText(plain, { ...plan, changes })
        .split('\n')
        .slice(0, -2)
      return lines.map((line) => line.trim())
    }
    expect(project('/uses/trigger/t1', undefined, { owned: true })).toEqual(['trigger t1 joins it'])
    expect(project('/uses/mcp_server', undefined, { a: {}, b: {} })).toEqual([
      'MCP server a is shared with it',
      'MCP server b is shared with it',
    ])
    expect(project('/uses/trigger/t1/owned', true)).toEqual([
      'trigger t1 stays shared with it, and no longer belongs to it',
    ])
    expect(project('/uses/skill', { s: {} })).toEqual(['skill s leaves it'])
    expect(project('/wakes', undefined, { t1: { look: { enabled: false } } })).toEqual([
      'trigger t1 wakes agent look, switched off',
    ])
    expect(project('/wakes/t1/look/enabled', false, true)).toEqual([
      'trigger t1 wakes agent look: switched on',
    ])
    expect(project('/wakes/t1', { look: { enabled: true } })).toEqual(['trigger t1 wakes agent look no more'])
    expect(project('/handoffs/look/dig/digger/cooldown', '5m', '1h')).toEqual([
      'agent look hands over to agent digger on dig: at most once in 5m → 1h',
    ])
    expect(project('/handoffs/look', undefined, { dig: { digger: { cooldown: '5m' } } })).toEqual([
      'agent look hands over to agent digger on dig, at most once in 5m',
    ])
    expect(project('/plan/trigger/errors/digest', 'a', 'b')).toEqual(['its template plans its parts anew'])
    expect(project('/stopped', undefined, { wakes: { t1: { look: true } }, sources: { s: true } })).toEqual([
      'its pause stops trigger t1 from waking agent look',
      'its pause stops source s',
    ])
    expect(project('/params/window', '5m', '1h')).toEqual(['params.window: "5m" → "1h"'])
    expect(fieldName('/wakes/t1/look/enabled', 'project')).toBe('wiring: trigger t1 wakes look')
    expect(fieldName('/wakes/t1', 'agent')).toBe('wakes.t1')
  })

  it('is coloured where there is colour, and only there', () => {
    expect(planText({ colour: true }, plan)).toContain('\u001b[31m- skill s\u001b[39m')
    expect(planText(plain, plan)).not.toContain('\u001b')
  })
})

it('a field of a connector that is not set says what its schema has for it', () => {
  const folder = new URL('../../../schemas/connectors/', import.meta.url)
  const schemas = readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
  const given = schemas.flatMap(({ properties = {} }) =>
    Object.entries(properties as Record<string, { default?: unknown }>).filter(([, one]) => 'default' in one),
  )
  expect(given.length).toBeGreaterThan(15)
  const said = (name: string) => fieldLines(plain, { path: `/config/${name}`, from: 'x' }, 'source')[0]
  for (const [name, { default: value }] of given)
    expect([
      `config.${name}: "x" → ${JSON.stringify(value)} (the default)`,
      `config.${name}: "x" → the default`,
    ]).toContain(said(name))
  expect(said('bearer_token')).toBe('config.bearer_token: "x" → not set')
})

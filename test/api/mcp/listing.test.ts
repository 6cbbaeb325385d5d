/** What svc mcp lists, as clients and their models get it; its documents say the same. */
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { listed } from '../../../api/mcp/call-tool.ts'
import { rawValues } from '../../../api/mcp/payload.ts'
import { parseUri, TEMPLATES, uriOf } from '../../../api/mcp/resources/uri.ts'
import { tools } from '../../../api/mcp/tools/index.ts'
import { normaliseSkill, readSkillFile } from '../../../engine/documents/skill.ts'

import { toolNames, toolSchema } from '../../../schemas/tools.ts'
import { textOf as rawTextOf } from '../../house/project-files.ts'
import { openDoor } from '../http/door.ts'

const textOf = (file: string) => rawTextOf(file).replace(/ +\|/g, ' |').replace(/\| +/g, '| ')
const names = tools.map(({ name }) => name)
const entries = tools.map((tool) => [tool.name, listed(tool)] as const)

/** Every schema within one, with its place. */
function* within(schema: unknown, at = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof schema !== 'object' || schema === null) return
  if (!Array.isArray(schema)) yield [at, schema as Record<string, unknown>]
  for (const [key, value] of Object.entries(schema)) yield* within(value, `${at}/${key}`)
}

describe('the list of tools', () => {
  it('has a schema file for each tool, and no other', () => {
    expect([...toolNames].sort()).toEqual([...names].sort())
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(entries)('has for %s schemas that hold by themselves', (name, { inputSchema }) => {
    const ajv = new Ajv({ strict: true, formats: { 'date-time': true } })
    const { input, output } = toolSchema(name) as unknown as Record<'input' | 'output', { type: string }>
    for (const schema of [inputSchema, input, output]) {
      expect(() => ajv.compile(schema)).not.toThrow()
      expect(schema.type).toBe('object')
      for (const [at, one] of within(schema)) {
        expect(
          Object.keys(one).filter((key) => /^(\$ref|\$schema|\$id|definitions|x-.*)$/.test(key)),
          at,
        ).toEqual([])
        // Some clients know one type a schema alone.
        expect(Array.isArray(one.type), at).toBe(false)
        if (at.endsWith('/properties'))
          // Of a label and its value the names say what they are.
          for (const [name, property] of Object.entries(one))
            if (!/\/items\/properties$/.test(at) || !/^(label|value)$/.test(name))
              expect((property as { description?: string }).description, `${at}/${name}`).toBeTruthy()
      }
    }
  })

  it.each(entries)('says of %s when to use it', (_name, { description, title, annotations }) => {
    expect(description.length).toBeGreaterThan(60)
    expect(description.length).toBeLessThan(700)
    expect(title).toBeTruthy()
    expect(annotations).toMatchObject({
      readOnlyHint: expect.any(Boolean),
      openWorldHint: expect.any(Boolean),
    })
  })

  it('is told by the daemon, too', async () => {
    const door = await openDoor()
    const { text } = await door.call('GET', '/api/mcp/tools')
    expect(JSON.parse(text)).toEqual(tools.map(({ name, description }) => ({ name, description })))
  })
})

describe('docs/mcp.md', () => {
  it('has each tool with its scope, whether project keys may call it, and what it does', () => {
    const rows = textOf('docs/mcp.md')
      .split('\n')
      .filter((line) => /^\| `[a-z_]+` \| (read|ingest|findings|respond|admin) \|/.test(line))
    expect(rows).toEqual(
      tools.map(
        ({ name, scope, ofProject, hints, title }) =>
          `| \`${name}\` | ${scope} | ${ofProject ? 'yes' : 'no'} | ${hints.readOnlyHint ? 'reads' : hints.destructiveHint ? 'takes away' : 'adds'} | ${title} |`,
      ),
    )
  })

  it('names for each part of the specification that is served a test that there is', () => {
    const [, section] = /^## Conformance\n([\s\S]*?)^## /m.exec(textOf('docs/mcp.md'))!
    const rows = [...section!.matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)].slice(2)
    expect(rows.length).toBeGreaterThan(20)
    for (const [, part, here, held] of rows) {
      const [, file, title] = /^`([a-z]+\.test\.ts)`: (.+)$/.exec(held!) ?? []
      if (file) expect(rawTextOf(`test/api/mcp/${file}`), part).toContain(`'${title}'`)
      else expect([held, here], part).toEqual(['—', expect.stringMatching(/^(no|not)\b/)])
    }
  })

  it('has each resource', () => {
    for (const { uriTemplate } of TEMPLATES) expect(textOf('docs/mcp.md')).toContain(`| \`${uriTemplate}\` |`)
  })
})

describe('the skill svc', () => {
  const file = rawTextOf('catalog/skills/svc/SKILL.md')

  it('keeps the rules of a skill', () => {
    const { name, description, body } = readSkillFile(Buffer.from(file))
    expect(name).toBe('svc')
    expect(() => normaliseSkill({ description, body })).not.toThrow()
  })

  it('names tools that exist', () => {
    const called = [...file.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map((match) => match[1]!)
    const arguments_ = [
      'max_tokens',
      'event_id',
      'event_types',
      'event_type',
      'next_step',
      'retry_after_seconds',
      'no_op',
      'lease_until',
      'dry_run',
    ]
    expect(called.filter((name) => !names.includes(name) && !arguments_.includes(name))).toEqual([])
  })
})

describe('addresses of resources', () => {
  it('come back as they were', () => {
    for (const address of [
      { kind: 'entity', label: 'host', value: 'a/b?c=ü %' },
      { kind: 'project', project: 'My shop' },
      { kind: 'incidents' },
      { kind: 'incident', id: 'inc_1' },
      { kind: 'findings', project: 'p' },
      { kind: 'firings', project: 'p' },
      { kind: 'finding', project: 'p', id: 'run_1' },
      { kind: 'skill', name: 's' },
      { kind: 'tool', name: 'read' },
    ] as const)
      expect(parseUri(uriOf(address))).toEqual(address)
  })

  it.each([
    '',
    'http://x',
    'svc://',
    'svc://entity/a',
    'svc://incidents/a',
    'svc://incident',
    'svc://entity/a/b/c',
    'svc://project/p/runs',
    'svc://skill/%',
    'svc://entity//b',
  ])('are not %j', (uri) => expect(parseUri(uri)).toBeNull())
})

describe('payloads', () => {
  it('are cut out of an answer byte for byte, whatever is in them', () => {
    const raws = ['{"raw":1e400,"a":"\\"raw\\":"}', '[1,{"raw":2}]', '"x,}"', '12345678901234567890']
    const rows = raws.map((raw) => `{"labels":{"raw":"no"},"text":",\\"raw\\":3","raw":${raw}}`)
    expect(rawValues(`{"raw":0,"rows":[${rows.join(',')}]}`, 3)).toEqual(raws)
    expect(rawValues('{"event":{"id":"raw","text":""}}', 2)).toEqual([])
  })
})

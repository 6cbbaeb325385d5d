import { describe, expect, it } from 'vitest'
import { readCatalog } from '../../../../engine/catalog/file/index.ts'

/** Problems of a text as "line:column path: message". */
const problems = (text: string) =>
  readCatalog(text).problems.map((p) => `${p.line}:${p.column} ${p.path}: ${p.message}`)

describe('a catalog file that is read', () => {
  const faulty: [string, string, string][] = [
    ['YAML that is not valid', 'sources: [', '1:11 : not valid YAML'],
    ['a field given twice', 'sources: []\nsources: []\n', '2:1 : the same field is given twice'],
    ['an unknown section', 'sorces: []\n', '1:9 sorces: sorces is not a known field; did you mean sources?'],
    [
      'an unknown field',
      'sources:\n  - name: a\n    connector: memory\n    pol: 5s\n',
      '4:10 sources[0].pol: pol is not a known field; did you mean poll?',
    ],
    [
      'a wrong type',
      'sources:\n  - name: 7\n    connector: memory\n',
      '2:11 sources[0].name: name must be string',
    ],
    ['a missing field', 'sources:\n  - name: a\n', '2:5 sources[0]: connector is required'],
    [
      'a value that breaks a rule',
      'sources:\n  - name: a/b\n    connector: memory\n',
      '2:11 sources[0].name: name must be 1 to 64 letters',
    ],
    [
      'a condition that is no condition',
      'triggers:\n  - name: t\n    sources: [a]\n    condition: {aggregate: count, predicate: lots, window: 5m}\n',
      '4:16 triggers[0].condition',
    ],
    [
      'a name that is taken',
      'sources:\n  - {name: a, connector: memory}\n  - {name: a, connector: memory}\n',
      '3:12 sources[1].name: a is already defined at line 2',
    ],
    ['two documents', 'sources: []\n---\nsources: []\n', ': the file holds several documents'],
    ['a tag', 'sources: !!js/function "x"\n', '1:10 : tags are not allowed'],
    ['a merge key', 'sources:\n  - <<: {name: a}\n    connector: memory\n', ': merge keys are not allowed'],
    ['a list for a file', '- a\n', '1:1 : body must be object'],
    ['a key that is no text', '{[1]: 2}\n', ': not valid YAML'],
    ['both words for projects', 'projects: []\nusecases: []\n', '2:11 usecases: usecases is the old word'],
    [
      'the old word under the new one',
      'projects:\n  - recipe: custom\n    name: x\n',
      '2:13 projects[0].recipe: recipe is the old word for template',
    ],
    [
      'an alias of nothing',
      'sources:\n  - name: *gone\n    connector: memory\n',
      '2:11 : no value above is marked &gone',
    ],
  ]
  it.each(faulty)('tells the place of %s', (_what, text, message) => {
    expect(problems(text).join('\n')).toContain(message)
    expect(readCatalog(text).catalog).toBeNull()
  })

  it('tells every problem, not only the first', () => {
    const text = 'sources:\n  - name: a\n    colour: red\n  - connector: memory\ntriggers:\n  - name: t\n'
    expect(problems(text)).toEqual([
      '2:5 sources[0]: connector is required',
      expect.stringContaining('sources[0].colour: colour is not a known field'),
      '4:5 sources[1]: name is required',
      '6:5 triggers[0]: sources is required',
      '6:5 triggers[0]: condition is required',
    ])
  })

  it('takes aliases, but not a swarm of them that would fill the memory', () => {
    const { catalog } = readCatalog('sources:\n  - &a {name: a, connector: memory}\nskills: []\n')
    expect(catalog?.sources).toEqual([{ name: 'a', connector: 'memory' }])
    const lines = ['a: &a ["lol","lol","lol","lol","lol","lol","lol","lol","lol"]']
    for (let i = 1; i < 9; i++) {
      const [to, from] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)]
      lines.push(`${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join(',')}]`)
    }
    expect(problems(lines.join('\n')).join()).toContain('aliases')
  })

  it('refuses what is nested beyond reason, and what is too large', () => {
    expect(problems(`sources: ${'['.repeat(300)}${']'.repeat(300)}`).join()).toContain(
      'nested deeper than 100',
    )
    expect(problems('#'.repeat(8 * 1024 * 1024 + 1))).toEqual(['1:1 : the file is larger than 8 MiB'])
  })

  it('reads the old words as the new ones', () => {
    const { catalog } = readCatalog('usecases:\n  - recipe: custom\n    name: x\n')
    expect(catalog).toEqual({ projects: [{ template: 'custom', name: 'x' }] })
  })

  it('reads an empty file as one that says nothing', () => {
    expect(readCatalog('').catalog).toEqual({})
    expect(readCatalog('# only a comment\n').catalog).toEqual({})
  })

  it('tells the place of a path, or of what is nearest to it', () => {
    const { locate } = readCatalog('sources:\n  - name: a\n    connector: memory\n')
    expect(locate(['sources', 0, 'name'])).toMatchObject({ line: 2, column: 11 })
    expect(locate(['sources', 0, 'config', 'labels'])).toMatchObject({ line: 2, column: 5 })
  })
})

import { describe, expect, it } from 'vitest'
import { projectFiles, textOf } from './project-files.ts'

const GENERATED = new Set([...['schemas/types.ts', 'schemas/registry.ts'], 'api/client/calls.ts'])
const sources = projectFiles().filter((file) => /\.(ts|tsx|mjs|cjs|css)$/.test(file) && !GENERATED.has(file))

describe('source files', () => {
  it('have at most 400 lines, tests 500, those of the engine 600: a fact is in one file there', () => {
    const most = (file: string): number =>
      file.startsWith('engine/') ? 600 : file.startsWith('test/') || file.startsWith('e2e/') ? 500 : 400
    const tooLong = sources
      .map((file) => ({ file, lines: textOf(file).split('\n').length - 1 }))
      .filter(({ file, lines }) => lines > most(file))
    expect(tooLong).toEqual([])
  })

  it('have names in kebab-case', () => {
    expect(sources.filter((file) => !/^[a-z0-9.-]+$/.test(file.split('/').at(-1)!))).toEqual([])
  })

  it('begin with a comment that says what they are', () => {
    const ours = sources.filter((file) => /^(engine|api|machines|schemas|scripts)\//.test(file))
    const without = ours.filter((file) => !/^(#![^\n]*\n)?\/\*\*/.test(textOf(file)))
    expect(without).toEqual([])
  })
})

describe('the engine and the machines', () => {
  const banned: [what: string, pattern: RegExp, allowedIn: string[]][] = [
    ['the wall clock', /\bDate\.now\(\)|\bnew Date\(\)/, ['engine/clock.ts']],
    ['timers', /\bsetTimeout\(/, ['engine/clock.ts']],
    ['console output', /\bconsole\.\w+\(|process\.std(out|err)/, []],
    // A scope for steps is of an actor that is never started.
    ['live actors', /\bcreateActor\(/, ['machines/step.ts']],
    ['network calls', /(?<![\w.])fetch\(/, []],
  ]

  it.each(banned)('use %s only where it is injected', (_what, pattern, allowedIn) => {
    const files = sources.filter((file) => /^(engine|machines)\//.test(file) && !allowedIn.includes(file))
    expect(files.filter((file) => pattern.test(withoutComments(textOf(file))))).toEqual([])
  })
})

describe('the MCP server', () => {
  it('writes to standard output nowhere: over stdio it is the protocol', () => {
    const files = sources.filter((file) => file.startsWith('api/mcp/') && file !== 'api/mcp/start.ts')
    const pattern = /\bconsole\.\w+\(|process\.stdout|\bout\(/
    expect(files.filter((file) => pattern.test(withoutComments(textOf(file))))).toEqual([])
  })
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
}

/** What an error, a help or a hint tells people to run, set, call or open is there. */
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '../../api/cli/program.ts'
import type { Io } from '../../api/cli/terminal.ts'
import { environment } from '../../api/environment.ts'
import { projectFiles, textOf } from './project-files.ts'

const sources = projectFiles().filter((file) => /^(api|engine|console|schemas)\/.*\.tsx?$/.test(file))
/** What people read of templates, skills and schemas. */
const texts = projectFiles().filter((file) => /^(catalog|schemas)\/.*\.(json|ya?ml|md)$/.test(file))
const program = buildProgram({ env: {}, colour: false } as unknown as Io)

/** The code of a file without its comments, which speak to those who change it. */
const codeOf = (file: string): string =>
  textOf(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')

/** Every match of a pattern in the code, as `file: match`, where the match is not as it should be. */
function wrong(files: readonly string[], pattern: RegExp, isRight: (match: string) => boolean): string[] {
  return files.flatMap((file) =>
    [...codeOf(file).matchAll(pattern)].filter((hit) => !isRight(hit[1]!)).map((hit) => `${file}: ${hit[1]}`),
  )
}
const count = (files: readonly string[], pattern: RegExp): number =>
  files.reduce((sum, file) => sum + [...codeOf(file).matchAll(pattern)].length, 0)

describe('every hint in an error, a help or a page', () => {
  it('names commands that exist', () => {
    // Within quotes, after a word that tells to run it, or as a line of examples.
    const pattern = /(?:["'`]|\b[Rr]un |\buse |\bwith |^ {2})svc ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)/gm
    const prose = /^(may not|keeps|asks it|runs in|was stopped|was updated) ?/
    const isCommand = (words: string) => prose.test(words) || found(program, words.split(' '))
    expect(wrong([...sources, ...texts], pattern, isCommand)).toEqual([])
    expect(count(sources, pattern)).toBeGreaterThan(40)
  })

  it('names options that exist', () => {
    const known = new Set(every(program).flatMap(({ options }) => options.flatMap(({ long }) => long ?? [])))
    // Of curl, which the pages show as a way to send events, and the head of a patch.
    const others = ['--help', '--data-binary', '--version', '--git']
    // Those that git and journalctl are run with are theirs.
    const theirs = /^(console\/|engine\/reconcile\/mirror|engine\/sources\/connectors\/journald)/
    const files = sources.filter((file) => !theirs.test(file))
    const pattern = /(?<=[\s"'`(])(--[a-z][a-z-]*[a-z])(?![\w.]|\s*[=!<>]=)/g
    const isOption = (flag: string) => known.has(flag) || others.includes(flag)
    expect(wrong(files, pattern, isOption)).toEqual([])
    expect(count(files, pattern)).toBeGreaterThan(60)
  })

  it('names routes that exist', () => {
    const { paths } = JSON.parse(textOf('api/http/openapi.json')) as { paths: Record<string, object> }
    const routes = new Set(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${shape(path)}`),
      ),
    )
    const pattern = /\b((?:GET|POST|PUT|DELETE) \/[A-Za-z0-9_/{}<>$.:-]*[A-Za-z0-9_}>])/g
    const isRoute = (call: string) => {
      const [method, path] = call.split(' ')
      return routes.has(`${method} ${shape(path!)}`)
    }
    // The table of scopes is compared with the routes by the server itself.
    const files = sources.filter(
      // Logs of the demo's shop are of its own routes.
      (file) => file !== 'api/http/scopes.ts' && file !== 'engine/sources/connectors/demo.ts',
    )
    expect(wrong(files, pattern, isRoute)).toEqual([])
    expect(count(files, pattern)).toBeGreaterThan(5)
  })

  it('names variables that exist', () => {
    const names = environment.map(({ name }) => name.replace('*', ''))
    // Stands in a check for a secret that is entered later, and is never read.
    const isKnown = (name: string) =>
      name === 'SVC_SECRET_NOT_ENTERED' ||
      names.some((one) => (one.endsWith('_') ? name.startsWith(one) : one === name))
    // The guard knows the names of before, which are no longer read.
    const files = sources.filter((file) => file !== 'api/guards.ts' && file !== 'api/environment.ts')
    expect(wrong(files, /(?<![A-Z_])(SVCD?_[A-Z][A-Z_]*[A-Z])(?![A-Z_])/g, isKnown)).toEqual([])
  })

  it('names tabs of Settings that exist', () => {
    const page = textOf('console/pages/settings/settings-page.tsx')
    // Of another program, whose settings have a page of that name.
    const isOther = (words: string) => words.startsWith('Developer')
    const isTab = (words: string) =>
      isOther(words) || [1, 2, 3].some((n) => page.includes(`'${words.split(' ').slice(0, n).join(' ')}'`))
    const pattern = /\bSettings, ([A-Z][A-Za-z]+(?: [a-z]+){0,2})/g
    const hints = sources.filter((file) => file !== 'console/pages/settings/settings-page.tsx')
    expect(wrong(hints, pattern, isTab)).toEqual([])
    expect(count(hints, pattern)).toBeGreaterThan(3)
  })

  it('names pages of the console that exist', () => {
    const routes = [...textOf('console/routes.tsx').matchAll(/path="([^"]+)"/g)].map(([, path]) =>
      shape(path!),
    )
    const pattern = /(?:\bto=["'{`]+|navigate\(['`])(\/[a-z][A-Za-z0-9/_$.{}-]*)/g
    const pages = sources.filter((file) => file.startsWith('console/'))
    const isPage = (path: string) => routes.includes(shape(path))
    expect(wrong(pages, pattern, isPage)).toEqual([])
    expect(count(pages, pattern)).toBeGreaterThan(10)
  })
})

/** A path whose parameters have no names. */
const shape = (path: string): string =>
  path
    .replace(/\?.*$/, '')
    .split('/')
    .map((part) => (/^[:{<]|\$\{/.test(part) ? '*' : part))
    .filter((part, i) => i === 0 || part !== '')
    .join('/')

/** Whether words lead to a command; those after one without commands of its own are its arguments, or prose. */
function found(command: Command, [word, ...rest]: readonly string[]): boolean {
  if (word === undefined || command.commands.length === 0) return true
  const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
  return child !== undefined && found(child, rest)
}

function every(command: Command): Command[] {
  return [command, ...command.commands.flatMap(every)]
}

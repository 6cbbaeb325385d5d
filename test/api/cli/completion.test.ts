/** Issue 16, D: completion, run by the shells there are, and the manual page made of the same commands. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { buildProgram } from '../../../api/cli/program.ts'
import { SHELLS, type Shell } from '../../../api/cli/reference/completion.ts'
import { manPage } from '../../../api/cli/reference/man-page.ts'
import { commandFacts } from '../../../api/cli/reference/tree.ts'
import type { Io } from '../../../api/cli/terminal.ts'
import { svc } from './cli-harness.ts'

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0
const folder = mkdtempSync(join(tmpdir(), 'svc-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))
const facts = commandFacts(buildProgram({ env: {}, colour: false } as unknown as Io))

const scripts = new Map<Shell, ReturnType<typeof svc>>()

/** The script for a shell, made once. */
async function scriptFor(shell: Shell): Promise<string> {
  if (!scripts.has(shell)) scripts.set(shell, svc(['completion', shell]))
  return (await scripts.get(shell)!).out
}

/** In single quotes: bash and zsh know no escape there. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Has one process of a shell answer for all lines: the last word of each is the one under the cursor. */
function answersOf(shell: Shell, script: string, ask: string, lines: readonly string[][]): string[][] {
  const asked = lines.map((line) => `${ask} ${line.map(quoted).join(' ')}; printf '\\0'`)
  const input = `${script}\n${asked.join('\n')}\n`
  // In a folder of its own, so that it is none of the files that are offered.
  const file = join(mkdtempSync(join(folder, 'ask-')), 'ask')
  writeFileSync(file, input)
  const ran = spawnSync(shell, [...SHELL_OPTIONS[shell], file], { cwd: folder, encoding: 'utf8' })
  expect(ran.stderr).toBe('')
  return ran.stdout
    .split('\0')
    .slice(0, -1)
    .map((words) => words.split('\n').filter(Boolean))
}

/** Without what a person has set up. */
const SHELL_OPTIONS = { bash: ['--norc'], zsh: ['-f'], fish: ['--no-config'] } as const

const BASH_ASK = `
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"; }`
/** Zsh offers by functions that only its line editor has: here they print the names they are given. */
const ZSH_ASK = `
_describe() { local list=$argv[-1]; local -a all; all=("\${(@P)list}"); print -rl -- "\${(M@)\${(@)all%%:*}:#\${words[CURRENT]}*}"; }
_files() { print -rl -- "\${words[CURRENT]}"*(N); }
ask() { words=("$@"); CURRENT=$#; _svc; }`
const ASKED: Record<Shell, string> = {
  bash: BASH_ASK,
  zsh: ZSH_ASK,
  fish: `
function ask; complete -C (string join ' ' -- (string escape -- $argv[1..-2]) $argv[-1]) | string replace -r '\\t.*' ''; end`,
}

/** Two instances, played: no name of them is asked for otherwise. */
const THERE = 'names sources --svcd http://h:1 --token=t'
const SH = `svc() { case "$*" in 'names sources') printf 'gateway\\nthe: gate\\n';; '${THERE}') echo there;; esac; }\n`
const INSTANCE: Record<Shell, string> = {
  bash: SH,
  zsh: SH,
  fish: `function svc; switch "$argv"; case 'names sources'; printf 'gateway\\nthe: gate\\n'; case '${THERE}'; echo there; end; end\n`,
}

/** What a shell offers for each line. */
async function offers(shell: Shell, lines: readonly string[][]): Promise<string[][]> {
  const before = shell === 'zsh' ? 'compdef() { :; }\n' : ''
  return answersOf(shell, `${before}${INSTANCE[shell]}${await scriptFor(shell)}${ASKED[shell]}`, 'ask', lines)
}

describe.each(SHELLS)('D: completion in %s, run by it', (shell) => {
  const there = it.skipIf(!has(shell, '-c', 'true'))

  there('offers commands, subcommands and the options of each', async () => {
    const [command, subcommands, option, after, deep, none] = await offers(shell, [
      ['svc', 'cata'],
      ['svc', 'catalog', ''],
      ['svc', 'read', 'service=x', '--win'],
      ['svc', 'read', '--svcd', 'http://h', '--ma'],
      ['svc', 'catalog', 'plan', '--str'],
      ['svc', 'nosuch', 'x'],
    ])
    expect(command).toEqual(['catalog'])
    const children = facts.find(({ path }) => path === 'svc catalog')!.children.map(({ name }) => name)
    expect(subcommands!.sort()).toEqual(children.sort())
    expect(option).toEqual(['--window'])
    expect(after).toEqual(['--max-tokens'])
    expect(deep).toEqual(['--strict'])
    expect(none).toEqual([])
  })

  there(
    'offers files where a command takes one, names with spaces whole, and nothing for other values',
    async () => {
      writeFileSync(join(folder, 'my plan.json'), '')
      const [argument, option, value] = await offers(shell, [
        ['svc', 'catalog', 'apply', 'my'],
        ['svc', 'catalog', 'plan', 'x', '--out', 'my'],
        ['svc', 'read', '--window', ''],
      ])
      expect([argument, option, value]).toEqual([['my plan.json'], ['my plan.json'], []])
    },
  )

  there('offers the words that an option or an argument takes, where they are few', async () => {
    const lines = [
      ['svc', 'catalog', 'sync', '--policy', ''],
      ['svc', 'catalog', 'plan', 'x', '--ours', 'f'],
      ['svc', 'runs', 'rerun', 'run_1', '--as-of', 'no-such'],
      ['svc', 'completion', ''],
      ['svc', 'demo', 'break', 'c'],
    ]
    expect((await offers(shell, lines)).map((words) => words.sort())).toEqual([
      ['auto', 'auto-prune', 'manual'],
      ['file'],
      [],
      ['bash', 'fish', 'zsh'],
      ['cart', 'checkout'],
    ])
  })

  there('offers the names that the instance has, and none where a name is made', async () => {
    const lines = [
      ['svc', 'sources', 'show', ''],
      ['svc', 'sources', 'show', 'gate'],
      ['svc', 'read', 'service=x', '--source', 'g'],
      ['svc', 'sources', 'add', ''],
      ['svc', 'triggers', 'show', ''],
    ]
    const spaced = { bash: 'the:\\ gate', zsh: 'the\\', fish: 'the: gate' }[shell]
    expect(await offers(shell, lines)).toEqual([['gateway', spaced], ['gateway'], ['gateway'], [], []])
  })

  there('offers names for the first argument alone, of the daemon that the line names', async () => {
    // Bash cuts an address into words.
    const to = (url: string) => (shell === 'bash' ? url.split(/([:=]+)/) : [url])
    const at = ['--svcd', ...to('http://h:1'), ...to('--token=t')]
    const lines = [
      ['svc', 'sources', 'rename', 'g'],
      ['svc', 'sources', 'rename', 'gateway', 'g'],
      ['svc', 'sources', 'rename', '--why', 'x', 'g'],
      ['svc', 'sources', 'rm', ...at, ''],
      ['svc', 'read', 'service=x', ...at, '--source', 't'],
      ['svc', 'sources', 'rm', ...at, 'there', ''],
    ]
    expect(await offers(shell, lines)).toEqual([['gateway'], [], ['gateway'], ['there'], ['there'], []])
  })

  there('knows every command and every option there is', async () => {
    const commands = facts.filter(({ children }) => children.length === 0)
    const lines = commands.map(({ path }) => [...path.split(' '), '--'])
    for (const [i, offered] of (await offers(shell, lines)).entries()) {
      const { path, options } = commands[i]!
      expect(offered, path).toEqual(
        expect.arrayContaining(options.flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--')))),
      )
    }
  })
})

it.each(['zsh', 'fish'] as const)('D: the script for %s is one', async (shell) => {
  const { out, code } = await svc(['completion', shell])
  expect(code).toBe(0)
  for (const { path } of facts.slice(1)) expect(out).toContain(`'${path}'`)
  const file = join(folder, `svc.${shell}`)
  writeFileSync(file, out)
  // Where the shell is there, its own look at the syntax.
  if (has(shell, '-c', 'true')) expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' }).stderr).toBe('')
})

it('D: a shell that is not known is a wrong command line', async () => {
  expect(await svc(['completion', 'tcsh'])).toMatchObject({
    code: 64,
    err: expect.stringContaining('bash, zsh, fish'),
  })
})

describe('D: the manual page', () => {
  const page = manPage(facts)

  it('is docs/svc.1 as it was generated', () => {
    const text = readFileSync(new URL('../../../docs/svc.1', import.meta.url), 'utf8')
    expect(text === page, 'docs/svc.1 is stale: npm run generate').toBe(true)
  })

  it('has no line that roff would take for a request of its own', () => {
    const known = /^\.(\\"|TH|SH|SS|TP|nf|fi)( |$)/
    for (const line of page.split('\n').filter((one) => /^[.']/.test(one))) expect(line).toMatch(known)
  })

  it.skipIf(!has('man', '--version'))('is shown by man without a warning', () => {
    const file = join(folder, 'svc.1')
    writeFileSync(file, page)
    const ran = spawnSync('man', ['--warnings', '-l', file], {
      encoding: 'utf8',
      env: { ...process.env, MANWIDTH: '100', MANPAGER: 'cat', LC_ALL: 'C.UTF-8' },
    })
    expect([ran.status, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain('svc catalog plan')
    expect(ran.stdout).toContain('--max-deletions <n>')
  })
})

it('D: the help of every command tells exit codes that are true', async () => {
  for (const words of [['read'], ['catalog', 'plan'], ['send']]) {
    const { out, code } = await svc([...words, '--help'])
    expect([code, out]).toEqual([0, expect.stringContaining('64 wrong usage')])
    expect((await svc([...words, '--no-such-option'])).code).toBe(64)
  }
})

/** Issue 16, D: completion, run by the shells there are, and the manual page made of the same commands. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { buildProgram } from '../../../api/cli/program.ts'
import { manPage } from '../../../api/cli/reference/man-page.ts'
import { commandFacts } from '../../../api/cli/reference/tree.ts'
import type { Io } from '../../../api/cli/terminal.ts'
import { svc } from './cli-harness.ts'

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0
const folder = mkdtempSync(join(tmpdir(), 'svc-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))
const facts = commandFacts(buildProgram({ env: {}, colour: false } as unknown as Io))

let completion: ReturnType<typeof svc> | undefined

/** What bash offers for a line; the last word is the one under the cursor. */
async function offered(...line: string[]): Promise<string[]> {
  completion ??= svc(['completion', 'bash'])
  const { out } = await completion
  const script = `${out}\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n_svc\nprintf '%s\\n' "\${COMPREPLY[@]}"`
  const ran = execFileSync('bash', ['-c', script, 'bash', ...line], { cwd: folder, encoding: 'utf8' })
  return ran.split('\n').filter(Boolean)
}

describe.skipIf(!has('bash', '-c', 'true'))('D: completion in bash', () => {
  it('offers commands, subcommands and the options of each', async () => {
    expect(await offered('svc', 'cata')).toEqual(['catalog'])
    expect(await offered('svc', 'catalog', '')).toEqual(
      facts.find(({ path }) => path === 'svc catalog')!.children.map(({ name }) => name),
    )
    expect(await offered('svc', 'read', 'service=x', '--win')).toEqual(['--window'])
    expect(await offered('svc', 'read', '--svcd', 'http://h', '--ma')).toEqual(['--max-tokens'])
    expect(await offered('svc', 'catalog', 'plan', '--str')).toEqual(['--strict'])
    expect(await offered('svc', 'nosuch', 'x')).toEqual([])
  })

  it('offers files where a command takes one, names with spaces whole, and nothing for other values', async () => {
    writeFileSync(join(folder, 'my plan.json'), '')
    expect(await offered('svc', 'catalog', 'apply', 'my')).toEqual(['my plan.json'])
    expect(await offered('svc', 'catalog', 'plan', 'x', '--out', 'my')).toEqual(['my plan.json'])
    expect(await offered('svc', 'read', '--window', '')).toEqual([])
  })

  it('knows every command and every option there is', async () => {
    for (const { path, options } of facts.filter(({ children }) => children.length === 0))
      expect(await offered(...path.split(' '), '--'), path).toEqual(
        expect.arrayContaining(options.flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--')))),
      )
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

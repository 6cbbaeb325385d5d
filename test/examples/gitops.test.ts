/**
 * The example repository as a team has it: its workflow, its GitLab job and its hook are read from their files and
 * run in order, in clones of a bare repository with the real git, by the package of the command as npm installs it: a
 * review and the job for GitLab, which ask all there is to ask. The other scripts find the command of `command-here.ts`.
 * `gh` alone is played: it writes down what it was told, and knows comments of before by `comments.txt`.
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { environment as environmentVariables } from '../../api/environment.ts'
import { packCommand } from '../../scripts/package.mjs'
import { type Daemon, startDaemon } from '../api/cli/real-daemon.ts'
import { type CommandHere, commandHere } from './command-here.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const example = join(project, 'examples/gitops')
const folder = mkdtempSync(join(tmpdir(), 'svc-gitops-'))
const origin = join(folder, 'origin.git')
const prefix = join(folder, 'prefix')
const tools = join(folder, 'tools')
const told = join(folder, 'gh.txt')
const comments = join(folder, 'comments.txt')
let tgz = ''
/** Folders before that of the package. */
const inFront: string[] = []
let here: CommandHere
const daemons: Daemon[] = []

/** Of a runner: no key of this machine, no network, and what npm installs is found. */
const environment = (): Record<string, string> => ({
  PATH: [...inFront, join(prefix, 'bin'), tools, dirname(process.execPath), '/usr/bin', '/bin'].join(
    delimiter,
  ),
  HOME: folder,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
  npm_config_prefix: prefix,
  npm_config_cache: join(folder, 'npm'),
  npm_config_offline: 'true',
  COMMAND_PACKAGE: tgz,
})

interface Ran {
  code: number
  output: string
}

function run(cwd: string, command: string, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...environment(), ...env } })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        output += part.toString()
      })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, output }))
  })
}

/** As runners of GitHub and GitLab run a step: the first command that fails ends it. */
const script = (cwd: string, text: string, env?: Record<string, string>): Promise<Ran> =>
  run(cwd, 'bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', text], env)

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { code, output } = await run(cwd, 'git', args)
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${output}`)
  return output
}

async function cloned(name: string, branch: string): Promise<string> {
  const clone = join(folder, name)
  await git(folder, 'clone', '-q', '--branch', branch, origin, clone)
  return clone
}

function edit(clone: string, file: string, from: string, to: string): void {
  const text = readFileSync(join(clone, file), 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
  writeFileSync(join(clone, file), text.replace(from, to))
}

async function pushed(branch: string, file: string, from: string, to: string): Promise<void> {
  const clone = await cloned(`for-${branch}`, 'main')
  await git(clone, 'checkout', '-q', '-b', branch)
  edit(clone, file, from, to)
  await git(clone, 'commit', '-q', '-am', branch)
  await git(clone, 'push', '-q', 'origin', branch)
}

beforeAll(async () => {
  for (const each of [prefix, tools]) mkdirSync(each)
  here = await commandHere(join(folder, 'here'))
  tgz = (await packCommand({ out: folder })).file
  writeFileSync(
    join(tools, 'gh'),
    `#!/bin/sh
case "$*" in
  *--jq*) cat '${comments}' 2>/dev/null || true;;
  *) echo "$@" >> '${told}'; cat comment.md >> '${told}';;
esac
`,
  )
  chmodSync(join(tools, 'gh'), 0o755)
  await git(folder, 'init', '-q', '--bare', '--initial-branch', 'main', origin)
  const first = join(folder, 'first')
  cpSync(example, first, { recursive: true })
  await git(first, 'init', '-q', '--initial-branch', 'main')
  await git(first, 'add', '.')
  await git(first, 'commit', '-q', '-m', 'The catalog')
  await git(first, 'push', '-q', origin, 'main')
  await pushed('lower', 'environments/production.yaml', 'errors: 5', 'errors: 4')
  await pushed('faulty', 'environments/production.yaml', 'errors: 5', 'errors: many')
})

afterAll(async () => {
  for (const daemon of daemons) await daemon.stop()
  await here.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The tests of a group ask the command in this process. */
function askHere(): void {
  beforeAll(() => void inFront.push(here.folder))
  afterAll(() => void inFront.pop())
}

interface Step {
  name?: string
  run?: string
}
interface Job {
  env: Record<string, string>
  steps: Step[]
}
const jobs = (
  parse(readFileSync(join(example, '.github/workflows/catalog.yml'), 'utf8')) as { jobs: Record<string, Job> }
).jobs

/** As the workflow and the GitLab job have it. The first test runs it; it would put the same package in the same place again. */
const INSTALL = 'npm install --global "$COMMAND_PACKAGE"'

/**
 * Runs the steps of a job in order; what needs GitHub itself is taken out, and so is the step that installs, once it is what
 * was installed with. @returns the step that failed
 */
async function runJob(
  job: Job,
  cwd: string,
  context: Record<string, string>,
): Promise<{ failed: string | null; output: string }> {
  const known = Object.fromEntries(
    Object.entries(job.env).map(([name, value]) => {
      const asked = /^\$\{\{ (.+) \}\}$/.exec(value)?.[1]
      if (asked === undefined) return [name, value]
      const given = context[asked]
      if (given === undefined) throw new Error(`${name} asks for ${asked}, which no test gives`)
      return [name, given]
    }),
  )
  const env = { ...known, GITHUB_SHA: 'abc123', GITHUB_STEP_SUMMARY: join(cwd, '.git', 'summary.md') }
  let output = ''
  for (const { name = '', run: text } of job.steps) {
    if (text === undefined || text === INSTALL) continue
    const ran = await script(cwd, text, env)
    output += ran.output
    if (ran.code !== 0) return { failed: name, output }
  }
  return { failed: null, output }
}

const review = (environmentName: string) => ({
  'matrix.environment': environmentName,
  'github.base_ref': 'main',
  'github.event.pull_request.number': '7',
  'vars.COMMAND_PACKAGE': tgz,
  'github.token': 'none',
})

describe('the package of the command', () => {
  it('is installed without a registry, and needs no daemon to check, but is none', async () => {
    const installed = await script(folder, INSTALL)
    expect(installed).toMatchObject({ code: 0 })
    const checked = await script(example, 'svc catalog check --offline --env production')
    expect(checked).toEqual({ code: 0, output: '. has no problem\n' })
    const began = await script(folder, 'svc catalog init begun && cd begun && svc catalog test --env staging')
    expect(began).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'begun/.gitignore'), 'utf8')).toContain('.base/')
    const read = readFileSync(join(prefix, 'lib/node_modules/@example/svc/README.md'), 'utf8')
    const variables = environmentVariables.map(({ name }) => name)
    for (const name of read.match(/SVCD?_[A-Z_]+/g)!) expect(variables).toContain(name)
    const up = await script(folder, 'svc up')
    expect(up).toEqual({ code: 1, output: expect.stringContaining('the command without the daemon') })
    await expect(packCommand({ scope: 'Shop', out: folder })).rejects.toThrow('--scope must be @')
  })
})

describe('the schema for editors', () => {
  it('is printed without a daemon, and every file that names it fits it', async () => {
    const { code, output } = await script(folder, 'svc catalog schema --offline')
    expect(code).toBe(0)
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(output) as object)
    const globs = (
      JSON.parse(readFileSync(join(example, '.vscode/settings.json'), 'utf8')) as {
        'yaml.schemas': Record<string, string[]>
      }
    )['yaml.schemas']['./.vscode/catalog.schema.json']!
    const files = globs.flatMap((glob) => [...globSync(glob, { cwd: example })])
    expect(files.sort()).toEqual([
      'agents.yaml',
      'catalog.yaml',
      'environments/production.yaml',
      'environments/staging.yaml',
      'sources/deploys.yaml',
      'sources/gateway.yaml',
      'triggers/errors.yaml',
      'triggers/silence.yaml',
    ])
    for (const file of files) {
      const text = readFileSync(join(example, file), 'utf8')
      const named = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1]
      expect(join(dirname(file), named!), file).toBe('.vscode/catalog.schema.json')
      validate(parse(text))
      expect(validate.errors, file).toBeNull()
    }
    expect(validate({ triggers: [{ name: 't', sorces: ['a'] }] })).toBe(false)
  })
})

describe('the workflow for GitHub', () => {
  it('installs the command, by its package, before it asks for it', () => {
    for (const { steps } of Object.values(jobs)) {
      const lines = steps.flatMap(({ run: text }) => text ?? [])
      expect(lines.indexOf(INSTALL)).toBe(0)
      expect(lines.filter((text) => text.includes('npm'))).toEqual([INSTALL])
    }
  })

  it('reviews a change: checks, tests, lints, and says in a comment what it would have fired', async () => {
    const clone = await cloned('review', 'lower')
    expect(await runJob(jobs.review!, clone, review('production'))).toMatchObject({ failed: null })
    const plan = readFileSync(join(clone, 'plan.md'), 'utf8')
    expect(plan).toContain('0 to create, 1 to change, 0 to delete.')
    expect(plan).toContain('| `gateway-errors` | changed | 1 | 2 | 2 | 1 |')
    expect(readFileSync(join(clone, '.git', 'summary.md'), 'utf8')).toBe(plan)
    expect(plan).toMatch(/^### Plan of `shop` for `production`\n/)
    const comment = `<!-- svc catalog plan: production -->\n${plan}`
    expect(readFileSync(told, 'utf8')).toBe(`pr comment 7 --body-file comment.md\n${comment}`)
    // The next push writes over it. What gh prints of a change is thrown away.
    writeFileSync(comments, '4711\n')
    writeFileSync(told, '')
    const again = jobs.review!.steps.find(({ name }) => name === 'Comment')!.run!
    expect(await script(clone, again, { ENVIRONMENT: 'production', PULL_REQUEST: '7' })).toMatchObject({
      code: 0,
    })
    rmSync(comments)
    expect(readFileSync(told, 'utf8')).toBe(
      `api --method PATCH repos/{owner}/{repo}/issues/comments/4711 --field body=@comment.md\n${comment}`,
    )
    const sarif = JSON.parse(readFileSync(join(clone, 'lint.sarif'), 'utf8')) as { version: string }
    expect(sarif.version).toBe('2.1.0')
    expect(readFileSync(join(clone, 'junit.xml'), 'utf8')).toContain('tests="2" failures="0" errors="0"')
  })
})

describe('the workflow for GitHub, by the command in this process', () => {
  askHere()

  it('of an environment that the change does not reach says so', async () => {
    const clone = await cloned('review-staging', 'lower')
    expect(await runJob(jobs.review!, clone, review('staging'))).toMatchObject({ failed: null })
    expect(readFileSync(join(clone, 'plan.md'), 'utf8')).toContain('No change.')
  })

  it('ends at the check of what has a problem, with its place on the line of the pull request', async () => {
    const clone = await cloned('review-faulty', 'faulty')
    const { failed, output } = await runJob(jobs.review!, clone, review('production'))
    expect(failed).toBe('Check')
    expect(output).toMatch(/::error file=environments\/production\.yaml,line=\d+,/)
  })

  it('applies what is merged to each environment with its values', async () => {
    for (const [name, errors] of [
      ['staging', 20],
      ['production', 5],
    ] as const) {
      const daemon = await startDaemon()
      daemons.push(daemon)
      const clone = await cloned(`apply-${name}`, 'main')
      const context = {
        'matrix.environment': name,
        'vars.COMMAND_PACKAGE': tgz,
        'vars.SVCD_URL': daemon.url,
        'secrets.SVC_AUTH_TOKEN': '',
      }
      expect(await runJob(jobs.apply!, clone, context)).toMatchObject({ failed: null })
      const exported = await script(clone, 'svc catalog export', { SVCD_URL: daemon.url })
      expect(exported.output).toContain(`predicate: "> ${errors}"`)
      // Again: nothing is left to do.
      expect((await runJob(jobs.apply!, clone, context)).output).toContain('nothing changed')
    }
  })
})

interface GitlabJob {
  extends?: string
  before_script?: string[]
  script?: string[]
  variables?: Record<string, string>
  needs?: string[]
  rules?: object[]
}

describe('the job for GitLab', () => {
  it('reviews and applies by the same command', async () => {
    const all = parse(readFileSync(join(example, '.gitlab-ci.yml'), 'utf8')) as Record<string, GitlabJob>
    const lines = (name: string): string => {
      const job = all[name]!
      expect(all[job.extends!]!.before_script).toEqual([INSTALL])
      return job.script!.join('\n')
    }
    const clone = await cloned('gitlab', 'lower')
    const merge = { ENVIRONMENT: 'production', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' }
    expect(await script(clone, lines('review'), merge)).toMatchObject({ code: 0 })
    expect(readFileSync(join(clone, 'plan.md'), 'utf8')).toContain('| `gateway-errors` | changed |')
    expect(existsSync(join(clone, 'junit.xml'))).toBe(true)
    const faulty = await cloned('gitlab-faulty', 'faulty')
    expect((await script(faulty, lines('review'), merge)).code).not.toBe(0)
    const daemon = await startDaemon()
    daemons.push(daemon)
    const env = { ENVIRONMENT: 'production', CI_COMMIT_SHA: 'abc123', SVCD_URL: daemon.url }
    expect(await script(clone, lines('.apply'), env)).toMatchObject({
      code: 0,
      output: expect.stringContaining('applied as change-set'),
    })
    const [staging, production] = ['staging', 'production'].map((name) => all[`apply ${name}`]!)
    expect(staging).toEqual({ extends: '.apply', variables: { ENVIRONMENT: 'staging' } })
    // Never beside staging, and never by itself.
    expect(production).toMatchObject({
      ...{ extends: '.apply', variables: { ENVIRONMENT: 'production' }, needs: ['apply staging'] },
      rules: [{ if: expect.any(String), when: 'manual' }],
    })
  })
})

describe('the hook of a clone', () => {
  askHere()

  it('refuses a commit that has a problem, and looks at what is committed alone', async () => {
    const clone = await cloned('hooked', 'main')
    await git(clone, 'config', 'core.hooksPath', '.githooks')
    const before = await git(clone, 'rev-parse', 'HEAD')
    edit(clone, 'triggers/errors.yaml', 'cooldown: 15m', 'cooldown:   soon')
    const refused = await run(clone, 'git', ['commit', '-am', 'A cooldown'])
    expect(refused.code).not.toBe(0)
    expect(refused.output).toMatch(/triggers\/errors\.yaml:\d+:\d+: .*cooldown/)
    expect(await git(clone, 'rev-parse', 'HEAD')).toBe(before)
    // Of two edits one is committed, and that has no problem.
    edit(clone, 'environments/staging.yaml', 'errors: 20', 'errors: 25')
    await git(clone, 'add', 'environments/staging.yaml')
    expect(await run(clone, 'git', ['commit', '-m', 'Staging'])).toMatchObject({ code: 0 })
    expect(await git(clone, 'rev-parse', 'HEAD~1')).toBe(before)
    // A team's own rule, and a test that fails.
    await git(clone, 'checkout', '-q', 'triggers/errors.yaml')
    edit(clone, 'triggers/silence.yaml', '    cooldown: 1h\n', '')
    expect((await run(clone, 'git', ['commit', '-am', 'No cooldown'])).output).toContain('team/cooldown')
    await git(clone, 'checkout', '-q', 'triggers/silence.yaml')
    edit(clone, 'triggers/errors.yaml', 'value: 500', 'value: 600')
    expect((await run(clone, 'git', ['commit', '-am', 'Another bound'])).output).toContain(
      '✗ a burst of errors',
    )
    // What has no problem is refused for its layout, with what to do.
    await git(clone, 'checkout', '-q', 'triggers/errors.yaml')
    edit(clone, 'triggers/errors.yaml', 'cooldown: 15m', 'cooldown:   15m')
    expect((await run(clone, 'git', ['commit', '-am', 'Layout'])).output).toContain(
      'triggers/errors.yaml\nsvc: 1 file is laid out otherwise; "svc catalog fmt" lays it out\n',
    )
  })

  it('has kin for pre-commit, which look at files of the catalog alone, and leave those of the starter as they are', async () => {
    const clone = await cloned('pre-commit-all', 'main')
    const all = (await git(clone, 'ls-files')).split('\n')
    expect(all).toContain('.github/workflows/catalog.yml')
    for (const { entry, files, exclude = '^$', pass_filenames = true } of preCommitHooks()) {
      // As pre-commit chooses them: both are searched for in the path.
      const chosen = all.filter((path) => new RegExp(files).test(path) && !new RegExp(exclude).test(path))
      expect(chosen).toContain('triggers/errors.yaml')
      expect(chosen.filter((path) => path.startsWith('.'))).toEqual([])
      const ran = await script(clone, pass_filenames ? `${entry} ${chosen.join(' ')}` : entry)
      expect([entry, ran.code]).toEqual([entry, 0])
    }
    expect(await git(clone, 'status', '--porcelain')).toBe('')
  })

  it('has kin for pre-commit, each of which finds what it is there for', async () => {
    const hooks = preCommitHooks()
    const clone = await cloned('pre-commit', 'main')
    const file = 'triggers/errors.yaml'
    const codes = async () => {
      const ran: [string, number][] = []
      for (const { id, entry, pass_filenames = true } of hooks)
        ran.push([id, (await script(clone, `${entry} ${pass_filenames ? file : ''}`)).code])
      return Object.fromEntries(ran)
    }
    const none = {
      'svc-catalog-check': 0,
      'svc-catalog-fmt': 0,
      'svc-catalog-lint': 0,
      'svc-catalog-test': 0,
    }
    expect(await codes()).toEqual(none)
    edit(clone, file, 'value: 500', 'value: 600')
    expect(await codes()).toEqual({ ...none, 'svc-catalog-test': 1 })
    edit(clone, file, 'cooldown: 15m', 'cooldown: soon')
    expect((await codes())['svc-catalog-check']).toBe(65)
  })
})

const preCommitHooks = () =>
  parse(readFileSync(join(project, '.pre-commit-hooks.yaml'), 'utf8')) as {
    id: string
    entry: string
    files: string
    exclude?: string
    pass_filenames?: boolean
  }[]

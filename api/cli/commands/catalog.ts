/**
 * `svc catalog`: check, plan, apply, compare and export catalog files (SPEC.md, Catalog YAML). What reads and composes
 * files is loaded by the command that does.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, normalize } from 'node:path'
import { Command, Option } from 'commander'
import type { CatalogText } from '../../../engine/files.ts'
import type { CatalogDrift } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { driftText, problemsError } from '../catalog-text.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readText, STANDARD, writeText } from '../files.ts'
import { FORMATS } from '../findings-text.ts'
import { type Io, printJson, printText } from '../terminal.ts'
import { adopting } from './catalog-adopt.ts'
import type { CheckFlags, SchemaFlags } from './catalog-check.ts'
import type { FormatFlags, LintFlags } from './catalog-lint.ts'
import type { ApplyFlags, PlanFlags, PlanningFlags } from './catalog-plan.ts'
import type { PullFlags } from './catalog-pull.ts'
import { syncing } from './catalog-sync.ts'
import type { TestFlags } from './catalog-test.ts'

const files = () => import('./catalog-files.ts')

type ExportFlags = PlanFlags & { update?: string }
type DriftFlags = PlanFlags & { exitCode?: boolean; file?: string }

/** The command and its subcommands. */
export function catalogCommand(io: Io): Command {
  const group = new Command('catalog').description('Check, plan, apply and export the catalog file')
  for (const make of [
    beginning,
    exporting,
    checking,
    formatting,
    linting,
    testing,
    planning,
    applying,
    syncing,
    pulling,
    adopting,
    drifting,
    forgetting,
    describing,
  ])
    group.addCommand(make(io))
  return group
}

const beginning = (io: Io): Command =>
  new Command('init')
    .description(
      'Write a repository to begin with: parts, environments, tests, CI and a hook; asks no daemon',
    )
    .argument('[folder]', 'folder to write, made where there is none', '.')
    .action(async (folder: string) => (await files()).initCatalog(io, folder))

const exporting = (io: Io): Command =>
  clientCommand('export', 'Print the instance as YAML, without secrets; as JSON with --json')
    .argument('[file]', 'file to write instead; - is standard output')
    .option('--update <file>', 'bring this file up to date; its comments and order stay')
    .action((file: string | undefined, flags: ExportFlags) => exportFile(io, file, flags))

const checking = (io: Io): Command =>
  clientCommand('check', 'Tell every problem of files with its line; without a daemon, too')
    .argument('[paths...]', PATHS)
    .addOption(environmentOption())
    .option('--strict', 'warnings are problems, too')
    .option('--offline', 'ask no daemon: as an instance with nothing in it would read the file')
    .addOption(formatOption())
    .action(async (paths: string[], flags: CheckFlags) => (await files()).checkCatalog(io, paths, flags))

const formatting = (io: Io): Command =>
  new Command('fmt')
    .description('Lay files out in one way; comments stay, and so does what they say')
    .argument('[paths...]', PATHS)
    .option('--check', 'only name the files that are laid out otherwise, and exit with 1')
    .option('--diff', 'only show what would change, and exit with 1')
    .action(async (paths: string[], flags: FormatFlags) => (await files()).formatFiles(io, paths, flags))

const linting = (io: Io): Command =>
  new Command('lint')
    .description('Look through files for what they may say, but should not; asks no daemon')
    .argument('[paths...]', PATHS)
    .addOption(environmentOption())
    .option('--rules <file...>', "rules of a team's own, files or folders")
    .option('--strict', 'exit with 1 for warnings and notes, too')
    .addOption(formatOption())
    .option('--json', 'as --format json')
    .action(async (paths: string[], flags: LintFlags) => (await files()).lintFiles(io, paths, flags))

const testing = (io: Io): Command =>
  new Command('test')
    .description('Run the tests of catalog files on an engine of their own; asks no daemon')
    .argument('[paths...]', PATHS)
    .addOption(environmentOption())
    .option('--only <text>', 'only tests with this in their name')
    .option('--record', 'ask the models of the environment, and keep their answers as the tapes')
    .option('--watch', 'again with each change of a file')
    .option('--junit <file>', 'write the outcomes as JUnit, too')
    .option('--json', 'print the outcomes as JSON')
    .action(async (paths: string[], flags: TestFlags) => (await files()).testCatalog(io, paths, flags))

const planning = (io: Io): Command =>
  planOptions(
    clientCommand(
      'plan',
      'Show what applying files would do; exits with 2 when it would do something, 65 for problems',
    ).argument('[paths...]', PATHS),
  )
    .option('--base <path...>', 'plan against these files and folders instead of an instance; asks no daemon')
    .option('--events <file>', 'with --base: recorded events to run the change over, of "svc events export"')
    .option(
      '--out <file>',
      'save the plan: "svc catalog apply" of that file does this or nothing; - is standard output',
    )
    .option('--backtest <window>', 'also show what the change would have done over stored events, such as 7d')
    .option('--markdown', 'as Markdown, for a pull request')
    .action(async (paths: string[], flags: PlanningFlags) => (await files()).planCatalog(io, paths, flags))

const applying = (io: Io): Command =>
  planOptions(
    clientCommand('apply', 'Apply files, all or nothing; shows the plan and asks first').argument(
      '[paths...]',
      `${PATHS}; or a plan that was saved`,
    ),
  )
    .option('--yes', 'do not ask')
    .option('--why <text>', 'why, for the change history')
    .option('--keys <file>', 'write ingest keys of new sources into this new file, instead of printing them')
    .action(async (paths: string[], flags: ApplyFlags) => (await files()).applyCatalog(io, paths, flags))

const pulling = (io: Io): Command =>
  clientCommand('pull', 'Write what was changed by hand in the instance into the files that say it')
    .argument('[paths...]', 'catalog files and folders (.)')
    .addOption(environmentOption())
    .addOption(oursOption('whose value a field gets that both changed'))
    .option('--dry-run', 'only show what would be written, as a diff; exits with 2 when there is something')
    .option('--force', 'also over edits that are not committed, and out of the repository')
    .option('--name <name>', 'the name the files are remembered by, when they carry none')
    .action(async (paths: string[], flags: PullFlags) => (await files()).pullCatalog(io, paths, flags))

const drifting = (io: Io): Command =>
  clientCommand('drift', 'Show how the instance differs from the files that were imported')
    .argument('[paths...]', 'only what these files and folders were applied as, or catalogs by their names')
    .addOption(environmentOption())
    .option('--file <name>', 'only this file, by the name it is remembered by')
    .option('--exit-code', 'exit with 2 when something differs, or is in no file')
    .action((paths: string[], flags: DriftFlags) => drift(io, paths, flags))

const forgetting = (io: Io): Command =>
  clientCommand('forget', 'Compare a file no more; what it declared stays')
    .argument('<name>', 'name it is remembered by')
    .action(async (name: string, flags: PlanFlags) => {
      const { text } = await clientOf(io, flags).call(calls.forgetCatalogFile, { name })
      if (flags.json) printJson(io, text)
      else io.err(`${name} is forgotten; what it declared stays\n`)
    })

const describing = (io: Io): Command =>
  clientCommand('schema', 'Print the JSON Schema of the file, for editors')
    .option('--offline', 'print that of this command, and ask no daemon')
    .action(async (flags: SchemaFlags) => (await files()).printSchema(io, flags))

const PATHS = 'catalog files and folders (.); - is standard input'

const environmentOption = (): Option =>
  new Option('--env <name>', 'with the files of this environment; or a file of one')

const oursOption = (does: string): Option => new Option('--ours <side>', does).choices(['file', 'instance'])

const formatOption = (): Option =>
  new Option('--format <form>', 'how findings are told').choices(FORMATS).default('text')

/** The options that a plan and what is applied share. */
function planOptions(command: Command): Command {
  return command
    .addOption(environmentOption())
    .option('--prune', 'delete what the file lacks')
    .option('--max-deletions <n>', 'refuse to delete more objects than this (10)')
    .option('--allow-empty', 'let an empty file with --prune delete everything')
    .option('--strict', 'warnings are problems, too')
    .option('--merge', 'keep what was changed by hand since the files were last applied')
    .addOption(oursOption('with --merge: whose value a field gets that both changed'))
    .option('--name <name>', 'remember the file by this name, when it carries none (its file name)')
}

async function exportFile(io: Io, file: string | undefined, flags: ExportFlags): Promise<void> {
  if (flags.update !== undefined && file !== undefined) throw usageError('give a file or --update, not both')
  if (flags.json && flags.update !== undefined)
    throw usageError('--update keeps a file as YAML: leave --json out')
  if (flags.update !== undefined) await refuseOneOfMany(flags.update)
  const target = flags.update ?? file
  const client = clientOf(io, flags)
  const yaml = flags.update === undefined ? null : await fileOf(io, flags.update)
  const { text } =
    yaml === null
      ? await client.call(calls.exportCatalog, flags.json ? { format: 'json' } : {})
      : await client.call(calls.updateCatalogFile, { body: { yaml } })
  if (target === undefined || target === STANDARD) (flags.json ? printJson : printText)(io, text)
  else if (text === yaml) io.err(`no change: ${target} says what the instance has\n`)
  else {
    writeText(io, target, text)
    io.err(`wrote ${target}\n`)
  }
}

/** @throws CliError 65, also of a file that is too large; 66 */
async function fileOf(io: Io, path: string): Promise<string> {
  const [text, { refuseLarge }] = await Promise.all([readText(io, path), import('../catalog-input.ts')])
  refuseLarge(path, text)
  return text
}

/** A line that makes a file one of a catalog. */
const DECLARES =
  /^((sources|triggers|agents|mcp_servers|projects|skills|entities|wiring|environment)\s*:|kind\s*:\s*(source|trigger|agent|mcp_server|project|skill|entity)\b)/m

/**
 * What is declared in other files would be written a second time: a catalog.yaml with a name speaks for its folder.
 * @throws CliError 1
 */
async function refuseOneOfMany(file: string): Promise<void> {
  if (basename(file) !== 'catalog.yaml') return
  const folder = dirname(file)
  const all = await filesBeside(folder)
  const isNamed = all.some(
    ({ path, text }) => normalize(path) === normalize(file) && /^catalog\s*:/m.test(text),
  )
  const others = all.filter(({ path, text }) => normalize(path) !== normalize(file) && DECLARES.test(text))
  if (!isNamed || others.length === 0) return
  throw new CliError(
    `${file} is one of ${others.length + 1} files of a catalog, such as ${others[0]!.path}, and would get all that they declare: "svc catalog pull${folder === '.' ? '' : ` ${folder}`}" writes what was changed by hand into the file that says it`,
  )
}

async function filesBeside(folder: string): Promise<CatalogText[]> {
  const { readPath, UnreadablePath } = await files()
  try {
    return readPath(folder)
  } catch (error) {
    if (error instanceof UnreadablePath) return []
    throw error
  }
}

async function drift(io: Io, paths: readonly string[], flags: DriftFlags): Promise<void> {
  if (flags.file !== undefined && paths.length) throw usageError('give paths or --file, not both')
  const names = flags.file === undefined ? await namesOf(io, paths, flags) : [flags.file]
  const answer = await clientOf(io, flags).call(calls.getDrift)
  const whole = answer.read()
  const shown = names.length ? onlyFiles(whole, names) : whole
  if (flags.json) printJson(io, names.length ? JSON.stringify(shown) : answer.text)
  else io.out(driftText(io, shown))
  if (flags.exitCode && shown.drifted) throw new CliError('', EXIT.changes)
}

/** The names by which what these paths declare is remembered; what is no path is such a name itself. */
async function namesOf(io: Io, given: readonly string[], flags: DriftFlags): Promise<string[]> {
  const isPath = (word: string) => word === STANDARD || existsSync(word)
  const paths = given.filter(isPath)
  const names = given.filter((word) => !isPath(word))
  if (paths.length === 0) return names
  const { composeInput } = await files()
  const composed = await composeInput(io, paths, flags)
  if (composed.problems.length) throw problemsError(paths[0]!, composed.problems)
  return [...names, ...composed.owned.map(({ name }) => name)]
}

/** Some files by themselves: what is in no file is no matter of theirs. */
function onlyFiles({ files }: CatalogDrift, names: readonly string[]): CatalogDrift {
  const found = names.map((name) => {
    const file = files.find((one) => one.name === name)
    if (file) return file
    const known = files.map((one) => one.name).join(', ') || 'none'
    throw new CliError(`no catalog file is remembered by the name ${name}; there are ${known}`)
  })
  const drifted = found.some(({ plan }) => plan === null || plan.changes.length > 0)
  const [{ plan, imported_at }] = found as [(typeof found)[number]]
  return { imported_at, plan, drifted, files: found, unmanaged: [] }
}

/** `svc catalog`: check, plan, apply, compare and export catalog files (SPEC.md, Catalog YAML). */
import { Command } from 'commander'
import type { CatalogDrift } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { driftText } from '../catalog-text.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readText, STANDARD, writeText } from '../files.ts'
import { type Io, printJson, printText } from '../terminal.ts'
import { type CheckFlags, checkCatalog } from './catalog-check.ts'
import {
  type ApplyFlags,
  applyCatalog,
  type PlanFlags,
  type PlanningFlags,
  planCatalog,
} from './catalog-plan.ts'

type ExportFlags = PlanFlags & { update?: string }
type DriftFlags = PlanFlags & { exitCode?: boolean; file?: string }

/** The command and its subcommands. */
export function catalogCommand(io: Io): Command {
  const group = new Command('catalog').description('Check, plan, apply and export the catalog file')
  for (const make of [exporting, checking, planning, applying, drifting, forgetting, describing])
    group.addCommand(make(io))
  return group
}

const exporting = (io: Io): Command =>
  clientCommand('export', 'Print the instance as YAML, without secrets; as JSON with --json')
    .argument('[file]', 'file to write instead; - is standard output')
    .option('--update <file>', 'bring this file up to date; its comments and order stay')
    .action((file: string | undefined, flags: ExportFlags) => exportFile(io, file, flags))

const checking = (io: Io): Command =>
  clientCommand('check', 'Tell every problem of a file with its line; without a daemon, too')
    .argument('<file>', 'catalog file; - is standard input')
    .option('--strict', 'warnings are problems, too')
    .option('--offline', 'ask no daemon: as an instance with nothing in it would read the file')
    .action((file: string, flags: CheckFlags) => checkCatalog(io, file, flags))

const planning = (io: Io): Command =>
  planOptions(
    clientCommand(
      'plan',
      'Show what applying a file would do; exits with 2 when it would do something, 65 for problems',
    )
      .argument('<file>', 'catalog file; - is standard input')
      .argument('[changed]', 'plan this file against the first, without a daemon'),
  )
    .option('--events <file>', 'of two files: recorded events to run the change over, of "svc events export"')
    .option(
      '--out <file>',
      'save the plan: "svc catalog apply" of that file does this or nothing; - is standard output',
    )
    .option('--backtest <window>', 'also show what the change would have done over stored events, such as 7d')
    .option('--markdown', 'as Markdown, for a pull request')
    .action((file: string, changed: string | undefined, flags: PlanningFlags) =>
      planCatalog(io, file, changed, flags),
    )

const applying = (io: Io): Command =>
  planOptions(
    clientCommand('apply', 'Apply a file, all or nothing; shows the plan and asks first').argument(
      '<file>',
      'catalog file, or a plan that was saved; - is standard input',
    ),
  )
    .option('--yes', 'do not ask')
    .option('--why <text>', 'why, for the change history')
    .action((file: string, flags: ApplyFlags) => applyCatalog(io, file, flags))

const drifting = (io: Io): Command =>
  clientCommand('drift', 'Show how the instance differs from the files that were imported')
    .option('--file <name>', 'only this file, by the name it is remembered by')
    .option('--exit-code', 'exit with 2 when something differs, or is in no file')
    .action((flags: DriftFlags) => drift(io, flags))

const forgetting = (io: Io): Command =>
  clientCommand('forget', 'Compare a file no more; what it declared stays')
    .argument('<name>', 'name it is remembered by')
    .action(async (name: string, flags: PlanFlags) => {
      const { text } = await clientOf(io, flags).call(calls.forgetCatalogFile, { name })
      if (flags.json) printJson(io, text)
      else io.err(`${name} is forgotten; what it declared stays\n`)
    })

const describing = (io: Io): Command =>
  clientCommand('schema', 'Print the JSON Schema of the file, for editors').action(
    async (flags: PlanFlags) => {
      const { text } = await clientOf(io, flags).call(calls.getCatalogSchema)
      printJson(io, text)
    },
  )

/** The options that a plan and what is applied share. */
function planOptions(command: Command): Command {
  return command
    .option('--prune', 'delete what the file lacks')
    .option('--max-deletions <n>', 'refuse to delete more objects than this (10)')
    .option('--allow-empty', 'let an empty file with --prune delete everything')
    .option('--strict', 'warnings are problems, too')
    .option('--name <name>', 'remember the file by this name, when it carries none (its file name)')
}

async function exportFile(io: Io, file: string | undefined, flags: ExportFlags): Promise<void> {
  if (flags.update !== undefined && file !== undefined) throw usageError('give a file or --update, not both')
  if (flags.json && flags.update !== undefined)
    throw usageError('--update keeps a file as YAML: leave --json out')
  const target = flags.update ?? file
  const client = clientOf(io, flags)
  const { text } =
    flags.update === undefined
      ? await client.call(calls.exportCatalog, flags.json ? { format: 'json' } : {})
      : await client.call(calls.updateCatalogFile, { body: { yaml: await readText(io, flags.update) } })
  if (target === undefined || target === STANDARD) (flags.json ? printJson : printText)(io, text)
  else {
    writeText(io, target, text)
    io.err(`wrote ${target}\n`)
  }
}

async function drift(io: Io, flags: DriftFlags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.getDrift)
  const whole = answer.read()
  const shown = flags.file === undefined ? whole : onlyFile(whole, flags.file)
  if (flags.json) printJson(io, flags.file === undefined ? answer.text : JSON.stringify(shown))
  else io.out(driftText(io, shown))
  if (flags.exitCode && shown.drifted) throw new CliError('', EXIT.changes)
}

/** One file by itself: what is in no file is no matter of its own. */
function onlyFile({ files }: CatalogDrift, name: string): CatalogDrift {
  const found = files.find((file) => file.name === name)
  if (!found) {
    const names = files.map((file) => file.name).join(', ') || 'none'
    throw new CliError(`no catalog file is remembered by the name ${name}; there are ${names}`)
  }
  const { plan, imported_at } = found
  const drifted = plan === null || plan.changes.length > 0
  return { imported_at, plan, drifted, files: [found], unmanaged: [] }
}

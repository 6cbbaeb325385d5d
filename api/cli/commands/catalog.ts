/** `svc catalog`: check, plan, apply and export the catalog file (SPEC.md, Catalog YAML). */
import { readFileSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import type { CatalogChecked, CatalogDrift, CatalogImported, CatalogProblem } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { planText } from '../plan-text.ts'
import { escapeLine, type Io, printJson } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag & { prune?: boolean }
/** As a diff: 0 no change, 2 changes. */
const CHANGES = 2

/** The command and its subcommands. */
export function catalogCommand(io: Io): Command {
  const group = new Command('catalog').description('Check, plan, apply and export the catalog file')
  group.addCommand(
    clientCommand('export', 'Print the instance as YAML, without secrets')
      .argument('[file]', 'file to write instead')
      .option('--update <file>', 'bring this file up to date; its comments and order stay')
      .action((file: string | undefined, flags: Flags & { update?: string }) => exportFile(io, file, flags)),
  )
  group.addCommand(
    clientCommand('check', 'Tell every problem of a file with its line')
      .argument('<file>')
      .action((file: string, flags: Flags) => check(io, file, flags)),
  )
  group.addCommand(
    clientCommand('plan', 'Show what applying a file would do; exits with 2 when it would do something')
      .argument('<file>')
      .option('--prune', 'plan to delete what the file lacks')
      .action((file: string, flags: Flags) => plan(io, file, flags)),
  )
  group.addCommand(
    clientCommand('apply', 'Apply a file, all or nothing; shows the plan and asks first')
      .argument('<file>')
      .option('--prune', 'delete what the file lacks')
      .option('--yes', 'do not ask')
      .option('--why <text>', 'why, for the change history')
      .action((file: string, flags: Flags & { yes?: boolean; why?: string }) => apply(io, file, flags)),
  )
  group.addCommand(
    clientCommand('drift', 'Show how the instance differs from the file last imported').action(
      (flags: Flags) => drift(io, flags),
    ),
  )
  group.addCommand(
    clientCommand('schema', 'Print the JSON Schema of the file, for editors').action(async (flags: Flags) => {
      const { text } = await clientOf(io, flags).call('/api/catalog/schema')
      printJson(io, text)
    }),
  )
  return group
}

async function exportFile(
  io: Io,
  file: string | undefined,
  flags: Flags & { update?: string },
): Promise<void> {
  if (flags.update !== undefined && file !== undefined) throw usageError('give a file or --update, not both')
  const target = flags.update ?? file
  const { text } =
    flags.update === undefined
      ? await clientOf(io, flags).call('/api/catalog/export')
      : await clientOf(io, flags).call('/api/catalog/export', {
          method: 'POST',
          json: { yaml: read(flags.update) },
        })
  if (target === undefined) io.out(text)
  else {
    write(target, text)
    io.err(`wrote ${target}\n`)
  }
}

async function check(io: Io, file: string, flags: Flags): Promise<void> {
  const checked = await ask(io, file, flags)
  if (flags.json) printJson(io, JSON.stringify(checked))
  if (checked.problems.length) throw problemsError(file, checked.problems)
  if (!flags.json) io.out(`${file} has no problem\n`)
}

async function plan(io: Io, file: string, flags: Flags): Promise<void> {
  const checked = await ask(io, file, flags)
  if (flags.json) printJson(io, JSON.stringify(checked))
  if (!checked.plan) throw problemsError(file, checked.problems)
  if (!flags.json) io.out(planText(io, checked.plan))
  const { creates, updates, deletes } = checked.plan
  if (creates + updates + deletes > 0) throw new CliError('', CHANGES)
}

async function apply(io: Io, file: string, flags: Flags & { yes?: boolean; why?: string }): Promise<void> {
  const yaml = read(file)
  const checked = await ask(io, file, flags)
  if (!checked.plan) throw problemsError(file, checked.problems)
  const { creates, updates, deletes } = checked.plan
  if (!flags.json) io.out(planText(io, checked.plan))
  const hasChanges = creates + updates + deletes > 0
  if (hasChanges && !flags.yes && !(await io.confirm('Apply this?')))
    throw new CliError('not applied; --yes applies without asking')
  const { text } = await clientOf(io, flags).call('/api/catalog/import', {
    method: 'POST',
    json: { yaml, prune: flags.prune ?? false, ...(flags.why ? { why: flags.why } : {}) },
  })
  if (flags.json) return printJson(io, text)
  const { change_set } = JSON.parse(text) as CatalogImported
  io.err(
    change_set === null
      ? 'nothing changed\n'
      : `applied as change-set ${change_set}; "svc changes undo ${change_set}" takes it back\n`,
  )
}

async function drift(io: Io, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call('/api/catalog/drift')
  if (flags.json) return printJson(io, text)
  const { imported_at, plan: changes } = JSON.parse(text) as CatalogDrift
  if (imported_at === null) return void io.out('no file was imported yet\n')
  io.out(`against the file imported at ${imported_at}; importing it again would do this:\n`)
  io.out(changes ? planText(io, changes) : 'the file no longer imports as it is\n')
}

async function ask(io: Io, file: string, flags: Flags): Promise<CatalogChecked> {
  const { text } = await clientOf(io, flags).call('/api/catalog/check', {
    method: 'POST',
    json: { yaml: read(file), prune: flags.prune ?? false },
  })
  return JSON.parse(text) as CatalogChecked
}

/** FILE:LINE:COLUMN: message, as editors and CI read it. */
function problemsError(file: string, problems: readonly CatalogProblem[]): CliError {
  const lines = problems.map(
    ({ line, column, path, message }) =>
      `${file}:${line}:${column}: ${path ? `${path}: ` : ''}${escapeLine(message)}`,
  )
  return new CliError(
    `${lines.length} ${lines.length === 1 ? 'problem' : 'problems'}\n${lines.join('\n')}`,
    EXIT.failed,
  )
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`)
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new CliError(`cannot write ${file}: ${(error as Error).message}`)
  }
}

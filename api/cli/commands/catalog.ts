/** `svc catalog`: check, plan, apply and export the catalog file (SPEC.md, Catalog YAML). */
import { Command } from 'commander'
import type {
  CatalogChecked,
  CatalogDrift,
  CatalogImported,
  CatalogProblem,
  ChangePlan,
} from '../../../schemas/types.ts'
import { problemOf } from '../client.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readText, writeText } from '../files.ts'
import { planText } from '../plan-text.ts'
import { escapeLine, type Io, printJson, printText } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag & { prune?: boolean }

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
          json: { yaml: readText(flags.update) },
        })
  if (target === undefined) printText(io, text)
  else {
    writeText(target, text)
    io.err(`wrote ${target}\n`)
  }
}

async function check(io: Io, file: string, flags: Flags): Promise<void> {
  const checked = await ask(io, readText(file), flags)
  if (flags.json) printJson(io, JSON.stringify(checked))
  if (checked.problems.length) throw problemsError(file, checked.problems)
  if (!flags.json) io.out(`${file} has no problem\n`)
}

async function plan(io: Io, file: string, flags: Flags): Promise<void> {
  const checked = await ask(io, readText(file), flags)
  if (flags.json) printJson(io, JSON.stringify(checked))
  if (!checked.plan) throw problemsError(file, checked.problems)
  if (!flags.json) io.out(planText(io, checked.plan))
  if (changesOf(checked.plan) > 0) throw new CliError('', EXIT.changes)
}

async function apply(io: Io, file: string, flags: Flags & { yes?: boolean; why?: string }): Promise<void> {
  const yaml = readText(file)
  const { plan: shown, problems } = await ask(io, yaml, flags)
  if (!shown) throw problemsError(file, problems)
  const asks = changesOf(shown) > 0 && !flags.yes
  if (!flags.json) io.out(planText(io, shown))
  // Standard output is for the JSON of what was done, but nobody is asked about what they cannot see.
  else if (asks) io.err(planText({ colour: false }, shown))
  if (asks && !(await io.confirm('Apply this?')))
    throw new CliError('not applied; --yes applies without asking')
  const text = await importFile(io, file, yaml, flags)
  if (flags.json) return printJson(io, text)
  const { change_set, plan: done, ingest_keys = [] } = JSON.parse(text) as CatalogImported
  if (planText({ colour: false }, done) !== planText({ colour: false }, shown))
    io.err(`the instance changed since that plan; this was done:\n${planText({ colour: false }, done)}`)
  io.err(
    change_set === null
      ? 'nothing changed\n'
      : `applied as change-set ${change_set}; "svc changes undo ${change_set}" takes it back\n`,
  )
  for (const { source, ingest_url, key } of ingest_keys)
    io.out(`ingest key of ${source} (${ingest_url}), shown this once: ${key.secret}\n`)
}

/** The answer's text. @throws CliError with every problem, when the instance is no longer as the check found it. */
async function importFile(io: Io, file: string, yaml: string, flags: Flags & { why?: string }) {
  const client = clientOf(io, flags)
  const answer = await client.attempt('/api/catalog/import', {
    method: 'POST',
    json: { yaml, prune: flags.prune ?? false, ...(flags.why ? { why: flags.why } : {}) },
  })
  if (answer.status >= 200 && answer.status < 300) return answer.text
  const { problems } = problemOf(answer.text)
  throw Array.isArray(problems) ? problemsError(file, problems as CatalogProblem[]) : client.refusal(answer)
}

const changesOf = ({ creates, updates, deletes }: ChangePlan): number => creates + updates + deletes

async function drift(io: Io, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call('/api/catalog/drift')
  if (flags.json) return printJson(io, text)
  const { imported_at, plan: changes } = JSON.parse(text) as CatalogDrift
  if (imported_at === null) return void io.out('no file was imported yet\n')
  io.out(`against the file imported at ${imported_at}; importing it again would do this:\n`)
  io.out(changes ? planText(io, changes) : 'the file no longer imports as it is\n')
}

async function ask(io: Io, yaml: string, flags: Flags): Promise<CatalogChecked> {
  const { text } = await clientOf(io, flags).call('/api/catalog/check', {
    method: 'POST',
    json: { yaml, prune: flags.prune ?? false },
  })
  return JSON.parse(text) as CatalogChecked
}

/** FILE:LINE:COLUMN: message, as editors and CI read it. */
function problemsError(file: string, problems: readonly CatalogProblem[]): CliError {
  const lines = problems.map(
    ({ line, column, path, message }) =>
      `${file}:${line}:${column}: ${escapeLine(path ? `${path}: ${message}` : message)}`,
  )
  return new CliError(
    `${lines.length} ${lines.length === 1 ? 'problem' : 'problems'}\n${lines.join('\n')}`,
    EXIT.failed,
  )
}

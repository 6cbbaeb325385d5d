/** `svc catalog plan` and `svc catalog apply`: what was shown, or reviewed in a saved plan, is what is done. */
import { basename } from 'node:path'
import type { CatalogChecked, CatalogProblem, ChangePlan } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { problemsError, tellWarnings } from '../catalog-text.ts'
import { problemOf } from '../client.ts'
import { clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readText, STANDARD, writeText } from '../files.ts'
import { planBacktestText } from '../plan-backtest-text.ts'
import { planMarkdown } from '../plan-markdown.ts'
import { planText } from '../plan-text.ts'
import { type PlanOptions, readSavedPlan, type SavedPlan, savedPlanText } from '../saved-plan.ts'
import { type Io, printJson, printText } from '../terminal.ts'
import { planBetween } from './catalog-plan-offline.ts'

export interface PlanFlags extends ClientFlags, JsonFlag {
  prune?: boolean
  strict?: boolean
  allowEmpty?: boolean
  maxDeletions?: string
  name?: string
}

/** What the daemon remembers a file by; standard input has no name. */
export const nameOf = (file: string): { file?: string } => (file === STANDARD ? {} : { file: basename(file) })

/** What the flags say of a plan. @throws CliError 64 */
function optionsOf(file: string, flags: PlanFlags): PlanOptions {
  const { maxDeletions } = flags
  if (maxDeletions !== undefined && !/^\d{1,6}$/.test(maxDeletions))
    throw usageError('--max-deletions must be a number from 0 to 999999')
  return {
    ...nameOf(file),
    ...(flags.prune ? { prune: true } : {}),
    ...(flags.strict ? { strict: true } : {}),
    ...(flags.allowEmpty ? { allow_empty: true } : {}),
    ...(maxDeletions === undefined ? {} : { max_deletions: Number(maxDeletions) }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
  }
}

export type PlanningFlags = PlanFlags & {
  out?: string
  backtest?: string
  markdown?: boolean
  events?: string
}

/** Exits with 2 when there are changes; `out` saves the plan. */
export async function planCatalog(
  io: Io,
  file: string,
  changed: string | undefined,
  flags: PlanningFlags,
): Promise<void> {
  if (flags.json && flags.markdown) throw usageError('--json and --markdown are two forms: give one')
  if (changed !== undefined) return planOffline(io, [file, changed], flags)
  if (flags.events !== undefined)
    throw usageError('--events is for two files, the one before and the changed one: no instance is asked')
  const yaml = await readText(io, file)
  const options = optionsOf(file, flags)
  const checked = await ask(io, yaml, options, flags)
  // A plan that is saved to standard output is all there is on it.
  const isSavedOut = flags.out === STANDARD
  if ((flags.json || flags.markdown) && isSavedOut)
    throw usageError(`--out - and --${flags.json ? 'json' : 'markdown'} both write to standard output`)
  if (flags.json) printJson(io, JSON.stringify(checked))
  else if (flags.markdown) showMarkdown(io, file, checked)
  else show(isSavedOut ? { ...io, out: io.err } : io, file, checked)
  if (!checked.plan || checked.problems.length) throw problemsError(file, checked.problems)
  if (flags.out !== undefined) {
    writeText(io, flags.out, savedPlanText(file, yaml, options, checked))
    if (!flags.json && !isSavedOut)
      io.err(`wrote ${flags.out}; "svc catalog apply ${flags.out}" does this or nothing\n`)
  }
  if (changesOf(checked.plan) > 0) throw new CliError('', EXIT.changes)
}

/** The same of two files, without a daemon. */
async function planOffline(
  io: Io,
  files: readonly [base: string, changed: string],
  flags: PlanningFlags,
): Promise<void> {
  if (flags.out !== undefined)
    throw usageError('a plan of two files is of no instance, and cannot be saved to be applied')
  const { checked } = await planBetween(io, files, flags)
  if (flags.json) printJson(io, JSON.stringify(checked))
  else if (flags.markdown) showMarkdown(io, files[1], checked)
  else show(io, files[1], checked)
  if (!checked.plan || checked.problems.length) throw problemsError(files[1], checked.problems)
  if (changesOf(checked.plan) > 0) throw new CliError('', EXIT.changes)
}

function show(io: Io, file: string, { plan, warnings, backtest }: CatalogChecked): void {
  tellWarnings(io, file, warnings)
  if (plan) io.out(planText(io, plan))
  if (backtest) io.out(`\n${planBacktestText(io, backtest)}`)
}

function showMarkdown(io: Io, file: string, { plan, warnings, backtest }: CatalogChecked): void {
  tellWarnings(io, file, warnings)
  if (plan) printText(io, planMarkdown(file, plan, backtest))
}

export type ApplyFlags = PlanFlags & { yes?: boolean; why?: string }

/** Applies a catalog file after a yes, or a saved plan as it is. */
export async function applyCatalog(io: Io, file: string, flags: ApplyFlags): Promise<void> {
  const text = await readText(io, file)
  const saved = readSavedPlan(file, text)
  if (saved) return applySaved(io, file, saved, flags)
  const options = optionsOf(file, flags)
  const checked = await ask(io, text, options, flags)
  const { plan, problems, fingerprint } = checked
  const asks = plan !== null && problems.length === 0 && changesOf(plan) > 0 && !flags.yes
  if (!flags.json) show(io, file, checked)
  // Standard output is for the JSON of what was done, but nobody is asked about what they cannot see.
  else if (asks) io.err(planText({ colour: false }, plan))
  if (!plan || problems.length) throw problemsError(file, problems)
  if (asks && !(await io.confirm('Apply this?')))
    throw new CliError('not applied; --yes applies without asking')
  await importPlan(io, file, { yaml: text, ...options, fingerprint: fingerprint! }, flags)
}

/** What was reviewed needs no second yes. */
async function applySaved(io: Io, file: string, saved: SavedPlan, flags: ApplyFlags): Promise<void> {
  const given = [flags.prune, flags.strict, flags.allowEmpty, flags.maxDeletions, flags.name]
  if (given.some((flag) => flag !== undefined))
    throw usageError(
      `${file} is a saved plan, and is applied as it was made: give its options to "svc catalog plan"`,
    )
  if (!flags.json) show(io, file, { ...saved, problems: [], warnings: [], name: '' })
  const { catalog: yaml, options, fingerprint } = saved
  await importPlan(io, file, { yaml, ...options, fingerprint }, flags)
}

async function importPlan(
  io: Io,
  file: string,
  body: PlanOptions & { yaml: string; fingerprint: string },
  flags: ApplyFlags,
) {
  const client = clientOf(io, flags)
  const answer = await client.attempt(calls.importCatalog, {
    body: { ...body, ...(flags.why ? { why: flags.why } : {}) },
  })
  if (answer.status < 200 || answer.status >= 300) {
    const { problems, plan } = problemOf(answer.text)
    if (answer.status === 409 && plan) throw otherPlan(plan as ChangePlan, answer.text)
    if (Array.isArray(problems)) throw problemsError(file, problems as CatalogProblem[])
    throw client.refusal(answer)
  }
  if (flags.json) return printJson(io, answer.text)
  const { change_set, ingest_keys = [] } = answer.read()
  io.err(
    change_set === null
      ? 'nothing changed\n'
      : `applied as change-set ${change_set}; "svc changes undo ${change_set}" takes it back\n`,
  )
  for (const { source, ingest_url, key } of ingest_keys)
    io.out(`ingest key of ${source} (${ingest_url}), shown once: ${key.secret}\n`)
}

function otherPlan(plan: ChangePlan, text: string): CliError {
  return new CliError(
    `nothing was applied: the instance changed since that plan, and the file would now do this:\n${planText({ colour: false }, plan)}plan again, and approve that`,
    EXIT.failed,
    problemOf(text),
  )
}

const changesOf = ({ creates, updates, deletes }: ChangePlan): number => creates + updates + deletes

/** The daemon's word on a file; with a backtest it says how far it is, to a person. */
export async function ask(
  io: Io,
  yaml: string,
  options: PlanOptions,
  { backtest, ...flags }: ClientFlags & { backtest?: string },
): Promise<CatalogChecked> {
  const client = clientOf(io, flags)
  if (backtest === undefined) return client.ask(calls.checkCatalog, { body: { yaml, ...options } })
  if (!/^\d+(\.\d+)?[smhd]$/.test(backtest))
    throw usageError('--backtest must be a duration, such as 7d or 12h')
  const answer = await client.attemptTold(
    calls.checkCatalog,
    { body: { yaml, ...options, backtest } },
    ({ done, of }) => {
      if (io.isTerminal) io.err(`\rbacktest: ${Math.floor((100 * done) / Math.max(1, of))} %`)
    },
  )
  if (io.isTerminal) io.err('\r\u001b[K')
  if (answer.status < 200 || answer.status >= 300) throw client.refusal(answer)
  return answer.read()
}

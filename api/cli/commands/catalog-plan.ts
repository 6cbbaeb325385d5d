/** `svc catalog plan` and `svc catalog apply`: what was shown, or reviewed in a saved plan, is what is done. */
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { isFolder } from '../../../engine/files.ts'
import { systemWords } from '../../../schemas/plain-words.ts'
import type { CatalogChecked, CatalogProblem, ChangePlan, MergeConflict } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type CatalogInput, type InputFlags, readInput, withPlaces } from '../catalog-input.ts'
import { conflictsError, keptText, problemsError, tellWarnings } from '../catalog-text.ts'
import { type Answer, problemOf } from '../client.ts'
import { clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readText, STANDARD, writeText } from '../files.ts'
import { planBacktestText } from '../plan-backtest-text.ts'
import { planMarkdown } from '../plan-markdown.ts'
import { planText } from '../plan-text.ts'
import { readEvents } from '../recorded-events.ts'
import { type PlanOptions, readSavedPlan, type SavedPlan, savedPlanText } from '../saved-plan.ts'
import { type Io, printJson, printText } from '../terminal.ts'

export interface PlanFlags extends ClientFlags, JsonFlag, InputFlags {
  prune?: boolean
  strict?: boolean
  allowEmpty?: boolean
  maxDeletions?: string
  merge?: boolean
  ours?: 'file' | 'instance'
}

/** What the flags say of a plan. @throws CliError 64 */
function optionsOf({ yaml: _yaml, ...texts }: CatalogInput['texts'], flags: PlanFlags): PlanOptions {
  const { maxDeletions } = flags
  if (maxDeletions !== undefined && !/^\d{1,6}$/.test(maxDeletions))
    throw usageError('--max-deletions must be a number from 0 to 999999')
  if (flags.ours !== undefined && !flags.merge)
    throw usageError('--ours needs --merge: without it the files are applied as they are')
  return {
    ...texts,
    ...(flags.prune ? { prune: true } : {}),
    ...(flags.strict ? { strict: true } : {}),
    ...(flags.allowEmpty ? { allow_empty: true } : {}),
    ...(maxDeletions === undefined ? {} : { max_deletions: Number(maxDeletions) }),
    ...(flags.merge ? { merge: true } : {}),
    ...(flags.ours === undefined ? {} : { ours: flags.ours }),
  }
}

export type PlanningFlags = PlanFlags & {
  out?: string
  backtest?: string
  markdown?: boolean
  base?: string[]
  events?: string
}

/** Exits with 2 when there are changes; `out` saves the plan. */
export async function planCatalog(io: Io, paths: readonly string[], flags: PlanningFlags): Promise<void> {
  if (flags.json && flags.markdown) throw usageError('--json and --markdown are two forms: give one')
  if (flags.base !== undefined) return planOffline(io, paths, flags, flags.base)
  if (flags.events !== undefined)
    throw usageError('--events needs --base, the files as they are now: no instance is asked')
  const input = await readInput(io, paths, flags)
  const { yaml } = input.texts
  const options = optionsOf(input.texts, flags)
  const checked = await ask(io, input, options, flags)
  const [file = '.'] = paths
  // A plan that is saved to standard output is all there is on it.
  const isSavedOut = flags.out === STANDARD
  if ((flags.json || flags.markdown) && isSavedOut)
    throw usageError(`--out - and --${flags.json ? 'json' : 'markdown'} both write to standard output`)
  if (flags.json) printJson(io, JSON.stringify(checked))
  else if (flags.markdown) showMarkdown(io, named(file, checked), checked, flags.env)
  else show(isSavedOut ? { ...io, out: io.err } : io, file, checked)
  if (checked.conflicts?.length) throw conflictsError(file, checked.conflicts)
  if (!checked.plan || checked.problems.length) throw problemsError(file, checked.problems)
  if (flags.out !== undefined) {
    writeText(io, flags.out, savedPlanText(file, yaml, options, checked))
    if (!flags.json && !isSavedOut)
      io.err(`wrote ${flags.out}; "svc catalog apply ${flags.out}" does this or nothing\n`)
  }
  if (changesOf(checked.plan) > 0) throw new CliError('', EXIT.changes)
}

/** The same against other files, without a daemon. */
async function planOffline(
  io: Io,
  paths: readonly string[],
  flags: PlanningFlags,
  base: readonly string[],
): Promise<void> {
  if (flags.merge) throw usageError('--merge needs an instance: between files nothing was changed by hand')
  if (flags.out !== undefined)
    throw usageError('a plan against files is of no instance, and cannot be saved to be applied')
  const [file = '.'] = paths
  const { checked, isNewEnvironment } = await planBetween(io, base, paths, flags)
  if (isNewEnvironment && !flags.markdown) io.err(`${newEnvironment(flags.env!)}\n`)
  if (flags.json) printJson(io, JSON.stringify(checked))
  else if (flags.markdown) showMarkdown(io, named(file, checked), checked, flags.env, isNewEnvironment)
  else show(io, file, checked)
  if (!checked.plan || checked.problems.length) throw problemsError(file, checked.problems)
  if (changesOf(checked.plan) > 0) throw new CliError('', EXIT.changes)
}

function show(io: Io, file: string, { plan, warnings, backtest, kept = [] }: CatalogChecked): void {
  tellWarnings(io, file, warnings)
  if (plan) io.out(keptText(kept))
  if (plan) io.out(planText(io, plan))
  if (backtest) io.out(`\n${planBacktestText(io, backtest)}`)
}

function showMarkdown(
  io: Io,
  file: string,
  { plan, warnings, backtest }: CatalogChecked,
  environment: string | undefined,
  isNewEnvironment = false,
): void {
  tellWarnings(io, file, warnings)
  const note = isNewEnvironment ? newEnvironment(environment!) : undefined
  if (plan) printText(io, planMarkdown(file, plan, backtest, environment, note))
}

/** Said of the first plan of an environment. */
const newEnvironment = (name: string): string =>
  `new environment ${name}: no file had it before, so the plan makes all of it`

/** A folder by the name of its catalog: where it lies on the machine of a CI tells nobody anything. */
const named = (file: string, { name }: CatalogChecked): string => (isFolder(file) && name ? name : file)

export type ApplyFlags = PlanFlags & {
  yes?: boolean
  why?: string
  /** File that ingest keys of new sources are written into. */
  keys?: string
}

/** Applies catalog files after a yes, or a saved plan as it is. */
export async function applyCatalog(io: Io, paths: readonly string[], flags: ApplyFlags): Promise<void> {
  const [file = '.', ...more] = paths
  // What is applied cannot be asked for its keys again: the file must be free before.
  if (flags.keys !== undefined && (flags.json || existsSync(flags.keys)))
    throw usageError(
      flags.json
        ? '--json has the keys in it: leave --keys out'
        : `${flags.keys} is there already; name a new file for the keys`,
    )
  if (more.length === 0 && (file === STANDARD || !isFolder(file))) {
    const text = await readText(io, file)
    const saved = readSavedPlan(file, text)
    if (saved) return applySaved(io, file, saved, flags)
  }
  const input = await readInput(io, paths, flags)
  const options = optionsOf(input.texts, flags)
  const checked = await ask(io, input, options, flags)
  const { plan, problems, fingerprint } = checked
  const asks = plan !== null && problems.length === 0 && changesOf(plan) > 0 && !flags.yes
  if (!flags.json) show(io, file, checked)
  // Standard output is for the JSON of what was done, but nobody is asked about what they cannot see.
  else if (asks) io.err(planText({ colour: false }, plan))
  if (checked.conflicts?.length) throw conflictsError(file, checked.conflicts)
  if (!plan || problems.length) throw problemsError(file, problems)
  if (asks && !(await io.confirm('Apply this?')))
    throw new CliError('not applied; --yes applies without asking')
  const body = { yaml: input.texts.yaml, ...options, fingerprint: fingerprint! }
  await importPlan(io, file, body, flags, { placed: input.placed, plan })
}

/** What was reviewed needs no second yes. */
async function applySaved(io: Io, file: string, saved: SavedPlan, flags: ApplyFlags): Promise<void> {
  const { prune, strict, allowEmpty, maxDeletions, name, env, merge, ours } = flags
  const given = [prune, strict, allowEmpty, maxDeletions, name, env, merge, ours]
  if (given.some((flag) => flag !== undefined))
    throw usageError(
      `${file} is a saved plan, and is applied as it was made: give its options to "svc catalog plan"`,
    )
  if (!flags.json) show(io, file, { ...saved, problems: [], warnings: [], name: '' })
  const { catalog: yaml, options, fingerprint } = saved
  await importPlan(io, file, { yaml, ...options, fingerprint }, flags, {
    placed: (one) => one,
    plan: saved.plan,
  })
}

interface Approved extends Pick<CatalogInput, 'placed'> {
  plan: ChangePlan
}

async function importPlan(
  io: Io,
  file: string,
  body: PlanOptions & { yaml: string; fingerprint: string },
  flags: ApplyFlags,
  approved: Approved,
) {
  const keys = flags.keys === undefined ? null : keysFile(io, flags.keys)
  try {
    await importInto(io, file, body, flags, approved, keys)
  } finally {
    keys?.end()
  }
}

async function importInto(
  io: Io,
  file: string,
  body: PlanOptions & { yaml: string; fingerprint: string },
  flags: ApplyFlags,
  { placed, plan: approved }: Approved,
  keys: KeysFile | null,
) {
  const client = clientOf(io, flags)
  const attempt = (fingerprint: string) =>
    client.attempt(calls.importCatalog, {
      body: { ...body, fingerprint, ...(flags.why ? { why: flags.why } : {}) },
    })
  let answer = await attempt(body.fingerprint)
  if (isDone(answer)) {
    // Somebody did it meanwhile, such as this command before its connection was cut: what it asks for is so.
    const { fingerprint: _, ...asked } = body
    const { plan, fingerprint } = await client.ask(calls.checkCatalog, { body: asked })
    if (plan !== null && fingerprint !== null && changesOf(plan) === 0) answer = await attempt(fingerprint)
  }
  if (answer.status < 200 || answer.status >= 300) {
    const { problems, plan, conflicts } = problemOf(answer.text)
    if (Array.isArray(conflicts)) throw conflictsError(file, (conflicts as MergeConflict[]).map(placed))
    if (answer.status === 409 && plan) throw otherPlan(plan as ChangePlan, answer.text)
    if (Array.isArray(problems)) throw problemsError(file, (problems as CatalogProblem[]).map(placed))
    throw client.refusal(answer, calls.importCatalog)
  }
  if (flags.json) return printJson(io, answer.text)
  const { change_set, ingest_keys = [] } = answer.read()
  io.err(
    change_set === null
      ? `nothing changed${approved.ownership ? ' but who owns it' : ''}\n`
      : `applied as change-set ${change_set}; "svc changes undo ${change_set}" takes it back\n`,
  )
  const lines = ingest_keys.map(
    ({ source, ingest_url, key }) => `ingest key of ${source} (${ingest_url}), shown once: ${key.secret}\n`,
  )
  if (!keys || lines.length === 0) return io.out(lines.join(''))
  keys.write(lines.join(''))
  io.err(
    `wrote ${lines.length === 1 ? 'the ingest key' : `${lines.length} ingest keys`} of new sources to ${flags.keys}\n`,
  )
}

/** Whether a refusal says that nothing is left of what was approved. */
const isDone = ({ status, text }: Answer, { plan } = problemOf(text) as { plan?: ChangePlan }): boolean =>
  status === 409 && plan !== undefined && changesOf(plan) === 0

interface KeysFile {
  /** @throws CliError 74 when they cannot be written; they are then on standard error */
  write(text: string): void
  end(): void
}

/**
 * The file of ingest keys, made before anything is applied: these are shown once. Where none came it is taken away.
 * @throws CliError 74 where it cannot be made
 */
function keysFile(io: Io, path: string): KeysFile {
  const failed = (error: unknown, rest: string) =>
    new CliError(`cannot write ${path}: ${systemWords(error, path)}; ${rest}`, EXIT.disk)
  let isWritten = false
  let opened: number
  try {
    opened = openSync(path, 'wx', 0o600)
  } catch (error) {
    throw failed(error, 'nothing was applied')
  }
  return {
    write: (text) => {
      try {
        writeFileSync(opened, text)
        isWritten = true
      } catch (error) {
        io.err(text)
        throw failed(error, 'the catalog was applied, and its ingest keys are above')
      }
    },
    end: () => {
      closeSync(opened)
      if (!isWritten) rmSync(path, { force: true })
    },
  }
}

function otherPlan(plan: ChangePlan, text: string): CliError {
  return new CliError(
    `nothing was applied: the instance changed since that plan, and the file would now do this:\n${planText({ colour: false }, plan)}plan again, and approve that`,
    EXIT.failed,
    problemOf(text),
  )
}

/** Who owns a part is written, too. */
const changesOf = ({ creates, updates, deletes, ownership = [] }: ChangePlan): number =>
  creates + updates + deletes + ownership.length

/** The daemon's word on what is given, with the files and lines of that; with a backtest it says how far it is, to a person. */
export async function ask(
  io: Io,
  { texts: { yaml }, composed, placed }: CatalogInput,
  options: PlanOptions,
  { backtest, ...flags }: ClientFlags & { backtest?: string; strict?: boolean },
): Promise<CatalogChecked> {
  const isStrict = flags.strict === true
  const client = clientOf(io, flags)
  if (backtest === undefined) {
    const checked = await client.ask(calls.checkCatalog, { body: { yaml, ...options } })
    return withPlaces(checked, composed, placed, isStrict)
  }
  requireWindow(backtest)
  const answer = await client.attemptTold(
    calls.checkCatalog,
    { body: { yaml, ...options, backtest } },
    ({ done, of }) => {
      if (io.isTerminal) io.err(`\rbacktest: ${Math.floor((100 * done) / Math.max(1, of))} %`)
    },
  )
  if (io.isTerminal) io.err('\r\u001b[K')
  if (answer.status < 200 || answer.status >= 300) throw client.refusal(answer)
  return withPlaces(answer.read(), composed, placed, isStrict)
}

/* `svc catalog plan PATHS --base PATHS --events FILE`: files against files, on an engine that is thrown away. */

interface OfflineFlags extends InputFlags {
  events?: string
  backtest?: string
  strict?: boolean
}

const BY = { caller: { id: 'plan', name: 'plan' }, origin: 'catalog' as const }

/**
 * What the change from some files to others would do, and with events what it would have done.
 * @param base files and folders as they are; without the environment nothing of it is there. @param changed as they are to be
 * @throws CliError 65 with the problems of either; 66
 */
async function planBetween(
  io: Io,
  base: readonly string[],
  changed: readonly string[],
  { events, backtest, strict = false, ...flags }: OfflineFlags,
): Promise<{ checked: CatalogChecked; isNewEnvironment: boolean }> {
  if (backtest !== undefined && events === undefined)
    throw usageError('--backtest with --base needs --events: no instance is asked')
  if (backtest !== undefined) requireWindow(backtest)
  const { createEngine, environmentElsewhere } = await import('../../../engine/local.ts')
  const recorded = events === undefined ? undefined : await readEvents(io, events)
  const now = recorded?.to ?? Date.now()
  const engine = createEngine({
    dataFile: null,
    clock: { now: () => now },
    env: environmentElsewhere(io.env),
  })
  try {
    // A new catalog has no base files to compare with.
    const before = await readInput(io, base, { ...flags, allowEmpty: true, isBase: true })
    const answered = await engine.checkCatalog(before.texts)
    const { problems } = withPlaces(answered, before.composed, before.placed, false)
    if (problems.length) throw problemsError(before.shown, problems)
    const { texts, composed, placed } = await readInput(io, changed, flags)
    await engine.importCatalog(sameCatalog(before.texts, texts), BY)
    // What the changed files lack is what the change deletes, as far as there is.
    const whole = { prune: true, allow_empty: true, max_deletions: 1_000_000 }
    const answer = await engine.checkCatalog({ ...texts, ...whole, ...(strict ? { strict } : {}) })
    const checked = withPlaces(answer, composed, placed, strict)
    const { isNewEnvironment = false } = before
    if (!recorded || !checked.plan || checked.problems.length) return { checked, isNewEnvironment }
    const window = backtest ?? `${Math.max(1, recorded.to - recorded.from) / 1_000}s`
    const told = await engine.backtestChange({ ...texts, prune: true, window }, true, undefined, recorded)
    const notes =
      recorded.sample < 100
        ? [
            `only ${recorded.sample} of a hundred entities are in the file: counts are of these`,
            ...told.notes,
          ]
        : told.notes
    return { checked: { ...checked, backtest: { ...told, notes } }, isNewEnvironment }
  } finally {
    await engine.close()
  }
}

/** Files that carry no name are the same catalog as the changed ones, wherever they lie: what got its name back is known by that. */
function sameCatalog(before: CatalogInput['texts'], { name, file }: CatalogInput['texts']) {
  const { yaml, others } = before
  if (others || CARRIES_NAME.test(yaml)) return before
  return { yaml, ...(name === undefined ? {} : { name }), ...(file === undefined ? {} : { file }) }
}

const CARRIES_NAME = /^["{\s]*catalog"?\s*:/m

/** @throws CliError 64 */
function requireWindow(backtest: string): void {
  if (!/^\d+(\.\d+)?[smhd]$/.test(backtest))
    throw usageError('--backtest must be a duration, such as 7d or 12h')
}

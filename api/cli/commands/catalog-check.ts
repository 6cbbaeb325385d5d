/** `svc catalog check`: what is wrong with files, by the daemon or, without one, by itself. */
import { type Composed, compose } from '../../../engine/files.ts'
import type { LocalEngine } from '../../../engine/local.ts'
import type { CatalogChecked, CatalogProblem } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type CatalogInput, placedIn, readBeside, readInput, withPlaces } from '../catalog-input.ts'
import { problemsError, tellWarnings } from '../catalog-text.ts'
import { clientOf } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT } from '../exit.ts'
import { type FindingFormat, findingOf, findingsText } from '../findings-text.ts'
import { type Io, printJson } from '../terminal.ts'
import { ask, type PlanFlags } from './catalog-plan.ts'

export type CheckFlags = PlanFlags & { offline?: boolean; format?: FindingFormat }

/** A part that no file declares and no name is close to: an instance may have it of another repository. */
const NOT_HERE = /\bno [\w ]+ is named [^ ]+$/
const OF_ANOTHER =
  'parts of another repository are not known here: give its folder, too, as in "svc catalog check --offline . ../other"\n'

/** Exits with 65 when there is a problem. */
export async function checkCatalog(io: Io, paths: readonly string[], flags: CheckFlags): Promise<void> {
  const [file = '.'] = paths
  const format = flags.json ? 'json' : (flags.format ?? 'text')
  const { shown, checked } = await checkedOf(io, paths, flags)
  const { problems, warnings } = checked
  if (format === 'json') printJson(io, JSON.stringify(checked))
  else if (format === 'text') tellWarnings(io, file, warnings)
  else {
    const findings = [
      ...problems.map((problem) => findingOf(file, problem, 'error')),
      ...warnings.map((problem) => findingOf(file, problem, 'warning')),
    ]
    io.out(findingsText(format, findings, io.env))
  }
  if (flags.offline && problems.some(({ message }) => NOT_HERE.test(message))) io.err(OF_ANOTHER)
  if (problems.length) throw problemsError(file, problems)
  if (format === 'text') io.out(`${shown} has no problem\n`)
}

/** What is wrong, also where that keeps files from being put together. */
async function checkedOf(
  io: Io,
  paths: readonly string[],
  flags: CheckFlags,
): Promise<{ shown: string; checked: CatalogChecked }> {
  try {
    const input = await readInput(io, paths, flags)
    const checked = await checkedBy(io, input, flags)
    const problems = [...checked.problems, ...(await faultsOfTests(paths[0] ?? '.', input))]
    return { shown: input.shown, checked: { ...checked, problems } }
  } catch (error) {
    const problems = error instanceof CliError ? error.fields.problems : undefined
    if (!Array.isArray(problems)) throw error
    const nothing = { warnings: [], plan: null, fingerprint: null, name: '' }
    return { shown: '', checked: { ...nothing, problems: problems as CatalogProblem[] } }
  }
}

/** What is wrong with the tests of the files, which no daemon reads. */
async function faultsOfTests(file: string, { composed, texts }: CatalogInput): Promise<CatalogProblem[]> {
  const one = { name: file, files: [{ path: file, text: texts.yaml }] }
  const { tests } = composed ?? (texts.yaml.includes('tests') ? compose({ roots: [one] }) : { tests: [] })
  if (tests.length === 0) return []
  const { planTests } = await import('../../../engine/local.ts')
  return planTests(tests, readBeside).problems
}

/** By the daemon; where none was named and none answers, by an engine with nothing in it. */
async function checkedBy(io: Io, input: CatalogInput, flags: CheckFlags): Promise<CatalogChecked> {
  const { yaml, ...texts } = input.texts
  const options = { ...texts, ...(flags.strict ? { strict: true } : {}) }
  const alone = () => checkedAlone(io, input, { yaml, ...options }, flags.strict === true)
  if (flags.offline) return alone()
  try {
    return await ask(io, input, options, flags)
  } catch (error) {
    if (!isNobodyHere(io, flags, error)) throw error
    io.err('no daemon answers here: this is checked as an instance with nothing in it would read it\n')
    return alone()
  }
}

/** Whether no daemon answered, and none was named. */
function isNobodyHere(io: Io, { svcd }: ClientFlags, error: unknown): boolean {
  const isNamed = svcd !== undefined || Boolean(io.env.SVCD_URL)
  return !isNamed && error instanceof CliError && error.exitCode === EXIT.unavailable
}

export type SchemaFlags = ClientFlags & { offline?: boolean }

/** The daemon's schema of the file; where none was named and none answers, that of this command. */
export async function printSchema(io: Io, flags: SchemaFlags): Promise<void> {
  if (flags.offline) return printJson(io, await schemaAlone(io))
  try {
    printJson(io, (await clientOf(io, flags).call(calls.getCatalogSchema)).text)
  } catch (error) {
    if (!isNobodyHere(io, flags, error)) throw error
    io.err('no daemon answers here: this is the schema of this command\n')
    printJson(io, await schemaAlone(io))
  }
}

/** That of this command. */
export const schemaAlone = (io: Io): Promise<string> =>
  inEngine(io, async (engine) => JSON.stringify(await engine.catalogSchema()))

/** The same check in this process; which variables are set is the instance's to say. */
async function checkedAlone(
  io: Io,
  { composed, placed }: Pick<CatalogInput, 'composed' | 'placed'>,
  body: CatalogInput['texts'],
  isStrict: boolean,
): Promise<CatalogChecked> {
  return inEngine(io, async (engine) =>
    withPlaces(await engine.checkCatalog(body), composed, placed, isStrict),
  )
}

/** What is wrong with what was put together, as an instance with nothing in it would read it: with the places of the files. */
export async function problemsAlone(io: Io, composed: Composed): Promise<CatalogProblem[]> {
  const [first, ...others] = composed.owned.map(({ name, text }) => ({ name, yaml: text }))
  if (!first) return composed.problems
  const body = { ...first, ...(others.length ? { others } : {}) }
  const { problems } = await checkedAlone(io, { composed, placed: placedIn(composed) }, body, false)
  return problems
}

/** Asks an engine in memory with nothing in it. */
async function inEngine<T>(io: Io, asked: (engine: LocalEngine) => Promise<T>): Promise<T> {
  const { createEngine, environmentElsewhere } = await import('../../../engine/local.ts')
  const env = environmentElsewhere(io.env)
  const engine = createEngine({ dataFile: null, clock: { now: () => Date.now() }, env })
  try {
    return await asked(engine)
  } finally {
    await engine.close()
  }
}

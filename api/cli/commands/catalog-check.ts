/** `svc catalog check`: what is wrong with a file, by the daemon or, without one, by itself. */
import type { CatalogChecked } from '../../../schemas/types.ts'
import { problemsError, tellWarnings } from '../catalog-text.ts'
import { CliError, EXIT } from '../exit.ts'
import { readText, shownFile } from '../files.ts'
import { type Io, printJson } from '../terminal.ts'
import { ask, nameOf, type PlanFlags } from './catalog-plan.ts'

export type CheckFlags = PlanFlags & { offline?: boolean }

/** Exits with 65 when there is a problem. */
export async function checkCatalog(io: Io, file: string, flags: CheckFlags): Promise<void> {
  const checked = await checkedBy(io, file, await readText(io, file), flags)
  if (flags.json) printJson(io, JSON.stringify(checked))
  else tellWarnings(io, file, checked.warnings)
  if (checked.problems.length) throw problemsError(file, checked.problems)
  if (!flags.json) io.out(`${shownFile(file)} has no problem\n`)
}

/** By the daemon; where none was named and none answers, by an engine with nothing in it. */
async function checkedBy(io: Io, file: string, yaml: string, flags: CheckFlags): Promise<CatalogChecked> {
  const options = { ...nameOf(file), ...(flags.strict ? { strict: true } : {}) }
  if (flags.offline) return checkedAlone(io, { yaml, ...options })
  try {
    return await ask(io, yaml, options, flags)
  } catch (error) {
    const isNamed = flags.svcd !== undefined || Boolean(io.env.SVCD_URL)
    const isAway = error instanceof CliError && error.exitCode === EXIT.unavailable
    if (!isAway || isNamed) throw error
    io.err('no daemon answers here: the file is checked as an instance with nothing in it would read it\n')
    return checkedAlone(io, { yaml, ...options })
  }
}

/** The same check in this process; the variables are those of the command. */
async function checkedAlone(io: Io, body: { yaml: string; file?: string }): Promise<CatalogChecked> {
  const { createEngine } = await import('../../../engine/local.ts')
  const engine = createEngine({ dataFile: null, clock: { now: () => Date.now() }, env: io.env })
  try {
    return await engine.checkCatalog(body)
  } finally {
    await engine.close()
  }
}

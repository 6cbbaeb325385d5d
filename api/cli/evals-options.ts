/** What the commands of `svc evals` share: packs, numbers in options, and tables of figures. */
import type { EvalReport, Pack, VariantFigures } from '../../engine/local.ts'
import { CliError, EXIT, usageError } from './exit.ts'
import { readText } from './files.ts'
import { type Column, type Io, table } from './terminal.ts'

/** Bounds of what can be asked for. */
export const NOISE_MAX = 1_000_000

export const NOISE_HELP = 'events around each incident, separated by commas'
export const PACK_HELP = 'folder of incidents; without one, the pack of svc itself'

/** @param only ids of scenarios, separated by commas. @throws CliError 66 where there is none */
export async function openPack(folder: string | undefined, only?: string, heldOut?: boolean): Promise<Pack> {
  const { ownPack, readPack } = await import('../../engine/local.ts')
  const pack = folder === undefined ? ownPack() : read(readPack, folder)
  const wanted = only?.split(',').map((id) => id.trim())
  const unknown = wanted?.find((id) => !pack.incidents.some((one) => one.id === id))
  if (unknown !== undefined) throw new CliError(`the pack has no scenario ${unknown}`, EXIT.input)
  return {
    ...pack,
    incidents: pack.incidents.filter(
      (one) => (!wanted || wanted.includes(one.id)) && (!heldOut || one.heldOut === true),
    ),
  }
}

function read(readPack: (folder: string) => Pack, folder: string): Pack {
  try {
    return readPack(folder)
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.input)
  }
}

/** @throws CliError 64 */
export function numbersIn(text: string, option: string, least: number, most: number): number[] {
  return text.split(',').map((word) => {
    const value = Number(word.trim())
    if (!/^\s*\d+\s*$/.test(word) || value < least || value > most)
      throw usageError(`${option} takes whole numbers from ${least} to ${most}, separated by commas`)
    return value
  })
}

/** @throws CliError 65, 66 */
export async function readReport(io: Io, file: string): Promise<EvalReport> {
  const text = await readText(io, file)
  try {
    const report = JSON.parse(text) as EvalReport
    if (report.version === 1 && Array.isArray(report.runs)) return report
  } catch {
    // Said below: what is no JSON is no report either.
  }
  throw new CliError(`${file} is no report of svc evals run: write one with --out`, EXIT.data)
}

const COLUMNS: Column<VariantFigures>[] = [
  { title: 'noise', cell: ({ noise }) => String(noise) },
  { title: 'agent', cell: ({ variant }) => variant },
  { title: 'scenarios', cell: ({ scenarios }) => String(scenarios) },
  { title: 'runs', cell: ({ runs }) => String(runs) },
  {
    title: 'cause (95 %)',
    cell: ({ cause: { mean, low, high } }) => `${mean.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
  },
  { title: 'pass', cell: ({ pass }) => `${Math.round(100 * pass)} %` },
  { title: 'every time', cell: ({ passAll, scenarios }) => `${passAll}/${scenarios}` },
  { title: 'flaky', cell: ({ flaky }) => String(flaky) },
  { title: 'evidence', cell: ({ evidenceRecall }) => evidenceRecall.toFixed(2) },
  { title: 'shown', cell: ({ reached }) => reached.toFixed(2) },
  { title: 'false claims', cell: ({ falseClaims }) => falseClaims.toFixed(2) },
  { title: 'decoys', cell: ({ decoys }) => String(decoys) },
  { title: 'false alarms', cell: ({ falseAlarms }) => String(falseAlarms) },
  { title: 'tokens', cell: ({ inputTokens }) => String(inputTokens) },
  { title: 'calls', cell: ({ calls }) => calls.toFixed(1) },
  { title: 'dollars', cell: ({ usd }) => (usd === null ? '–' : usd.toFixed(4)) },
]

/** Figures of each agent and level. */
export const figuresTable = (io: Io, figures: readonly VariantFigures[]): string =>
  table(io, COLUMNS, [...figures])

/** Reports of `svc evals` as commands read, write and show them. */

import type { Command } from 'commander'
import { compareReports, figuresByVariant, type VariantFigures } from '../../schemas/eval-figures.ts'
import { figuresByLevel, levelName, rulesByLevel, rulesLine } from '../../schemas/eval-levels.ts'
import {
  type MeasuredFigures,
  measuredFigures,
  positionText,
  suspectsText,
} from '../../schemas/eval-measured.ts'
import { grouped } from '../../schemas/grouped.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type { EvalMeasured, EvalReport } from '../../schemas/types.ts'
import * as calls from '../client/calls.ts'
import { addDaemonOptions, clientOf } from './context.ts'
import type { ClientFlags } from './credentials.ts'
import { CliError, EXIT } from './exit.ts'
import { checkWritable, readText, writeText } from './files.ts'
import { type Column, escapeLine, type Io, printJson, table } from './terminal.ts'

export interface ReportFlags extends ClientFlags {
  out?: string
  junit?: string
  html?: string
  json?: boolean
  publish?: boolean
}

/** Adds what hands the report to a daemon, whose console shows it. */
export const publishing = (command: Command): Command =>
  addDaemonOptions(
    command.option('--publish', 'hand the report to the daemon; its console shows it under Evals'),
  )

/**
 * Says that a report could not be written, or handed in, before it is made: what runs of models find is paid for.
 * @throws CliError 74 where a file cannot be written, 69 or 77 where the daemon is not reachable, or does not know who asks
 */
export async function checkReport(io: Io, flags: ReportFlags): Promise<void> {
  for (const file of [flags.out, flags.junit, flags.html]) if (file !== undefined) checkWritable(file)
  if (flags.publish) await clientOf(io, flags).ask(calls.whoAmI)
}

/**
 * Shows a report, and then writes it to the files that were asked for: what is shown is not lost where one cannot be written.
 * @param against an earlier report that it is compared with
 */
export async function tellReport(
  io: Io,
  report: EvalReport,
  flags: ReportFlags,
  against: EvalReport | null = null,
): Promise<void> {
  showReport(io, report, flags, against)
  const { out, junit, html } = flags
  const { htmlOf, junitOf } = await import('../../engine/local.ts')
  if (out !== undefined) writeText(io, out, `${JSON.stringify(report, null, 1)}\n`)
  if (junit !== undefined) writeText(io, junit, junitOf(report))
  if (html !== undefined) writeText(io, html, htmlOf(report))
  if (flags.publish) {
    const { id } = await clientOf(io, flags).ask(calls.handInEvalReport, { body: report })
    io.err(`published as ${id}; the console shows it under Evals\n`)
  }
}

function showReport(io: Io, report: EvalReport, { json }: ReportFlags, against: EvalReport | null): void {
  const figures = figuresByVariant(report.runs)
  const comparisons = against ? compareReports(against, report) : []
  const levels = figuresByLevel(report.runs)
  const rules = rulesByLevel(report)
  if (json) {
    printJson(io, JSON.stringify({ report, figures, levels, rules, comparisons }))
    return
  }
  if (report.measured.length) io.out(`${measuredTable(io, report.measured)}\n${missedOf(report.measured)}`)
  if (report.runs.length) io.out(`${figuresTable(io, figures)}\n${levelsTable(io, report)}\n`)
  for (const one of rules) io.out(`${escapeLine(rulesLine(one))}\n`)
  if (report.stopped) io.out(`Stopped before the end: $${report.spent_usd.toFixed(2)} were spent.\n`)
  for (const { variant, difference, verdict, scenarios } of comparisons) {
    const { mean, low, high } = difference
    io.out(
      `${escapeLine(variant)} against before, ${countWords(scenarios, 'scenario')}: ${verdict} (${mean >= 0 ? '+' : ''}${mean.toFixed(2)}, ${low.toFixed(2)} to ${high.toFixed(2)})\n`,
    )
  }
}

/**
 * Reads a report that `svc evals run --out` or `svc evals measure --out` wrote.
 * @param file path, or `-` for standard input
 * @throws CliError 66 where the file cannot be read, 65 where it is no such report: what is wrong is said
 */
export async function readReport(io: Io, file: string): Promise<EvalReport> {
  const report = jsonOf(await readText(io, file))
  const { check } = await import('../../schemas/index.ts')
  const fault = report === undefined ? 'it is not JSON' : check('eval-report.json', report)
  if (fault !== null)
    throw new CliError(
      `${file} is no report of svc evals (write one with --out): ${firstOf(fault)}`,
      EXIT.data,
    )
  return report as EvalReport
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const firstOf = (faults: string): string => faults.split('; ', 1)[0]!

const FIGURES: Column<VariantFigures>[] = [
  { title: 'noise', cell: ({ noise }) => String(noise) },
  { title: 'agent', cell: ({ variant }) => variant },
  { title: 'scenarios', cell: ({ scenarios }) => String(scenarios) },
  { title: 'runs', cell: ({ runs }) => String(runs) },
  {
    title: 'cause (95 %)',
    cell: ({ cause: { mean, low, high } }) => `${mean.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
  },
  { title: 'pass', cell: ({ pass }) => `${Math.round(100 * pass)} %` },
  { title: 'every time', cell: ({ pass_all, scenarios }) => `${pass_all}/${scenarios}` },
  { title: 'flaky', cell: ({ flaky }) => String(flaky) },
  { title: 'evidence', cell: ({ evidence_recall }) => evidence_recall.toFixed(2) },
  { title: 'shown', cell: ({ reached }) => reached.toFixed(2) },
  { title: 'false claims', cell: ({ false_claims }) => false_claims.toFixed(2) },
  { title: 'decoys', cell: ({ decoys }) => String(decoys) },
  { title: 'false alarms', cell: ({ false_alarms }) => String(false_alarms) },
  { title: 'tokens', cell: ({ input_tokens }) => String(input_tokens) },
  { title: 'calls', cell: ({ calls }) => calls.toFixed(1) },
  { title: 'dollars', cell: ({ usd }) => (usd === null ? '–' : usd.toFixed(4)) },
]

/** Figures of each agent at each level of noise. */
const figuresTable = (io: Io, figures: readonly VariantFigures[]): string => table(io, FIGURES, [...figures])

/** Scores for the cause by how hard the scenarios were: a line an agent, a column a level. */
function levelsTable(io: Io, { runs }: EvalReport): string {
  const figures = figuresByLevel(runs)
  const levels = [...new Set(figures.map(({ level }) => level))].sort((a, b) => (a ?? 0) - (b ?? 0))
  const lines = [...grouped(figures, ({ noise, variant }) => `${noise} ${variant}`).values()]
  return table(
    io,
    [
      { title: 'noise', cell: ([one]) => String(one!.noise) },
      { title: 'cause by level', cell: ([one]) => one!.variant },
      ...levels.map(
        (level): Column<(typeof lines)[number]> => ({
          title: levelName(level),
          cell: (of) => {
            const one = of.find((figure) => figure.level === level)
            return one ? `${one.cause.toFixed(2)} (${one.scenarios})` : '–'
          },
        }),
      ),
    ],
    lines,
  )
}

interface MeasuredLine {
  noise: number
  budget: number
  way: string
  kind: string
  figures: MeasuredFigures
}

const MEASURED: Column<MeasuredLine>[] = [
  { title: 'noise', cell: ({ noise }) => String(noise) },
  { title: 'budget', cell: ({ budget }) => String(budget) },
  { title: 'shown', cell: ({ way }) => way },
  { title: 'kind', cell: ({ kind }) => kind },
  { title: 'incidents', cell: ({ figures }) => String(figures.incidents) },
  { title: 'key facts', cell: ({ figures }) => figures.recall.toFixed(2) },
  { title: 'a root', cell: ({ figures }) => `${figures.roots}/${figures.withRoot}` },
  { title: 'root at', cell: ({ figures }) => positionText(figures) },
  { title: 'suspect 1 3 5', cell: ({ figures }) => suspectsText(figures) },
  { title: 'tokens', cell: ({ figures }) => String(figures.tokens) },
  { title: 'a fact', cell: ({ figures: { tokensPerFact } }) => String(tokensPerFact ?? '–') },
  { title: 'over', cell: ({ figures }) => String(figures.overBudget) },
  { title: 'ms', cell: ({ figures }) => String(figures.ms) },
]

/** A line for each level, budget and way, and below it one for each kind of incident. */
function measuredTable(io: Io, measured: readonly EvalMeasured[]): string {
  const lines: MeasuredLine[] = []
  for (const some of grouped(measured, ({ noise, budget, way }) => `${noise} ${budget} ${way}`).values()) {
    const { noise, budget, way } = some[0]!
    lines.push({ noise, budget, way, kind: 'all', figures: measuredFigures(some) })
    for (const [kind, ofKind] of grouped(some, (one) => one.kind))
      lines.push({ noise, budget, way, kind: `  ${kind}`, figures: measuredFigures(ofKind) })
  }
  return table(io, MEASURED, lines)
}

/** What a brief did not show, by name: nothing is tuned away. */
function missedOf(measured: readonly EvalMeasured[]): string {
  const lines = measured
    .filter(({ way, missed }) => way === 'brief' && missed.length > 0)
    .map(
      ({ noise, budget, id, missed }) =>
        `  ${noise} events, ${budget} tokens: ${escapeLine(id)}: ${missed.map(escapeLine).join(' | ')}\n`,
    )
  return lines.length ? `Not shown by brief:\n${lines.join('')}` : 'brief shows every fact\n'
}

/** `svc evals`: how much of what one must see an agent is shown, measured without a model. */
import { Command } from 'commander'
import type { Measured } from '../../../engine/local.ts'
import { NOISE_HELP, NOISE_MAX, numbersIn, openPack, PACK_HELP } from '../evals-options.ts'
import { usageError } from '../exit.ts'
import { type Column, escapeLine, type Io, paint, printJson, table } from '../terminal.ts'
import { evalsNewCommand } from './evals-new.ts'
import { evalsCheckCommand, evalsRunCommand, evalsScoreCommand } from './evals-run.ts'

/** Bounds of what can be asked for. */
const BUDGET_MIN = 200
const BUDGET_MAX = 100_000

interface MeasureFlags {
  pack?: string
  noise: string
  budget: string
  variant?: string
  json?: boolean
}

/** The command. */
export function evalsCommand(io: Io): Command {
  const command = new Command('evals').description('Measure what agents are shown, and score what they find')
  command.addCommand(
    new Command('measure')
      .description('Key facts in the first message, brief and plain, over incidents; no daemon, no model')
      .option('--pack <dir>', PACK_HELP)
      .option('--noise <numbers>', NOISE_HELP, '10000')
      .option('--budget <tokens>', 'budgets of the message, separated by commas', '1000,6000')
      .option(
        '--variant <name>',
        'with less known of the events: one-source, no-places, one-type or no-history',
      )
      .option('--json', 'print every measurement as JSON')
      .action((flags: MeasureFlags) => measureAll(io, flags)),
  )
  command.addCommand(evalsRunCommand(io))
  command.addCommand(evalsScoreCommand(io))
  command.addCommand(evalsCheckCommand(io))
  command.addCommand(evalsNewCommand(io))
  return command
}

async function measureAll(io: Io, flags: MeasureFlags): Promise<void> {
  const noise = numbersIn(flags.noise, '--noise', 0, NOISE_MAX)
  const budgets = numbersIn(flags.budget, '--budget', BUDGET_MIN, BUDGET_MAX)
  const { figuresOf, groupedBy, measure, VARIANTS } = await import('../../../engine/local.ts')
  const variant = VARIANTS.find((name) => name === flags.variant)
  if (flags.variant !== undefined && variant === undefined)
    throw usageError(`--variant takes ${VARIANTS.join(', ')}`)
  const pack = { ...(await openPack(flags.pack)), ...(variant ? { variant } : {}) }
  let done = 0
  const measured = measure(pack, {
    ...{ noise, budgets },
    clock: () => performance.now(),
    onIncident: () => {
      done++
      if (io.isTerminal) io.err(paint(io, 'dim', `${done} of ${pack.incidents.length} incidents\n`))
    },
  })
  if (flags.json) return printJson(io, JSON.stringify({ measured }))
  io.out(`${tableOf(io, { figuresOf, groupedBy }, measured)}\n${missedOf(measured)}`)
}

type Evals = Pick<typeof import('../../../engine/local.ts'), 'figuresOf' | 'groupedBy'>

interface Line {
  noise: number
  budget: number
  way: string
  kind: string
  figures: ReturnType<Evals['figuresOf']>
}

const COLUMNS: Column<Line>[] = [
  { title: 'noise', cell: ({ noise }) => String(noise) },
  { title: 'budget', cell: ({ budget }) => String(budget) },
  { title: 'shown', cell: ({ way }) => way },
  { title: 'kind', cell: ({ kind }) => kind },
  { title: 'incidents', cell: ({ figures }) => String(figures.incidents) },
  { title: 'key facts', cell: ({ figures }) => figures.recall.toFixed(2) },
  { title: 'a root', cell: ({ figures }) => `${figures.roots}/${figures.withRoot}` },
  { title: 'tokens', cell: ({ figures }) => String(figures.tokens) },
  { title: 'over', cell: ({ figures }) => String(figures.overBudget) },
  { title: 'ms', cell: ({ figures }) => String(figures.ms) },
]

/** A line for each level, budget and way, and below it one for each kind of incident. */
function tableOf(io: Io, { figuresOf, groupedBy }: Evals, measured: readonly Measured[]): string {
  const lines: Line[] = []
  for (const some of groupedBy(measured, ({ noise, budget, way }) => `${noise} ${budget} ${way}`).values()) {
    const { noise, budget, way } = some[0]!
    lines.push({ noise, budget, way, kind: 'all', figures: figuresOf(some) })
    for (const [kind, ofKind] of groupedBy(some, (one) => one.kind))
      lines.push({ noise, budget, way, kind: `  ${kind}`, figures: figuresOf(ofKind) })
  }
  return table(io, COLUMNS, lines)
}

/** What a brief did not show, by name: nothing is tuned away. */
function missedOf(measured: readonly Measured[]): string {
  const lines = measured
    .filter(({ way, missed }) => way === 'brief' && missed.length > 0)
    .map(
      ({ noise, budget, id, missed }) =>
        `  ${noise} events, ${budget} tokens: ${escapeLine(id)}: ${missed.map(escapeLine).join(' | ')}\n`,
    )
  return lines.length ? `Not shown by brief:\n${lines.join('')}` : 'brief shows every fact\n'
}

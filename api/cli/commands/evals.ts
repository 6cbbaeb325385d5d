/** `svc evals`, and of it `measure`: how many of the facts that an agent must see its first message shows. */
import { Command } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type { EvalReport } from '../../../schemas/types.ts'
import { version } from '../../version.ts'
import { NOISE_HELP, NOISE_MAX, numbersIn, OWN_PACK, openPack, PACK_HELP } from '../evals-options.ts'
import { checkReport, publishing, type ReportFlags, tellReport } from '../evals-report.ts'
import { usageError } from '../exit.ts'
import { type Io, paint } from '../terminal.ts'
import { evalsNewCommand } from './evals-new.ts'
import { evalsCheckCommand, evalsRunCommand, evalsScoreCommand } from './evals-run.ts'

/** Bounds of what can be asked for. */
const BUDGET_MIN = 200
const BUDGET_MAX = 100_000

interface MeasureFlags extends ReportFlags {
  pack?: string
  noise: string
  budget: string
  variant?: string
  only?: string
  heldOut?: boolean
}

/** The command. */
export function evalsCommand(io: Io): Command {
  const command = new Command('evals').description('Measure what agents are shown, and score what they find')
  command.addCommand(
    publishing(
      new Command('measure')
        .description(
          'Measure how many of the facts that an agent must see its first message shows, as brief and as plain. No daemon and no model are needed',
        )
        .option('--pack <dir>', PACK_HELP)
        .option('--only <ids>', 'only these scenarios, separated by commas')
        .option('--held-out', 'only the 12 held-out scenarios')
        .option('--noise <numbers>', NOISE_HELP, '10000')
        .option('--budget <tokens>', 'budgets of the message in tokens, separated by commas', '1000,6000')
        .option(
          '--variant <name>',
          'measure with less known of the events: one-source, no-places, one-type or no-history',
        )
        .option('--out <file>', 'write the report, with every measurement, as JSON')
        .option('--json', 'print the report as JSON')
        .action((flags: MeasureFlags) => measureAll(io, flags)),
    ),
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
  const { measure, VARIANTS } = await import('../../../engine/local.ts')
  const variant = VARIANTS.find((name) => name === flags.variant)
  if (flags.variant !== undefined && variant === undefined)
    throw usageError(`--variant takes ${VARIANTS.join(', ')}`)
  const pack = { ...(await openPack(flags.pack, flags.only, flags.heldOut)), ...(variant ? { variant } : {}) }
  await checkReport(io, flags)
  let done = 0
  const measured = measure(pack, {
    ...{ noise, budgets },
    clock: () => performance.now(),
    onIncident: () => {
      done++
      if (io.isTerminal)
        io.err(paint(io, 'dim', `${done} of ${countWords(pack.incidents.length, 'incident')}\n`))
    },
  })
  const report: EvalReport = {
    ...{ version: 1, at: new Date().toISOString(), release: version, noise, measured },
    ...{ pack: flags.pack ?? OWN_PACK, spent_usd: 0, stopped: false, scenes: [], runs: [] },
  }
  await tellReport(io, report, flags)
}

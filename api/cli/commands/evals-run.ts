/** `svc evals run`, `score` and `check`: agents over scenarios whose cause is known. */
import { Command } from 'commander'
import type { EvalReport, EvalRun, Variant } from '../../../engine/local.ts'
import { loadModels } from '../../config-models.ts'
import { version } from '../../version.ts'
import {
  figuresTable,
  NOISE_HELP,
  NOISE_MAX,
  numbersIn,
  openPack,
  PACK_HELP,
  readReport,
} from '../evals-options.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readPrompt, writeText } from '../files.ts'
import { escapeLine, type Io, paint, printJson } from '../terminal.ts'

const REPEATS_MAX = 50
const USD_MAX = 10_000

interface RunFlags {
  pack?: string
  only?: string
  heldOut?: boolean
  noise: string
  model?: string
  provider?: string
  context: string
  promptFile?: string
  repeat: string
  maxUsd?: string
  scripted?: boolean
  against?: string
  out?: string
  junit?: string
  html?: string
  json?: boolean
}

export function evalsRunCommand(io: Io): Command {
  return new Command('run')
    .description(
      'Run agents over scenarios whose cause is known, and score what they find. Models are those of the environment (PROVIDERA_API_KEY and its like); without one, only the scripted agents run, which every report has',
    )
    .option('--pack <dir>', PACK_HELP)
    .option('--only <ids>', 'only these scenarios, separated by commas')
    .option('--held-out', 'only the scenarios that nothing is tuned on')
    .option('--noise <numbers>', NOISE_HELP, '10000')
    .option('--model <names>', 'models to run, separated by commas; without one, the default of the provider')
    .option('--provider <id>', 'provider of the models; without one, the default')
    .option('--context <ways>', 'what is shown first, brief or plain, or both separated by a comma', 'brief')
    .option('--prompt-file <file>', "instructions of the agent instead of the pack's own")
    .option('--repeat <n>', 'runs of each model over each scenario', '3')
    .option('--max-usd <dollars>', 'begin nothing more once so much was spent; asked for where a model runs')
    .option('--scripted', 'run the scripted agents alone')
    .option('--against <file>', 'compare with a report that --out wrote')
    .option('--out <file>', 'write the report as JSON')
    .option('--junit <file>', 'write the report as JUnit')
    .option('--html <file>', 'write the report as one page')
    .option('--json', 'print the report as JSON')
    .action((flags: RunFlags) => runAll(io, flags))
}

export function evalsScoreCommand(io: Io): Command {
  return new Command('score')
    .description('Show the figures of a report again, beside those of another where one is given')
    .argument('<file>', 'a report that svc evals run --out wrote')
    .option('--against <file>', 'compare with this report')
    .option('--junit <file>', 'write it as JUnit')
    .option('--html <file>', 'write it as one page')
    .option('--json', 'print the figures as JSON')
    .action((file: string, flags: Pick<RunFlags, 'against' | 'junit' | 'html' | 'json'>) =>
      scoreAgain(io, file, flags),
    )
}

export function evalsCheckCommand(io: Io): Command {
  return new Command('check')
    .description(
      'Whether scenarios can tell a good agent from a bad one: a script that knows nothing must not find the cause, and who is told must',
    )
    .option('--pack <dir>', PACK_HELP)
    .option('--only <ids>', 'only these scenarios, separated by commas')
    .option('--noise <number>', 'events around each incident', '10000')
    .option('--json', 'print what is wrong as JSON')
    .action(
      async ({
        pack: folder,
        only,
        noise,
        json,
      }: {
        pack?: string
        only?: string
        noise: string
        json?: boolean
      }) => {
        const { checkPack, createEngine } = await import('../../../engine/local.ts')
        const [level] = numbersIn(noise, '--noise', 0, NOISE_MAX)
        const pack = await openPack(folder, only)
        const progress = progressOf(io, pack.incidents.length)
        const unfit = await checkPack(createEngine, pack, { noise: level!, onRun: progress })
        if (json) printJson(io, JSON.stringify({ scenarios: pack.incidents.length, unfit }))
        else {
          for (const { scenario, why } of unfit) io.out(`${escapeLine(scenario)}: ${escapeLine(why)}\n`)
          io.out(
            `${pack.incidents.length - new Set(unfit.map((one) => one.scenario)).size} of ${pack.incidents.length} scenarios are fit\n`,
          )
        }
        if (unfit.length) throw new CliError(`${unfit.length} faults in scenarios`, EXIT.data)
      },
    )
}

async function runAll(io: Io, flags: RunFlags): Promise<void> {
  const { createEngine, openProviderModels, runEvals } = await import('../../../engine/local.ts')
  const noise = numbersIn(flags.noise, '--noise', 0, NOISE_MAX)
  const [repeats] = numbersIn(flags.repeat, '--repeat', 1, REPEATS_MAX)
  const contexts = contextsIn(flags.context)
  const prompt = flags.promptFile === undefined ? undefined : await readPrompt(io, flags.promptFile)
  const pack = await openPack(flags.pack, flags.only, flags.heldOut)
  const against = flags.against === undefined ? null : await readReport(io, flags.against)
  const provider = flags.scripted ? null : openProviderModels(createEngine, loadModels(io.env))
  try {
    const hasProvider = provider !== null && (await isReady(provider.models, flags))
    const maxUsd = hasProvider ? await limitOf(io, flags) : 0
    const variants = await variantsOf(
      { flags, contexts, prompt, repeats: repeats! },
      hasProvider ? provider : null,
    )
    if (!hasProvider && !flags.scripted)
      io.err('No model provider is set (PROVIDERA_API_KEY): only the scripted agents run.\n')
    const progress = progressOf(io, pack.incidents.length * noise.length * variants.length)
    const { runs, spentUsd, stopped } = await runEvals(createEngine, pack, {
      ...{ noise, variants, maxUsd },
      onRun: ({ scenario, variant, repeat }) => {
        if (repeat === 1) progress(`${scenario}, ${variant}`)
      },
    })
    const report: EvalReport = {
      ...{ version: 1, at: new Date().toISOString(), release: version, noise, spentUsd, stopped, runs },
      pack: flags.pack ?? 'the pack of svc',
    }
    await tell(io, report, against, flags)
  } finally {
    await provider?.close()
  }
}

/** Whether there is a provider; a wrong model is a fault and not the lack of one. */
async function isReady(
  models: { resolve(provider: string, model: string): Promise<unknown> },
  { provider = '', model = '' }: RunFlags,
): Promise<boolean> {
  try {
    await models.resolve(provider, model.split(',')[0]!.trim())
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'no_provider') return false
    throw new CliError((error as Error).message, EXIT.configuration)
  }
}

/** @throws CliError 64 where nobody can be asked and nothing is said */
async function limitOf(io: Io, { maxUsd }: RunFlags): Promise<number> {
  if (maxUsd !== undefined) {
    const usd = Number(maxUsd)
    if (!(usd > 0 && usd <= USD_MAX))
      throw usageError(`--max-usd takes dollars, above 0 and at most ${USD_MAX}`)
    return usd
  }
  const suggested = 5
  if (io.isTerminal && (await io.confirm(`Models cost money. Spend up to $${suggested}?`))) return suggested
  throw usageError('say what may be spent: --max-usd 5')
}

function contextsIn(text: string): Variant['context'][] {
  return text.split(',').map((word) => {
    const context = word.trim()
    if (context !== 'brief' && context !== 'plain') throw usageError('--context takes brief, plain, or both')
    return context
  })
}

async function variantsOf(
  asked: { flags: RunFlags; contexts: Variant['context'][]; prompt: string | undefined; repeats: number },
  provider: { models: Extract<Variant['by'], { models: unknown }>['models'] } | null,
): Promise<Variant[]> {
  const { PROMPT, SCRIPTED } = await import('../../../engine/local.ts')
  const { flags, contexts, prompt = PROMPT, repeats } = asked
  const scripted = SCRIPTED.map(
    (script): Variant => ({
      ...{ name: `script ${script}`, context: contexts[0]!, prompt, repeats: 1 },
      by: { script },
    }),
  )
  if (!provider) return scripted
  const names = flags.model?.split(',').map((name) => name.trim()) ?? ['']
  const ofModels = names.flatMap((model) =>
    contexts.map(
      (context): Variant => ({
        ...{ name: `${model || 'default model'} ${context}`, context, prompt, repeats },
        ...(flags.provider === undefined ? {} : { provider: flags.provider }),
        ...(model === '' ? {} : { model }),
        by: { models: provider.models },
      }),
    ),
  )
  return [...scripted, ...ofModels]
}

async function scoreAgain(
  io: Io,
  file: string,
  flags: Pick<RunFlags, 'against' | 'junit' | 'html' | 'json'>,
): Promise<void> {
  const report = await readReport(io, file)
  const against = flags.against === undefined ? null : await readReport(io, flags.against)
  await tell(io, report, against, flags)
}

async function tell(
  io: Io,
  report: EvalReport,
  against: EvalReport | null,
  { json, ...files }: Pick<RunFlags, 'out' | 'junit' | 'html' | 'json'>,
): Promise<void> {
  const { compareRuns, figuresByVariant, htmlOf, junitOf } = await import('../../../engine/local.ts')
  if (files.out !== undefined) writeText(io, files.out, `${JSON.stringify(report, null, 1)}\n`)
  if (files.junit !== undefined) writeText(io, files.junit, junitOf(report))
  if (files.html !== undefined) writeText(io, files.html, htmlOf(report))
  const figures = figuresByVariant(report.runs)
  const comparisons = against
    ? [...new Set(report.runs.map(({ variant }) => variant))].flatMap((variant) => {
        const of = (runs: readonly EvalRun[]) => runs.filter((run) => run.variant === variant)
        const before = of(against.runs)
        return before.length ? [{ variant, ...compareRuns(before, of(report.runs)) }] : []
      })
    : []
  if (json) return printJson(io, JSON.stringify({ report, figures, comparisons }))
  io.out(figuresTable(io, figures))
  if (report.stopped) io.out(`Stopped before the end: $${report.spentUsd.toFixed(2)} were spent.\n`)
  for (const {
    variant,
    difference: { mean, low, high },
    verdict,
    scenarios,
  } of comparisons)
    io.out(
      `${escapeLine(variant)} against before, ${scenarios} scenarios: ${verdict} (${mean >= 0 ? '+' : ''}${mean.toFixed(2)}, ${low.toFixed(2)} to ${high.toFixed(2)})\n`,
    )
}

function progressOf(io: Io, all: number): (what: string) => void {
  let done = 0
  return (what) => {
    done++
    if (io.isTerminal) io.err(paint(io, 'dim', `${done} of ${all}: ${escapeLine(what)}\n`))
  }
}

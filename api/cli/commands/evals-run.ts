/** `svc evals run`, `score` and `check`: agents over scenarios whose cause is known. */
import { Command } from 'commander'
import type { Variant } from '../../../engine/local.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { EvalReport } from '../../../schemas/types.ts'
import { loadModels } from '../../config-models.ts'
import { version } from '../../version.ts'
import { NOISE_HELP, NOISE_MAX, numbersIn, OWN_PACK, openPack, PACK_HELP } from '../evals-options.ts'
import { checkReport, publishing, type ReportFlags, readReport, tellReport } from '../evals-report.ts'
import { answersOf } from '../evals-tapes.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readPrompt } from '../files.ts'
import { escapeLine, type Io, paint, printJson } from '../terminal.ts'

const REPEATS_MAX = 50
const USD_MAX = 10_000

type ScoreFlags = Omit<ReportFlags, 'out'> & { against?: string }

interface RunFlags extends ReportFlags {
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
  record?: string
  tapes?: string
  against?: string
}

export function evalsRunCommand(io: Io): Command {
  const command = new Command('run')
    .description(
      'Run agents over scenarios whose cause is known, and score what each finds. The models are those of the provider that the environment names (such as PROVIDERA_API_KEY). Every report also has the scripted agents, which need no provider; without a provider they run alone',
    )
    .option('--pack <dir>', PACK_HELP)
    .option('--only <ids>', 'only these scenarios, separated by commas')
    .option('--held-out', 'only the 12 held-out scenarios: tune a prompt on the others, then look at these')
    .option('--noise <numbers>', NOISE_HELP, '10000')
    .option(
      '--model <names>',
      'names of the models to run, separated by commas. Default: the default model of the provider',
    )
    .option('--provider <id>', 'id of the provider whose models run. Default: the default provider')
    .option(
      '--context <ways>',
      'how events are shown to the agent first: brief, plain, or both separated by a comma',
      'brief',
    )
    .option(
      '--prompt-file <file>',
      'file with the instructions of the agent, instead of those that the pack has',
    )
    .option('--repeat <n>', 'how many times each model runs over each scenario', '3')
    .option(
      '--max-usd <dollars>',
      'start no further run of a model once this much was spent, in US dollars. Required where a model runs, unless you answer the question at a terminal',
    )
    .option('--record <dir>', 'keep the answers of the models in this folder, as tapes')
    .option('--tapes <dir>', 'run without a model: the answers are those of tapes that --record wrote')
    .option('--scripted', 'run only the scripted agents, no model')
    .option('--against <file>', 'compare with this earlier report, a file that --out wrote')
    .option('--out <file>', 'write the report as JSON')
    .option('--junit <file>', 'write the report as JUnit')
    .option('--html <file>', 'write the report as one HTML page')
    .option('--json', 'print the report as JSON')
    .action((flags: RunFlags) => runAll(io, flags))
  return publishing(command)
}

export function evalsScoreCommand(io: Io): Command {
  const command = new Command('score')
    .description(
      'Show the figures of a report that svc evals wrote earlier, and compare them with those of another report',
    )
    .argument('<file>', 'a report that svc evals run or measure wrote with --out')
    .option('--against <file>', 'compare with this earlier report')
    .option('--junit <file>', 'write the report as JUnit')
    .option('--html <file>', 'write the report as one HTML page')
    .option('--json', 'print the figures as JSON')
    .action((file: string, flags: ScoreFlags) => scoreAgain(io, file, flags))
  return publishing(command)
}

export function evalsCheckCommand(io: Io): Command {
  return new Command('check')
    .description(
      'Check whether scenarios are fit to tell a good agent from a bad one. A scenario is refused when a scripted agent that guesses finds the cause, when neither the scripted rules nor the scripted agent that is given the answer find it, when background events match its facts, or when a fact matches no event',
    )
    .option('--pack <dir>', PACK_HELP)
    .option('--only <ids>', 'only these scenarios, separated by commas')
    .option('--noise <number>', 'how many background events are put around each scenario', '10000')
    .option('--json', 'print the faults as JSON')
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
            `${pack.incidents.length - new Set(unfit.map((one) => one.scenario)).size} of ${countWords(pack.incidents.length, 'scenario is', 'scenarios are')} fit\n`,
          )
        }
        if (unfit.length) throw new CliError(`${countWords(unfit.length, 'fault')} in scenarios`, EXIT.data)
      },
    )
}

async function runAll(io: Io, flags: RunFlags): Promise<void> {
  const { createEngine, openProviderModels, recorded, replayed, runEvals, tapeName } = await import(
    '../../../engine/local.ts'
  )
  const noise = numbersIn(flags.noise, '--noise', 0, NOISE_MAX)
  const [repeats] = numbersIn(flags.repeat, '--repeat', 1, REPEATS_MAX)
  const contexts = contextsIn(flags.context)
  const prompt = flags.promptFile === undefined ? undefined : await readPrompt(io, flags.promptFile)
  const pack = await openPack(flags.pack, flags.only, flags.heldOut)
  const against = flags.against === undefined ? null : await readReport(io, flags.against)
  if (flags.record !== undefined && flags.tapes !== undefined)
    throw usageError('--record asks models and --tapes does not: say one of them')
  await checkReport(io, flags)
  const provider =
    flags.scripted || flags.tapes !== undefined
      ? null
      : openProviderModels(createEngine, loadModels(io.env), io.env)
  try {
    const hasProvider = provider !== null && (await isReady(provider.models, flags))
    const maxUsd = hasProvider ? await limitOf(io, flags) : flags.tapes === undefined ? 0 : Infinity
    const variants = await variantsOf(
      { flags, contexts, prompt, repeats: repeats! },
      answersOf(flags, hasProvider ? provider : null, { recorded, replayed, tapeName }),
    )
    if (!hasProvider && !flags.scripted && flags.tapes === undefined)
      io.err('No model provider is set (PROVIDERA_API_KEY): only the scripted agents run.\n')
    const progress = progressOf(io, pack.incidents.length * noise.length * variants.length)
    const { runs, scenes, spentUsd, stopped } = await runEvals(createEngine, pack, {
      ...{ noise, variants, maxUsd },
      onRun: ({ scenario, variant, repeat }) => {
        if (repeat === 1) progress(`${scenario}, ${variant}`)
      },
    })
    const report: EvalReport = {
      ...{ version: 1, at: new Date().toISOString(), release: version, noise, stopped, scenes, runs },
      ...{ spent_usd: spentUsd, measured: [] },
      pack: flags.pack ?? OWN_PACK,
    }
    await tellReport(io, report, flags, against)
  } finally {
    await provider?.close()
  }
}

/** @returns whether the environment names a provider. @throws CliError 78 where it does, and the model is not one of it */
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

/**
 * What may be spent on models: as `--max-usd` says, else as the person at the terminal answers.
 * @returns US dollars
 * @throws CliError 64 where neither says it
 */
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
  answers: Variant['by'] | null,
): Promise<Variant[]> {
  const { PROMPT, SCRIPTED } = await import('../../../engine/local.ts')
  const { flags, contexts, prompt = PROMPT, repeats } = asked
  const scripted = SCRIPTED.map(
    (script): Variant => ({
      ...{ name: `script ${script}`, context: contexts[0]!, prompt, repeats: 1 },
      by: { script },
    }),
  )
  if (!answers) return scripted
  const names = flags.model?.split(',').map((name) => name.trim()) ?? ['']
  const ofModels = names.flatMap((model) =>
    contexts.map(
      (context): Variant => ({
        ...{ name: `${model || 'default model'} ${context}`, context, prompt, repeats },
        ...(flags.provider === undefined ? {} : { provider: flags.provider }),
        ...(model === '' ? {} : { model }),
        by: answers,
      }),
    ),
  )
  return [...scripted, ...ofModels]
}

async function scoreAgain(io: Io, file: string, flags: ScoreFlags): Promise<void> {
  const report = await readReport(io, file)
  const against = flags.against === undefined ? null : await readReport(io, flags.against)
  await tellReport(io, report, flags, against)
}

function progressOf(io: Io, all: number): (what: string) => void {
  let done = 0
  return (what) => {
    done++
    if (io.isTerminal) io.err(paint(io, 'dim', `${done} of ${all}: ${escapeLine(what)}\n`))
  }
}

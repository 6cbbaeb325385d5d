/** `svc triggers test`: when a trigger, saved or from a file, would have fired over stored events. */
import type { Command } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type { BacktestRequest, BacktestResult, TriggerDefinition } from '../../../schemas/types.ts'
import { sentenceOf } from '../../../schemas/words.ts'
import * as calls from '../../client/calls.ts'
import { backtestText, type NamedRun } from '../backtest-text.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, usageError } from '../exit.ts'
import { parseCount } from '../labels.ts'
import { type Io, printJson } from '../terminal.ts'
import { readTrigger } from '../trigger-file.ts'

interface TestFlags extends ClientFlags, JsonFlag {
  file?: string
  env?: string
  compare?: boolean
  window?: string
  to?: string
  expectFirings?: string
  expectNone?: boolean
}

/** The command. */
export function backtestCommand(io: Io): Command {
  return clientCommand('test', 'Say when a trigger would have fired over stored events')
    .argument('[name]', 'saved trigger; with --file the one of that name in it')
    .option('--file <file>', 'a definition as JSON or YAML, or a catalog file; - is standard input')
    .option('--env <name>', 'with --file: a catalog with the files and values of this environment')
    .option('--compare', 'the saved trigger and that of the file, side by side')
    .option('--window <duration>', 'how far back, such as 12h; 7d without it')
    .option('--to <time>', 'end of it, ISO 8601 (default: now)')
    .option('--expect-firings <n>', 'exit with 1 unless it would have fired so often')
    .option('--expect-none', 'exit with 1 if it would have fired at all')
    .action((name: string | undefined, flags: TestFlags) => test(io, name, flags))
}

async function test(io: Io, name: string | undefined, flags: TestFlags): Promise<void> {
  const expected = expectedOf(flags)
  const { request, definition } = await requestOf(io, name, flags)
  const answer = await clientOf(io, flags).call(calls.backtest, { body: request })
  const result = answer.read()
  const runs = runsOf(result, definition)
  if (flags.json) printJson(io, answer.text)
  else io.out(backtestText(io, result, runs))
  if (result.truncated)
    io.err(`there are more events than are looked at: this begins at ${result.from}; narrow --window\n`)
  if (result.entities_changed_at !== null)
    io.err(
      `joined entities were changed at ${result.entities_changed_at}: events before it are judged by those of now, not as they were when they came\n`,
    )
  // Of two, what is expected is expected of the file's.
  const { firings } = runs.at(-1)!.run
  if (expected !== null && firings !== expected)
    throw new CliError(
      `expected ${countWords(expected, 'firing')}, it would have fired ${countWords(firings, 'time')}`,
    )
}

function expectedOf({ expectFirings, expectNone }: TestFlags): number | null {
  if (expectFirings !== undefined && expectNone)
    throw usageError('give --expect-firings or --expect-none, not both')
  if (expectNone) return 0
  return expectFirings === undefined ? null : parseCount(expectFirings, '--expect-firings', 0)
}

/** What is asked, with the definition that a file gave; null: none. */
async function requestOf(
  io: Io,
  name: string | undefined,
  { file, env, compare, window, to }: TestFlags,
): Promise<{ request: BacktestRequest; definition: TriggerDefinition | null }> {
  const span = { ...(window === undefined ? {} : { window }), ...(to === undefined ? {} : { to }) }
  if (file === undefined) {
    if (compare) throw usageError('--compare needs --file: it compares the saved trigger with that of a file')
    if (env !== undefined) throw usageError('--env needs --file: it is of a catalog')
    if (name === undefined) throw usageError('name a saved trigger, or give --file')
    return { request: { trigger: name, ...span }, definition: null }
  }
  const found = await readTrigger(io, file, name, env)
  const { definition } = found
  if (!compare) return { request: { definition, ...span }, definition }
  const saved = name ?? found.name
  if (saved === null) throw usageError('--compare needs the name of the saved trigger: the file has none')
  return { request: { trigger: saved, compare: definition, ...span }, definition }
}

/** The saved one first; a file's says what it says in its own words. */
function runsOf(
  { result, compare, sentence }: BacktestResult,
  definition: TriggerDefinition | null,
): NamedRun[] {
  if (!compare || !definition) return [{ title: 'result', sentence, run: result }]
  return [
    { title: 'saved', sentence, run: result },
    { title: 'file', sentence: sentenceOf(definition), run: compare },
  ]
}

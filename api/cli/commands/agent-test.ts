/** `svc agents test`: an agent run over its examples, as it is saved or before it is. */
import type { Command } from 'commander'
import type { AgentTest, AgentTestExample, AgentTestStart } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { agentOfFile } from '../agent-file.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, usageError } from '../exit.ts'
import { readPrompt } from '../files.ts'
import { parseCount } from '../labels.ts'
import { costText, timeText } from '../run-words.ts'
import { escapeLine, type Io, paint, printJson, type Style, table } from '../terminal.ts'

/** Between two looks at a test. */
const POLL_MS = 1_000

interface TestFlags extends ClientFlags, JsonFlag {
  file?: string
  env?: string
  promptFile?: string
  model?: string
  provider?: string
  minPass: string
}

/** The command. */
export function agentTestCommand(io: Io): Command {
  return clientCommand('test', 'Run it over its examples in practice, and say which pass')
    .argument('<name>')
    .option(
      '--file <file>',
      'as this file has it, JSON or YAML, or a catalog file (- standard input); nothing is saved',
    )
    .option('--env <name>', 'with --file: a catalog with the files and values of this environment')
    .option('--prompt-file <file>', 'with the prompt of this file; - is standard input')
    .option('--model <model>', 'with another model')
    .option('--provider <id>', 'with another provider')
    .option('--min-pass <n>', 'exit with 1 unless so many pass, or all', 'all')
    .action((name: string, flags: TestFlags) => test(io, name, flags))
}

/** @throws CliError 1 where fewer pass than must */
async function test(io: Io, name: string, flags: TestFlags): Promise<void> {
  const needed = flags.minPass === 'all' ? null : parseCount(flags.minPass, '--min-pass', 0)
  const client = clientOf(io, flags)
  const saved = async () => (await client.call(calls.getAgent, { name })).text
  const tried = await triedOf(io, name, flags, saved)
  let answer = await client.call(calls.startAgentTest, { name, body: tried })
  let now = answer.read()
  for (let told = -1; now.status === 'running'; ) {
    const done = now.totals.passed + now.totals.failed
    if (done !== told) io.err(paint(io, 'dim', `${done} of ${now.totals.examples} done\n`))
    told = done
    await io.sleep(POLL_MS, io.interrupted)
    answer = await client.call(calls.getAgentTest, { name, id: now.id })
    now = answer.read()
  }
  if (flags.json) printJson(io, answer.text)
  else io.out(testText(io, now))
  const { passed, failed } = now.totals
  if (needed === null ? failed > 0 : passed < needed)
    throw new CliError(`${passed} passed, ${failed} failed${needed === null ? '' : `; ${needed} must pass`}`)
}

/** What is tried for this test alone: what the file says, then what the options say. */
async function triedOf(
  io: Io,
  name: string,
  { file, env, promptFile, model, provider }: TestFlags,
  saved: () => Promise<string>,
): Promise<AgentTestStart> {
  if (file !== undefined && promptFile !== undefined)
    throw usageError('give --file or --prompt-file, not both: each has a prompt')
  if (env !== undefined && file === undefined) throw usageError('--env needs --file: it is of a catalog')
  const ofFile = file === undefined ? {} : await agentOfFile(io, file, name, saved, env)
  return {
    ...ofFile,
    ...(promptFile === undefined ? {} : { prompt: await readPrompt(io, promptFile) }),
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
  }
}

const STYLES: Record<AgentTestExample['result'], Style> = { pass: 'green', fail: 'red', running: 'yellow' }

function testText(io: Io, { examples, totals, change, tried }: AgentTest): string {
  const { passed, cost_usd, tokens, duration_ms } = totals
  const rows = table(
    io,
    [
      { title: 'EXAMPLE', cell: (one: AgentTestExample) => one.name },
      { title: 'RESULT', cell: ({ result }) => result, style: ({ result }) => STYLES[result] },
      { title: 'COST', cell: (one) => costText(one.cost_usd) },
      { title: 'TIME', cell: (one) => timeText(one.duration_ms) },
      { title: 'WHY', cell: ({ why, run_id }) => (why === null ? '' : `${why} (${run_id})`) },
    ],
    examples,
  )
  const total = `${passed} of ${totals.examples} passed; ${costText(cost_usd)}, ${tokens} tokens, ${timeText(duration_ms)}\n`
  return [rows, '\n', total, triedText(tried), changeText(change)].join('')
}

function triedText(tried: AgentTest['tried']): string {
  if (tried === null) return ''
  const { prompt, provider, model } = tried
  const parts = [
    prompt && 'another prompt',
    provider !== null && `provider ${provider || 'by default'}`,
    model !== null && `model ${model || 'by default'}`,
  ].filter(Boolean)
  return `not saved: ${escapeLine(parts.join(', '))}\n`
}

function changeText(change: AgentTest['change']): string {
  if (change === null) return 'no test of another definition to compare with\n'
  const { newly_passing, newly_failing, cost_ratio, made_at, definition_hash } = change
  const parts = [
    newly_passing.length > 0 && `now passing: ${newly_passing.join(', ')}`,
    newly_failing.length > 0 && `now failing: ${newly_failing.join(', ')}`,
    newly_passing.length + newly_failing.length === 0 && 'the same pass',
    cost_ratio !== null && `${cost_ratio.toFixed(2)} times the cost`,
  ].filter(Boolean)
  return `against ${definition_hash} of ${made_at}: ${escapeLine(parts.join('; '))}\n`
}

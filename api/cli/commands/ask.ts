/**
 * `svc ask`: a question answered by a model over what is stored (POST /api/agent/chat), printed as it
 * comes. A stream that breaks is taken up again where it was; Ctrl C stops the answer.
 */
import { type Command, Option } from 'commander'
import type { AskFrame, AskProposal, AskRequest } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { readEvents } from '../../client/sse.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { planText } from '../plan-text.ts'
import { escapeLine, escapeText, type Io, paint, printJson } from '../terminal.ts'

const TRIES = 5
const WAIT_MS = 1_000

interface AskFlags extends ClientFlags, JsonFlag {
  session?: string
  model?: string
  build?: NonNullable<AskRequest['step']>
}

interface Progress {
  turn: string | null
  last: number
  /** The last frame, once it came. */
  end: Extract<AskFrame, { type: 'done' | 'error' }> | null
}

/** The command. */
export function askCommand(io: Io): Command {
  return clientCommand('ask', 'Ask a question; a model answers over what is stored')
    .argument('<question...>', 'what you want to know')
    .option('--session <id>', 'conversation to continue: 16 to 64 hexadecimal digits')
    .option('--model <model>', 'another model of the default provider')
    .addOption(
      new Option('--build <step>', 'have parts proposed, too').choices(['sources', 'watch', 'agent']),
    )
    .action((words: string[], flags: AskFlags) => ask(io, words.join(' '), flags))
}

async function ask(io: Io, question: string, flags: AskFlags): Promise<void> {
  const client = clientOf(io, flags)
  const session = flags.session ?? newSession()
  const body: AskRequest = {
    messages: [{ role: 'user', content: question }],
    session,
    ...(flags.model ? { model: flags.model } : {}),
    ...(flags.build ? { mode: 'build', step: flags.build } : {}),
  }
  const progress: Progress = { turn: null, last: 0, end: null }
  const show = flags.json ? jsonLines(io) : text(io)
  for (let failures = 0; progress.end === null; failures++) {
    const before = progress.last
    const problem = await follow(io, client, body, progress, show)
    if (io.interrupted.aborted) return stop(client, progress)
    if (progress.end !== null) break
    if (progress.last > before) failures = 0
    if (progress.turn === null || failures >= TRIES)
      throw new CliError(`the answer broke off: ${problem ?? 'the stream ended early'}`)
    await io.sleep(WAIT_MS * 2 ** failures, io.interrupted)
  }
  if (progress.end?.type === 'error') throw new CliError(escapeLine(progress.end.detail))
  if (!flags.json) io.err(paint(io, 'dim', `\ncontinue with: svc ask --session ${session} "…"\n`))
}

/** A person ended it: so does the answer, as far as the daemon can be told. */
async function stop(client: Client, { turn }: Progress): Promise<never> {
  if (turn !== null) await client.cancel(calls.cancelAsk, { turn })
  throw new CliError('interrupted', 130)
}

/** One connection, to its end. @returns what went wrong, or null */
async function follow(
  io: Io,
  client: Client,
  body: AskRequest,
  progress: Progress,
  show: (frame: AskFrame) => void,
): Promise<string | null> {
  const { turn } = progress
  const isFirst = turn === null
  try {
    const since = { 'last-event-id': String(progress.last) }
    const response = isFirst
      ? await client.open(calls.ask, { body }, {}, io.interrupted)
      : await client.open(calls.resumeAsk, { turn }, since, io.interrupted)
    if (response.status !== 200 || !response.body)
      throw client.refusal({ status: response.status, text: await response.text() })
    for await (const { data, id } of readEvents(response.body)) {
      const frame = JSON.parse(data) as AskFrame
      if (frame.type === 'start' && progress.turn !== null)
        io.err('\nsvc: the connection broke; this is the answer from its beginning\n')
      show(frame)
      progress.last = Number(id)
      if (frame.type === 'start') progress.turn = frame.turn
      if (frame.type === 'done' || frame.type === 'error') progress.end = frame
    }
    return null
  } catch (error) {
    if (io.interrupted.aborted) return null
    if (error instanceof CliError && (isFirst || !error.message.startsWith('cannot reach'))) throw error
    return (error as Error).message
  }
}

const jsonLines = (io: Io) => (frame: AskFrame) => printJson(io, JSON.stringify(frame))

/** The answer to standard output, what was looked at to standard error. */
function text(io: Io): (frame: AskFrame) => void {
  const names = new Map<string, string>()
  let isOpen = false
  const breakLine = () => {
    if (isOpen) io.out('\n')
    isOpen = false
  }
  return (frame) => {
    if (frame.type === 'text') {
      // What was looked at has ended the line already.
      const shown = isOpen ? frame.text : frame.text.trimStart()
      io.out(escapeText(shown))
      isOpen = isOpen || shown !== ''
      return
    }
    if (frame.type === 'start') return
    breakLine()
    if (frame.type === 'again')
      io.err(paint(io, 'dim', '· cut off by the provider; what was said is void, it is asked again\n'))
    else if (frame.type === 'wait') io.err(paint(io, 'dim', `· ${escapeLine(frame.detail)}\n`))
    else if (frame.type === 'tool')
      names.set(frame.id, `${frame.name} ${JSON.stringify(frame.input).slice(0, 160)}`)
    else if (frame.type === 'tool_done')
      io.err(
        paint(
          io,
          'dim',
          `· ${escapeLine(names.get(frame.id) ?? '')} ${frame.ms} ms${frame.ok ? '' : ', refused'}\n`,
        ),
      )
    else if (frame.type === 'proposal') io.out(cardText(io, frame.payload))
    else if (frame.type === 'done')
      io.err(
        paint(
          io,
          'dim',
          `\n${frame.input_tokens + frame.output_tokens} tokens, ${frame.cost_usd === null ? 'not priced' : `$${Number(frame.cost_usd.toPrecision(3))}`}, ${(frame.ms / 1000).toFixed(1)} s\n`,
        ),
      )
  }
}

function cardText(io: Io, { kind, name, reasoning, plan, needs }: AskProposal): string {
  return [
    '',
    paint(io, 'bold', `Proposed: ${kind} ${escapeLine(name)}`),
    `  ${escapeLine(reasoning)}`,
    ...(plan ? [planText(io, plan).trimEnd()] : []),
    ...(needs.length ? [`  needs: ${needs.map(escapeLine).join(', ')}`] : []),
    '  nothing has changed; apply it in the console, under Ask',
    '',
    '',
  ].join('\n')
}

/** A conversation of its own, so that it can be gone on with. */
const newSession = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')

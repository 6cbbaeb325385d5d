/** `svc runs`: what agents did, step by step; a run repeated, or ended; its finding marked. */
import { Argument, type Command, Option } from 'commander'
import type { Run, RunsResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT } from '../exit.ts'
import { readPrompt } from '../files.ts'
import { costOf, markText, RUN_STYLES, runText } from '../run-text.ts'
import { costText, timeText } from '../run-words.ts'
import { type Column, escapeLine, type Io, paint, printJson } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, verb } from '../verbs.ts'

/** none takes the mark away. */
const MARKS = ['right', 'wrong', 'partly', 'none'] as const

interface MarkFlags extends Flags {
  cause?: string
  note?: string
}
interface RerunFlags extends Flags {
  asOf?: 'same' | 'now'
  practice?: boolean
  promptFile?: string
  model?: string
  provider?: string
}

const RUNS: Column<Run>[] = [
  { title: 'ID', cell: (run) => run.id },
  { title: 'WHEN', cell: (run) => run.started_at ?? run.made_at },
  { title: 'AGENT', cell: (run) => run.agent },
  { title: 'STATUS', cell: (run) => run.status, style: (run) => RUN_STYLES[run.status] },
  { title: 'BY', cell: (run) => run.woken_by },
  { title: 'ENTITY', cell: (run) => run.key },
  { title: 'TIME', cell: (run) => timeText(run.duration_ms) },
  { title: 'COST', cell: (run) => costText(costOf(run)) },
  { title: 'FOUND', cell: foundText },
]

/** The command and its subcommands. */
export const runsCommand = noun('runs', 'Show what agents did; repeat a run, end it, or mark its finding', {
  list: verb({
    does: 'List runs, newest first',
    call: calls.listRuns,
    options: [
      ['--agent <agent>', 'only of this agent'],
      ['--status <status>', 'such as open, succeeded, failed, unsuccessful'],
      ['--project <project>', 'only for this project'],
      ['--entity <value>', 'only of this entity'],
      ['--limit <n>', 'how many, 200 at most', '30'],
    ],
    tell: tellRuns,
  }),
  show: verb({
    does: 'Show one: what woke it, its steps, what it found, who took over',
    call: calls.getRun,
    options: [['--steps', 'each step with all it holds']],
    input: ({ words: [id = ''] }) => ({ id }),
    tell: (io, run, { flags }: GivenWords<Flags & { steps?: boolean }>) =>
      io.out(runText(io, run, flags.steps ?? false)),
  }),
  rerun: verb({
    does: 'Repeat a finished one against its agent as it is',
    call: calls.rerun,
    options: [
      new Option('--as-of <when>', 'what it reads: what the run could read, or what is there now').choices([
        ...['same', 'now'],
      ]),
      ['--practice', 'practice: nothing is sent, and it is not counted'],
      ['--prompt-file <file>', 'with the prompt of this file; - is standard input'],
      ['--model <model>', 'with another model'],
      ['--provider <id>', 'with another provider'],
    ],
    input: async ({ words: [id = ''], flags }: GivenWords<RerunFlags>, _client, io) => ({
      id,
      body: {
        as_of: flags.asOf,
        ...(flags.practice ? { practice: true } : {}),
        prompt: flags.promptFile === undefined ? undefined : await readPrompt(io, flags.promptFile),
        model: flags.model,
        provider: flags.provider,
      },
    }),
    tell: (io, { run_id }) => {
      io.out(`${run_id}\n`)
      io.err(paint(io, 'dim', `"svc runs show ${escapeLine(run_id)}" shows it\n`))
    },
  }),
  cancel: verb({
    does: 'End one that waits or is at work',
    call: calls.cancelRun,
    tell: say(([id]) => `cancelled ${id}`),
  }),
  mark: markCommand,
})

function markCommand(io: Io): Command {
  return clientCommand(
    'mark',
    'Mark the finding of a run as right, wrong or partly right, or take its mark away',
  )
    .argument('<id>', 'id of the run')
    .addArgument(new Argument('<mark>', 'whether the finding is right').choices(MARKS))
    .option('--cause <event>', 'id of the event that was the true cause')
    .option('--note <text>', 'what you add for whoever reads the mark')
    .action((id: string, word: (typeof MARKS)[number], flags: MarkFlags) => mark(io, id, word, flags))
}

async function mark(io: Io, id: string, word: (typeof MARKS)[number], flags: MarkFlags): Promise<void> {
  const client = clientOf(io, flags)
  const { projects } = await client.ask(calls.getRun, { id })
  if (projects[0] === undefined) throw new CliError(`run ${id} is of no project`, EXIT.data)
  const { cause, note } = flags
  const body = { mark: word === 'none' ? null : word, cause, note }
  const answer = await client.call(calls.markFinding, { id: projects[0], run: id, body })
  if (flags.json) return printJson(io, answer.text)
  const marked = answer.read()
  io.out(
    `${escapeLine(id)} ${marked.mark ? `is marked as ${escapeLine(markText(marked.mark))}` : 'has no mark'}\n`,
  )
}

function tellRuns(io: Io, { runs, total }: RunsResult): void {
  rows(RUNS, 'no runs')(io, runs)
  if (runs.length > 0 && total > runs.length)
    io.err(paint(io, 'dim', `the newest ${runs.length} of ${total}; --limit shows more\n`))
}

function foundText({ error, outcome, verdict, headline, finding }: Run): string {
  if (error !== null) return error
  if (outcome === null) return ''
  if (outcome === 'no_op') return 'nothing to report'
  return [verdict, headline ?? finding?.split('\n')[0]].filter(Boolean).join(': ')
}

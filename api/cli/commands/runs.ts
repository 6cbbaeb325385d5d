/** `svc runs`: what agents did, step by step; a run repeated, or ended; its finding marked. */
import { Argument, Command, Option } from 'commander'
import type {
  MarkWrite,
  RerunResult,
  ResultMarked,
  Run,
  RunDetail,
  RunsResult,
} from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT } from '../exit.ts'
import { readPrompt } from '../files.ts'
import { queryOf } from '../paging.ts'
import { costOf, markText, RUN_STYLES, runText } from '../run-text.ts'
import { costText, timeText } from '../run-words.ts'
import { escapeLine, type Io, paint, printJson, table } from '../terminal.ts'

/** none takes the mark away. */
const MARKS = ['right', 'wrong', 'partly', 'none'] as const

type Flags = ClientFlags & JsonFlag
interface MarkFlags extends Flags {
  cause?: string
  note?: string
}
interface ListFlags extends Flags {
  agent?: string
  project?: string
  status?: string
  entity?: string
  limit: string
}
interface RerunFlags extends Flags {
  asOf?: string
  practice?: boolean
  promptFile?: string
  model?: string
  provider?: string
}

/** The command and its subcommands. */
export function runsCommand(io: Io): Command {
  const group = new Command('runs').description(
    'Show what agents did; repeat a run, end it, or mark its finding',
  )
  group.addCommand(
    clientCommand('list', 'List runs, newest first')
      .option('--agent <agent>', 'only of this agent')
      .option('--status <status>', 'such as open, succeeded, failed, unsuccessful')
      .option('--project <project>', 'only for this project')
      .option('--entity <value>', 'only of this entity')
      .option('--limit <n>', 'how many, 200 at most', '30')
      .action((flags: ListFlags) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    clientCommand('show', 'Show one: what woke it, its steps, what it found, who took over')
      .argument('<id>')
      .option('--steps', 'each step with all it holds')
      .action((id: string, flags: Flags & { steps?: boolean }) => show(io, id, flags)),
  )
  group.addCommand(
    clientCommand('rerun', 'Repeat a finished one against its agent as it is')
      .argument('<id>')
      .addOption(
        new Option('--as-of <when>', 'what it reads: what the run could read, or what is there now').choices([
          'same',
          'now',
        ]),
      )
      .option('--practice', 'in practice: told to nobody, and in no total')
      .option('--prompt-file <file>', 'with the prompt of this file; - is standard input')
      .option('--model <model>', 'with another model')
      .option('--provider <id>', 'with another provider')
      .action((id: string, flags: RerunFlags) => rerun(io, id, flags)),
  )
  group.addCommand(
    clientCommand('cancel', 'End one that waits or is at work')
      .argument('<id>')
      .action((id: string, flags: Flags) => cancel(io, id, flags)),
  )
  group.addCommand(
    clientCommand('mark', 'Mark the finding of a run as right, wrong or partly right, or take its mark away')
      .argument('<id>', 'id of the run')
      .addArgument(new Argument('<mark>', 'whether the finding is right').choices(MARKS))
      .option('--cause <event>', 'id of the event that was the true cause')
      .option('--note <text>', 'what you add for whoever reads the mark')
      .action((id: string, word: (typeof MARKS)[number], flags: MarkFlags) => mark(io, id, word, flags)),
  )
  return group
}

async function mark(io: Io, id: string, word: (typeof MARKS)[number], flags: MarkFlags): Promise<void> {
  const client = clientOf(io, flags)
  const { projects } = JSON.parse((await client.call(path(id))).text) as RunDetail
  if (projects[0] === undefined) throw new CliError(`run ${id} is of no project`, EXIT.data)
  const { cause, note } = flags
  const json: MarkWrite = {
    mark: word === 'none' ? null : word,
    ...(cause === undefined ? {} : { cause }),
    ...(note === undefined ? {} : { note }),
  }
  const result = `/api/projects/${encodeURIComponent(projects[0])}/results/${encodeURIComponent(id)}/mark`
  const { text } = await client.call(result, { method: 'POST', json })
  if (flags.json) return printJson(io, text)
  const marked = JSON.parse(text) as ResultMarked
  io.out(
    `${escapeLine(id)} ${marked.mark ? `is marked as ${escapeLine(markText(marked.mark))}` : 'has no mark'}\n`,
  )
}

const path = (id: string) => `/api/runs/${encodeURIComponent(id)}`

async function list(io: Io, flags: ListFlags): Promise<void> {
  const { agent, project, status, entity } = flags
  const query = queryOf(flags, { agent, project, status, entity })
  const { text } = await clientOf(io, flags).call(`/api/runs?${query}`)
  if (flags.json) return printJson(io, text)
  const { runs, total } = JSON.parse(text) as RunsResult
  if (runs.length === 0) return void io.out('no runs\n')
  io.out(
    table(
      io,
      [
        { title: 'ID', cell: (run: Run) => run.id },
        { title: 'WHEN', cell: (run) => run.started_at ?? run.made_at },
        { title: 'AGENT', cell: (run) => run.agent },
        { title: 'STATUS', cell: (run) => run.status, style: (run) => RUN_STYLES[run.status] },
        { title: 'BY', cell: (run) => run.woken_by },
        { title: 'ENTITY', cell: (run) => run.key },
        { title: 'TIME', cell: (run) => timeText(run.duration_ms) },
        { title: 'COST', cell: (run) => costText(costOf(run)) },
        { title: 'FOUND', cell: foundText },
      ],
      runs,
    ),
  )
  if (total > runs.length)
    io.err(paint(io, 'dim', `the newest ${runs.length} of ${total}; --limit shows more\n`))
}

function foundText({ error, outcome, verdict, headline, finding }: Run): string {
  if (error !== null) return error
  if (outcome === null) return ''
  if (outcome === 'no_op') return 'nothing to report'
  return [verdict, headline ?? finding?.split('\n')[0]].filter(Boolean).join(': ')
}

async function show(io: Io, id: string, flags: Flags & { steps?: boolean }): Promise<void> {
  const { text } = await clientOf(io, flags).call(path(id))
  if (flags.json) printJson(io, text)
  else io.out(runText(io, JSON.parse(text) as RunDetail, flags.steps ?? false))
}

async function rerun(io: Io, id: string, flags: RerunFlags): Promise<void> {
  const { asOf, practice, promptFile, model, provider } = flags
  const { text } = await clientOf(io, flags).call(`${path(id)}/rerun`, {
    method: 'POST',
    json: {
      ...(asOf === undefined ? {} : { as_of: asOf }),
      ...(practice ? { practice: true } : {}),
      ...(promptFile === undefined ? {} : { prompt: await readPrompt(io, promptFile) }),
      ...(model === undefined ? {} : { model }),
      ...(provider === undefined ? {} : { provider }),
    },
  })
  if (flags.json) return printJson(io, text)
  const { run_id } = JSON.parse(text) as RerunResult
  io.out(`${run_id}\n`)
  io.err(paint(io, 'dim', `"svc runs show ${escapeLine(run_id)}" shows it\n`))
}

async function cancel(io: Io, id: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(`${path(id)}/cancel`, { method: 'POST' })
  if (flags.json) printJson(io, text)
  else io.out(`cancelled ${escapeLine(id)}\n`)
}

/** `svc findings`: what agents found, of all projects or of one; one as a whole, and marking it handled. */
import { type Command, Option } from 'commander'
import { callerText } from '../../../schemas/caller-words.ts'
import { claimLine } from '../../../schemas/claim-words.ts'
import type {
  AllFindingsResult,
  FoundFinding,
  ProjectResult,
  ProjectResultDetail,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT } from '../exit.ts'
import { parseCount } from '../labels.ts'
import { markText } from '../run-text.ts'
import { type Column, escapeLine, escapeText, type Io, paint, printJson } from '../terminal.ts'
import { type Flags, type MakeCommand, noun, rows } from '../verbs.ts'

/** What the daemon answers at a time, at most. */
const PAGE = 200

type Mark = 'right' | 'wrong' | 'partly' | 'any' | 'none'

interface ListFlags extends Flags {
  project?: string
  mark?: Mark
  all?: boolean
  limit: string
}

/** A finding with the project that it is of. */
type Found = AllFindingsResult['findings'][number]

const FINDINGS: Column<Found>[] = [
  { title: 'ID', cell: ({ result }) => result.id },
  { title: 'WHEN', cell: ({ result }) => result.at },
  { title: 'PROJECT', cell: ({ project }) => projectWords(project) },
  { title: 'ENTITY', cell: ({ result: { label, entity } }) => `${label}=${entity}` },
  { title: 'BY', cell: ({ result }) => result.chain.join(' > ') },
  { title: 'VERDICT', cell: ({ result }) => result.verdict ?? '' },
  { title: 'STATE', cell: ({ result }) => stateWords(result) },
  { title: 'WHAT', cell: ({ result }) => result.headline },
]

/** The command and its subcommands. */
export const findingsCommand = noun('findings', 'List what agents found, and mark it handled', {
  list: listCommand,
  show: showCommand,
  handle: handledCommand('Mark it handled', true),
  reopen: handledCommand('Take that mark away', false),
})

function listCommand(io: Io): Command {
  return clientCommand('list', 'List findings, newest first')
    .option('--project <project>', 'only of this project, by id or name')
    .addOption(
      new Option('--mark <mark>', 'only findings that are marked so; any: marked, none: not marked').choices([
        ...['right', 'wrong', 'partly', 'any', 'none'],
      ]),
    )
    .option('--all', 'also what agents looked at and had nothing to report of')
    .option('--limit <n>', 'how many', '30')
    .action((flags: ListFlags) => list(io, flags))
}

async function list(io: Io, flags: ListFlags): Promise<void> {
  const limit = parseCount(flags.limit, '--limit')
  const client = clientOf(io, flags)
  const shown: Found[] = []
  let before: string | null = null
  // A page is as long as the daemon allows.
  do {
    const page: AllFindingsResult = await client.ask(calls.listAllFindings, {
      ...{ project: flags.project, mark: flags.mark, show: flags.all ? 'all' : 'findings', by: 'chain' },
      ...{ limit: Math.min(PAGE, limit - shown.length), before: before ?? undefined },
    })
    shown.push(...page.findings)
    before = page.next_before
  } while (before !== null && shown.length < limit)
  if (flags.json) {
    const findings = shown.map(({ project, result }) => ({ ...result, project: project.id }))
    return printJson(io, JSON.stringify({ findings, is_more: before !== null }))
  }
  rows(FINDINGS, 'no findings')(io, shown)
  if (before !== null) io.err(paint(io, 'dim', `the newest ${shown.length}; --limit shows more\n`))
}

function showCommand(io: Io): Command {
  return clientCommand('show', 'Show one: its note, its claims, its next step')
    .argument('<id>', 'id of the finding, which is that of its run')
    .action(async (id: string, flags: Flags) => {
      const client = clientOf(io, flags)
      const { project, result } = await find(client, id)
      if (flags.json) return printJson(io, JSON.stringify({ ...result, project: project.id }))
      tell(io, project, result)
    })
}

const projectWords = ({ name, deleted }: Found['project']): string => (deleted ? `${name} (deleted)` : name)

/** One with its project. @throws CliError 1: there is none */
async function find(client: Client, id: string): Promise<FoundFinding> {
  const answer = await client.attempt(calls.getFinding, { run: id })
  if (answer.status === 404)
    throw new CliError(`no finding has the id ${id}; "svc findings" lists them`, EXIT.failed)
  if (answer.status !== 200) throw client.refusal(answer)
  return answer.read()
}

function tell(io: Io, project: Found['project'], result: ProjectResultDetail): void {
  io.out(`${paint(io, 'bold', escapeLine(result.headline))}\n`)
  const facts: [string, string | null][] = [
    ['finding', `${result.id} of ${result.at}, ${stateWords(result)}`],
    ['project', projectWords(project)],
    ['entity', `${result.label}=${result.entity}`],
    ['by', result.chain.join(' > ')],
    ['verdict', result.verdict],
    ['next', result.next_step],
  ]
  for (const [title, value] of facts) if (value) io.out(`${title.padEnd(9)}${escapeLine(value)}\n`)
  for (const claim of result.checked_claims) io.out(`${escapeLine(claimLine(claim))}\n`)
  if (result.note) io.out(`\n${escapeText(result.note)}\n`)
}

function handledCommand(does: string, handled: boolean): MakeCommand {
  return (io, name) =>
    clientCommand(name, does)
      .argument('<id>', 'id of the finding, which is that of its run')
      .action(async (id: string, flags: Flags) => {
        const client = clientOf(io, flags)
        const { project } = await find(client, id)
        if (project.deleted)
          throw new CliError(
            `finding ${id} is of project ${project.name}, which was deleted; restore that to mark it handled, or no longer`,
            EXIT.failed,
          )
        const answer = await client.call(calls.markHandled, { id: project.id, run: id, body: { handled } })
        if (flags.json) return printJson(io, answer.text)
        io.out(`${escapeLine(id)}: ${handledWords(answer.read().handled)}\n`)
      })
}

const handledWords = (handled: ProjectResult['handled']): string =>
  handled ? `handled by ${escapeLine(callerText(handled.by))}` : 'open'

function stateWords({ handled, mark, practice }: ProjectResult): string {
  const words = [handledWords(handled), mark ? `marked ${markText(mark)}` : '', practice ? 'practice' : '']
  return words.filter(Boolean).join(', ')
}

/** `svc changes`: what was changed, by whom and why; undo and roll-back. */
import { Command } from 'commander'
import type { ChangeApplied, ChangeSet, ChangeSetsResult } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { usageError } from '../exit.ts'
import { parseCount } from '../labels.ts'
import { planText } from '../plan-text.ts'
import { escapeLine, type Io, printJson, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag

/** The command and its subcommands. */
export function changesCommand(io: Io): Command {
  const group = new Command('changes').description('Show the change history, undo and roll back')
  group.addCommand(
    clientCommand('list', 'List change-sets, newest first')
      .option('--project <project>', 'only those of this project')
      .option('--limit <n>', 'how many', '30')
      .action((flags: Flags & { project?: string; limit: string }) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    clientCommand('show', 'Show one change-set with its fields')
      .argument('<id>')
      .action((id: string, flags: Flags) => show(io, id, flags)),
  )
  group.addCommand(
    clientCommand('undo', 'Undo a change-set by a new one; later changes to other fields stay')
      .argument('<id>')
      .option('--dry-run', 'only show what it would do')
      .option('--why <text>', 'why, for the change history')
      .action((id: string, flags: Flags & Back) => back(io, id, 'undo', flags)),
  )
  group.addCommand(
    clientCommand('rollback', 'Take everything, or one project, back to how it was right after a change-set')
      .argument('<id>')
      .option('--project <project>', 'only this project and its parts')
      .option('--dry-run', 'only show what it would do')
      .option('--why <text>', 'why, for the change history')
      .action((id: string, flags: Flags & Back) => back(io, id, 'rollback', flags)),
  )
  return group
}

interface Back {
  dryRun?: boolean
  why?: string
  project?: string
}

async function list(io: Io, flags: Flags & { project?: string; limit: string }): Promise<void> {
  const query = new URLSearchParams({
    limit: String(parseCount(flags.limit, '--limit')),
    ...(flags.project ? { project: flags.project } : {}),
  })
  const { text } = await clientOf(io, flags).call(`/api/change-sets?${query}`)
  if (flags.json) return printJson(io, text)
  const { change_sets } = JSON.parse(text) as ChangeSetsResult
  if (change_sets.length === 0) return void io.out('no changes yet\n')
  io.out(
    table(
      io,
      [
        { title: 'ID', cell: (set: ChangeSet) => String(set.id) },
        { title: 'WHEN', cell: (set) => set.at },
        { title: 'WHO', cell: (set) => set.actor },
        { title: 'FROM', cell: (set) => set.origin },
        { title: 'WHAT', cell: (set) => set.summary + (set.undone_by === null ? '' : ' (undone)') },
        { title: 'WHY', cell: (set) => set.why },
      ],
      change_sets,
    ),
  )
}

async function show(io: Io, id: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(`/api/change-sets/${idOf(id)}`)
  if (flags.json) return printJson(io, text)
  const set = JSON.parse(text) as ChangeSet
  io.out(
    `${set.id}  ${set.at}  ${escapeLine(set.actor)} (${set.origin})${set.why ? `: ${escapeLine(set.why)}` : ''}\n`,
  )
  const count = (action: string) => set.changes.filter((change) => change.action === action).length
  const changes = {
    creates: count('create'),
    updates: count('update'),
    deletes: count('delete'),
    unchanged: 0,
  }
  io.out(planText(io, { changes: set.changes, ...changes }))
}

async function back(io: Io, id: string, how: 'undo' | 'rollback', flags: Flags & Back): Promise<void> {
  const { text } = await clientOf(io, flags).call(`/api/change-sets/${idOf(id)}/${how}`, {
    method: 'POST',
    json: {
      dry_run: flags.dryRun ?? false,
      ...(flags.why ? { why: flags.why } : {}),
      ...(flags.project ? { project: flags.project } : {}),
    },
  })
  if (flags.json) return printJson(io, text)
  const { plan, change_set } = JSON.parse(text) as ChangeApplied
  io.out(planText(io, plan))
  if (change_set !== null) io.err(`done as change-set ${change_set}\n`)
}

function idOf(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw usageError(`${text} is not the id of a change-set; "svc changes" lists them`)
  return Number(text)
}

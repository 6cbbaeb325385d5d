/** `svc changes`: what was changed, by whom and why; undo and roll-back. */
import { callerText } from '../../../schemas/caller-words.ts'
import type { ChangeApplied, ChangeSet } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { usageError } from '../exit.ts'
import { tellMore } from '../paging.ts'
import { planText } from '../plan-text.ts'
import { type Column, escapeLine, type Io } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, verb } from '../verbs.ts'

const CHANGES: Column<ChangeSet>[] = [
  { title: 'ID', cell: (set) => String(set.id) },
  { title: 'WHEN', cell: (set) => set.at },
  { title: 'WHO', cell: (set) => callerText(set.actor) },
  { title: 'FROM', cell: (set) => set.origin },
  { title: 'WHAT', cell: (set) => set.summary + (set.undone_by === null ? '' : ' (undone)') },
  { title: 'WHY', cell: (set) => set.why },
]
const DRY_RUN = ['--dry-run', 'only show what it would do'] as const
const WHY = ['--why <text>', 'why, for the change history'] as const

/** The command and its subcommands. */
export const changesCommand = noun('changes', 'Show the change history, undo and roll back', {
  list: verb({
    does: 'List change-sets, newest first',
    call: calls.listChangeSets,
    options: [
      ['--project <project>', 'only those of this project'],
      ['--kind <kind>', 'only those of source, trigger, agent, mcp_server, skill, entity or project'],
      ['--name <name>', 'only those of what has this name'],
      ['--limit <n>', 'how many', '30'],
      ['--before <id>', 'continue below this change-set'],
    ],
    tell: (io, { change_sets, next_before: next }) => {
      rows(CHANGES, 'no changes')(io, change_sets)
      tellMore(io, next === null ? null : String(next))
    },
  }),
  show: verb({
    does: 'Show one change-set with its fields',
    call: calls.getChangeSet,
    input: ({ words }) => ({ id: idOf(words) }),
    tell: tellChange,
  }),
  undo: verb({
    does: 'Undo a change-set by a new one; later changes to other fields stay',
    call: calls.undoChangeSet,
    options: [DRY_RUN, WHY],
    input: ({ words, flags }: GivenWords<Back>) => ({ id: idOf(words), body: backOf(flags) }),
    tell: tellBack,
  }),
  rollback: verb({
    does: 'Take everything, or one project, back to how it was right after a change-set',
    call: calls.rollBack,
    options: [['--project <project>', 'only this project and its parts'], DRY_RUN, WHY],
    input: ({ words, flags }: GivenWords<Back>) => ({
      id: idOf(words),
      body: { ...backOf(flags), ...(flags.project ? { project: flags.project } : {}) },
    }),
    tell: tellBack,
  }),
})

interface Back extends Flags {
  dryRun?: boolean
  why?: string
  project?: string
}

const backOf = ({ dryRun, why }: Back) => ({ dry_run: dryRun ?? false, ...(why ? { why } : {}) })

function tellChange(io: Io, set: ChangeSet): void {
  io.out(
    `${set.id}  ${set.at}  ${escapeLine(callerText(set.actor))} (${set.origin})${set.why ? `: ${escapeLine(set.why)}` : ''}\n`,
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

function tellBack(io: Io, { plan, change_set }: ChangeApplied): void {
  io.out(planText(io, plan))
  if (change_set !== null) io.err(`done as change-set ${change_set}\n`)
}

function idOf([text = '']: readonly string[]): number {
  if (!/^\d{1,15}$/.test(text))
    throw usageError(`${text} is not the id of a change-set; "svc changes" lists them`)
  return Number(text)
}

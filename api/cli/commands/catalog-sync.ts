/** `svc catalog sync`: look at the repository that the daemon follows, apply its commit, roll back to one. */
import { type Command, Option } from 'commander'
import type { CatalogCommit, CatalogSync, CatalogSyncAsk, ChangePlan } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { conflictsError, keptText, problemsError, tellWarnings } from '../catalog-text.ts'
import { problemOf } from '../client.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { kindName } from '../field-text.ts'
import { planText } from '../plan-text.ts'
import { escapeLine, type Io, paint, printJson, table } from '../terminal.ts'
import type { Flags } from '../verbs.ts'

interface SyncFlags extends Flags {
  status?: boolean
  history?: boolean
  parts?: 'all'
  apply?: boolean
  yes?: boolean
  commit?: string
  prune?: boolean
  maxDeletions?: string
  allowEmpty?: boolean
  merge?: boolean
  ours?: 'file' | 'instance'
  why?: string
}

/** The command. */
export const syncing = (io: Io): Command =>
  clientCommand(
    'sync',
    'Look at the repository that the daemon follows; exits with 2 when the instance differs from it, 65 for problems of its files',
  )
    .option('--status', 'only show what the last look came to')
    .addOption(
      new Option('--parts <which>', 'with --status: every part, not only those that differ').choices(['all']),
    )
    .option('--history', 'show what happened, newest first')
    .option('--apply', 'apply the plan of its commit, whatever the policy; shows it and asks first')
    .option('--yes', 'do not ask')
    .option('--commit <hash>', 'an earlier commit of the branch: its plan, or with --apply a roll back to it')
    .option('--prune', 'delete what no file names')
    .option('--max-deletions <n>', 'refuse to delete more objects than this (10)')
    .option('--allow-empty', 'let files that declare nothing delete everything, with --prune')
    .option('--merge', 'keep what was changed by hand since the commit was applied')
    .addOption(
      new Option('--ours <side>', 'with --merge: whose value a field gets that both changed').choices([
        'file',
        'instance',
      ]),
    )
    .option('--why <text>', 'why, for the change history')
    .action((flags: SyncFlags) => sync(io, flags))

async function sync(io: Io, flags: SyncFlags): Promise<void> {
  if ([flags.status, flags.history, flags.apply].filter(Boolean).length > 1)
    throw usageError('give one of --status, --history and --apply')
  if (flags.parts && !flags.status) throw usageError('--parts goes with --status')
  if (flags.ours !== undefined && !flags.merge)
    throw usageError('--ours needs --merge: without it the commit is applied as it is')
  if (flags.history) return showHistory(io, flags)
  const client = clientOf(io, flags)
  const answer = flags.status
    ? await client.call(calls.getCatalogSync, { parts: flags.parts ?? 'differing' })
    : await client.call(calls.syncCatalog, { body: withoutApply(flags) })
  const found = answer.read()
  if (flags.apply) return apply(io, flags, found)
  if (flags.json) printJson(io, answer.text)
  else if (!found.conflicts?.length) io.out(syncText(io, found))
  refuseConflicts(found)
  exitFor(found, flags.commit !== undefined)
}

/** @throws CliError 65 with every field that files and instance both changed */
function refuseConflicts({ conflicts = [] }: CatalogSync): void {
  if (conflicts.length) throw conflictsError('', conflicts)
}

/** @throws CliError as the sync is: 2 out of sync, 65 for problems of files, 1 for a look that failed */
function exitFor(found: CatalogSync, isOfCommit: boolean): void {
  const { state, problems, plan, reason } = found
  if (problems.length && !plan) throw problemsError('', problems)
  if (state === 'failed') throw new CliError(escapeLine(reason ?? 'the look failed'))
  if (state === 'out_of_sync' || (isOfCommit && changesOf(plan) > 0)) throw new CliError('', EXIT.changes)
}

async function apply(io: Io, flags: SyncFlags, found: CatalogSync): Promise<void> {
  refuseConflicts(found)
  const { plan, problems, fingerprint, planned, state, reason, kept = [] } = found
  if (!plan || (state === 'failed' && flags.commit === undefined)) {
    if (problems.length) throw problemsError('', problems)
    throw new CliError(escapeLine(reason ?? 'nothing was planned'))
  }
  const changes = changesOf(plan)
  // A merge without a change says all the same that the commit was looked at, and what stays by hand.
  if (changes === 0 && flags.commit === undefined && !flags.merge) {
    if (flags.json) printJson(io, JSON.stringify(found))
    else io.out(syncText(io, found))
    return
  }
  if (!flags.yes) {
    const shown = `${commitText(planned)}\n${keptText(kept)}${planText({ colour: io.colour && !flags.json }, plan)}`
    if (flags.json) io.err(shown)
    else io.out(shown)
    if (!(await io.confirm('Apply this?'))) throw new CliError('not applied; --yes applies without asking')
  }
  const client = clientOf(io, flags)
  const body = { ...withoutApply(flags), apply: true, ...(fingerprint === null ? {} : { fingerprint }) }
  const answer = await client.attempt(calls.syncCatalog, { body })
  if (answer.status < 200 || answer.status >= 300) {
    const { plan: other } = problemOf(answer.text)
    if (answer.status === 409 && other)
      throw new CliError(
        `nothing was applied: the repository or the instance changed since that plan, and it would now do this:\n${planText({ colour: false }, other as ChangePlan)}`,
        EXIT.failed,
        problemOf(answer.text),
      )
    throw client.refusal(answer)
  }
  if (flags.json) return printJson(io, answer.text)
  const { change_set: set, state: after } = answer.read()
  if (flags.merge && after === 'out_of_sync')
    io.err('what was changed by hand stays; "svc catalog adopt" brings it into the files\n')
  io.err(
    set === null
      ? 'nothing changed\n'
      : `applied as change-set ${set}; "svc changes undo ${set}" takes it back\n`,
  )
}

/** @throws CliError 64 */
function withoutApply(flags: SyncFlags): CatalogSyncAsk {
  const { commit, prune, maxDeletions, allowEmpty, merge, ours, why } = flags
  if (maxDeletions !== undefined && !/^\d{1,6}$/.test(maxDeletions))
    throw usageError('--max-deletions must be a number from 0 to 999999')
  return {
    ...(commit === undefined ? {} : { commit }),
    ...(prune ? { prune } : {}),
    ...(maxDeletions === undefined ? {} : { max_deletions: Number(maxDeletions) }),
    ...(allowEmpty ? { allow_empty: true } : {}),
    ...(merge ? { merge } : {}),
    ...(ours === undefined ? {} : { ours }),
    ...(why === undefined ? {} : { why }),
  }
}

async function showHistory(io: Io, flags: SyncFlags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.listCatalogSyncs)
  if (flags.json) return printJson(io, answer.text)
  const { entries } = answer.read()
  if (entries.length === 0) io.out('nothing happened yet\n')
  else
    io.out(
      table(
        io,
        [
          { title: 'AT', cell: ({ at }) => at },
          { title: 'OUTCOME', cell: ({ outcome }) => outcome },
          { title: 'COMMIT', cell: ({ commit }) => commit?.id.slice(0, 10) ?? '' },
          { title: 'AUTHOR', cell: ({ commit }) => commit?.author ?? '' },
          { title: 'BY', cell: ({ by }) => by },
          {
            title: 'PLAN',
            cell: ({ creates, updates, deletes }) => `+${creates} ~${updates} -${deletes}`,
          },
          { title: 'CHANGE-SET', cell: ({ change_set: set }) => (set === null ? '' : String(set)) },
          { title: 'MESSAGE', cell: ({ commit, reason }) => reason ?? commit?.message ?? '' },
        ],
        entries,
      ),
    )
}

const changesOf = (plan: ChangePlan | null): number => (plan ? plan.creates + plan.updates + plan.deletes : 0)

const commitText = (commit: CatalogCommit | null): string =>
  commit
    ? escapeLine(`commit ${commit.id.slice(0, 10)} of ${commit.author} at ${commit.at}: ${commit.message}`)
    : 'no commit was read yet'

const COLOURS = { synced: 'green', out_of_sync: 'yellow', failed: 'red' } as const

function syncText(io: Io, found: CatalogSync): string {
  const { state, repository, head, target, planned, applied, applied_at: at, reason, plan, counts } = found
  if (!repository) return 'no repository is followed: set SVC_CATALOG_REPO where svc is started\n'
  tellWarnings(io, '', found.warnings)
  const colour = COLOURS[state as keyof typeof COLOURS] ?? 'dim'
  const of = escapeLine(
    `${repository.address} ${repository.ref}${repository.path ? ` ${repository.path}` : ''}`,
  )
  const held = target ? `rolled back to ${commitText(target)}\n` : ''
  const ran = applied ? `runs ${commitText(applied)}, since ${at}\n` : 'runs no commit of it yet\n'
  const says =
    planned && planned.id !== head?.id && planned.id !== target?.id ? `plan of ${commitText(planned)}\n` : ''
  const parts = found.parts.map(
    ({ kind, name, file, line, state: one }) =>
      `  ${one.replaceAll('_', ' ')}: ${escapeLine(`${file}:${line}`)} ${kindName(kind)} ${escapeLine(name)}\n`,
  )
  const rest = found.unmanaged.map(
    ({ kind, name }) => `  in no file: ${kindName(kind)} ${escapeLine(name)}\n`,
  )
  return [
    `${paint(io, colour, state.replaceAll('_', ' '))}${reason ? `: ${escapeLine(reason)}` : ''}\n`,
    `${of}, ${repository.policy}\n`,
    `says ${commitText(head)}\n${held}${ran}${says}`,
    `${counts.synced} synced, ${counts.out_of_sync} out of sync, ${counts.unmanaged} in no file\n`,
    ...parts,
    ...rest,
    ...(found.kept?.length ? ['\n', keptText(found.kept)] : []),
    ...(plan && changesOf(plan) > 0 ? ['\n', planText(io, plan)] : []),
  ].join('')
}

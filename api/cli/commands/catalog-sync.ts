/** `svc catalog sync`: look at the repository that the daemon follows, apply its commit, roll back to one. */
import { type Command, Option } from 'commander'
import { overwrittenBy } from '../../../schemas/overwritten.ts'
import type {
  CatalogCommit,
  CatalogRepositoryWrite,
  CatalogSync,
  CatalogSyncAsk,
  ChangePlan,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { conflictsError, keptText, problemsError, tellWarnings, unmanagedText } from '../catalog-text.ts'
import { problemOf } from '../client.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { kindName } from '../field-text.ts'
import { planText } from '../plan-text.ts'
import { escapeLine, type Io, paint, printJson, table } from '../terminal.ts'
import type { Flags } from '../verbs.ts'
import { differencesText } from './catalog-adopt.ts'

interface SyncFlags extends Flags, RepositoryFlags {
  status?: boolean
  history?: boolean
  parts?: 'all'
  apply?: boolean
  yes?: boolean
  commit?: string
  prune?: boolean
  maxDeletions?: string
  allowEmpty?: boolean
  heal?: boolean
  merge?: boolean
  ours?: 'file' | 'instance'
  why?: string
}

interface RepositoryFlags {
  repo?: string
  path?: string
  ref?: string
  policy?: 'manual' | 'auto' | 'auto-prune'
  env?: string
  interval?: string
  credential?: string
  unfollow?: boolean
}

/** Options that say what is followed. */
const FOLLOWED = ['repo', 'path', 'ref', 'policy', 'env', 'interval', 'credential'] as const

/** The command. */
export const syncing = (io: Io): Command =>
  clientCommand(
    'sync',
    'Look at the repository that the daemon follows; exits with 2 when the instance differs from it, 65 for problems of its files',
  )
    .option('--repo <address>', 'follow this repository from now on, then look at it')
    .option('--path <path>', 'folder or file of the catalog in it')
    .option('--ref <ref>', 'branch or tag (main)')
    .addOption(
      new Option(
        '--policy <policy>',
        'whether the daemon applies commits without asking a person (manual: it does not)',
      ).choices(['manual', 'auto', 'auto-prune']),
    )
    .option('--env <name>', 'environment of the catalog')
    .option('--interval <time>', 'time from one look to the next, such as 3m')
    .option('--credential <name>', 'stored credential it is read with')
    .option('--unfollow', 'follow no repository any more; what was applied stays')
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
    .option('--heal', 'write over edits by hand of parts with sync: warn, too')
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
  const isFollowing = FOLLOWED.some((name) => flags[name] !== undefined)
  if (isFollowing && (flags.status || flags.history || flags.commit !== undefined || flags.unfollow))
    throw usageError('what is followed is set alone, or with --apply')
  if (flags.parts && !flags.status) throw usageError('--parts goes with --status')
  if (flags.ours !== undefined && !flags.merge)
    throw usageError('--ours needs --merge: without it the commit is applied as it is')
  if (flags.history) return showHistory(io, flags)
  if (flags.unfollow) return unfollow(io, flags)
  if (FOLLOWED.some((name) => flags[name] !== undefined)) await follow(io, flags)
  const client = clientOf(io, flags)
  const answer = flags.status
    ? await client.call(calls.getCatalogSync, { parts: flags.parts ?? 'differing' })
    : await client.call(calls.syncCatalog, { body: withoutApply(flags) })
  const found = answer.read()
  if (flags.apply) return apply(io, flags, found)
  if (flags.json) printJson(io, answer.text)
  else if (!found.conflicts?.length) io.out(syncText(io, found))
  refuseConflicts(found)
  exitFor(found)
}

/** Stores what is followed: what is not given stays as it is. @throws CliError 64 */
async function follow(io: Io, flags: SyncFlags): Promise<void> {
  const client = clientOf(io, flags)
  const { repo, path, ref, policy, env, interval, credential } = flags
  const { repository } = (await client.call(calls.getCatalogSync, { parts: 'differing' })).read()
  const address = repo ?? repository?.address
  if (address === undefined) throw usageError('--repo is needed: no repository is followed yet')
  // Of another repository nothing is kept.
  const now = repo === undefined || repo === repository?.address ? repository : null
  const body: CatalogRepositoryWrite = {
    ...(now
      ? {
          ...{ path: now.path, ref: now.ref, policy: now.policy, interval_seconds: now.interval_seconds },
          ...(now.environment === null ? {} : { environment: now.environment }),
          ...(now.credential === null ? {} : { credential: now.credential }),
        }
      : {}),
    address,
    ...(path === undefined ? {} : { path }),
    ...(ref === undefined ? {} : { ref }),
    ...(policy === undefined ? {} : { policy }),
    ...(env === undefined ? {} : { environment: env }),
    ...(interval === undefined ? {} : { interval_seconds: secondsOf(interval) }),
    ...(credential === undefined ? {} : { credential }),
  }
  await client.call(calls.followCatalogRepository, { body })
}

async function unfollow(io: Io, flags: SyncFlags): Promise<void> {
  const { text } = await clientOf(io, flags).call(calls.leaveCatalogRepository)
  if (flags.json) printJson(io, text)
  else io.out('no repository is followed any more; what was applied stays\n')
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** @throws CliError 64 */
function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count === undefined) throw usageError('--interval must be a time such as 30s, 3m or 1h')
  return Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]
}

/** @throws CliError 65 with every field that files and instance both changed */
function refuseConflicts({ conflicts = [] }: CatalogSync): void {
  if (conflicts.length) throw conflictsError('', conflicts)
}

/** @throws CliError as the sync is: 2 out of sync, 65 for problems of files, 1 for a look that failed */
function exitFor(found: CatalogSync): void {
  const { state, problems, plan, reason } = found
  if (problems.length && !plan) throw problemsError('', problems)
  if (state === 'failed') throw new CliError(escapeLine(reason ?? 'the look failed'))
  // Of an earlier commit, and with --prune or --heal, the plan may have changes where the sync has none.
  if (state === 'out_of_sync' || changesOf(plan) > 0) throw new CliError('', EXIT.changes)
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
    const told = `${shown}${await byHandText(io, flags, found)}`
    if (flags.json) io.err(told)
    else io.out(told)
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
    throw client.refusal(answer, calls.syncCatalog)
  }
  if (flags.json) return printJson(io, answer.text)
  const { change_set: set, state: after } = answer.read()
  if (flags.merge && after === 'out_of_sync')
    io.err('what was changed by hand stays; "svc catalog adopt" brings it into the files\n')
  io.err(
    // The state has the change-set of what was applied last.
    set === null || set === found.change_set
      ? 'nothing changed\n'
      : `applied as change-set ${set}; "svc changes undo ${set}" takes it back\n`,
  )
}

/** What a commit that is applied as it is writes over, each field with who changed it. */
async function byHandText(io: Io, flags: SyncFlags, { applied, plan }: CatalogSync): Promise<string> {
  // Before a commit was applied nothing was changed by hand since; an earlier commit is meant to write over all.
  if (flags.merge || flags.commit !== undefined || applied === null || plan === null) return ''
  const { differences } = (await clientOf(io, flags).call(calls.getAdoption)).read()
  const written = overwrittenBy(plan, differences)
  if (written.length === 0) return ''
  const many = written.length === 1 ? '1 change by hand' : `${written.length} changes by hand`
  return `this writes over ${many}; --merge keeps what only the instance changed:\n${differencesText(io, written)}`
}

/** @throws CliError 64 */
function withoutApply(flags: SyncFlags): CatalogSyncAsk {
  const { commit, prune, maxDeletions, allowEmpty, heal, merge, ours, why } = flags
  if (maxDeletions !== undefined && !/^\d{1,6}$/.test(maxDeletions))
    throw usageError('--max-deletions must be a number from 0 to 999999')
  return {
    ...(commit === undefined ? {} : { commit }),
    ...(prune ? { prune } : {}),
    ...(maxDeletions === undefined ? {} : { max_deletions: Number(maxDeletions) }),
    ...(allowEmpty ? { allow_empty: true } : {}),
    ...(heal ? { heal: true } : {}),
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
            cell: ({ creates, updates, deletes }) =>
              creates === null ? 'none' : `+${creates} ~${updates} -${deletes}`,
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

const countsText = ({
  synced,
  out_of_sync: out,
  drifted,
  adopted,
  unmanaged,
}: CatalogSync['counts']): string =>
  [
    `${synced} synced, ${out} out of sync`,
    ...(drifted ? [`${drifted} drifted`] : []),
    ...(adopted ? [`${adopted} adopted`] : []),
    `${unmanaged} in no file`,
  ].join(', ')

const editedText = (edited: readonly string[]): string =>
  edited.length
    ? escapeLine(` (by hand: ${edited.map((path) => path.slice(1).replaceAll('/', '.')).join(', ')})`)
    : ''

const COLOURS = { synced: 'green', out_of_sync: 'yellow', failed: 'red' } as const

function syncText(io: Io, found: CatalogSync): string {
  const { state, repository, head, target, planned, applied, applied_at: at, reason, plan, counts } = found
  if (!repository)
    return 'no repository is followed: name one with --repo, or set SVC_CATALOG_REPO where svc is started\n'
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
    ({ kind, name, file, line, state: one, edited = [] }) =>
      `  ${one.replaceAll('_', ' ')}: ${escapeLine(`${file}:${line}`)} ${kindName(kind)} ${escapeLine(name)}${editedText(edited)}\n`,
  )
  // Without a plan nothing is known of the parts, which is not the same as none of them.
  const isKnown = plan !== null || found.parts.length > 0
  return [
    `${paint(io, colour, state.replaceAll('_', ' '))}${reason ? `: ${escapeLine(reason)}` : ''}\n`,
    `${of}, ${repository.policy}\n`,
    `says ${commitText(head)}\n${held}${ran}${says}`,
    isKnown ? `${countsText(counts)}\n` : 'what differs is not known: nothing was planned\n',
    ...parts,
    unmanagedText(found.unmanaged, counts.unmanaged, 'in no file: '),
    ...(found.kept?.length ? ['\n', keptText(found.kept)] : []),
    ...(plan && changesOf(plan) > 0 ? ['\n', planText(io, plan)] : []),
  ].join('')
}

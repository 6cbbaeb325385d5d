/** `svc catalog adopt`: what was changed by hand as a patch, or a pull request, for the repository that is followed. */
import type { Command } from 'commander'
import { callerText } from '../../../schemas/caller-words.ts'
import type { CatalogAdoption, CatalogDifference } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { problemsError } from '../catalog-text.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { fieldLines, keptLines, kindName, mergeLines } from '../field-text.ts'
import { STANDARD, writeText } from '../files.ts'
import { escapeLine, type Io, printJson } from '../terminal.ts'
import type { Flags } from '../verbs.ts'

interface AdoptFlags extends Flags {
  patch?: string
  pullRequest?: boolean
  why?: string
}

/** The command. */
export const adopting = (io: Io): Command =>
  clientCommand(
    'adopt',
    'Show what was changed by hand as the files of the followed repository would say it; exits with 2 when there is something',
  )
    .option('--patch <file>', 'write it as a patch for "git apply"; - is standard output')
    .option('--pull-request', 'open a pull request with it, or bring the open one up to date')
    .option('--why <text>', 'with --pull-request: why')
    .action((flags: AdoptFlags) => adopt(io, flags))

async function adopt(io: Io, flags: AdoptFlags): Promise<void> {
  if (flags.patch !== undefined && flags.pullRequest)
    throw usageError('give --patch or --pull-request, not both')
  if (flags.why !== undefined && !flags.pullRequest) throw usageError('--why goes with --pull-request')
  const client = clientOf(io, flags)
  const answer = await client.call(calls.getAdoption)
  const found = answer.read()
  if (flags.pullRequest) return openPullRequest(io, flags, found)
  if (flags.json) printJson(io, answer.text)
  refuseUnsettled(io, found)
  const patch = found.files.map((file) => file.patch).join('')
  if (flags.patch !== undefined) {
    if (patch === '') io.err('no change: the files say what the instance has\n')
    else if (flags.patch === STANDARD) io.out(patch)
    else {
      writeText(io, flags.patch, patch)
      io.err(`wrote ${flags.patch}; "git apply ${flags.patch}" in a clone takes it\n`)
    }
  } else if (!flags.json) {
    io.out(differencesText(io, found.differences))
    io.out(patch || 'no change: the files say what the instance has\n')
  }
  refuseHeld(found)
  if (flags.patch === undefined && patch !== '') throw new CliError('', EXIT.changes)
}

async function openPullRequest(io: Io, flags: AdoptFlags, found: CatalogAdoption): Promise<void> {
  refuseUnsettled(io, found)
  if (found.files.length === 0) {
    refuseHeld(found)
    io.err('no change: the files say what the instance has\n')
    return
  }
  const { why } = flags
  const body = { commit: found.commit.id, ...(why === undefined ? {} : { why }) }
  const answer = await clientOf(io, flags).call(calls.openPullRequest, { body })
  const { pull_request: made, existing } = answer.read()
  if (flags.json) printJson(io, answer.text)
  else io.out(`${existing ? 'updated' : 'opened'} pull request ${made.number}: ${escapeLine(made.url)}\n`)
  refuseHeld(found)
}

/** @throws CliError 65 for problems of files, and for fields that files and instance both changed */
function refuseUnsettled(io: Io, { problems, conflicts, differences }: CatalogAdoption): void {
  if (problems.length) throw problemsError('', problems)
  if (conflicts === 0) return
  const both = differences.filter(({ changed_in: where }) => where === 'both')
  const many = conflicts === 1 ? '1 field was' : `${conflicts} fields were`
  throw new CliError(
    `${many} changed in the files and by hand; "svc catalog sync --apply --merge --ours file" or instance settles that\n${differencesText(io, both)}`.trimEnd(),
    EXIT.data,
    { differences: both },
  )
}

/** @throws CliError 1 where no file takes a change */
function refuseHeld({ held }: CatalogAdoption): void {
  if (held.length === 0) return
  const { message } = problemsError('', held)
  const many = held.length === 1 ? '1 change is' : `${held.length} changes are`
  throw new CliError(`${many} in no patch${message.slice(message.indexOf('\n'))}`, EXIT.failed, {
    problems: held,
  })
}

/** Each field with its place, its values, and who changed it on which side. */
export function differencesText(io: Io, differences: readonly CatalogDifference[]): string {
  return differences
    .flatMap((one) => {
      const { file, line, hand, commit, changed_in: where } = one
      const at = file === null ? '' : `${escapeLine(`${file}:${line}`)}: `
      const [head, ...values] = linesOf(io, one)
      const by =
        hand && where !== 'files'
          ? [`by hand: ${callerText(hand.by)} at ${hand.at}, change-set ${hand.change_set}`]
          : []
      const git = commit
        ? [`in git: ${commit.author} at ${commit.at}, ${commit.id.slice(0, 10)} ${commit.message}`]
        : []
      return [`${at}${head}`, ...values, ...[...by, ...git].map((text) => `  ${escapeLine(text)}`)]
    })
    .map((line) => `${line}\n`)
    .join('')
}

function linesOf(io: Io, one: CatalogDifference): string[] {
  const { kind, name, path, file, base, in_files: mine, in_instance: theirs, changed_in: where } = one
  if (where === 'both') return mergeLines({ kind, name, path, base, mine, theirs })
  if (where === 'files') {
    const what = `${kindName(kind)} ${escapeLine(name)}`
    if (path === '') return [`${what}: changed in the files`]
    const field = { path, from: theirs ?? undefined, to: mine ?? undefined }
    const [head, ...more] = fieldLines(io, field, kind)
    return [`${what}, ${head} (changed in the files)`, ...more]
  }
  if (file === null) return [`${kindName(kind)} ${escapeLine(name)}: made by hand`]
  return keptLines({ kind, name, path, base, mine, theirs })
}

/** `svc catalog pull`: what was changed by hand in the instance, written into the files where each part lives. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import {
  type Composed,
  compose,
  type PulledFile,
  patchOf,
  pullInto,
  withFiles,
} from '../../../engine/files.ts'
import { SECTION_OF } from '../../../schemas/kinds.ts'
import type { Catalog, CatalogProblem, CatalogUnmanaged, MergeConflict } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { folderOf, givenTexts, type InputFlags, placedIn } from '../catalog-input.ts'
import { conflictsError, problemsError } from '../catalog-text.ts'
import { problemOf } from '../client.ts'
import { clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { kindName } from '../field-text.ts'
import { changeFiles } from '../file-changes.ts'
import { isWithin, realPathOf, repositoryOf, STANDARD } from '../files.ts'
import { escapeLine, type Io, printJson } from '../terminal.ts'

export interface PullFlags extends ClientFlags, JsonFlag, InputFlags {
  ours?: 'file' | 'instance'
  dryRun?: boolean
  force?: boolean
}

/**
 * Nothing is written with a conflict, nor where a file has edits that git has no commit of.
 * @throws CliError 65 for problems, conflicts and uncommitted edits, 2 with dry_run when something would be written,
 *   1 when something of the instance could not be written
 */
export async function pullCatalog(io: Io, paths: readonly string[], flags: PullFlags): Promise<void> {
  if (paths.includes(STANDARD)) throw usageError('pull writes files: standard input is none')
  const texts = await givenTexts(io, paths, flags)
  const composed = compose(texts)
  const [shown = '.'] = paths
  if (composed.problems.length) throw problemsError(shown, composed.problems)
  const current = await askCurrent(io, shown, composed, flags)
  const { files, notPulled } = pullInto(composed, current, (changed) => compose(withFiles(texts, changed)))
  const problems = notPulled.map((one): CatalogProblem => one)
  const left = await askLeft(io, current, flags)
  if (flags.json) printJson(io, JSON.stringify({ files, not_pulled: problems, left }))
  else if (flags.dryRun) for (const file of files) io.out(patchOf(file))
  if (!flags.dryRun) {
    if (!flags.force) {
      refuseOutside(paths, files)
      refuseUncommitted(files)
    }
    // What came between the reading and now is no edit of ours.
    refuseChanged(files)
    changeFiles(folderOf(shown), files)
    if (!flags.json)
      for (const { path, after } of files) io.out(`${after === null ? 'removed' : 'wrote'} ${path}\n`)
  }
  if (left.length && !flags.json) io.err(leftText(left))
  if (files.length === 0 && problems.length === 0 && !flags.json)
    io.out('no change: the files say all that was changed by hand\n')
  if (problems.length) throw heldError(problems)
  if (flags.dryRun && files.length) throw new CliError('', EXIT.changes)
}

/** What the files would say with what was changed by hand. @throws CliError 65 with every problem or conflict */
async function askCurrent(io: Io, shown: string, composed: Composed, flags: PullFlags): Promise<Catalog> {
  const [first, ...others] = composed.owned.map(({ name, text }) => ({ name, yaml: text }))
  const client = clientOf(io, flags)
  const answer = await client.attempt(calls.updateCatalogFile, {
    body: {
      ...first!,
      merge: true,
      ...(others.length ? { others } : {}),
      ...(flags.ours === undefined ? {} : { ours: flags.ours }),
    },
  })
  if (answer.status >= 200 && answer.status < 300) return answer.read() as Catalog
  const { problems, conflicts } = problemOf(answer.text)
  const placed = placedIn(composed)
  if (Array.isArray(conflicts)) throw conflictsError(shown, (conflicts as MergeConflict[]).map(placed))
  if (Array.isArray(problems)) throw problemsError(shown, (problems as CatalogProblem[]).map(placed))
  throw client.refusal(answer)
}

/** What no catalog declares, and these files do not take either: it is in, or refers to, what is another catalog's. */
async function askLeft(io: Io, current: Catalog, flags: PullFlags): Promise<CatalogUnmanaged[]> {
  const { unmanaged } = (await clientOf(io, flags).call(calls.getDrift)).read()
  return unmanaged.filter(({ kind, name }) => {
    const entries = (current[SECTION_OF[kind]] ?? []) as readonly { name?: string }[]
    return !entries.some((entry) => entry.name === name)
  })
}

/** Parts that are named at most. */
const LEFT_NAMED = 10

function leftText(left: readonly CatalogUnmanaged[]): string {
  const named = left.slice(0, LEFT_NAMED).map(({ kind, name }) => `${kindName(kind)} ${name}`)
  const more = left.length > LEFT_NAMED ? ` and ${left.length - LEFT_NAMED} more` : ''
  return `left, since of a project of another catalog, or referring to what is another catalog's: ${escapeLine(named.join(', '))}${more}\n`
}

/**
 * A link or an `include` of a repository that others write, too, may lead anywhere.
 * @throws CliError 65 naming the files that are in none of the repositories that are pulled into
 */
function refuseOutside(paths: readonly string[], files: readonly PulledFile[]): void {
  const all = (paths.length ? paths : ['.']).map((path) => repositoryOf(folderOf(path)))
  const repositories = all.filter((one) => one !== null)
  if (repositories.length < all.length) return
  const outside = files.filter(({ path }) => !repositories.some((one) => isWithin(one, path)))
  if (outside.length)
    throw new CliError(
      `nothing was written: ${outside.map(({ path }) => escapeLine(leading(path))).join(', ')} ${outside.length === 1 ? 'is' : 'are'} outside of the repository ${repositories.join(', ')}; write there, too, with --force`,
      EXIT.data,
      { files: outside.map(({ path }) => path) },
    )
}

const leading = (path: string): string => `${path} (${realPathOf(path)})`

/** @throws CliError 65 naming the files that git has edits of, or none at all. */
function refuseUncommitted(files: readonly PulledFile[]): void {
  const edited = files.flatMap(({ path, before }) => (before !== null && isUncommitted(path) ? [path] : []))
  if (edited.length)
    throw new CliError(
      `nothing was written: ${edited.map(escapeLine).join(', ')} ${edited.length === 1 ? 'has' : 'have'} edits that are not committed; commit them, or write over them with --force`,
      EXIT.data,
      { files: edited },
    )
}

/** @throws CliError 65 naming the files that were saved while the instance was asked. */
function refuseChanged(files: readonly PulledFile[]): void {
  const saved = files.filter(
    ({ path, before }) => (existsSync(path) ? readFileSync(path, 'utf8') : null) !== before,
  )
  if (saved.length)
    throw new CliError(
      `nothing was written: ${saved.map(({ path }) => escapeLine(path)).join(', ')} changed while the instance was asked; pull again`,
      EXIT.data,
    )
}

/** Whether git knows a file otherwise than it is; false where it is in no repository. @throws CliError 70 where git cannot say */
function isUncommitted(given: string): boolean {
  // Of a link git tells of the link alone, and what it leads to is written.
  const path = realPathOf(given)
  const git = (...args: string[]) =>
    spawnSync('git', ['-C', dirname(path) || '.', ...args, '--', basename(path)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    })
  const { status, stdout, stderr, error } = git('status', '-s', '-uall')
  // What git ignores it has no commit of.
  if (status === 0) return stdout.trim() !== '' || git('check-ignore', '-q').status === 0
  // Without git there is no repository that could be told apart.
  if (error || /not a git repository/i.test(stderr)) return false
  throw new CliError(
    `git cannot say whether ${path} has edits: ${stderr.trim()}; --force writes anyway`,
    EXIT.fault,
  )
}

function heldError(problems: readonly CatalogProblem[]): CliError {
  const lines = problems.map(
    ({ file, line, column, path, message }) =>
      `${escapeLine(file!)}:${line}:${column}: ${escapeLine(`${path} ${message}`)}`,
  )
  const many =
    problems.length === 1 ? '1 change of the instance was' : `${problems.length} changes of the instance were`
  return new CliError(`${many} not written\n${lines.join('\n')}`, EXIT.failed, { problems })
}

/** Problems, warnings and drift of catalog files on a terminal. */

import { countWords } from '../../schemas/plain-words.ts'
import { countProblems, placeHead } from '../../schemas/problem-words.ts'
import type { CatalogDrift, CatalogProblem, CatalogUnmanaged, MergeConflict } from '../../schemas/types.ts'
import { CliError, EXIT } from './exit.ts'
import { keptLines, kindName, mergeLines } from './field-text.ts'
import { planText } from './plan-text.ts'
import { escapeLine, type Io } from './terminal.ts'

/** FILE:LINE:COLUMN: message, as editors and CI read it. */
const problemLine = (given: string, { file = given, ...problem }: CatalogProblem): string => {
  const { path, message } = problem
  return escapeLine(`${placeHead({ file, ...problem })}${path ? `${path}: ${message}` : message}`)
}

/** @throws nothing: the error to throw, with every problem; each names its own file, or is in `file`. */
export function problemsError(file: string, problems: readonly CatalogProblem[]): CliError {
  const lines = problems.map((problem) => problemLine(file, problem))
  return new CliError(`${countWords(countProblems(problems), 'problem')}\n${lines.join('\n')}`, EXIT.data, {
    problems,
  })
}

/** Fields that the files and the instance both changed: each with its place and all three values. */
export function conflictsError(given: string, conflicts: readonly MergeConflict[]): CliError {
  const many = conflicts.length === 1 ? '1 field was' : `${conflicts.length} fields were`
  const lines = conflicts.flatMap(({ file = given, line = 1, column = 1, ...conflict }) => {
    const [head, ...values] = mergeLines(conflict)
    return [`${escapeLine(file)}:${line}:${column}: ${head}`, ...values]
  })
  return new CliError(
    `${many} changed in the files and by hand; nothing is applied. --ours file or --ours instance says whose value is taken\n${lines.join('\n')}`,
    EXIT.data,
    { conflicts },
  )
}

/** Fields that were changed by hand and stay; nothing without any. */
export function keptText(kept: readonly MergeConflict[]): string {
  if (kept.length === 0) return ''
  const lines = kept.flatMap((one) => keptLines(one)).map((line) => `  ${line}\n`)
  return `changed by hand, and kept:\n${lines.join('')}`
}

/** Warnings go to standard error, each on its line. */
export function tellWarnings(io: Io, file: string, warnings: readonly CatalogProblem[]): void {
  for (const warning of warnings) io.err(`warning: ${problemLine(file, warning)}\n`)
}

/** Each file with what importing it again would do, and what is in no file. */
export function driftText(io: Pick<Io, 'colour'>, { files, unmanaged }: CatalogDrift): string {
  if (files.length === 0) return 'no file was imported yet\n'
  const told = files.map(({ name, imported_at, plan, problems }) => {
    const head = `${name}, imported at ${imported_at}; importing it again would do this:\n`
    const faults = problems.map((problem) => `  ${problemLine(name, problem)}\n`).join('')
    return head + (plan ? planText(io, plan) : `the file no longer imports as it is:\n${faults}`)
  })
  const rest = unmanagedText(unmanaged, unmanaged.length, '')
  return told.join('\n') + (rest ? `\nin no file that is remembered:\n${rest}` : '')
}

/** So many parts that are in no file are listed by name; the rest are counted. */
const UNMANAGED_NAMED = 50

/** Parts that are in no file, each on its line. @param all how many there are @param head before each */
export function unmanagedText(unmanaged: readonly CatalogUnmanaged[], all: number, head: string): string {
  const shown = unmanaged.slice(0, UNMANAGED_NAMED)
  const lines = shown.map(({ kind, name }) => `  ${head}${kindName(kind)} ${escapeLine(name)}\n`)
  const more = all - shown.length
  return `${lines.join('')}${more > 0 ? `  ${head}${more} more; "svc catalog drift --json" has all\n` : ''}`
}

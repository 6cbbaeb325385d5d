/** Problems of catalog files as sentences have them. */
import { numberWords } from './plain-words.ts'
import type { CatalogProblem } from './types.ts'

/** FILE:LINE:COLUMN and a colon, as a problem begins; nothing for one that is of no file. */
export const placeHead = ({ file, line, column }: CatalogProblem): string =>
  file ? `${file}:${line}:${column}: ` : ''

/** How many problems there are, also those that are not listed. */
export const countProblems = (problems: readonly CatalogProblem[]): number =>
  problems.reduce((sum, { more = 1 }) => sum + more, 0)

/** What is said behind the first problem: how many more there are; nothing where it is alone. */
export function andMore(problems: readonly CatalogProblem[]): string {
  const more = countProblems(problems) - 1
  return more > 0 ? ` (and ${numberWords(more)} more)` : ''
}

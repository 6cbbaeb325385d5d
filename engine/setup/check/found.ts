/** Problems as a check finds them. */
import type { PlanProblem } from '../../../schemas/types.ts'
import { SvcError } from '../../errors.ts'

export type Report = (where: string, message: string) => void

/** The value, or null with the rule that was broken told at its place. */
export function heeding<T>(report: Report, where: string, rule: () => T): T | null {
  try {
    return rule()
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    report(where, error.message)
    return null
  }
}

/** Tells of each name that is there twice, at the second. */
export function tellDuplicates(
  report: Report,
  section: string,
  rows: readonly { key: string; name: string }[],
): void {
  const seen = new Set<string>()
  for (const { key, name } of rows) {
    if (name !== '' && seen.has(name))
      report(`${section}.${key}`, `name: another one of the plan is named ${name}`)
    seen.add(name)
  }
}

/** One sentence of all problems, as a refusal says them. */
export const sentenceOfProblems = (problems: readonly PlanProblem[]): string =>
  `the plan cannot be applied: ${problems.map(({ where, message }) => `${where}: ${message}`).join('; ')}`

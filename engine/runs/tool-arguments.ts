/** What tools of runs and Ask share: arguments as models give them, and what a call answers. */
import type { Shown, StartedRun } from './types.ts'

export interface OwnResult {
  text: string
  isError: boolean
  shown: Shown
}

/** Where a read of a model stands: what it may see, as of when, and how it is fenced. */
export type Within = Pick<StartedRun, 'projects' | 'asOf' | 'marker'>

export const failed = (text: string): OwnResult => ({
  text: `tool error: ${text}`,
  isError: true,
  shown: [],
})

/** @returns null where it is no map */
export function selectorOf(value: unknown): Record<string, string> | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one)]))
}

/** @returns undefined where it is no list of words */
export function wordsOf(value: unknown): string[] | undefined {
  const words = Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one !== '') : []
  return words.length ? (words as string[]) : undefined
}

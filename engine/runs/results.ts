/** What a run left elsewhere, read off its tool calls: pull requests, commits, messages. */
import type { Step } from './types.ts'

export interface RunResult {
  kind: 'pr' | 'commit' | 'custom'
  label: string
  url: string
}

const RESULTS_MAX = 20
const PATTERNS: readonly (readonly [RunResult['kind'], RegExp])[] = [
  ['pr', /https:\/\/[^\s"'<>)\]}]{1,200}\/pull\/\d{1,9}/g],
  ['commit', /https:\/\/[^\s"'<>)\]}]{1,200}\/commit\/[0-9a-f]{7,40}/g],
]

/** Addresses in what external tools answered, each once. */
export function resultsOf(steps: readonly Step[]): RunResult[] {
  const found = new Map<string, RunResult>()
  for (const step of steps) {
    if (step.kind !== 'tool' || step.data.server === null || step.data.is_error) continue
    for (const [kind, pattern] of PATTERNS)
      for (const [url] of (step.data.result ?? '').matchAll(pattern))
        found.set(url, { kind, label: url.split('/').slice(-2).join(' '), url })
  }
  return [...found.values()].slice(0, RESULTS_MAX)
}

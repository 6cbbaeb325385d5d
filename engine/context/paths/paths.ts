/**
 * Paths of one request: requests of now against those before, step by step. What is compared is the order of
 * log lines and spans, as Nezha does against a fault-free time (Yu et al. 2023); here the time before serves.
 */
import type { Timed } from '../types.ts'
import { failingCalls } from './failing.ts'
import type { PathFinding } from './findings.ts'
import { occurrencesOf } from './occurrences.ts'
import { windowsOf } from './sides.ts'
import { slowSteps } from './slow.ts'
import { brokenCalls, callsOf } from './spans.ts'
import { tracesOf } from './traces.ts'
import { brokenPaths } from './transitions.ts'

/** Fewer requests say nothing. */
export const REQUESTS_MIN = 20
/** A second finding of an entity counts this much. */
const SECOND = 0.15

export interface Paths {
  requests: number
  /** The strongest first. */
  findings: PathFinding[]
  /** Entities by their findings, the strongest first. */
  entities: Map<string, number>
}

/** @param lines in order of time. @param wordingOf the template of a line; null: it has none */
export function pathsOf(lines: readonly Timed[], wordingOf: (line: Timed) => string | null): Paths {
  const traces = tracesOf(lines, wordingOf)
  if (traces.length < REQUESTS_MIN) return { requests: traces.length, findings: [], entities: new Map() }
  const windows = windowsOf(traces)
  const occurrences = occurrencesOf(traces)
  const calls = callsOf(traces)
  const findings = [
    ...brokenPaths(occurrences, windows),
    ...brokenCalls(calls, windows),
    ...failingCalls(calls, windows),
    ...slowSteps(calls, occurrences, windows),
  ].sort((a, b) => b.score - a.score)
  const told = withoutRepeats(findings)
  return { requests: traces.length, findings: told, entities: rankOf(told) }
}

/** A step that is gone is gone after each step that it followed; the strongest is told. */
function withoutRepeats(findings: readonly PathFinding[]): PathFinding[] {
  const told = new Set<string>()
  return findings.filter((finding) => {
    if (finding.kind !== 'path') return true
    const { gone, fresh } = finding
    const keys = [gone && `gone ${gone.key}`, fresh?.key && `new ${fresh.key}`].filter(
      (key) => !!key,
    ) as string[]
    if (keys.length > 0 && keys.every((key) => told.has(key))) return false
    for (const key of keys) told.add(key)
    return true
  })
}

function rankOf(findings: readonly PathFinding[]): Map<string, number> {
  const scores = new Map<string, { sum: number; count: number }>()
  for (const { entity, score } of findings) {
    const known = scores.get(entity)
    if (!known) scores.set(entity, { sum: score, count: 1 })
    else if (known.count++ === 1) known.sum += SECOND * score
  }
  return new Map(
    [...scores].map(([entity, { sum }]): [string, number] => [entity, sum]).sort((a, b) => b[1] - a[1]),
  )
}

/** Each coming of each step, with what came next and by which way the request came to it. */
import { listAt } from '../measures.ts'
import type { Occurrence } from './findings.ts'
import type { Step, Trace } from './traces.ts'

/** Callers that tell two ways to a step apart. */
const CALLERS = 3

export interface Occurrences {
  byStep: Map<string, Occurrence[]>
  /** A step of each key. */
  example: Map<string, Step>
}

export function occurrencesOf(traces: readonly Trace[]): Occurrences {
  const byStep = new Map<string, Occurrence[]>()
  const example = new Map<string, Step>()
  for (const trace of traces) {
    const lastOfSpan = new Map<string, Occurrence>()
    const open: OpenSpan[] = []
    let previous: Occurrence | null = null
    for (const step of trace.steps) {
      const chain = enter(open, step)
      const occurrence: Occurrence = {
        ...{ step, trace, inSpan: null, inTrace: null },
        kind: `${trace.kind}\0${chain}`,
      }
      if (!example.has(step.key)) example.set(step.key, step)
      const before = step.span ? lastOfSpan.get(step.span) : undefined
      if (before) before.inSpan = step
      if (previous) previous.inTrace = step
      previous = occurrence
      if (step.span) lastOfSpan.set(step.span, occurrence)
      listAt(byStep, step.key).push(occurrence)
    }
  }
  return { byStep, example }
}

interface OpenSpan {
  span: string
  entity: string
  callers: string[]
}

/** Who called whom, by the order of lines alone: a span that speaks again has its callees ended. */
function enter(open: OpenSpan[], { span, entity }: Step): string {
  if (span) {
    const at = open.findIndex((one) => one.span === span)
    if (at >= 0) open.length = at + 1
    else {
      const caller = open.at(-1)
      const callers = caller ? [caller.entity, ...caller.callers].slice(0, CALLERS) : []
      open.push({ span, entity, callers })
    }
  }
  return open.at(-1)?.callers.join('<') ?? ''
}

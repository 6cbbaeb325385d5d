/** Which facts a text shows: by patterns over its lines, with times blanked; no judge. */
import type { Fact } from './incident.ts'
import { patternOf } from './truth.ts'

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d\d:\d\d(:\d\d)?\b/g
const NUMBER = /(?<![\w./:#])-?\d+(?:\.\d+)?(?![\w/:#])/g
const EVENT_ID = /evt_\d+/g

export interface SeenFact {
  id: string
  role: Fact['role']
  shown: boolean
}

/** @param entity that lines without a service are of. */
export function factsIn(text: string, facts: readonly Fact[], entity: string): SeenFact[] {
  const lines = text
    .split('\n')
    .map((line) => (line.startsWith('evt_') && !/service=/.test(line) ? `${line} {service=${entity}}` : line))
  return facts.map((fact) => ({
    id: fact.id,
    role: fact.role,
    shown: fact.num ? showsNumber(lines, fact.num) : showsLine(lines, fact),
  }))
}

function showsLine(lines: readonly string[], { line = [], gone, and }: Fact): boolean {
  const patterns = [...line, ...(gone && and ? [and] : [])].map(patternOf)
  return lines.some((one) => patterns.every((pattern) => pattern.test(one)))
}

function showsNumber(
  lines: readonly string[],
  { names, usual, abnormal }: NonNullable<Fact['num']>,
): boolean {
  const patterns = names.map(patternOf)
  const numbers = lines
    .filter((line) => patterns.every((pattern) => pattern.test(line)))
    .flatMap((line) => line.replace(TIME, '~').replace(EVENT_ID, '').match(NUMBER) ?? [])
    .map(Number)
  const within = ([low, high]: [number, number]) => numbers.some((value) => value >= low && value <= high)
  return within(usual) && within(abnormal)
}

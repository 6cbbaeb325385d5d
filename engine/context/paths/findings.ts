/** What is found of requests: one kind for each way in which a path differs. */
import type { Timed } from '../types.ts'
import type { Step, Trace } from './traces.ts'

/** One coming of a step, with what came after it. */
export interface Occurrence {
  step: Step
  trace: Trace
  /** The next line of the same span, and of the same request. */
  inSpan: Step | null
  inTrace: Step | null
  /** How the request came here: its first step and the last callers. */
  kind: string
}

/** Which of the two next lines is looked at. */
export type Context = 'inSpan' | 'inTrace'

export interface Gone {
  key: string
  surprise: number
  /** How often it came now, the share expected, and how often before. */
  now: number
  share: number
  before: number
}

export interface Fresh {
  /** Empty: the request ends here. */
  key: string
  surprise: number
  now: number
  before: number
}

interface Finding {
  /** Whose it is: where the request breaks. */
  entity: string
  score: number
  /** Seconds before now. */
  since: number
}

/** After a step the usual one does not come, or another comes. */
export interface BrokenPath extends Finding {
  kind: 'path'
  after: string
  gone: Gone | null
  fresh: Fresh | null
  /** Requests of each side that came to this step. */
  beforeCount: number
  nowCount: number
  /** Requests that show it, and of those where nothing unexpected came before. */
  hits: number
  first: number
  /** A normal request, and an example of those that are not. */
  normal: Timed
  example: Timed
  lastNormal: number | null
}

/** A span no longer makes a call, or makes one it did not. */
export interface BrokenCall extends Finding {
  kind: 'call'
  of: string
  gone: Gone | null
  fresh: Fresh | null
  beforeCount: number
  nowCount: number
  normal: Timed
  example: Timed
}

/** A span ends with an error more often. */
export interface FailingCall extends Finding {
  kind: 'failing'
  /** Entity and operation. */
  of: string
  /** Calls of each side, and those of them that failed. */
  beforeCount: number
  beforeFailed: number
  nowCount: number
  nowFailed: number
  /** Of those that fail now, the ones in which no call of theirs failed. */
  first: number
  normal: Timed
  example: Timed
}

/** A span's own time, or the pause between two lines, is longer. */
export interface SlowStep extends Finding {
  kind: 'slow'
  /** Where the time is told, and what is done there. */
  at: string
  operation: string
  /** The other entity; empty: none. */
  calls: string
  isPause: boolean
  usual: number
  low: number
  high: number
  now: number
  p90: number
  peak: number
  wholeUsual: number
  wholeNow: number
  above: number
  nowCount: number
  /** Of the pairs with another entity that the finding's entity is in, those that are slow. */
  slowPairs: string | null
  normal: Timed
  example: Timed
}

export type PathFinding = BrokenPath | BrokenCall | FailingCall | SlowStep

/** Entity and place of a key; of an empty one the end of a request. */
export function namesOf(key: string): { entity: string; place: string } {
  const at = key.indexOf('\0')
  return at < 0 ? { entity: '', place: '' } : { entity: key.slice(0, at), place: key.slice(at + 1) }
}

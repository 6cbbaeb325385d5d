/** Alerts that fired and resolved many times before: that one fires again says little. */
import { valueAt } from './measures.ts'
import type { Timed } from './types.ts'

const FIRING = /^(firing|fired|triggered|alerting|problem|opened)$/i
const RESOLVED = /^(resolved|recovered|cleared|ok|recovery|closed)$/i
/** Labels that name an alert. */
const NAMES = ['alertname', 'alert', 'rule', 'monitor']
/** So many times are many. */
const TIMES = 3

export interface Flapping {
  /** The first and the last time it fired. */
  first: Timed
  last: Timed
  /** How often it fired and was resolved. */
  times: number
  /** From firing to resolved, seconds, the median. */
  lasted: number
}

/** @param lines in order of time. @param entity whose alerts are looked at. @returns those that fired most often first */
export function flappingOf(lines: readonly Timed[], entity: string): Flapping[] {
  const alerts = new Map<string, { open: Timed | null; fired: Timed[]; lasted: number[] }>()
  for (const line of lines) {
    const { type, source, labels } = line.row
    if (line.row.entity !== entity || !(FIRING.test(type) || RESOLVED.test(type))) continue
    const name = NAMES.map((label) => labels[label]).find((value) => value !== undefined)
    const alert = valueAt(alerts, `${source}\0${name ?? ''}`, () => ({ open: null, fired: [], lasted: [] }))
    if (FIRING.test(type)) alert.open = line
    else if (alert.open) {
      alert.fired.push(alert.open)
      alert.lasted.push(line.t - alert.open.t)
      alert.open = null
    }
  }
  return [...alerts.values()]
    .filter(({ fired }) => fired.length >= TIMES)
    .map(({ fired, lasted }) => ({
      ...{ first: fired[0]!, last: fired.at(-1)!, times: fired.length },
      lasted: lasted.sort((a, b) => a - b)[Math.floor(lasted.length / 2)]!,
    }))
    .sort((a, b) => b.times - a.times)
}

/** Alerts that fired and resolved many times before: that one fires again says little. */
import { valueAt } from './measures.ts'
import type { ContextRow, Timed } from './types.ts'

const FIRING = new Set(['firing', 'fired', 'triggered', 'alerting', 'problem', 'opened'])
const RESOLVED = new Set(['resolved', 'recovered', 'cleared', 'ok', 'recovery', 'closed'])
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
    if (line.row.entity !== entity || line.row.isSample) continue
    const state = stateOf(line.row)
    if (state === undefined) continue
    const { type, source, labels } = line.row
    const name = NAMES.map((label) => labels[label]).find((value) => value !== undefined)
    const key = `${source}\0${name ?? (type.toLowerCase() === state ? '' : type)}`
    const alert = valueAt(alerts, key, () => ({ open: null, fired: [], lasted: [] }))
    if (FIRING.has(state)) alert.open = line
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

/** As connectors of alerts say it: in a label, as the type, or as the first word of the text. */
function stateOf({ type, text, labels }: ContextRow): string | undefined {
  const first =
    text.startsWith('FIRING:') || text.startsWith('RESOLVED:') ? text.slice(0, text.indexOf(':')) : ''
  return [labels.status, labels.state, type, first]
    .map((word) => String(word ?? '').toLowerCase())
    .find((word) => FIRING.has(word) || RESOLVED.has(word))
}

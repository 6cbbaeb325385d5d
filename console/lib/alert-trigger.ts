/** A trigger over alerts, as nearly all mean it: each alert that comes up, as severe as it says. */
import { type OfAlerts, ofAlerts, saysState } from '../../schemas/alert-words.ts'
import { NEW_TRIGGER, rowOf, type TriggerDraft } from './trigger-draft.ts'

interface Known {
  name: string
  connector: string
  config?: Readonly<Record<string, unknown>> | undefined
}

/** How the alerts of the chosen sources are told apart; null: one of them sends no alerts, or they differ in that. */
export function alertsOf(chosen: readonly string[], known: readonly Known[]): OfAlerts | null {
  const found = chosen.map((name) => {
    const source = known.find((one) => one.name === name)
    return source ? ofAlerts(source.connector, source.config) : null
  })
  const [first = null] = found
  if (first === null || found.every((one) => one === first)) return first
  const { over: _over, ...shared } = first
  // What is over is told by each of them in its own way.
  const isLike = (one: OfAlerts | null) =>
    one !== null && JSON.stringify({ ...one, over: undefined }) === JSON.stringify(shared)
  return found.every(isLike) ? shared : null
}

/** Whether the draft still trips on what is over, or takes all alerts as equally severe. */
export const lacks = (draft: TriggerDraft, alerts: OfAlerts): boolean =>
  /^(event|threshold)$/.test(draft.kind) &&
  (!saysState(alerts, draft.filters) ||
    (draft.severity_field === '' && draft.severity === '') ||
    lacksOver(draft, alerts))

/** Whether nothing says when an alert is over, though its source does. A burst is of many. */
export const lacksOver = (draft: TriggerDraft, { over }: OfAlerts): boolean =>
  over !== undefined &&
  draft.kind === 'event' &&
  draft.over_filters.length === 0 &&
  draft.quiet + draft.max_wait === '' &&
  draft.limits.length === 0

/** What is to be set in the draft; what it says otherwise stays. */
export function alertFields(draft: TriggerDraft, alerts: OfAlerts): Partial<TriggerDraft> {
  const isUntouched = (['kind', 'aggregate', 'op', 'number', 'window'] as const).every(
    (field) => draft[field] === NEW_TRIGGER[field],
  )
  const kind = isUntouched && draft.filters.length === 0 ? 'event' : draft.kind
  return {
    ...(kind === draft.kind ? {} : { kind }),
    ...(alerts.over && lacksOver({ ...draft, kind }, alerts)
      ? { over_filters: alerts.over.filters.map(rowOf), over_equal: alerts.over.equal }
      : {}),
    ...(saysState(alerts, draft.filters) ? {} : { filters: [...draft.filters, rowOf(alerts.filter)] }),
    ...(draft.severity_field === '' && draft.severity === ''
      ? { severity_field: alerts.severity_field }
      : {}),
  }
}

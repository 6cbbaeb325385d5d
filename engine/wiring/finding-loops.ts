/**
 * Findings are events, so a trigger may watch them; an agent it wakes writes findings itself. A trigger
 * over findings wakes an agent only where its filters say whose findings, or which verdicts, and not the
 * agent's own.
 */
import type { TriggerSpec } from '../../schemas/types.ts'
import type { Edit } from '../changes/edit.ts'
import { fail } from '../errors.ts'

/** @throws SvcError invalid */
export function refuseFindingLoops(edit: Edit, wakes: readonly { trigger: string; agent: string }[]): void {
  for (const { trigger, agent } of wakes) {
    const spec = edit.get('trigger', trigger)
    const readsFindings = spec?.sources.some((source) => edit.get('source', source)?.connector === 'finding')
    if (!spec || !readsFindings) continue
    const filters = (spec.filters ?? []).filter(({ op }) => op === 'eq' || op === 'in')
    const agents = valuesOf(filters, 'agent')
    if (agents.includes(agent.toLowerCase()))
      fail('invalid', `trigger ${trigger} waits for findings of ${agent}, and would have it wake itself`, {
        field: 'filters',
      })
    if (agents.length === 0 && valuesOf(filters, 'verdict').length === 0)
      fail(
        'invalid',
        `trigger ${trigger} reads findings: give it a filter on agent or verdict before it wakes ${agent}, or it would have it wake itself`,
        { field: 'filters' },
      )
  }
}

function valuesOf(filters: NonNullable<TriggerSpec['filters']>, field: string): string[] {
  return filters
    .filter((filter) => filter.field === field)
    .flatMap(({ value }) => [value ?? []].flat().map((one) => String(one).toLowerCase()))
}

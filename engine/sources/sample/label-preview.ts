/** A dry run of one label: what it would make of payloads, pair by pair. */
import type { Label, LabelsPreviewResult } from '../../../schemas/types.ts'
import { lookup } from '../../ingest/field.ts'
import { compileLabels } from '../../ingest/label.ts'
import type { ContextOf } from './payload-context.ts'

const PAIRS_TOP = 50
const VALUE_MAX = 120

type Pair = LabelsPreviewResult['results'][number]

/**
 * @param label without a fault (validateLabels).
 * @returns the most frequent pairs of payload value and label value, values cut to 120 characters.
 */
export function previewLabel(
  label: Label,
  payloads: readonly unknown[],
  contextOf: ContextOf,
): LabelsPreviewResult {
  const resolve = compileLabels([label])
  const pairs = new Map<string, Pair>()
  const before = new Set<string>()
  const after = new Set<string | number>()
  let matched = 0
  for (const payload of payloads) {
    const context = contextOf(payload)
    const { strings, numbers } = resolve(context)
    const to = strings[0]?.[1] ?? numbers?.[label.name] ?? null
    const from = textOf('field' in label ? lookup(context, label.field) : label.const)
    if (from !== null) before.add(from)
    if (to !== null) {
      after.add(to)
      matched++
    }
    const key = JSON.stringify([from, to])
    const pair = pairs.get(key)
    if (pair) pair.events++
    else pairs.set(key, { from: cut(from), to: cut(to), events: 1 })
  }
  return {
    sampled: payloads.length,
    matched,
    results: [...pairs.values()].sort((a, b) => b.events - a.events).slice(0, PAIRS_TOP),
    distinct_before: before.size,
    distinct_after: after.size,
  }
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function cut<T>(value: T): T | string {
  return typeof value === 'string' ? value.slice(0, VALUE_MAX) : value
}

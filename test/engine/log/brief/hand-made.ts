/** Rows made by hand for tests of the brief: what happens, in lines. */
import {
  type Brief,
  type BriefRequest,
  type ContextRow,
  makeBrief,
  renderBrief,
} from '../../../../engine/log/brief/brief.ts'

export const NOW = Date.parse('2026-11-20T12:00:00Z')

type Given = Partial<Omit<ContextRow, 'at' | 'labels'>> & {
  labels?: Record<string, string | number>
}

/** @param t seconds before now. Of checkout, from logs, at level info, unless said otherwise. */
export function row(t: number, text: string, more: Given = {}): ContextRow {
  const { entity = 'checkout', labels = {}, ...rest } = more
  return {
    ...{ id: '', source: 'logs', type: 'info', text, values: {}, isSample: false, entity },
    at: NOW + t * 1000,
    ...rest,
    labels: { service: entity, ...labels },
  }
}

/** So many of a line, evenly from one time up to another. */
export function every(
  from: number,
  to: number,
  count: number,
  text: (i: number) => string,
  more: Given = {},
) {
  return Array.from({ length: count }, (_, i) => row(from + (i * (to - from)) / count, text(i), more))
}

/** A number each minute over three hours. */
export const samples = (name: string, value: (t: number) => number, more: Given = {}): ContextRow[] =>
  Array.from({ length: 180 }, (_, i) => {
    const t = -10_740 + i * 60
    const is = value(t)
    return row(t, `${name}=${is}`, {
      ...{ source: 'metrics', type: name, values: { value: is }, isSample: true },
      ...more,
    })
  })

/** Ordinary life, so that there is a past: five lines a minute over three hours. */
export const ordinary = (): ContextRow[] =>
  every(-10_800, -1, 900, (i) => `GET /basket/${i} answered in ${20 + (i % 9)} ms`)

export function request(rows: readonly ContextRow[], more: Partial<BriefRequest> = {}): BriefRequest {
  const sorted = [...rows].sort((a, b) => a.at - b.at)
  return {
    ...{ entity: 'checkout', label: 'service', now: NOW, budget: 6_000 },
    rows: sorted.map((one, i) => ({ ...one, id: one.id || `evt_${i + 1}` })),
    ...more,
  }
}

export const briefOf = (rows: readonly ContextRow[], more: Partial<BriefRequest> = {}): Brief =>
  makeBrief(request(rows, more))

export const textOf = (rows: readonly ContextRow[], more: Partial<BriefRequest> = {}): string =>
  renderBrief(briefOf(rows, more))

/** The lines of a part. */
export const partOf = (brief: Brief, name: Brief['sections'][number]['name']): string[] =>
  brief.sections.find((section) => section.name === name)?.lines.map(({ text }) => text) ?? []

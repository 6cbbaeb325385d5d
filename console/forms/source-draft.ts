/** A source while it is edited. */
import type { Label } from '../../schemas/types.ts'
import { withoutSecrets } from '../lib/drafts.ts'
import { emptyLabel, type LabelDraft, toDrafts, toLabels } from './label-drafts.ts'

export interface SourceDraft {
  config: Record<string, unknown>
  labels: LabelDraft[]
}

/** Nothing of it is filled in; a primary label is asked for. */
export const EMPTY_WEBHOOK: SourceDraft = { config: {}, labels: [emptyLabel(true)] }

/** What its form is filled in with. */
export interface FilledIn {
  draft: SourceDraft
  poll: string
}

/** What is kept of a form that is not saved: without secrets. @param schema of the connector's config */
export const plainSource = <T extends FilledIn>(now: T, schema: Record<string, unknown> | undefined): T => ({
  ...now,
  draft: { ...now.draft, config: withoutSecrets(now.draft.config, schema) },
})

/** What the form itself fills in, for `begin` of a draft. */
export const withOwn =
  (own: SourceDraft['config']) =>
  <T extends FilledIn>(now: T): T => ({
    ...now,
    draft: { ...now.draft, config: { ...now.draft.config, ...own } },
  })

/** The config as the API takes it. */
export function toConfig({ config, labels }: SourceDraft): Record<string, unknown> {
  const list = toLabels(labels)
  return list.length ? { ...config, labels: list } : config
}

/** A source as Ask proposed it. */
export function draftOfProposed(proposed: Record<string, unknown> | null): SourceDraft | null {
  if (!proposed) return null
  const { labels = [], ...config } = (proposed.config ?? {}) as Record<string, unknown> & { labels?: Label[] }
  return { config, labels: toDrafts(labels) }
}

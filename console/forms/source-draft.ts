/** A source while it is edited. */
import { type LabelDraft, toLabels } from './label-drafts.ts'

export interface SourceDraft {
  config: Record<string, unknown>
  labels: LabelDraft[]
}

/** The config as the API takes it. */
export function toConfig({ config, labels }: SourceDraft): Record<string, unknown> {
  const list = toLabels(labels)
  return list.length ? { ...config, labels: list } : config
}

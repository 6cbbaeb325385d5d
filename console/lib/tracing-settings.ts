/** The tracing of agents as its form edits it: secrets go in and are never shown. */
import type { TracingSettings, TracingTested, TracingWrite } from '../../schemas/types.ts'

export interface TracingDraft {
  enabled: boolean
  provider: string
  /** Blank: that of the environment or of the preset. */
  endpoint: string
  /** Blank keeps the stored one; so does `headers`. */
  api_key: string
  headers: string
  content: boolean
}

/** An endpoint that is not stored here shows as a placeholder only. */
export function tracingDraft(stored: TracingSettings): TracingDraft {
  const { enabled, provider, endpoint, endpoint_source, content } = stored
  return {
    enabled,
    provider,
    endpoint: endpoint_source === 'console' ? endpoint : '',
    api_key: '',
    headers: '',
    content,
  }
}

/** The draft as the API takes it: only what was changed. */
export function tracingWrite(draft: TracingDraft, stored: TracingSettings): TracingWrite {
  const before = tracingDraft(stored)
  const endpoint = draft.endpoint.trim()
  return {
    ...(draft.enabled === before.enabled ? {} : { enabled: draft.enabled }),
    ...(draft.provider === before.provider ? {} : { provider: draft.provider }),
    ...(endpoint === before.endpoint ? {} : { endpoint }),
    ...(draft.api_key.trim() ? { api_key: draft.api_key.trim() } : {}),
    ...(draft.headers.trim() ? { headers: draft.headers.trim() } : {}),
    ...(draft.content === before.content ? {} : { content: draft.content }),
  }
}

/** Where a field is from, in words; empty where it was set here. */
export function fromWords(source: string): string {
  if (source === 'env') return ' Set by the environment; a value here wins.'
  return source === 'console' ? '' : ' Not set.'
}

/** How exporting goes, in a sentence. */
export function exportWords({
  state,
  exported,
  dropped,
  host,
  last_export,
}: Pick<TracingSettings, 'state' | 'exported' | 'dropped' | 'host' | 'last_export'>): string {
  if (state === 'off') return 'Off: nothing is exported.'
  if (state === 'incomplete') return 'Switched on, but there is no endpoint to send to.'
  const sent = `${exported} spans sent to ${host ?? 'the endpoint'} since the start, ${dropped} dropped.`
  if (!last_export) return `${sent} Nothing was exported yet.`
  return last_export.ok ? sent : `${sent} The last export failed: ${last_export.error ?? 'it was refused'}`
}

const LOOK_AT: Record<NonNullable<TracingTested['failed']>, string> = {
  settings: 'Check the settings',
  address: 'Check the endpoint',
  credential: 'Check the API key or the headers',
  format: 'Check the endpoint: OTLP over HTTP is not accepted',
  receiver: 'The receiver is overloaded or failing',
}

export function testedWords({ ok, ms, failed, error }: TracingTested): { title: string; text: string } {
  if (ok) return { title: 'The receiver accepted a test span', text: `Within ${ms} ms.` }
  return { title: failed ? LOOK_AT[failed] : 'Not accepted', text: error ?? `No answer within ${ms} ms.` }
}

/** Settings, Observability: what the form sends, and what it says. */
import { describe, expect, it } from 'vitest'
import { exportWords, testedWords, tracingDraft, tracingWrite } from '../../console/lib/tracing-settings.ts'
import type { TracingSettings } from '../../schemas/types.ts'

const stored = (over: Partial<TracingSettings> = {}): TracingSettings => ({
  state: 'off',
  enabled: false,
  enabled_source: 'default',
  provider: 'otlp',
  provider_source: 'default',
  providers: [{ id: 'otlp', label: 'OTLP/HTTP', endpoint: '' }],
  endpoint: '',
  endpoint_source: '',
  host: null,
  content: true,
  content_source: 'default',
  api_key_configured: false,
  api_key_source: '',
  headers: [],
  headers_source: '',
  instance: 'i',
  exported: 0,
  dropped: 0,
  last_export: null,
  ...over,
})

describe('the form of Observability', () => {
  it('sends only what was changed, and never blank secrets', () => {
    const before = stored({ endpoint: 'https://a.example', endpoint_source: 'console' })
    const draft = tracingDraft(before)
    expect(tracingWrite(draft, before)).toEqual({})
    expect(tracingWrite({ ...draft, enabled: true, endpoint: '', api_key: ' k ' }, before)).toEqual({
      enabled: true,
      endpoint: '',
      api_key: 'k',
    })
  })

  it('keeps an endpoint of the environment out of what it stores', () => {
    const before = stored({ endpoint: 'https://a.example', endpoint_source: 'env' })
    expect(tracingDraft(before).endpoint).toBe('')
    expect(tracingWrite(tracingDraft(before), before)).toEqual({})
  })

  it('says how exporting goes', () => {
    expect(exportWords(stored())).toBe('Off: nothing is exported.')
    expect(exportWords(stored({ state: 'incomplete' }))).toContain('no endpoint')
    const last_export = { at: '2026-01-01T00:00:00Z', ok: false, spans: 2, error: 'refused' }
    expect(
      exportWords(stored({ state: 'on', host: 'a.example', exported: 3, dropped: 2, last_export })),
    ).toBe('3 spans sent to a.example since the start, 2 dropped. The last export failed: refused')
    expect(testedWords({ ok: false, ms: 3, failed: 'credential', error: 'no' })).toEqual({
      title: 'Check the API key or the headers',
      text: 'no',
    })
  })
})

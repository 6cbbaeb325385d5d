/** What holds where a field is not set, in words: documents leave out what is the default. */
import { ownField } from './fields-of.ts'

/** What a trigger has where it does not say, and what its document therefore leaves out. */
export const TRIGGER_DEFAULTS = { cooldown: '5m', context_window: '15m', max_late: '24h' }

const inEach = (names: string, value: unknown): Record<string, unknown> =>
  Object.fromEntries(names.split(' ').map((name) => [`/config/${name}`, value]))

/** By kind and field, what holds where it is not set; null: that follows from other fields. */
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  source: {
    '/poll': null,
    '/paused': false,
    // As the schemas of connectors say; null also where that is not the same for all of them.
    ...inEach('redact push files prs trace_id pods normal', true),
    ...inEach('include_thinking from_start read_all_pages in_cluster include_pending changes_only', false),
    ...inEach('limit event_type zone', null),
    '/config/method': 'GET',
    '/config/credential_header': 'Authorization',
    '/config/pages_max': 10,
    '/config/delay': 5,
  },
  trigger: {
    '/cooldown': TRIGGER_DEFAULTS.cooldown,
    '/emit': { context_window: TRIGGER_DEFAULTS.context_window },
    '/emit/context_window': TRIGGER_DEFAULTS.context_window,
    '/max_late': TRIGGER_DEFAULTS.max_late,
    '/severity': null,
    '/joined': false,
    '/paused': false,
  },
  agent: { '/context': 'brief' },
  mcp_server: { '/auth_header': 'Authorization' },
  project: { '/paused': false },
}

/**
 * What a field says that is not set: documents leave out what is the default, also where a file says it.
 * @param show makes text of a value
 */
export function unsetWords(kind: string, pointer: string, show: (value: unknown) => string): string {
  const value = ownField(DEFAULTS[kind] ?? {}, pointer)
  if (value === undefined) return 'not set'
  return value === null ? 'the default' : `${show(value)} (the default)`
}

/** Where a person sees in the console what a tool answered. */
import { isKind, nounOfKind } from '../../schemas/kinds.ts'

type Json = Record<string, unknown>

const words = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
const page = (folder: string, id: unknown): string | null =>
  typeof id === 'string' && id !== '' ? `/${folder}/${encodeURIComponent(id)}` : null

/** Explore, as the tool looked, and at the times of its answer. */
function explore({ selector, sources, event_types, text }: Json, { from, to }: Json): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries((selector as Json | undefined) ?? {}))
    query.append('l', `${name}=${String(value)}`)
  if (typeof from === 'string' && typeof to === 'string') {
    query.set('from', from)
    query.set('to', to)
  }
  for (const source of words(sources)) query.append('source', source)
  for (const type of words(event_types)) query.append('type', type)
  if (typeof text === 'string') query.set('q', text)
  return `/explore${query.size ? `?${query}` : ''}`
}

/** A proposal by itself, whether it is decided or not. */
const proposal = (_args: Json, { proposal_id: id }: Json): string | null =>
  typeof id === 'string' ? `/changes?proposal=${encodeURIComponent(id)}` : null

type PathOf = (args: Json, content: Json) => string | null

const PATHS: Readonly<Record<string, PathOf>> = {
  read: explore,
  changed: (args, content) => explore({ ...args, text: undefined }, content),
  series: (args, content) => explore({ ...args, text: undefined }, content),
  stats: ({ where, sources }) => explore({ selector: where, sources }, {}),
  trace: ({ trace_id: id }) => (typeof id === 'string' && id.length >= 16 ? page('traces', id) : null),
  get_event: ({ event_id: id }) => page('events', id),
  document: ({ document_id: id }) => (/^evt_/.test(String(id)) ? page('events', id) : null),
  why: ({ event_id: id }) => page('events', id),
  list_incidents: () => '/incidents',
  get_incident: (_args, { incident_id: id }) => page('incidents', id),
  acknowledge_incident: (_args, { incident_id: id }) => page('incidents', id),
  handle_incident: (_args, { incident_id: id }) => page('incidents', id),
  get_run: ({ run_id: id }) => page('runs', id),
  list_runs: () => '/runs',
  get_finding: ({ finding_id: id }) => page('runs', id),
  record_finding: (_args, { finding_id: id }) => page('runs', id),
  conclude: (_args, { finding_id: id }) => page('runs', id),
  list_findings: (_args, { project }) => (project === null ? '/findings' : page('projects', project)),
  project_timeline: (_args, { project }) => page('projects', project),
  wait_for_firing: (_args, { firing }) => page('firings', (firing as Json | null)?.dispatch_id),
  get_part: (_args, { kind, name }) =>
    isKind(kind) && kind !== 'entity' ? page(nounOfKind(kind), name) : null,
  propose_change: proposal,
  get_proposal: proposal,
}

/**
 * @param base address of the console, without a trailing slash.
 * @param args, content as the tool took and gave them.
 * @returns null where it has no page of its own
 */
export function linkTo(
  base: string,
  tool: string,
  { args, content }: { args: Json; content: Json },
): string | null {
  const path = PATHS[tool]?.(args, content) ?? null
  return path === null ? null : `${base.replace(/\/+$/, '')}${path}`
}

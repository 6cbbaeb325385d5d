/** Changed fields as people read them, and where what was changed is looked at. */

import type { ChangeSet, FieldChange } from '../../schemas/types.ts'
import { unsetWords } from '../../schemas/unset-words.ts'

/** /config/labels as config · labels. */
export function fieldName(pointer: string): string {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return parts.length ? parts.join(' · ') : 'all of it'
}

const SHOWN_MAX = 300

/** A value on one line. @param of the field whose value it is: of one that is not set it says what holds then */
export function valueText(value: unknown, of?: { kind: string; path: string }): string {
  if (value === undefined || value === null) return unsetWords(of?.kind ?? '', of?.path ?? '', valueText)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text
}

/** "cooldown: 5m → 1h". */
export const fieldText = ({ path, from, to }: FieldChange, kind = ''): string =>
  `${fieldName(path)}: ${valueText(from, { kind, path })} → ${valueText(to, { kind, path })}`

/** Not undone yet, and of something declared: a mark on a finding or an action of a template has nothing to take back. */
export const canUndo = ({ undone_by, objects }: Pick<ChangeSet, 'undone_by' | 'objects'>): boolean =>
  undone_by === null && objects > 0

/** What kinds are called, one and many. */
export const KIND_WORDS: Record<string, { one: string; many: string; path: string }> = {
  source: { one: 'source', many: 'Sources', path: '/sources' },
  trigger: { one: 'trigger', many: 'Triggers', path: '/triggers' },
  agent: { one: 'agent', many: 'Agents', path: '/agents' },
  mcp_server: { one: 'MCP server', many: 'MCP servers', path: '/mcp-servers' },
  skill: { one: 'skill', many: 'Skills', path: '/skills' },
  entity: { one: 'entity', many: 'Entities', path: '/entities' },
  project: { one: 'project', many: 'Projects', path: '/projects' },
}

/** Where a part is looked at. */
export function partPath(kind: string, name: string): string {
  return `${KIND_WORDS[kind]?.path ?? ''}/${encodeURIComponent(name)}`
}

/** What scopes of OAuth mean to the person who is asked for them. */

export interface ScopeWords {
  label: string
  description: string
}

const TELEMETRY: Readonly<Record<string, ScopeWords>> = {
  read: {
    label: 'Read telemetry',
    description: 'Traces, spans, metrics, and agents with their runs and cost.',
  },
  keys: {
    label: 'Create API keys',
    description: 'Keys that read or send events. A key outlives this sign-in, until it is revoked.',
  },
}

const MCP: Readonly<Record<string, ScopeWords>> = {
  read: { label: 'Read', description: 'Timelines and what is declared; propose changes for you to approve.' },
  ingest: { label: 'Send events', description: 'Send events and record memories.' },
  respond: { label: 'Act on incidents', description: 'Acknowledge, assign, snooze, handle.' },
  admin: {
    label: 'Change everything',
    description: 'Every change you may make, keys and credentials included.',
  },
}

/** @param kind of the server that is asked for */
export const scopeWords = (kind: 'telemetry' | 'mcp' | null, scope: string): ScopeWords =>
  (kind === 'mcp' ? MCP : TELEMETRY)[scope] ?? { label: scope, description: '' }

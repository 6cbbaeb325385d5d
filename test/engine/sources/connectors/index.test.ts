import { describe, expect, it } from 'vitest'
import { connectorOf, describeConnectors, hasConnector } from '../../../../engine/sources/connectors/index.ts'
import { check } from '../../../../schemas/index.ts'

const described = describeConnectors()
const field = (kind: string, name: string) => described[kind]!.fields.find((f) => f.name === name)

describe('the connectors', () => {
  it('are found by name, and a name that is none is refused with those there are', () => {
    expect(connectorOf('webhook').mode).toBe('push')
    expect(hasConnector('memory')).toBe(true)
    expect(hasConnector('toString')).toBe(false)
    expect(() => connectorOf('toString')).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: `connector toString is not known; there are ${Object.keys(described).join(', ')}`,
      }),
    )
  })

  it('are described as the schema of a connector says', () => {
    for (const connector of Object.values(described)) expect(check('connector.json', connector)).toBeNull()
    expect(
      Object.entries(described).map(([kind, { mode, source_type }]) => [kind, mode, source_type]),
    ).toEqual([
      ['webhook', 'push', 'event_stream'],
      ['http_poll', 'poll', 'event_stream'],
      ['memory', 'push', 'agent_memory'],
      ['reference', 'reference', 'reference'],
      ['prometheus', 'poll', 'event_stream'],
      ['prometheus_alerts', 'poll', 'event_stream'],
      ['alertmanager', 'push', 'event_stream'],
      ['docker_logs', 'poll', 'application_log'],
      ['file', 'poll', 'application_log'],
      ['journald', 'poll', 'application_log'],
      ['kubernetes', 'poll', 'infrastructure'],
      ['loki', 'poll', 'application_log'],
      ['mcp_resources', 'poll', 'event_stream'],
      ['github', 'poll', 'event_stream'],
      ['github_app', 'push', 'event_stream'],
      ['postgres', 'poll', 'event_stream'],
      ['otlp', 'push', 'application_log'],
      ['syslog', 'push', 'application_log'],
      ['vercel', 'push', 'application_log'],
      ['claude_code', 'push', 'agent_session'],
    ])
  })

  it('agree with what their config schemas say of them', () => {
    for (const [kind, connector] of Object.entries(described)) {
      const facts = connector.config_schema['x-connector']
      expect(facts).toEqual({
        label: connector.label,
        mode: connector.mode,
        source_type: connector.source_type,
      })
      expect(connectorOf(kind).kind).toBe(kind)
    }
  })

  it('have their config fields described', () => {
    expect(field('webhook', 'event_type')).toEqual({
      name: 'event_type',
      type: 'string',
      required: false,
      help: 'Fixed event type.',
      label: 'Event type',
      secret: false,
      discover_input: false,
      default: 'webhook_event',
    })
    expect(field('webhook', 'signature_scheme')).toMatchObject({
      choices: [
        'github',
        'linear',
        'hmac_sha256',
        'hmac_sha512',
        'pagerduty',
        'stripe',
        'slack',
        'standard_webhooks',
        'shopify',
        'gitlab',
        'sns',
      ],
    })
    expect(field('webhook', 'signature_secret_previous')).toMatchObject({ secret: true, advanced: true })
    expect(field('webhook', 'labels')).toMatchObject({ type: 'labels' })
    expect(field('reference', 'attachments')).toMatchObject({ type: 'list', required: true })
    expect(described.webhook!.fields.at(-1)!.name).toBe('labels')
  })

  it('have config schemas that need no other file', () => {
    for (const { config_schema } of Object.values(described)) {
      const text = JSON.stringify(config_schema)
      expect(text).not.toMatch(/"\$(ref|id)"/)
      expect(text).toContain('"title":"FieldLabel"')
    }
  })
})

/** Connects two parts: what it can lead to follows from where it begins. */
import { Button, Group, Paper, Select, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { GraphNode } from '../../../../schemas/types.ts'
import { refusal, verdictsFor } from '../../draft/connect.ts'
import { findNode } from '../../draft/ids.ts'
import { optionsByKind } from '../panel/connect-to.tsx'
import type { ListProps } from './props.ts'

export function ConnectForm({ editor: { graph }, actions }: ListProps) {
  const [from, setFrom] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [verdict, setVerdict] = useState<string | null>(null)
  const start = from === null ? undefined : findNode(graph, from)
  const target = to === null ? undefined : findNode(graph, to)
  const isHandoff = start?.kind === 'agent' && target?.kind === 'agent'
  const bare = { from: from ?? '', to: to ?? '', verdict: null }
  // Where none was chosen, the one it would be on is shown, to be changed.
  const on = isHandoff ? (verdict ?? verdictsFor(graph, bare)[0] ?? null) : verdict
  const connection = { ...bare, verdict: isHandoff ? on : null }
  const refused = start && target ? refusal(graph, connection) : null
  const verdicts = start?.verdicts ?? []
  return (
    <Paper withBorder radius="md" p="sm" component="section" aria-label="Connect">
      <Title order={2} size="sm" mb={4}>
        Connect
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (start && target && actions.connect(connection)) {
            setTo(null)
            setVerdict(null)
          }
        }}
      >
        <Group align="flex-end" gap="xs">
          <Select
            label="From"
            data={optionsByKind(graph.nodes, ['source', 'trigger', 'agent'])}
            value={from}
            onChange={(value) => {
              setFrom(value)
              setTo(null)
              setVerdict(null)
            }}
            searchable
            w={220}
          />
          {verdicts.length > 0 && (
            <Select
              label="On verdict"
              description={null}
              placeholder="Of a handoff"
              data={verdicts}
              value={on}
              onChange={setVerdict}
              allowDeselect={false}
              w={190}
            />
          )}
          <Select
            label="To"
            data={optionsByKind(graph.nodes, TARGETS[start?.kind ?? ''] ?? [])}
            value={to}
            onChange={setTo}
            disabled={!start}
            searchable
            w={220}
          />
          <Button type="submit" variant="default" disabled={!start || !target}>
            Connect
          </Button>
        </Group>
      </form>
      <Text size="sm" c={refused ? 'var(--mantine-color-error)' : 'dimmed'} mt={6} role="status">
        {refused ??
          'A source feeds a trigger, a trigger wakes an agent, an agent hands over or works with an MCP server.'}
      </Text>
    </Paper>
  )
}

const TARGETS: Record<string, readonly GraphNode['kind'][]> = {
  source: ['trigger'],
  trigger: ['agent'],
  agent: ['agent', 'mcp_server'],
}

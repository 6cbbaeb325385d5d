/** Asks an upstream what it has, shows what is proposed, and takes it into the form by one click. */
import { Alert, Button, Code, Group, List, Loader, Paper, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { Radar } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { Connector } from '../../schemas/types.ts'
import { api } from '../client.ts'
import { fieldText } from '../lib/fields.ts'
import { Fold } from '../parts/fold.tsx'
import { changesOf, takenOver } from './proposal.ts'
import type { SourceDraft } from './source-draft.ts'
import { toConfig } from './source-draft.ts'

interface Props {
  /** Name of the connector. */
  kind: string
  connector: Connector
  draft: SourceDraft
  /** The draft with the proposal in it. */
  onTake: (draft: SourceDraft) => void
  /** A source that exists, whose secrets are used. */
  sourceName?: string
}

export function Discover({ kind, connector, draft, onTake, sourceName }: Props) {
  const asked = useRef<AbortController | null>(null)
  useEffect(() => () => asked.current?.abort(), [])
  const discover = useMutation({
    mutationFn: () => {
      asked.current = new AbortController()
      const name = sourceName === undefined ? {} : { name: sourceName }
      return api.discoverSource({ connector: kind, config: toConfig(draft), ...name }, asked.current.signal)
    },
  })
  const wasStopped = asked.current?.signal.aborted === true
  return (
    <Stack gap="sm" my="md">
      <Group gap="sm">
        <Button
          variant="default"
          leftSection={<Radar size={16} aria-hidden />}
          disabled={discover.isPending}
          onClick={() => discover.mutate()}
        >
          Discover
        </Button>
        {discover.isPending ? (
          <Group gap="xs" role="status">
            <Loader size="xs" aria-hidden />
            <Text size="sm">Asking the upstream, for at most 30 seconds…</Text>
            <Button variant="subtle" size="compact-sm" onClick={() => asked.current?.abort()}>
              Stop
            </Button>
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            Asks the upstream what it has and proposes the rest. Nothing is saved.
          </Text>
        )}
      </Group>
      {discover.error && !wasStopped && (
        <Alert color="red" title="Nothing was discovered" role="alert">
          {discover.error.message}
        </Alert>
      )}
      {discover.data && !discover.isPending && (
        <Proposal
          found={discover.data}
          titles={new Map(connector.fields.map(({ name, label }) => [`/${name}`, label ?? name]))}
          draft={draft}
          onTake={(next) => {
            onTake(next)
            discover.reset()
            notifications.show({ message: 'Taken over; look it over, test it, then save' })
          }}
          onDrop={() => discover.reset()}
        />
      )}
    </Stack>
  )
}

interface ProposalProps {
  found: Record<string, unknown>
  /** What fields are called, by their paths. */
  titles: ReadonlyMap<string, string>
  draft: SourceDraft
  onTake: (draft: SourceDraft) => void
  onDrop: () => void
}

function Proposal({ found, titles, draft, onTake, onDrop }: ProposalProps) {
  const { connector: _same, summary, proposed_config: proposed = {}, ...rest } = found
  const changes = changesOf(draft, proposed as Record<string, unknown>)
  const next = takenOver(draft, proposed as Record<string, unknown>)
  return (
    <Paper withBorder p="md" radius="md" role="region" aria-label="Proposal">
      <Stack gap="sm">
        <Text fw={600} role="status">
          {typeof summary === 'string' ? summary : 'The upstream answers.'}
        </Text>
        {changes.length === 0 ? (
          <Text size="sm">The form already says what is proposed.</Text>
        ) : (
          <div>
            <Text size="sm">Taking it over would set:</Text>
            <List size="sm" spacing={2}>
              {changes.map((change) => (
                <List.Item key={change.path} style={{ overflowWrap: 'anywhere' }}>
                  {fieldText({ ...change, path: `/${titles.get(change.path) ?? change.path.slice(1)}` })}
                </List.Item>
              ))}
            </List>
          </div>
        )}
        {next.labels.length > 0 && !next.labels.some(({ primary }) => primary) && (
          <Text size="sm" c="dimmed">
            No label is the entity key: choose below which one says whose an event is.
          </Text>
        )}
        {Object.keys(rest).length > 0 && (
          <Fold title="What was found">
            <Code block mah={360} style={{ overflow: 'auto' }} tabIndex={0}>
              {JSON.stringify(rest, null, 2)}
            </Code>
          </Fold>
        )}
        <Group gap="xs">
          {changes.length > 0 && (
            <Button size="sm" onClick={() => onTake(next)}>
              Take it over
            </Button>
          )}
          <Button size="sm" variant="default" onClick={onDrop}>
            Close
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

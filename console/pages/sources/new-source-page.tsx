/** A new source: choose its connector, fill its form, and see the first event arrive. */
import {
  Alert,
  Anchor,
  Button,
  Group,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
  UnstyledButton,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useSearchParams } from 'react-router'
import type { Connector, SourceCreated } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { dkeys } from '../../declared-client.ts'
import { emptyLabel, toDrafts } from '../../forms/label-drafts.ts'
import { PollInput } from '../../forms/poll-input.tsx'
import { draftOfProposed, plainSource, type SourceDraft, toConfig } from '../../forms/source-draft.ts'
import { SourceForm } from '../../forms/source-form.tsx'
import { proposedIn } from '../../lib/proposed.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { CreatedPanel } from './created-panel.tsx'
import { ScanOffer, ScanPage } from './scan-page.tsx'
import { TestOutcome } from './test-outcome.tsx'

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

const PRESETS: Record<string, { connector: string; name: string; draft: () => SourceDraft }> = {
  github: {
    connector: 'webhook',
    name: 'github',
    draft: () => ({
      config: { signature_scheme: 'github' },
      labels: [
        { ...emptyLabel(true), name: 'repo', value: 'repository.full_name' },
        { ...emptyLabel(), name: 'author', value: 'sender.login' },
      ],
    }),
  },
  logs: {
    connector: 'webhook',
    name: 'logs',
    draft: () => ({
      config: { event_type_field: 'level', text_template: '{msg}', event_time_field: 'time' },
      labels: [
        { ...emptyLabel(true), name: 'service', value: 'service' },
        { ...emptyLabel(), name: 'level', value: 'level' },
      ],
    }),
  },
}

export default function NewSourcePage() {
  const [query, setQuery] = useSearchParams()
  const preset = PRESETS[query.get('preset') ?? '']
  const chosen = preset?.connector ?? query.get('connector')
  const connectors = useQuery({ queryKey: keys.connectors, queryFn: api.connectors })
  const project = query.get('project') ?? undefined
  const given = proposedIn(useLocation().state)
  const proposed = given?.connector === chosen ? given : null
  const [created, setCreated] = useState<SourceCreated | null>(null)
  if (created) return <CreatedPanel created={created} />
  if (query.get('from') === 'docker') return <ScanPage project={project} />
  const connector = chosen ? connectors.data?.[chosen] : undefined
  return (
    <>
      <PageHead title="Add a source">
        <Button component={Link} to="/sources" variant="default">
          Cancel
        </Button>
      </PageHead>
      {connectors.isPending && <LoadingRows rows={3} />}
      {connectors.error && <Failed error={connectors.error} onRetry={() => void connectors.refetch()} />}
      {connectors.data && !connector && (
        <>
          <ScanOffer onScan={() => setQuery({ ...(project ? { project } : {}), from: 'docker' })} />
          <ChooseConnector
            connectors={connectors.data}
            onChoose={(kind) => setQuery({ ...(project ? { project } : {}), connector: kind })}
          />
        </>
      )}
      {connector && chosen && (
        <FillIn
          kind={chosen}
          connector={connector}
          presetName={preset?.name ?? String(proposed?.name ?? '')}
          presetPoll={String(proposed?.poll ?? '')}
          project={project}
          initial={
            preset?.draft() ??
            draftOfProposed(proposed) ?? {
              config: {},
              labels: chosen === 'webhook' ? [emptyLabel(true)] : toDrafts(connector.labels ?? []),
            }
          }
          onCreated={setCreated}
        />
      )}
    </>
  )
}

function ChooseConnector({
  connectors,
  onChoose,
}: {
  connectors: Record<string, Connector>
  onChoose: (kind: string) => void
}) {
  const [filter, setFilter] = useState('')
  const shown = Object.entries(connectors).filter(
    ([kind, c]) =>
      !c.internal && `${kind} ${c.label} ${c.description}`.toLowerCase().includes(filter.toLowerCase()),
  )
  return (
    <Stack>
      <TextInput
        aria-label="Search connectors"
        placeholder="Search connectors"
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
        maw={340}
        data-autofocus
      />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {shown.map(([kind, connector]) => (
          <UnstyledButton key={kind} onClick={() => onChoose(kind)}>
            <Paper withBorder p="md" radius="md" h="100%">
              <Group justify="space-between" mb={4}>
                <Text fw={600}>{connector.label}</Text>
                <Text size="xs" c="dimmed">
                  {connector.mode}
                </Text>
              </Group>
              <Text size="sm" c="dimmed">
                {connector.description}
              </Text>
            </Paper>
          </UnstyledButton>
        ))}
      </SimpleGrid>
    </Stack>
  )
}

interface FillInProps {
  kind: string
  connector: Connector
  presetName: string
  presetPoll: string
  /** Project it is made in; absent: Default. */
  project: string | undefined
  initial: SourceDraft
  onCreated: (created: SourceCreated) => void
}

function FillIn({ kind, connector, presetName, presetPoll, project, initial, onCreated }: FillInProps) {
  const queries = useQueryClient()
  const kept = useDraft({
    form: kind,
    start: { name: presetName, draft: initial, poll: presetPoll },
    plain: (now) => plainSource(now, connector.config_schema),
    isGiven: presetName !== '',
  })
  const { name, draft, poll } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const body = () => ({
    name,
    connector: kind,
    config: toConfig(draft),
    ...(poll.trim() ? { poll: poll.trim() } : {}),
  })
  const create = useMutation({
    mutationFn: () => api.createSource({ ...body(), ...(project ? { project } : {}) }),
    onSuccess: (result) => {
      // Its key is told once, and must not wait for lists to be read again.
      kept.done()
      onCreated(result)
      void queries.invalidateQueries({ queryKey: keys.sources })
      void queries.invalidateQueries({ queryKey: dkeys.all })
    },
  })
  const test = useMutation({ mutationFn: () => api.testSource(body()) })
  const nameFault =
    name !== '' && !NAME.test(name)
      ? '1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit'
      : undefined
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <Stack gap="lg" maw={1100}>
        <DraftRestored of={kept} />
        <div>
          <Title order={2}>{connector.label}</Title>
          <Text size="sm" c="dimmed">
            {connector.description}{' '}
            <Anchor component={Link} to="/sources/new" size="sm" underline="always">
              Choose another
            </Anchor>
          </Text>
        </div>
        <TextInput
          label="Name"
          description="How it is called on timelines; it does not change later."
          placeholder="gateway"
          value={name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={nameFault}
          required
          maw={420}
          autoFocus
        />
        <PollInput connector={connector} value={poll} onChange={(next) => set({ poll: next })} />
        <SourceForm
          kind={kind}
          connector={connector}
          value={draft}
          onChange={(next) => set({ draft: next })}
        />
        {create.error && (
          <Alert color="red" title="Couldn’t create the source" role="alert">
            {create.error.message}
          </Alert>
        )}
        <TestOutcome result={test.data} error={test.error} />
        <Group>
          <Button type="submit" loading={create.isPending} disabled={name === '' || nameFault !== undefined}>
            Create source
          </Button>
          <Button
            variant="default"
            loading={test.isPending}
            disabled={name === '' || nameFault !== undefined}
            onClick={() => test.mutate()}
          >
            Test
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

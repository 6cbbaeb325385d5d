/** A new source: from an event, or by a connector and its form; then the first event arrives. */
import { Anchor, Button, Divider, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'react-router'
import type { Connector, SourceCreated } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { dkeys } from '../../declared-client.ts'
import { emptyLabel, toDrafts } from '../../forms/label-drafts.ts'
import { PollInput } from '../../forms/poll-input.tsx'
import { draftOfProposed, plainSource, type SourceDraft, toConfig } from '../../forms/source-draft.ts'
import { SourceForm } from '../../forms/source-form.tsx'
import { fieldErrors } from '../../lib/field-errors.ts'
import { isMapped } from '../../lib/mapping.ts'
import { proposedIn } from '../../lib/proposed.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { ConnectorChoice } from './connector-choice.tsx'
import { CreatedPanel } from './created-panel.tsx'
import { NAME_RULE, nameFault } from './name-fault.ts'
import { nameOfPreset, PresetChoice, PresetSetup } from './preset-choice.tsx'
import { ScanOffer, ScanPage } from './scan-page.tsx'
import { StartFromSample } from './start-from-sample.tsx'
import { TestOutcome } from './test-outcome.tsx'

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
      {connectors.error && (
        <Failed what="connectors" error={connectors.error} onRetry={() => void connectors.refetch()} />
      )}
      {connectors.data && !connector && (
        <>
          {connectors.data.webhook && (
            <StartFromSample connector={connectors.data.webhook} project={project} onCreated={setCreated} />
          )}
          <Divider my="lg" />
          <ScanOffer onScan={() => setQuery({ ...(project ? { project } : {}), from: 'docker' })} />
          <ConnectorChoice
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
              labels: chosen === 'webhook' ? EMPTY_WEBHOOK.labels : toDrafts(connector.labels ?? []),
            }
          }
          onCreated={setCreated}
        />
      )}
    </>
  )
}

const EMPTY_WEBHOOK: SourceDraft = { config: {}, labels: [emptyLabel(true)] }

/** What the form itself fills in. */
const DEFAULT_TYPE = 'webhook_event'

/** Nothing is filled in of how payloads are read: a sender may be chosen. */
function isPlain(draft: SourceDraft): boolean {
  const set = Object.entries(toConfig(draft)).filter(
    ([, value]) => value !== undefined && value !== DEFAULT_TYPE,
  )
  return !isMapped(Object.fromEntries(set))
}

interface SenderProps {
  name: string
  draft: SourceDraft
  onChange: (some: { name?: string; draft: SourceDraft }) => void
}

/** The sender of a webhook: chosen, or to be chosen. */
function Sender({ name, draft, onChange }: SenderProps) {
  const { preset } = draft.config
  if (preset) return <PresetSetup name={preset} onDrop={() => onChange({ draft: EMPTY_WEBHOOK })} />
  if (!isPlain(draft)) return null
  return (
    <PresetChoice
      onChoose={({ name: chosen }) =>
        onChange({ name: name || nameOfPreset(chosen), draft: { config: { preset: chosen }, labels: [] } })
      }
    />
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
  const [fault, setFault] = useState<string>()
  const faults = fieldErrors(create.error)
  const field = useRef<HTMLInputElement>(null)
  /** Errors stand at the field; what is submitted or tested has none. */
  const whenNamed = (act: () => void) => {
    const wrong = nameFault(name)
    setFault(wrong)
    if (wrong) field.current?.focus()
    else act()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        whenNamed(() => create.mutate())
      }}
      noValidate
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
        {kind === 'webhook' && <Sender name={name} draft={draft} onChange={set} />}
        <TextInput
          label="Name"
          ref={field}
          description={NAME_RULE}
          placeholder="gateway"
          value={name}
          onChange={(event) => {
            set({ name: event.currentTarget.value })
            if (fault) setFault(nameFault(event.currentTarget.value))
          }}
          onBlur={() => setFault(name === '' ? undefined : nameFault(name))}
          error={fault ?? faults.name}
          data-field="name"
          required
          maw={420}
          autoFocus={kind !== 'webhook'}
        />
        <PollInput
          connector={connector}
          value={poll}
          onChange={(next) => set({ poll: next })}
          fault={faults.poll}
        />
        <SourceForm
          errors={faults}
          kind={kind}
          connector={connector}
          value={draft}
          onChange={(next) => set({ draft: next })}
        />
        <Refusal title="Couldn’t create the source" error={create.error} />
        <TestOutcome result={test.data} error={test.error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            Create source
          </Button>
          <Button variant="default" loading={test.isPending} onClick={() => whenNamed(() => test.mutate())}>
            Test
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

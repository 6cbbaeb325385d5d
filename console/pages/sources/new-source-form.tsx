/** The form of a new source of a chosen connector. */
import { Anchor, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'react-router'
import type { Connector, SourceCreated } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { dkeys } from '../../declared-client.ts'
import { PollInput } from '../../forms/poll-input.tsx'
import { EMPTY_WEBHOOK, plainSource, type SourceDraft, toConfig, withOwn } from '../../forms/source-draft.ts'
import { SourceForm } from '../../forms/source-form.tsx'
import { fieldErrors } from '../../lib/field-errors.ts'
import { isMapped } from '../../lib/mapping.ts'
import { NAME_RULE, nameFault } from '../../lib/name-fault.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { nameOfPreset, PresetChoice, PresetSetup } from './preset-choice.tsx'
import { TestOutcome } from './test-outcome.tsx'

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

/** What it connects to, and the way back to the others. */
function ConnectorHead({ connector: { label, description } }: { connector: Connector }) {
  return (
    <div>
      <Title order={2}>{label}</Title>
      <Text size="sm" c="dimmed">
        {description}{' '}
        <Anchor component={Link} to="/sources/new" size="sm" underline="always">
          Choose another
        </Anchor>
      </Text>
    </div>
  )
}

export function FillIn({
  kind,
  connector,
  presetName,
  presetPoll,
  project,
  initial,
  onCreated,
}: FillInProps) {
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
      // Only this answer has the ingest key: it is shown before any list is read again.
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
        <ConnectorHead connector={connector} />
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
          onBegin={(own) => kept.begin(withOwn(own))}
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

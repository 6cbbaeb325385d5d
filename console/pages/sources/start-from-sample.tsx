/** Add a source, sample first: paste an event, see its row, set the roles of its fields, name it and create it. */
import { Alert, Button, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, Suspense, useEffect, useRef, useState } from 'react'
import type { Connector, SourceCreated } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { dkeys } from '../../declared-client.ts'
import { toDrafts } from '../../forms/label-drafts.ts'
import {
  draftOfProposed,
  plainSource,
  type SourceDraft,
  toConfig,
  withOwn,
} from '../../forms/source-draft.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { type FieldErrors, fieldErrors } from '../../lib/field-errors.ts'
import { nameOfSource, withoutNamedSecrets } from '../../lib/mapping.ts'
import { NAME_RULE, nameFault } from '../../lib/name-fault.ts'
import { parseSample } from '../../lib/sample.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Fold } from '../../parts/fold.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { LoadingRows } from '../../parts/states.tsx'
import { FieldRoles } from './mapping/field-roles.tsx'
import { PayloadRows } from './mapping/payload-rows.tsx'
import { useProposal, useRows } from './mapping/use-mapping.ts'
import { nameOfPreset, PresetOffer } from './preset-choice.tsx'

const SourceForm = lazyFrom(() => import('../../forms/source-form.tsx'))('SourceForm')

const WEBHOOK = 'webhook'
const ROWS = 5

interface Props {
  connector: Connector
  /** Project it is made in; absent: Default. */
  project: string | undefined
  onCreated: (created: SourceCreated) => void
}

interface Filled {
  sample: string
  /** The sample its mapping was taken from. */
  taken: string
  name: string
  /** The name was typed. */
  isNamed: boolean
  draft: SourceDraft
  poll: string
}

const EMPTY: Filled = {
  ...{ sample: '', taken: '', name: '', isNamed: false, poll: '' },
  draft: { config: {}, labels: [] },
}

export function StartFromSample({ connector, project, onCreated }: Props) {
  const kept = useDraft<Filled>({
    form: 'sample',
    start: EMPTY,
    plain: (now) => {
      const plain = plainSource(now, connector.config_schema)
      return { ...plain, sample: withoutNamedSecrets(now.sample), taken: withoutNamedSecrets(now.taken) }
    },
  })
  const { sample } = kept.value
  const payloads = parseSample(sample)
  return (
    <Stack component="section" aria-label="Start with an event" gap="md" maw={1100}>
      <DraftRestored of={kept} />
      <Textarea
        label="Paste an event"
        description="JSON, a list, or one a line: svc proposes how to read it. Or send one, below."
        placeholder={'{"service": "checkout", "level": "error", "msg": "payment timed out"}'}
        value={sample}
        onChange={(event) => {
          const text = event.currentTarget.value
          kept.set((now) => ({ ...now, sample: text }))
        }}
        error={payloads === null ? 'Neither JSON nor NDJSON yet' : undefined}
        autosize
        minRows={4}
        maxRows={14}
        classNames={{ input: 'mono' }}
      />
      {payloads !== null && payloads.length > 0 ? (
        <Proposed
          kept={kept}
          payloads={payloads}
          connector={connector}
          project={project}
          onCreated={onCreated}
        />
      ) : (
        <SendOne project={project} onCreated={onCreated} />
      )}
    </Stack>
  )
}

type Kept = ReturnType<typeof useDraft<Filled>>

/** The proposal is taken once for each sample: what is clicked after that stays. */
function useTaken(kept: Kept, payloads: unknown[]) {
  const [settled] = useDebouncedValue(kept.value.sample, 350)
  const sample = settled === kept.value.sample ? payloads : null
  const proposal = useProposal(sample && { sample })
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const { set } = kept
  const { data } = proposal
  const names = sources.data
  useEffect(() => {
    if (!data || !names) return
    set((now) => {
      if (now.taken === settled || now.sample !== settled) return now
      const config = data.proposed_config ?? {}
      return {
        ...now,
        taken: settled,
        name: now.isNamed
          ? now.name
          : nameOfSource(
              config,
              names.map((one) => one.name),
            ),
        draft: draftOfProposed({ config }) ?? now.draft,
      }
    })
  }, [data, names, set, settled])
  return { proposal, sample }
}

interface ProposedProps extends Props {
  kept: Kept
  payloads: unknown[]
}

function Proposed({ kept, payloads, connector, project, onCreated }: ProposedProps) {
  const { proposal, sample } = useTaken(kept, payloads)
  const { name, draft } = kept.value
  const config = toConfig(draft)
  const rows = useRows(sample && { sample }, config)
  const create = useCreate(project, (created) => {
    kept.done()
    onCreated(created)
  })
  const [fault, setFault] = useState<string>()
  const faults = fieldErrors(create.error)
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const wrong = nameFault(name)
    setFault(wrong)
    if (wrong) field.current?.focus()
    else create.mutate({ name, config })
  }
  const setConfig = ({ labels, ...rest }: Record<string, unknown>) =>
    kept.set((now) => ({
      ...now,
      draft: { config: rest, labels: toDrafts((labels ?? []) as Parameters<typeof toDrafts>[0]) },
    }))
  const shown = rows.data ?? proposal.data
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text fw={600} role="status">
          {proposal.data?.summary ?? (proposal.error ? '' : 'Reading the event…')}
        </Text>
        {(proposal.error ?? rows.error) && (
          <Alert color="red" title="Couldn’t read the event" role="alert">
            {(proposal.error ?? rows.error)!.message}
          </Alert>
        )}
        <PresetOffer
          fit={proposal.data?.preset}
          used={config.preset}
          onUse={(next) => {
            setConfig(next)
            const named = nameOfPreset(String(next.preset))
            kept.set((now) => (now.isNamed ? now : { ...now, name: named }))
          }}
        />
        <PayloadRows
          label="On the timeline"
          rows={(shown?.rows ?? []).slice(0, ROWS).flatMap(({ after }) => after)}
        />
        {proposal.data && (
          <FieldRoles
            fields={proposal.data.payload_fields ?? []}
            proposed={proposal.data.roles ?? []}
            config={config}
            onChange={setConfig}
          />
        )}
        <Fold title={`More settings (${settingsOf(connector)})`} isFaulty={isBelow(faults)}>
          <Suspense fallback={<LoadingRows rows={3} />}>
            <SourceForm
              kind={WEBHOOK}
              connector={connector}
              value={draft}
              onChange={(next) => kept.set((now) => ({ ...now, draft: next }))}
              onBegin={(own) => kept.begin(withOwn(own))}
              payloads={payloads}
              errors={faults}
            />
          </Suspense>
        </Fold>
        <TextInput
          ref={field}
          label="Name"
          description={NAME_RULE}
          value={name}
          onChange={(event) => {
            const typed = event.currentTarget.value
            kept.set((now) => ({ ...now, name: typed, isNamed: typed !== '' }))
            if (fault) setFault(nameFault(typed))
          }}
          onBlur={() => setFault(name === '' ? undefined : nameFault(name))}
          error={fault ?? faults.name}
          data-field="name"
          required
          maw={420}
        />
        <Refusal title="Couldn’t create the source" error={create.error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            Create source
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Whether anything but the name is wrong. */
const isBelow = (faults: FieldErrors): boolean => Object.keys(faults).some((path) => path !== 'name')

const settingsOf = ({ fields }: Connector): number => fields.length

/** A source that was given only a name: it takes everything, and is discovered from what comes. */
function SendOne({ project, onCreated }: Omit<Props, 'connector'>) {
  const create = useCreate(project, onCreated)
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const [name, setName] = useState<string | null>(null)
  const [fault, setFault] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const prefilled = nameOfSource(
    {},
    (sources.data ?? []).map((one) => one.name),
  )
  const given = name ?? prefilled
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const wrong = nameFault(given)
        setFault(wrong)
        if (wrong) field.current?.focus()
        else create.mutate({ name: given, config: {} })
      }}
    >
      <Stack gap="xs">
        <Title order={2} size="h4">
          Or send one
        </Title>
        <Text size="sm" c="dimmed">
          svc makes an address that takes any JSON, and proposes how to read what arrives.
        </Text>
        <Group align="flex-end" gap="sm">
          <TextInput
            ref={field}
            label="Name"
            value={given}
            onChange={(event) => setName(event.currentTarget.value)}
            onBlur={() => setFault(nameFault(given))}
            error={fault ?? fieldErrors(create.error).name}
            data-field="name"
            w={300}
          />
          <Button type="submit" variant="default" loading={create.isPending}>
            Make an address
          </Button>
        </Group>
        <Refusal title="Couldn’t create the source" error={create.error} />
      </Stack>
    </form>
  )
}

function useCreate(project: string | undefined, onCreated: (created: SourceCreated) => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { name: string; config: Record<string, unknown> }) =>
      api.createSource({ ...body, connector: WEBHOOK, ...(project ? { project } : {}) }),
    onSuccess: (created) => {
      onCreated(created)
      void queries.invalidateQueries({ queryKey: keys.sources })
      void queries.invalidateQueries({ queryKey: dkeys.all })
    },
  })
}

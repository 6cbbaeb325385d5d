/** One joined entity: its names with what they join, and its neighbours. */
import { Button, Grid, Group, Modal, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import type { EntityWrite, JoinedEntity } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { useChange } from '../../lib/use-change.ts'
import { takeTheirs, useDraft } from '../../lib/use-draft.ts'
import { useShown } from '../../lib/use-shown.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Acts, Writable } from '../../parts/may.tsx'
import { NeighbourList } from '../../parts/neighbours.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { Coverage } from './coverage.tsx'

export default function EntityPage() {
  const { name } = useParams()
  if (name === undefined)
    return (
      <>
        <PageHead title="Join names" />
        <EntityForm />
      </>
    )
  // Renamed it is read anew: what was shown goes by the name before.
  return <ExistingEntity key={name} name={name} />
}

function ExistingEntity({ name }: { name: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.entity(name),
    queryFn: () => declared.entity(name),
    refetchInterval: LIST_FRESH_MS,
  })
  const { shown, round, reload } = useShown(data, refetch, 'entity')
  return (
    <>
      <PageHead title={name}>
        <Acts>
          {shown && <RenameEntity name={name} />}
          {shown && <RemoveEntity name={name} />}
        </Acts>
      </PageHead>
      {error && <Failed what="the entity" error={error} onRetry={() => void refetch()} />}
      {shown ? (
        <Stack gap="xl">
          <EntityForm key={round} stored={shown} onReload={() => void reload()} />
          {shown.groups.length === 0 && <Around name={shown.is[0]!} />}
        </Stack>
      ) : (
        !error && <LoadingRows />
      )}
    </>
  )
}

/** Of one thing; a rule with groups has as many as there are values. */
function Around({ name }: { name: string }) {
  const at = name.indexOf('=')
  return (
    <section aria-labelledby="entity-neighbours">
      <Title order={2} size="h4" id="entity-neighbours" mb="xs">
        Neighbours
      </Title>
      <NeighbourList label={name.slice(0, at)} value={name.slice(at + 1)} />
    </section>
  )
}

/** What was read of any entity may have other rows now. */
function useReadAnew(): () => void {
  const queries = useQueryClient()
  return () => {
    for (const of of ['timeline', 'histogram']) queries.removeQueries({ queryKey: [of] })
  }
}

function RenameEntity({ name }: { name: string }) {
  const go = useNavigate()
  const queries = useQueryClient()
  const [to, setTo] = useState<string | null>(null)
  const rename = useChange((wanted: string) => declared.renameEntity(name, wanted), {
    failed: `Couldn’t rename ${name}`,
    said: ({ name: now }) => `${name} is now called ${now}; undo it under Changes`,
    onDone: ({ name: now }) => {
      queries.removeQueries({ queryKey: dkeys.entity(name) })
      setTo(null)
      void go(`/entities/${encodeURIComponent(now)}`, { replace: true })
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setTo(name)}>
        Rename…
      </Button>
      <Modal opened={to !== null} onClose={() => setTo(null)} title={`Rename entity ${name}`} centered>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            rename.mutate((to ?? '').trim())
          }}
        >
          <Stack>
            <TextInput
              data-autofocus
              label="New name"
              description="Its names stay joined, and no event, trigger or incident changes."
              value={to ?? ''}
              onChange={(event) => setTo(event.currentTarget.value)}
              error={rename.error?.message}
              required
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setTo(null)}>
                Cancel
              </Button>
              <Button type="submit" loading={rename.isPending} disabled={to?.trim() === name}>
                Rename
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

function RemoveEntity({ name }: { name: string }) {
  const go = useNavigate()
  const [asking, setAsking] = useState(false)
  const readAnew = useReadAnew()
  const remove = useChange(() => declared.deleteEntity(name), {
    failed: `Couldn’t remove ${name}`,
    said: () => `${name} is removed; undo it under Changes`,
    onDone: () => {
      readAnew()
      void go('/entities')
    },
  })
  return (
    <>
      <Button variant="light" color="red" onClick={() => setAsking(true)}>
        Remove…
      </Button>
      <Modal opened={asking} onClose={() => setAsking(false)} title={`Remove entity ${name}?`} centered>
        <Stack>
          <Text size="sm">
            Its names are read apart again, as before it was made. No event changes. Triggers that go by
            joined entities have the names themselves as keys again.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
              Remove
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

const EDGES = [
  ['owned_by', 'Owned by', 'team=payments'],
  ['runs_on', 'Runs on', 'host=web-1'],
  ['calls', 'Calls', 'service=payments'],
] as const

interface Form {
  name: string
  kind: string
  /** One name a line: commas are part of names. */
  names: string
  owned_by: string
  runs_on: string
  calls: string
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** What the form says, as it is saved. */
function bodyOf({ kind, names, ...neighbours }: Form, stored?: JoinedEntity): EntityWrite {
  const told = EDGES.map(([field]) => [field, linesOf(neighbours[field])] as const)
  return {
    is: linesOf(names),
    ...(kind.trim() ? { kind: kind.trim() } : {}),
    ...(stored?.description ? { description: stored.description } : {}),
    ...Object.fromEntries(told.filter(([, given]) => given.length > 0)),
  }
}

function EntityForm({ stored, onReload }: { stored?: JoinedEntity; onReload?: () => void }) {
  const go = useNavigate()
  const kept = useDraft<Form>({
    form: 'entity',
    start: {
      ...{ name: '', kind: stored?.kind ?? '', names: stored?.is.join('\n') ?? '' },
      owned_by: stored?.owned_by?.join('\n') ?? '',
      runs_on: stored?.runs_on?.join('\n') ?? '',
      calls: stored?.calls?.join('\n') ?? '',
    },
    version: stored?.version,
  })
  const { name } = kept.value
  const set = (some: Partial<Form>) => kept.set((now) => ({ ...now, ...some }))
  const body = bodyOf(kept.value, stored)
  const readAnew = useReadAnew()
  const save = useChange(
    (version: number | undefined) =>
      stored
        ? declared.updateEntity(stored.name, body, version)
        : declared.createEntity({ name: name.trim(), ...body }),
    {
      said: (written) => `${written.name} is saved`,
      onDone: (written) => {
        kept.done()
        readAnew()
        onReload?.()
        if (!stored) void go(`/entities/${encodeURIComponent(written.name)}`)
      },
      quiet: true,
    },
  )
  const marks = marksOf(fieldErrors(save.error))
  const of = stored?.name ?? (name.trim() || undefined)
  const draft = body.is.length >= 2 ? { ...body, ...(of === undefined ? {} : { name: of }) } : null
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(kept.version)
      }}
    >
      <Stack>
        <DraftRestored of={kept} />
        <Grid gap="md">
          <Grid.Col span={{ base: 12, lg: 6 }}>
            <Writable>
              <Fields value={kept.value} set={set} marks={marks} isNew={!stored} />
            </Writable>
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 6 }}>
            <Title order={2} size="sm" mb={4}>
              What it joins
            </Title>
            <Coverage draft={draft} isStored={stored !== undefined} />
          </Grid.Col>
        </Grid>
        <Refusal
          title="Couldn’t save the entity"
          error={save.error}
          {...(onReload ? { onTakeTheirs: takeTheirs(kept, onReload) } : {})}
          onKeepMine={() => save.mutate(undefined)}
        />
        <Group>
          <Acts says>
            <Button type="submit" loading={save.isPending}>
              {stored ? 'Save' : 'Join names'}
            </Button>
          </Acts>
        </Group>
      </Stack>
    </form>
  )
}

interface FieldsProps {
  value: Form
  set: (some: Partial<Form>) => void
  /** What is said of a field that was refused. */
  marks: ReturnType<typeof marksOf>
  isNew: boolean
}

function Fields({ value, set, marks, isNew }: FieldsProps) {
  return (
    <Stack>
      {isNew && (
        <TextInput
          label="Name"
          {...marks('name')}
          value={value.name}
          onChange={(e) => set({ name: e.currentTarget.value })}
          required
          maxLength={64}
          data-autofocus
        />
      )}
      <TextInput
        label="Kind"
        {...marks('kind')}
        description="What it is, such as service, host or customer."
        value={value.kind}
        onChange={(e) => set({ kind: e.currentTarget.value })}
        maxLength={40}
      />
      <Textarea
        label="Names"
        {...marks('is')}
        description={`One a line, label=value. For each thing of a kind: service=(?<n>.+), and deployment=\${n} for its other names.`}
        placeholder={'service=api\nrepo=org/api\nhost=10.0.0.4'}
        styles={{ input: { fontFamily: 'var(--font-mono)' } }}
        value={value.names}
        onChange={(e) => set({ names: e.currentTarget.value })}
        autosize
        minRows={4}
        required
      />
      {EDGES.map(([field, label, example]) => (
        <Textarea
          key={field}
          label={label}
          {...marks(field)}
          placeholder={example}
          styles={{ input: { fontFamily: 'var(--font-mono)' } }}
          value={value[field]}
          onChange={(e) => set({ [field]: e.currentTarget.value })}
          autosize
          minRows={1}
        />
      ))}
    </Stack>
  )
}

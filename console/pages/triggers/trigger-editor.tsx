/** The form of a trigger: a plain sentence changes as one types. */
import {
  ActionIcon,
  Alert,
  Button,
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { PartWritten, Trigger, TriggerWrite } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import {
  type Aggregate,
  FILTER_OPS,
  type FilterOp,
  type FilterRow,
  sentenceOf,
  type TriggerDraft,
  writeOf,
} from '../../lib/trigger-form.ts'
import { useChange } from '../../lib/use-change.ts'
import { Refusal } from '../../parts/refusal.tsx'

interface Props {
  start: TriggerDraft
  /** Absent for a new one. */
  stored?: Trigger
  save: (body: TriggerWrite, version: number | undefined) => Promise<PartWritten>
  onSaved?: (result: PartWritten) => void
  /** Fills the form in again from what is stored now. */
  onTakeTheirs?: () => void
  label: string
}

const AGGREGATES: { value: Aggregate; label: string }[] = [
  { value: 'count', label: 'number of events' },
  { value: 'sum', label: 'sum of' },
  { value: 'avg', label: 'average of' },
  { value: 'max', label: 'highest' },
  { value: 'min', label: 'lowest' },
  { value: 'any', label: 'any' },
]

export function TriggerEditor({ start, stored, save, onSaved, onTakeTheirs, label }: Props) {
  const [draft, setDraft] = useState(start)
  const set = <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) =>
    setDraft((now) => ({ ...now, [field]: value }))
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const change = useChange((version: number | undefined) => save(writeOf(draft, stored), version), {
    said: (result) => `${result.name} is saved`,
    onDone: (result) => onSaved?.(result),
    quiet: true,
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate(stored?.version)
      }}
    >
      <Stack maw={760}>
        <Alert color="indigo" role="status">
          {sentenceOf(draft)}
        </Alert>
        {!stored && (
          <TextInput
            label="Name"
            value={draft.name}
            onChange={(e) => set('name', e.currentTarget.value)}
            required
            maxLength={64}
            data-autofocus
          />
        )}
        <MultiSelect
          label="Sources"
          data={(sources.data ?? []).map((source) => source.name)}
          value={draft.sources}
          onChange={(value) => set('sources', value)}
          searchable
          withAsterisk
        />
        <SegmentedControl
          aria-label="Kind of condition"
          data={[
            { value: 'threshold', label: 'A threshold' },
            { value: 'schedule', label: 'A schedule' },
          ]}
          value={draft.kind}
          onChange={(value) => set('kind', value as TriggerDraft['kind'])}
        />
        {draft.kind === 'schedule' ? (
          <TextInput
            label="Every"
            description="At least 60s; such as 10m or 1h."
            value={draft.every}
            onChange={(e) => set('every', e.currentTarget.value)}
            w={160}
          />
        ) : (
          <Threshold draft={draft} set={set} />
        )}
        <Filters rows={draft.filters} onChange={(rows) => set('filters', rows)} />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label="Entity label"
            description="Blank: the primary label of the source."
            value={draft.key_field}
            onChange={(e) => set('key_field', e.currentTarget.value)}
          />
          <TextInput
            label="Wait before waking again"
            value={draft.cooldown}
            onChange={(e) => set('cooldown', e.currentTarget.value)}
            description="Per entity, such as 5m."
          />
          <TextInput
            label="Timeline it carries"
            value={draft.context_window}
            onChange={(e) => set('context_window', e.currentTarget.value)}
            description="How far back, such as 15m."
          />
        </Group>
        <TextInput
          label="In plain words"
          description="What wakes it, to follow “When”. Blank: made from the condition."
          value={draft.description}
          onChange={(e) => set('description', e.currentTarget.value)}
          maxLength={160}
        />
        <Text size="sm" c="dimmed">
          Triggers are stored and wired now; they are evaluated in a later version.
        </Text>
        <Refusal
          error={change.error}
          {...(onTakeTheirs ? { onTakeTheirs } : {})}
          onKeepMine={() => change.mutate(undefined)}
        />
        <Group>
          <Button
            type="submit"
            loading={change.isPending}
            disabled={draft.name.trim() === '' || draft.sources.length === 0}
          >
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface Part {
  draft: TriggerDraft
  set: <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) => void
}

function Threshold({ draft, set }: Part) {
  return (
    <Group align="flex-end">
      <Select
        label="When the"
        data={AGGREGATES}
        value={draft.aggregate}
        onChange={(value) => set('aggregate', (value ?? 'count') as Aggregate)}
        allowDeselect={false}
        w={180}
      />
      {draft.aggregate !== 'count' && (
        <TextInput
          label="Number label"
          value={draft.field}
          onChange={(e) => set('field', e.currentTarget.value)}
          w={150}
        />
      )}
      <Select
        label="is"
        data={['>', '>=', '<', '<=', '==']}
        value={draft.op}
        onChange={(value) => set('op', value ?? '>')}
        allowDeselect={false}
        w={80}
      />
      <NumberInput
        label="Number"
        value={draft.number === '' ? '' : Number(draft.number)}
        onChange={(value) => set('number', String(value))}
        w={110}
      />
      <TextInput
        label="within"
        value={draft.window}
        onChange={(e) => set('window', e.currentTarget.value)}
        w={100}
      />
    </Group>
  )
}

function Filters({ rows, onChange }: { rows: readonly FilterRow[]; onChange: (rows: FilterRow[]) => void }) {
  const put = (at: number, change: Partial<FilterRow>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...change } : row)))
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        Only events where
      </Text>
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
        <Group key={i} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={`Field of filter ${i + 1}`}
            placeholder="event_type"
            value={row.field}
            onChange={(e) => put(i, { field: e.currentTarget.value })}
            style={{ flex: 1 }}
          />
          <Select
            aria-label={`Operator of filter ${i + 1}`}
            data={FILTER_OPS}
            value={row.op}
            onChange={(value) => put(i, { op: (value ?? 'eq') as FilterOp })}
            allowDeselect={false}
            w={130}
          />
          <TextInput
            aria-label={`Value of filter ${i + 1}`}
            value={row.value}
            onChange={(e) => put(i, { value: e.currentTarget.value })}
            style={{ flex: 1 }}
          />
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={`Remove filter ${i + 1}`}
            onClick={() => onChange(rows.filter((_row, at) => at !== i))}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...rows, { field: '', op: 'eq', value: '' }])}
        >
          Add a filter
        </Button>
      </Group>
    </Stack>
  )
}

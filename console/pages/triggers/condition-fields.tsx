/** What each kind of condition asks for. */
import { Autocomplete, Group, NumberInput, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { faultAt } from '../../lib/field-errors.ts'
import { type Aggregate, countsEvents, type TriggerDraft } from '../../lib/trigger-draft.ts'
import { DurationInput } from '../../parts/duration-input.tsx'
import type { Part } from './part.ts'
import { ScheduleFields } from './schedule-fields.tsx'
import { SequenceFields } from './sequence-fields.tsx'

const AGGREGATES: { value: Aggregate; label: string }[] = [
  { value: 'count', label: 'number of events' },
  { value: 'rate', label: 'rate of events' },
  { value: 'distinct', label: 'different values of' },
  { value: 'sum', label: 'sum of' },
  { value: 'avg', label: 'average of' },
  { value: 'max', label: 'highest' },
  { value: 'min', label: 'lowest' },
]

const COMPARISONS = [
  { value: '>', label: 'above' },
  { value: '>=', label: 'at least' },
  { value: '<', label: 'below' },
  { value: '<=', label: 'at most' },
  { value: '==', label: 'exactly' },
]

export function ConditionFields(part: Part) {
  const { draft, errors } = part
  const whole = errors.condition
  return (
    <Stack gap="sm">
      {draft.kind === 'threshold' && <Threshold {...part} />}
      {draft.kind === 'silence' && <Silence {...part} />}
      {draft.kind === 'change' && <Change {...part} />}
      {draft.kind === 'sequence' && <SequenceFields {...part} />}
      {draft.kind === 'schedule' && <ScheduleFields {...part} />}
      {draft.kind !== 'schedule' && <GroupBy {...part} />}
      {whole && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {whole}
        </Text>
      )}
    </Stack>
  )
}

function Threshold({ draft, set, errors, known }: Part) {
  const data = draft.aggregate === 'any' ? [...AGGREGATES, { value: 'any', label: 'any' }] : AGGREGATES
  return (
    <>
      <Group align="flex-start" gap="sm">
        <Select
          label="When the"
          data={data}
          value={draft.aggregate}
          onChange={(value) => set('aggregate', (value ?? 'count') as Aggregate)}
          allowDeselect={false}
          w={180}
        />
        {!countsEvents(draft.aggregate) && (
          <Autocomplete
            label={draft.aggregate === 'distinct' ? 'Label' : 'Number label'}
            data={known.fields}
            limit={40}
            value={draft.field}
            onChange={(value) => set('field', value)}
            error={faultAt(errors, 'condition.field')}
            w={180}
          />
        )}
        <Select
          label="is"
          data={COMPARISONS}
          value={draft.op}
          onChange={(value) => set('op', value ?? '>')}
          allowDeselect={false}
          w={120}
        />
        <NumberInput
          label="Number"
          value={draft.number === '' ? '' : Number(draft.number)}
          onChange={(value) => set('number', String(value))}
          error={draft.number === '' ? 'A number is needed' : faultAt(errors, 'condition.predicate')}
          w={120}
        />
        {draft.aggregate === 'rate' && <RateUnit value={draft.unit} onChange={(unit) => set('unit', unit)} />}
        <DurationInput
          label="within"
          value={draft.window}
          onChange={(value) => set('window', value)}
          fault={faultAt(errors, 'condition.window')}
          w={110}
        />
      </Group>
      <ReArm draft={draft} set={set} errors={errors} />
    </>
  )
}

/** When it may fire again, and what then says that it is over. */
function ReArm({ draft, set, errors }: Omit<Part, 'known'>) {
  return (
    <>
      <Group align="flex-start" gap="sm">
        <Select
          label="Re-arm"
          data={[
            { value: 'no', label: 'After the cooldown' },
            { value: 'over', label: 'Once the condition clears' },
            { value: 'when', label: 'Once the value is…' },
          ]}
          value={draft.resolve}
          onChange={(value) => set('resolve', (value ?? 'no') as TriggerDraft['resolve'])}
          allowDeselect={false}
          w={290}
        />
        {draft.resolve === 'when' && (
          <>
            <Select
              label="was"
              data={COMPARISONS}
              value={draft.resolve_op}
              onChange={(value) => set('resolve_op', value ?? '<=')}
              allowDeselect={false}
              w={120}
            />
            <NumberInput
              label="Number to be over"
              value={draft.resolve_number === '' ? '' : Number(draft.resolve_number)}
              onChange={(value) => set('resolve_number', String(value))}
              error={faultAt(errors, 'condition.resolve')}
              w={150}
            />
          </>
        )}
      </Group>
      {draft.resolve !== 'no' && (
        <Text size="xs" c="dimmed">
          When it is over, a resolved firing is made: it is listed and delivered, and wakes no agent.
        </Text>
      )}
    </>
  )
}

function RateUnit({
  value,
  onChange,
}: {
  value: TriggerDraft['unit']
  onChange: (unit: TriggerDraft['unit']) => void
}) {
  return (
    <Select
      label="a"
      data={[
        { value: 's', label: 'second' },
        { value: 'm', label: 'minute' },
        { value: 'h', label: 'hour' },
      ]}
      value={value}
      onChange={(unit) => onChange((unit ?? 's') as TriggerDraft['unit'])}
      allowDeselect={false}
      w={110}
    />
  )
}

function Silence({ draft, set, errors }: Part) {
  return (
    <DurationInput
      label="No events for"
      description="Starts after an entity’s first event"
      value={draft.absent_for}
      onChange={(value) => set('absent_for', value)}
      fault={faultAt(errors, 'condition.absent_for')}
      w="100%"
      maw={420}
    />
  )
}

function Change({ draft, set, errors, known }: Part) {
  return (
    <Group align="flex-start" gap="sm">
      <Autocomplete
        label="Value of"
        placeholder="status"
        data={known.fields}
        limit={40}
        value={draft.change_of}
        onChange={(value) => set('change_of', value)}
        error={faultAt(errors, 'condition.change_of')}
        w={200}
        withAsterisk
      />
      <TextInput
        label="only from"
        placeholder="anything"
        value={draft.from}
        onChange={(event) => set('from', event.currentTarget.value)}
        error={faultAt(errors, 'condition.from')}
        w={150}
      />
      <TextInput
        label="only to"
        placeholder="anything"
        value={draft.to}
        onChange={(event) => set('to', event.currentTarget.value)}
        error={faultAt(errors, 'condition.to')}
        w={150}
      />
    </Group>
  )
}

function GroupBy({ draft, set, errors, known }: Part) {
  return (
    <TagsInput
      label="Group by"
      description="Default: the entity"
      data={known.labels}
      value={draft.group_by}
      onChange={(value) => set('group_by', value)}
      error={faultAt(errors, 'condition.group_by')}
      maxTags={5}
      acceptValueOnBlur
      maw={420}
    />
  )
}

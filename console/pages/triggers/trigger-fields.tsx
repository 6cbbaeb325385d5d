/** Every field of a trigger but its name: what it watches, when it trips, and what it does then. */
import { MultiSelect, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, keys } from '../../client.ts'
import { type FieldErrors, faultAt } from '../../lib/field-errors.ts'
import { KINDS, type TriggerDraft } from '../../lib/trigger-draft.ts'
import { ConditionFields } from './condition-fields.tsx'
import { FilterRows } from './filter-rows.tsx'
import type { Part } from './part.ts'
import { StormFields, WakingFields } from './waking-fields.tsx'

export function TriggerFields(part: Part) {
  const { draft, set, errors, known } = part
  return (
    <>
      <Sources value={draft.sources} onChange={(value) => set('sources', value)} errors={errors} />
      <Kinds draft={draft} set={set} />
      <ConditionFields {...part} />
      <FilterRows
        title="Filters"
        rows={draft.filters}
        onChange={(rows) => set('filters', rows)}
        known={known.fields}
        errors={errors}
        path="filters"
      />
      <WakingFields {...part} />
      {draft.kind !== 'schedule' && <StormFields {...part} />}
      <TextInput
        label="Description"
        description="Completes “When …”. Default: from the condition"
        value={draft.description}
        onChange={(e) => set('description', e.currentTarget.value)}
        error={faultAt(errors, 'description')}
        maxLength={160}
      />
    </>
  )
}

function Sources({
  value,
  onChange,
  errors,
}: {
  value: string[]
  onChange: (value: string[]) => void
  errors: FieldErrors
}) {
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  return (
    <MultiSelect
      label="Sources"
      placeholder={value.length ? '' : 'What it watches'}
      data={[...new Set([...value, ...(sources.data ?? []).map((source) => source.name)])]}
      value={value}
      onChange={onChange}
      error={faultAt(errors, 'sources')}
      searchable
      withAsterisk
      maw={560}
    />
  )
}

function Kinds({
  draft,
  set,
}: {
  draft: TriggerDraft
  set: (field: 'kind', value: TriggerDraft['kind']) => void
}) {
  return (
    <div>
      <div style={{ overflowX: 'auto' }}>
        <SegmentedControl
          aria-label="Kind of condition"
          data={KINDS.map(({ value, label }) => ({ value, label }))}
          value={draft.kind}
          onChange={(value) => set('kind', value as TriggerDraft['kind'])}
        />
      </div>
      <Text size="xs" c="dimmed" mt={4}>
        {KINDS.find(({ value }) => value === draft.kind)?.help}
      </Text>
    </div>
  )
}

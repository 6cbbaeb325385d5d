/** What each kind of condition asks for, as the beginning of a sentence: words with controls between them. */
import { Autocomplete, Select, TagsInput, TextInput } from '@mantine/core'
import { faultAt } from '../../lib/field-errors.ts'
import {
  AGGREGATES,
  type Aggregate,
  countsEvents,
  type Kind,
  type TriggerDraft,
} from '../../lib/trigger-draft.ts'
import { DurationInput } from '../../parts/duration-input.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { Line, Slot, Words } from './line.tsx'
import type { Part } from './part.ts'
import { ScheduleFields, ScheduleSummary } from './schedule-fields.tsx'
import { SequenceSteps } from './sequence-fields.tsx'

export const COMPARISONS = [
  { value: '>', label: 'above' },
  { value: '>=', label: 'at least' },
  { value: '<', label: 'below' },
  { value: '<=', label: 'at most' },
  { value: '==', label: 'exactly' },
]

/** `count` and the like are kinds of a threshold. */
const kindsOf = (aggregate: Aggregate) => [
  { group: 'Each event', items: [{ value: 'event', label: 'any event' }] },
  {
    group: 'Threshold',
    items: aggregate === 'any' ? [...AGGREGATES, { value: 'any', label: 'any' }] : AGGREGATES,
  },
  {
    group: 'Other',
    items: [
      { value: 'silence', label: 'silence' },
      { value: 'change', label: 'change' },
      { value: 'sequence', label: 'sequence' },
      { value: 'schedule', label: 'schedule' },
    ],
  },
]

const OTHERS: ReadonlySet<string> = new Set<Kind>(['event', 'silence', 'change', 'sequence', 'schedule'])

/** "When the [number of events] is [above] [4] within [10m]", with the kind to choose. */
export function ConditionFields(part: Part) {
  const { draft, errors } = part
  return (
    <>
      <Line fault={errors.condition}>
        <Kinds {...part} />
        {draft.kind === 'event' && <Words>arrives</Words>}
        {draft.kind === 'threshold' && <Threshold {...part} />}
        {draft.kind === 'silence' && <Silence {...part} />}
        {draft.kind === 'change' && <Change {...part} />}
        {draft.kind === 'sequence' && <Within {...part} />}
        {draft.kind === 'schedule' && <ScheduleFields {...part} />}
      </Line>
      {draft.kind === 'sequence' && <SequenceSteps {...part} />}
      {draft.kind === 'schedule' && <ScheduleSummary {...part} />}
    </>
  )
}

const LEADS: Record<Kind, string> = {
  event: 'When',
  threshold: 'When the',
  silence: 'When there is',
  change: 'When there is a',
  sequence: 'When there is a',
  schedule: 'On a',
}

function Kinds({ draft, set }: Part) {
  return (
    <>
      <Words>{LEADS[draft.kind]}</Words>
      <Slot path="condition.kind" width={190}>
        <Select
          aria-label="Kind of condition"
          data={kindsOf(draft.aggregate)}
          value={draft.kind === 'threshold' ? draft.aggregate : draft.kind}
          onChange={(value) => {
            if (value === null) return
            if (OTHERS.has(value)) set('kind', value as Kind)
            else {
              set('kind', 'threshold')
              set('aggregate', value as Aggregate)
            }
          }}
          allowDeselect={false}
          maxDropdownHeight={420}
        />
      </Slot>
    </>
  )
}

function Threshold({ draft, set, errors, known }: Part) {
  return (
    <>
      {!countsEvents(draft.aggregate) && (
        <Slot path="condition.field" width={180}>
          <Autocomplete
            aria-label={draft.aggregate === 'distinct' ? 'Label' : 'Number label'}
            placeholder={draft.aggregate === 'distinct' ? 'a label' : 'payload.ms'}
            data={known.fields}
            limit={40}
            value={draft.field}
            onChange={(value) => set('field', value)}
            error={faultAt(errors, 'condition.field')}
          />
        </Slot>
      )}
      <Words>is</Words>
      <Slot path="condition.op" width={110}>
        <Select
          aria-label="Comparison"
          data={COMPARISONS}
          value={draft.op}
          onChange={(value) => set('op', value ?? '>')}
          allowDeselect={false}
        />
      </Slot>
      <Slot path="condition.predicate" width={90}>
        <NumberInput
          aria-label="Number"
          value={draft.number === '' ? '' : Number(draft.number)}
          onChange={(value) => set('number', String(value))}
          error={faultAt(errors, 'condition.predicate')}
        />
      </Slot>
      {draft.aggregate === 'rate' && <RateUnit value={draft.unit} onChange={(unit) => set('unit', unit)} />}
      <Words>within</Words>
      <Slot path="condition.window" width={80}>
        <DurationInput
          aria-label="Window"
          value={draft.window}
          onChange={(value) => set('window', value)}
          fault={faultAt(errors, 'condition.window')}
          w="100%"
        />
      </Slot>
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
    <>
      <Words>a</Words>
      <Slot path="condition.unit" width={110}>
        <Select
          aria-label="Unit of the rate"
          data={[
            { value: 's', label: 'second' },
            { value: 'm', label: 'minute' },
            { value: 'h', label: 'hour' },
          ]}
          value={value}
          onChange={(unit) => onChange((unit ?? 's') as TriggerDraft['unit'])}
          allowDeselect={false}
        />
      </Slot>
    </>
  )
}

function Silence({ draft, set, errors }: Part) {
  return (
    <>
      <Words>for</Words>
      <Slot path="condition.absent_for" width={80}>
        <DurationInput
          aria-label="No events for"
          value={draft.absent_for}
          onChange={(value) => set('absent_for', value)}
          fault={faultAt(errors, 'condition.absent_for')}
          w="100%"
        />
      </Slot>
      <Words>after an entity’s first event</Words>
    </>
  )
}

function Change({ draft, set, errors, known }: Part) {
  return (
    <>
      <Words>of</Words>
      <Slot path="condition.change_of" width={180}>
        <Autocomplete
          aria-label="Value of"
          placeholder="status"
          data={known.fields}
          limit={40}
          value={draft.change_of}
          onChange={(value) => set('change_of', value)}
          error={faultAt(errors, 'condition.change_of')}
        />
      </Slot>
      <Words>from</Words>
      <Slot path="condition.from" width={120}>
        <TextInput
          aria-label="only from"
          placeholder="anything"
          value={draft.from}
          onChange={(event) => set('from', event.currentTarget.value)}
          error={faultAt(errors, 'condition.from')}
        />
      </Slot>
      <Words>to</Words>
      <Slot path="condition.to" width={120}>
        <TextInput
          aria-label="only to"
          placeholder="anything"
          value={draft.to}
          onChange={(event) => set('to', event.currentTarget.value)}
          error={faultAt(errors, 'condition.to')}
        />
      </Slot>
    </>
  )
}

function Within({ draft, set, errors }: Part) {
  return (
    <>
      <Words>of these within</Words>
      <Slot path="condition.within" width={80}>
        <DurationInput
          aria-label="All within"
          value={draft.within}
          onChange={(value) => set('within', value)}
          fault={faultAt(errors, 'condition.within')}
          w="100%"
        />
      </Slot>
    </>
  )
}

/** "for each [service]": what splits the events, or the entity. */
export function GroupBy({ draft, set, errors, known }: Part) {
  return (
    <>
      <Words>for each</Words>
      <Slot path="condition.group_by" width={170}>
        <TagsInput
          aria-label="Group by"
          placeholder={draft.group_by.length ? '' : draft.key_field || 'the entity'}
          data={known.labels}
          value={draft.group_by}
          onChange={(value) => set('group_by', value)}
          error={faultAt(errors, 'condition.group_by')}
          maxTags={5}
          acceptValueOnBlur
        />
      </Slot>
    </>
  )
}

/** When it may fire again, and what then says that it is over. */
export function ReArm({ draft, set, errors }: Omit<Part, 'known'>) {
  return (
    <div data-field="condition.resolve">
      <Select
        label="Re-arm"
        description="Clearing makes a resolved firing, which wakes no agent"
        data={[
          { value: 'no', label: 'After the cooldown' },
          { value: 'over', label: 'Once the condition clears' },
          { value: 'when', label: 'Once the value is…' },
        ]}
        value={draft.resolve}
        onChange={(value) => set('resolve', (value ?? 'no') as TriggerDraft['resolve'])}
        allowDeselect={false}
      />
      {draft.resolve === 'when' && (
        <div className="sentence-line" style={{ marginTop: 6 }}>
          <Slot path="condition.resolve" width={110}>
            <Select
              aria-label="Comparison that clears"
              data={COMPARISONS}
              value={draft.resolve_op}
              onChange={(value) => set('resolve_op', value ?? '<=')}
              allowDeselect={false}
            />
          </Slot>
          <Slot path="condition.resolve" width={90}>
            <NumberInput
              aria-label="Number that clears"
              value={draft.resolve_number === '' ? '' : Number(draft.resolve_number)}
              onChange={(value) => set('resolve_number', String(value))}
              error={faultAt(errors, 'condition.resolve')}
            />
          </Slot>
        </div>
      )}
    </div>
  )
}

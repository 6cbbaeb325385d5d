/** A schedule: every so long, or at the times of a cron expression; and what its summary holds. */
import { Autocomplete, type AutocompleteProps, Select, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { faultAt } from '../../lib/field-errors.ts'
import type { TriggerDraft } from '../../lib/trigger-draft.ts'
import { DurationInput } from '../../parts/duration-input.tsx'
import { Line, Slot, Words } from './line.tsx'
import type { Part } from './part.ts'

/** The zones this browser knows; its own and UTC first. */
const listZones = (): string[] => [
  ...new Set([
    'UTC',
    Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(Intl.supportedValuesOf?.('timeZone') ?? []),
  ]),
]

const SUMMARIES = [
  { value: 'plain', label: 'counts by entity' },
  { value: 'rich', label: 'numbers, examples, earlier windows' },
]

/** "[every] [1h]" or "[at] [0 9 * * 1-5] [UTC]". */
export function ScheduleFields({ draft, set, errors }: Part) {
  return (
    <>
      <Slot path="condition.timing" width={110}>
        <Select
          aria-label="Kind of schedule"
          data={[
            { value: 'every', label: 'every' },
            { value: 'cron', label: 'at times' },
          ]}
          value={draft.timing}
          onChange={(value) => set('timing', (value ?? 'every') as TriggerDraft['timing'])}
          allowDeselect={false}
        />
      </Slot>
      {draft.timing === 'every' ? (
        <Slot path="condition.every" width={80}>
          <DurationInput
            aria-label="Every"
            value={draft.every}
            onChange={(value) => set('every', value)}
            fault={faultAt(errors, 'condition.every')}
            w="100%"
          />
        </Slot>
      ) : (
        <>
          <Slot path="condition.cron" width={150}>
            <TextInput
              aria-label="Cron expression"
              className="mono-input"
              value={draft.cron}
              onChange={(event) => set('cron', event.currentTarget.value)}
              error={faultAt(errors, 'condition.cron')}
            />
          </Slot>
          <Slot path="condition.time_zone" width={170}>
            <ZoneInput
              value={draft.time_zone}
              onChange={(value) => set('time_zone', value)}
              error={faultAt(errors, 'condition.time_zone')}
            />
          </Slot>
        </>
      )}
    </>
  )
}

function ZoneInput(props: Pick<AutocompleteProps, 'value' | 'onChange' | 'error'>) {
  const [zones] = useState(listZones)
  return <Autocomplete aria-label="Time zone" placeholder="UTC" data={zones} limit={60} {...props} />
}

/** "with a summary of [counts] by [the entity]". */
export function ScheduleSummary({ draft, set, errors, known }: Part) {
  return (
    <Line>
      <Words>with a summary of</Words>
      <Slot path="condition.summary" width={260}>
        <Select
          aria-label="Summary"
          data={draft.summary === 'custom' ? [...SUMMARIES, { value: 'custom', label: 'as set' }] : SUMMARIES}
          value={draft.summary}
          onChange={(value) => set('summary', (value ?? 'plain') as TriggerDraft['summary'])}
          allowDeselect={false}
        />
      </Slot>
      <Words>by</Words>
      <Slot path="condition.summary_by" width={170}>
        <TagsInput
          aria-label="Summary by"
          placeholder={draft.summary_by.length ? '' : 'the entity'}
          data={known.labels}
          value={draft.summary_by}
          onChange={(value) => set('summary_by', value)}
          error={faultAt(errors, 'condition.summary_by')}
          maxTags={5}
          acceptValueOnBlur
        />
      </Slot>
    </Line>
  )
}

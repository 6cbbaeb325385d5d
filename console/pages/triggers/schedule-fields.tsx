/** A schedule: every so long, or at the times of a cron expression; and what its summary holds. */
import { Autocomplete, Group, SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core'
import { faultAt } from '../../lib/field-errors.ts'
import type { TriggerDraft } from '../../lib/trigger-draft.ts'
import { DurationInput } from '../../parts/duration-input.tsx'
import type { Part } from './part.ts'

/** The zones this browser knows; its own and UTC first. */
const ZONES: string[] = [
  ...new Set([
    'UTC',
    Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(Intl.supportedValuesOf?.('timeZone') ?? []),
  ]),
]

const SUMMARIES = [
  { value: 'plain', label: 'how many, by entity' },
  { value: 'rich', label: 'everything: numbers, examples, earlier windows' },
]

export function ScheduleFields({ draft, set, errors, known }: Part) {
  return (
    <>
      <Group align="flex-start" gap="sm">
        <SegmentedControl
          aria-label="Kind of schedule"
          mt={22}
          data={[
            { value: 'every', label: 'Every so long' },
            { value: 'cron', label: 'At times' },
          ]}
          value={draft.timing}
          onChange={(value) => set('timing', value as TriggerDraft['timing'])}
        />
        {draft.timing === 'every' ? (
          <DurationInput
            label="Every"
            value={draft.every}
            onChange={(value) => set('every', value)}
            fault={faultAt(errors, 'condition.every')}
          />
        ) : (
          <>
            <TextInput
              label="Cron expression"
              className="mono-input"
              value={draft.cron}
              onChange={(event) => set('cron', event.currentTarget.value)}
              error={faultAt(errors, 'condition.cron')}
              w={170}
            />
            <Autocomplete
              label="Time zone"
              placeholder="UTC"
              data={ZONES}
              limit={60}
              value={draft.time_zone}
              onChange={(value) => set('time_zone', value)}
              error={faultAt(errors, 'condition.time_zone')}
              w={200}
            />
          </>
        )}
      </Group>
      <Group align="flex-start" gap="sm">
        <Select
          label="Its summary says"
          data={
            draft.summary === 'custom'
              ? [...SUMMARIES, { value: 'custom', label: 'what was set' }]
              : SUMMARIES
          }
          value={draft.summary}
          onChange={(value) => set('summary', (value ?? 'plain') as TriggerDraft['summary'])}
          allowDeselect={false}
          w={300}
        />
        <TagsInput
          label="with a table by"
          placeholder={draft.summary_by.length ? '' : 'the entity'}
          data={known.labels}
          value={draft.summary_by}
          onChange={(value) => set('summary_by', value)}
          error={faultAt(errors, 'condition.summary_by')}
          maxTags={5}
          acceptValueOnBlur
          w={220}
        />
      </Group>
    </>
  )
}

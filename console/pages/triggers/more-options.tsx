/** What few triggers need, folded: how many of these differ from their default stands on the fold. */
import {
  ActionIcon,
  Autocomplete,
  Button,
  Checkbox,
  Group,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { faultAt } from '../../lib/field-errors.ts'
import type { TriggerDraft } from '../../lib/trigger-draft.ts'
import { changedOptions, optionsOf } from '../../lib/trigger-options.ts'
import { DurationInput } from '../../parts/duration-input.tsx'
import { Folded } from '../../parts/folded.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { ReArm } from './condition-fields.tsx'
import { FilterRows } from './filter-rows.tsx'
import type { Part } from './part.ts'

export function MoreOptions(part: Part) {
  const { draft, errors } = part
  const options = optionsOf(draft)
  return (
    <Folded
      changed={changedOptions(draft)}
      total={options.length}
      isFaulty={options.some(({ paths }) => paths.some((path) => faultAt(errors, path) !== undefined))}
    >
      <Options {...part} />
    </Folded>
  )
}

function Options(part: Part) {
  const { draft, set, errors, known } = part
  return (
    <Stack gap="md" mt="xs">
      {draft.kind === 'event' && <Over {...part} />}
      <div className="field-grid">
        {draft.kind === 'threshold' && <ReArm draft={draft} set={set} errors={errors} />}
        <Autocomplete
          data-field="key_field"
          label="Entity label"
          description="Default: the source’s entity key"
          data={known.labels}
          value={draft.key_field}
          onChange={(value) => set('key_field', value)}
          error={faultAt(errors, 'key_field')}
        />
        {draft.kind === 'schedule' && <Cooldown {...part} />}
        <DurationInput
          data-field="emit.context_window"
          label="Timeline window"
          description="Sent with each firing, for example 15 min"
          value={draft.context_window}
          onChange={(value) => set('context_window', value)}
          fault={faultAt(errors, 'emit.context_window')}
          w="100%"
        />
        <DurationInput
          data-field="max_late"
          label="Ignore events older than"
          description="Older events never trip this trigger"
          value={draft.max_late}
          onChange={(value) => set('max_late', value)}
          fault={faultAt(errors, 'max_late')}
          w="100%"
        />
        <Autocomplete
          data-field="severity_field"
          label="Severity field"
          description="Optional. Words such as page or warn win"
          data={known.fields}
          limit={40}
          value={draft.severity_field}
          onChange={(value) => set('severity_field', value)}
          error={faultAt(errors, 'severity_field')}
        />
        <TextInput
          data-field="emit.kind"
          label="Kind of its firings"
          description="Default: the name of the trigger"
          value={draft.emit_kind}
          onChange={(event) => set('emit_kind', event.currentTarget.value)}
          error={faultAt(errors, 'emit.kind')}
          maxLength={80}
        />
      </div>
      {draft.kind !== 'schedule' && (
        <Checkbox
          data-field="joined"
          label="Go by joined entities"
          description="An alert on a host and an error of its service are then of one key, and of one incident"
          checked={draft.joined}
          onChange={(event) => set('joined', event.currentTarget.checked)}
          error={faultAt(errors, 'joined')}
        />
      )}
      {draft.kind !== 'schedule' && <Bursts {...part} />}
      <TextInput
        data-field="description"
        label="Description"
        description="Completes “When …”. Default: from the condition"
        value={draft.description}
        onChange={(event) => set('description', event.currentTarget.value)}
        error={faultAt(errors, 'description')}
        maxLength={160}
      />
    </Stack>
  )
}

/** A schedule has its own times: its cooldown is seldom wanted. */
function Cooldown({ draft, set, errors }: Part) {
  return (
    <DurationInput
      data-field="cooldown"
      label="Cooldown"
      description="Per entity, for example 5 min"
      value={draft.cooldown}
      onChange={(value) => set('cooldown', value)}
      fault={faultAt(errors, 'cooldown')}
      w="100%"
    />
  )
}

function Bursts({ draft, set, errors }: Part) {
  const put = (at: number, change: Partial<TriggerDraft['limits'][number]>) =>
    set(
      'limits',
      draft.limits.map((limit, i) => (i === at ? { ...limit, ...change } : limit)),
    )
  return (
    <Stack gap="xs" role="group" aria-label="Bursts">
      <div className="field-grid">
        <DurationInput
          data-field="storm.quiet"
          label="Wait for quiet"
          description="The burst becomes one firing"
          value={draft.quiet}
          onChange={(value) => set('quiet', value)}
          fault={faultAt(errors, 'storm.quiet')}
          optional
          w="100%"
        />
        <DurationInput
          data-field="storm.max_wait"
          label="Wait at most"
          description="Then the trigger fires anyway"
          value={draft.max_wait}
          onChange={(value) => set('max_wait', value)}
          fault={faultAt(errors, 'storm.max_wait')}
          optional
          w="100%"
        />
        <NumberInput
          label="Minimum events"
          description="Smaller bursts are dropped"
          min={1}
          allowDecimal={false}
          value={draft.min_count === '' ? '' : Number(draft.min_count)}
          onChange={(value) => set('min_count', String(value))}
          error={faultAt(errors, 'storm.min_count')}
        />
      </div>
      {draft.limits.map((limit, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: limits have no identity but their place.
        <Group key={i} gap="xs" align="flex-start">
          <Text size="sm" mt={8}>
            No more than
          </Text>
          <NumberInput
            aria-label={`Firings of limit ${i + 1}`}
            min={1}
            allowDecimal={false}
            value={limit.max === '' ? '' : Number(limit.max)}
            onChange={(value) => put(i, { max: String(value) })}
            error={faultAt(errors, `storm.limits[${i}].max`)}
            w={90}
          />
          <Text size="sm" mt={8}>
            in
          </Text>
          <DurationInput
            aria-label={`Length of limit ${i + 1}`}
            value={limit.per}
            onChange={(value) => put(i, { per: value })}
            fault={faultAt(errors, `storm.limits[${i}].per`)}
            w={110}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={4}
            aria-label={`Remove limit ${i + 1}`}
            onClick={() =>
              set(
                'limits',
                draft.limits.filter((_limit, at) => at !== i),
              )
            }
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
          onClick={() => set('limits', [...draft.limits, { max: '3', per: '1h' }])}
        >
          Add a limit
        </Button>
      </Group>
    </Stack>
  )
}

/** Which events say that an alert is over, and how those of one alert are known. */
function Over({ draft, set, errors, known }: Part) {
  return (
    <div data-field="condition.resolve">
      <FilterRows
        title="Over when an event arrives where"
        rows={draft.over_filters}
        onChange={(rows) => set('over_filters', rows)}
        known={known.fields}
        of="of what is over"
        errors={errors}
        path="condition.resolve.filters"
      />
      {(draft.over_filters.length > 0 || draft.over_equal.length > 0) && (
        <TagsInput
          mt="xs"
          label="Fields that the events of one alert share"
          description="A key is over with the last of its alerts"
          placeholder={draft.over_equal.length ? '' : 'event_type'}
          data={known.fields}
          value={draft.over_equal}
          onChange={(value) => set('over_equal', value)}
          error={faultAt(errors, 'condition.resolve')}
          maxTags={5}
          acceptValueOnBlur
        />
      )}
    </div>
  )
}

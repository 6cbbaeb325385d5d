/** Whom a trigger is about, how often it wakes, and what it does with a burst. */
import { ActionIcon, Autocomplete, Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { faultAt } from '../../lib/field-errors.ts'
import type { TriggerDraft } from '../../lib/trigger-draft.ts'
import { DurationInput } from '../../parts/duration-input.tsx'
import type { Part } from './part.ts'

const SEVERITIES = [
  { value: '', label: 'Default' },
  { value: 'critical', label: 'Critical' },
  { value: 'warning', label: 'Warning' },
  { value: 'info', label: 'Info' },
  { value: 'none', label: 'None: opens no incident' },
]

export function WakingFields({ draft, set, errors, known }: Part) {
  return (
    <div className="field-grid">
      <Autocomplete
        label="Entity label"
        description="Default: the source’s entity key"
        data={known.labels}
        value={draft.key_field}
        onChange={(value) => set('key_field', value)}
        error={faultAt(errors, 'key_field')}
      />
      <DurationInput
        label="Cooldown"
        description="Per entity, for example 5m"
        value={draft.cooldown}
        onChange={(value) => set('cooldown', value)}
        fault={faultAt(errors, 'cooldown')}
        w="100%"
      />
      <DurationInput
        label="Timeline window"
        description="Sent with each firing, for example 15m"
        value={draft.context_window}
        onChange={(value) => set('context_window', value)}
        fault={faultAt(errors, 'emit.context_window')}
        w="100%"
      />
      <DurationInput
        label="Ignore events older than"
        description="Older events never trip this trigger"
        value={draft.max_late}
        onChange={(value) => set('max_late', value)}
        fault={faultAt(errors, 'max_late')}
        w="100%"
      />
      <Select
        label="Severity"
        description={`Of the incidents it opens. Default: ${draft.kind === 'schedule' ? 'none' : 'warning'}`}
        data={SEVERITIES}
        value={draft.severity}
        onChange={(value) => set('severity', (value ?? '') as TriggerDraft['severity'])}
        error={faultAt(errors, 'severity')}
        allowDeselect={false}
      />
      <Autocomplete
        label="Severity field"
        description="Optional. Its words, such as page or warn, win"
        data={known.fields}
        limit={40}
        value={draft.severity_field}
        onChange={(value) => set('severity_field', value)}
        error={faultAt(errors, 'severity_field')}
      />
    </div>
  )
}

export function StormFields({ draft, set, errors }: Part) {
  const put = (at: number, change: Partial<TriggerDraft['limits'][number]>) =>
    set(
      'limits',
      draft.limits.map((limit, i) => (i === at ? { ...limit, ...change } : limit)),
    )
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        Bursts
      </Text>
      <div className="field-grid">
        <DurationInput
          label="Wait for quiet"
          description="The burst becomes one firing"
          value={draft.quiet}
          onChange={(value) => set('quiet', value)}
          fault={faultAt(errors, 'storm.quiet')}
          optional
          w="100%"
        />
        <DurationInput
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

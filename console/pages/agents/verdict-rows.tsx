/** Verdicts an agent may give, each with when to give it; and who takes over on which. */
import { ActionIcon, Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import type { AgentDraft } from '../../lib/agent-form.ts'
import type { unreadChoices } from '../../parts/choices.tsx'
import { DurationInput } from '../../parts/duration-input.tsx'
import { useMarks } from '../../parts/faulty.tsx'

type Verdicts = AgentDraft['verdicts']
const VERDICTS_MAX = 10
const HANDOFFS_MAX = 20

const CHECKS = [
  { value: 'neutral', label: 'Neutral' },
  { value: 'success', label: 'Success' },
  { value: 'failure', label: 'Failure' },
  { value: 'action_required', label: 'Action required' },
]

interface VerdictProps {
  rows: Verdicts
  onChange: (rows: Verdicts) => void
  /** Each says how a check on GitHub ends, too. */
  hasCheck?: boolean
}

export function VerdictRows({ rows, onChange, hasCheck = false }: VerdictProps) {
  const mark = useMarks()
  const put = (at: number, change: Partial<Verdicts[number]>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...change } : row)))
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        Verdicts
      </Text>
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
        <Group key={i} gap="xs">
          <TextInput
            aria-label={`Verdict ${i + 1}`}
            {...mark(`verdicts[${i}].verdict`)}
            placeholder="investigate"
            value={row.verdict}
            onChange={(e) => put(i, { verdict: e.currentTarget.value })}
            w={150}
          />
          <TextInput
            aria-label={`When to give verdict ${i + 1}`}
            {...mark(`verdicts[${i}].when`)}
            placeholder="a deploy looks guilty"
            value={row.when}
            onChange={(e) => put(i, { when: e.currentTarget.value })}
            style={{ flex: '1 1 14rem' }}
            maxLength={300}
          />
          <Checkbox
            label="Closes"
            title="Handles the incident if all claims hold"
            mt={8}
            checked={row.closes === true}
            onChange={(e) => put(i, { closes: e.currentTarget.checked })}
          />
          {hasCheck && (
            <Select
              aria-label={`Check of verdict ${i + 1}`}
              title="Conclusion of the GitHub check"
              data={CHECKS}
              value={row.check ?? 'neutral'}
              onChange={(value) => put(i, { check: value as NonNullable<Verdicts[number]['check']> })}
              allowDeselect={false}
              w={150}
            />
          )}
          <Remove label={`Remove verdict ${i + 1}`} onClick={() => onChange(without(rows, i))} />
        </Group>
      ))}
      <Add
        label="Add a verdict"
        onClick={() => onChange([...rows, { verdict: '', when: '' }])}
        disabled={rows.length >= VERDICTS_MAX}
      />
    </Stack>
  )
}

type Handoffs = AgentDraft['handoffs']

interface HandoffProps {
  rows: Handoffs
  onChange: (rows: Handoffs) => void
  verdicts: readonly string[]
  /** Agents it may hand over to. */
  agents: readonly string[]
  /** What the field says where they could not be read. */
  unread?: ReturnType<typeof unreadChoices>
}

export function HandoffRows({ rows, onChange, verdicts, agents, unread }: HandoffProps) {
  const put = (at: number, change: Partial<Handoffs[number]>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...change } : row)))
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        Handoffs
      </Text>
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
        <Group key={i} gap="xs" align="flex-start">
          <Select
            aria-label={`Verdict of handoff ${i + 1}`}
            placeholder="On verdict"
            data={[...new Set([...verdicts, row.verdict])].filter(Boolean)}
            value={row.verdict || null}
            onChange={(verdict) => put(i, { verdict: verdict ?? '' })}
            error={row.verdict && !verdicts.includes(row.verdict) ? 'Not among its verdicts' : undefined}
            allowDeselect={false}
            w={180}
          />
          <Select
            aria-label={`Agent of handoff ${i + 1}`}
            placeholder="To agent"
            data={[...new Set([...agents, row.agent])].filter(Boolean)}
            {...unread}
            value={row.agent || null}
            onChange={(agent) => put(i, { agent: agent ?? '' })}
            searchable
            allowDeselect={false}
            style={{ flex: 1 }}
          />
          <DurationInput
            aria-label={`Wait of handoff ${i + 1}`}
            placeholder="30m"
            title="How long before the same entity is handed over again"
            value={row.cooldown}
            onChange={(cooldown) => put(i, { cooldown })}
            optional
          />
          <Remove label={`Remove handoff ${i + 1}`} onClick={() => onChange(without(rows, i))} />
        </Group>
      ))}
      {verdicts.length === 0 && rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          Handoffs follow verdicts: add a verdict first.
        </Text>
      ) : (
        <Add
          label="Add a handoff"
          onClick={() => onChange([...rows, { verdict: verdicts[0] ?? '', agent: '', cooldown: '' }])}
          disabled={rows.length >= HANDOFFS_MAX}
        />
      )}
    </Stack>
  )
}

const without = <T,>(rows: readonly T[], at: number): T[] => rows.filter((_row, i) => i !== at)

function Add({ label, onClick, disabled }: { label: string; onClick: () => void; disabled: boolean }) {
  return (
    <Group>
      <Button
        size="xs"
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={onClick}
        disabled={disabled}
      >
        {label}
      </Button>
    </Group>
  )
}

function Remove({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <ActionIcon variant="subtle" color="red" mt={4} aria-label={label} onClick={onClick}>
      <Trash2 size={15} aria-hidden />
    </ActionIcon>
  )
}

/** The form of an agent: prompt, limits, verdicts, and what wakes it. */
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Agent, AgentWrite, PartWritten } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { type AgentDraft, writeOf } from '../../lib/agent-form.ts'
import { useChange } from '../../lib/use-change.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { ToolPolicyEditor } from '../../parts/tool-policy.tsx'

interface Props {
  start: AgentDraft
  stored?: Agent
  save: (body: AgentWrite, version: number | undefined) => Promise<PartWritten>
  onSaved?: (result: PartWritten) => void
  /** Fills the form in again from what is stored now. */
  onTakeTheirs?: () => void
  label: string
}

const PROMPT_MAX = 8_000

export function AgentEditor({ start, stored, save, onSaved, onTakeTheirs, label }: Props) {
  const [draft, setDraft] = useState(start)
  const set = <K extends keyof AgentDraft>(field: K, value: AgentDraft[K]) =>
    setDraft((now) => ({ ...now, [field]: value }))
  const triggers = useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers })
  const servers = useQuery({ queryKey: dkeys.mcpServers, queryFn: declared.mcpServers })
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  const change = useChange((version: number | undefined) => save(writeOf(draft, start), version), {
    said: (result) => `${result.name} is saved${result.note ? `: ${result.note}` : ''}`,
    onDone: (result) => onSaved?.(result),
    quiet: true,
  })
  const number = (field: 'max_rounds' | 'budget_usd' | 'daily_cap') => ({
    value: draft[field] ?? '',
    onChange: (value: string | number) => set(field, value === '' ? null : Number(value)),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate(stored?.version)
      }}
    >
      <Stack maw={820}>
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
        {!stored && (
          <Select
            label="Start from"
            placeholder="A blank prompt"
            data={(agents.data?.presets ?? []).map(({ id, label: text }) => ({ value: id, label: text }))}
            onChange={(id) => {
              const preset = agents.data?.presets.find((entry) => entry.id === id)
              if (preset) set('prompt', preset.prompt)
            }}
            clearable
          />
        )}
        <Textarea
          label="Prompt"
          description={`What it is told. ${draft.prompt.length} of ${PROMPT_MAX} characters.`}
          value={draft.prompt}
          onChange={(e) => set('prompt', e.currentTarget.value)}
          autosize
          minRows={6}
          maxRows={24}
          maxLength={PROMPT_MAX}
          required
        />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <Select
            label="Woken by"
            description="Blank: only a handoff starts it."
            data={(triggers.data ?? []).map(({ name }) => name)}
            value={draft.trigger || null}
            onChange={(value) => set('trigger', value ?? '')}
            searchable
            clearable
          />
          <MultiSelect
            label="Tools of these MCP servers"
            description="What it can do beyond reading."
            data={(servers.data ?? []).map(({ name }) => name)}
            value={draft.mcp_servers}
            onChange={(value) => set('mcp_servers', value)}
            searchable
          />
        </Group>
        {draft.mcp_servers.length > 0 && (
          <ToolPolicyEditor
            value={draft.tools}
            onChange={(tools) => set('tools', tools)}
            servers={draft.mcp_servers}
          />
        )}
        <Verdicts rows={draft.verdicts} onChange={(rows) => set('verdicts', rows)} />
        <Checkbox
          label="Ends every run with a conclusion"
          checked={draft.concludes}
          onChange={(e) => set('concludes', e.currentTarget.checked)}
        />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label="Model"
            description="Blank: the default."
            value={draft.model}
            onChange={(e) => set('model', e.currentTarget.value)}
          />
          <NumberInput
            label="Rounds"
            description="Blank: 6, or 12 with tools."
            min={1}
            max={24}
            {...number('max_rounds')}
          />
          <NumberInput
            label="Budget, US dollars"
            description="For its whole life; blank: none."
            min={0}
            decimalScale={2}
            {...number('budget_usd')}
          />
          <NumberInput
            label="Runs a day"
            description="Blank: the instance’s cap."
            min={1}
            max={10_000}
            {...number('daily_cap')}
          />
        </Group>
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label="Write each finding back to"
            description="An address that takes a POST."
            value={draft.webhook_url}
            onChange={(e) => set('webhook_url', e.currentTarget.value)}
          />
          <PasswordInput
            label="Bearer token of that address"
            description={stored?.webhook_token_configured ? 'One is stored; blank keeps it.' : 'Blank: none.'}
            value={draft.webhook_token}
            onChange={(e) => set('webhook_token', e.currentTarget.value)}
            autoComplete="off"
          />
        </Group>
        <Text size="sm" c="dimmed">
          Agents are stored and wired now; they run in a later version.
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
            disabled={draft.name.trim() === '' || draft.prompt.trim() === ''}
          >
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type Rows = AgentDraft['verdicts']

function Verdicts({ rows, onChange }: { rows: Rows; onChange: (rows: Rows) => void }) {
  const put = (at: number, change: Partial<Rows[number]>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...change } : row)))
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        Verdicts it may give
      </Text>
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
        <Group key={i} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={`Verdict ${i + 1}`}
            placeholder="investigate"
            value={row.verdict}
            onChange={(e) => put(i, { verdict: e.currentTarget.value })}
            w={150}
          />
          <TextInput
            aria-label={`When to give verdict ${i + 1}`}
            placeholder="a deploy looks guilty"
            value={row.when}
            onChange={(e) => put(i, { when: e.currentTarget.value })}
            style={{ flex: 1 }}
            maxLength={300}
          />
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={`Remove verdict ${i + 1}`}
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
          onClick={() => onChange([...rows, { verdict: '', when: '' }])}
          disabled={rows.length >= 10}
        >
          Add a verdict
        </Button>
      </Group>
    </Stack>
  )
}

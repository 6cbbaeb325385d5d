/** The form of an agent: prompt, limits, verdicts, and what wakes it. */
import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  PasswordInput,
  Select,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Agent, AgentWrite, PartWritten } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { type AgentDraft, writeOf } from '../../lib/agent-form.ts'
import { useChange } from '../../lib/use-change.ts'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { ToolPolicyEditor } from '../../parts/tool-policy.tsx'
import { BoundFields } from './bound-fields.tsx'
import { HandoffRows, VerdictRows } from './verdict-rows.tsx'

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
        <VerdictRows rows={draft.verdicts} onChange={(rows) => set('verdicts', rows)} />
        <HandoffRows
          rows={draft.handoffs}
          onChange={(rows) => set('handoffs', rows)}
          verdicts={draft.verdicts.map(({ verdict }) => verdict.trim()).filter(Boolean)}
          agents={(agents.data?.agents ?? []).map(({ name }) => name).filter((name) => name !== draft.name)}
        />
        <Group gap="lg">
          <Checkbox
            label="Ends every run with a conclusion"
            checked={draft.concludes}
            onChange={(e) => set('concludes', e.currentTarget.checked)}
          />
          <Checkbox
            label="Keeps observations for later runs"
            checked={draft.remembers}
            onChange={(e) => set('remembers', e.currentTarget.checked)}
          />
        </Group>
        <ModelPicker
          value={{ provider: draft.provider, model: draft.model }}
          onChange={(choice) => setDraft((now) => ({ ...now, ...choice }))}
        />
        <BoundFields
          draft={draft}
          set={set}
          rounds={{
            plain: agents.data?.default_max_rounds ?? 6,
            withMcp: agents.data?.default_max_rounds_with_mcp ?? 12,
            limit: agents.data?.max_rounds_limit ?? 24,
          }}
        />
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

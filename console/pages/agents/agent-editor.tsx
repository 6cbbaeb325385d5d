/** The form of an agent: prompt, limits, verdicts, and what wakes it. */
import { Button, Select, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Agent, AgentWrite, PartWritten } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { type AgentDraft, NEW_AGENT, writeOf } from '../../lib/agent-form.ts'
import { type FaultMark, fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { useChange } from '../../lib/use-change.ts'
import { takeTheirs, useDraft } from '../../lib/use-draft.ts'
import { unreadChoices, useChoices } from '../../parts/choices.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Acts, Writable } from '../../parts/may.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Warnings, warningsBeside } from '../../parts/warnings.tsx'
import { AgentFields } from './agent-fields.tsx'
import { HandoffRows } from './verdict-rows.tsx'

interface Props {
  start: AgentDraft
  stored?: Agent
  save: (body: AgentWrite, version: number | undefined) => Promise<PartWritten>
  onSaved?: (result: PartWritten) => void
  /** Of the last save: saving fills the form in anew. */
  warnings?: readonly string[]
  /** Fills the form in again from what is stored now. */
  onTakeTheirs?: () => void
  label: string
  /** It is filled in with what Ask proposed. */
  isProposed?: boolean
}

/** @param done what was typed is stored */
function useSave(
  save: (version: number | undefined) => Promise<PartWritten>,
  onSaved: Props['onSaved'],
  done: () => void,
) {
  return useChange(save, {
    said: (result) => `${result.name} is saved${result.note ? `: ${result.note}` : ''}`,
    onDone: (result) => {
      done()
      onSaved?.(result)
    },
    quiet: true,
    showsWarnings: true,
  })
}

interface WokenByProps {
  value: string
  mark: FaultMark
  onChange: (trigger: string) => void
}

function WokenBy({ value, mark, onChange }: WokenByProps) {
  const triggers = useChoices('triggers', { queryKey: dkeys.triggers, queryFn: declared.triggers })
  return (
    <Select
      label="Woken by"
      {...mark}
      description="Without one, only a handoff starts the agent"
      // The chosen one is shown before the others are read.
      data={[...new Set([...(value ? [value] : []), ...(triggers.data ?? []).map(({ name }) => name)])]}
      {...triggers.field}
      value={value || null}
      onChange={(next) => onChange(next ?? '')}
      searchable
      clearable
    />
  )
}

export function AgentEditor({ start, stored, isProposed = false, ...props }: Props) {
  const kept = useDraft({
    form: 'agent',
    start,
    version: stored?.version,
    plain: ({ webhook_token: _, ...rest }) => rest as AgentDraft, // The token is a secret.
    isGiven: isProposed,
  })
  const { value: draft, set: setDraft } = kept
  const set = <K extends keyof AgentDraft>(field: K, value: AgentDraft[K]) =>
    setDraft((now) => ({ ...now, [field]: value }))
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  const write = () => writeOf(draft, stored ? start : NEW_AGENT)
  const change = useSave((version) => props.save(write(), version), props.onSaved, kept.done)
  const faults = fieldErrors(change.error)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate(kept.version)
      }}
    >
      <Stack maw={820}>
        <DraftRestored of={kept} />
        {!stored && (
          <TextInput
            {...marksOf(faults)('name')}
            label="Name"
            value={draft.name}
            onChange={(e) => set('name', e.currentTarget.value)}
            required
            maxLength={64}
            data-autofocus
          />
        )}
        {!stored && (
          <StartFrom
            presets={agents.data?.presets ?? []}
            unread={unreadChoices('prompts', agents)}
            onPrompt={(prompt) => set('prompt', prompt)}
          />
        )}
        <Writable>
          <AgentFields
            errors={faults}
            draft={draft}
            set={set}
            tokenStored={stored?.webhook_token_configured ?? false}
            wokenBy={
              <WokenBy
                value={draft.trigger}
                mark={marksOf(faults)('trigger')}
                onChange={(trigger) => set('trigger', trigger)}
              />
            }
            handoffs={
              <HandoffRows
                rows={draft.handoffs}
                onChange={(rows) => set('handoffs', rows)}
                verdicts={draft.verdicts.map(({ verdict }) => verdict.trim()).filter(Boolean)}
                agents={(agents.data?.agents ?? [])
                  .map(({ name }) => name)
                  .filter((name) => name !== draft.name)}
                unread={unreadChoices('agents', agents)}
              />
            }
          />
        </Writable>
        <Warnings of={warningsBeside(props.warnings, stored?.warnings)} />
        <Refusal
          title="Couldn’t save the agent"
          error={change.error}
          {...(props.onTakeTheirs ? { onTakeTheirs: takeTheirs(kept, props.onTakeTheirs) } : {})}
          onKeepMine={() => change.mutate(undefined)}
        />
        <Acts says>
          <Button type="submit" style={{ alignSelf: 'start' }} loading={change.isPending}>
            {props.label}
          </Button>
        </Acts>
      </Stack>
    </form>
  )
}

/** A new agent's prompt, to begin with. */
function StartFrom({
  presets,
  unread,
  onPrompt,
}: {
  presets: readonly { id: string; label: string; prompt: string }[]
  unread: ReturnType<typeof unreadChoices>
  onPrompt: (prompt: string) => void
}) {
  return (
    <Select
      label="Start from"
      placeholder="An empty prompt"
      data={presets.map(({ id, label }) => ({ value: id, label }))}
      {...unread}
      onChange={(id) => {
        const preset = presets.find((entry) => entry.id === id)
        if (preset) onPrompt(preset.prompt)
      }}
      clearable
    />
  )
}

/** The fields of an agent: prompt, tools, verdicts, model, limits, and where findings are written. */
import {
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
import type { ReactNode } from 'react'
import { declared, dkeys } from '../../declared-client.ts'
import { AGENT_OPTIONS, type AgentDraft, changedOptions, SHOWN_FIRST } from '../../lib/agent-form.ts'
import { type FieldErrors, faultAt, marksOf } from '../../lib/field-errors.ts'
import { useChoices } from '../../parts/choices.tsx'
import { CredentialSelect } from '../../parts/credential-select.tsx'
import { Faulty } from '../../parts/faulty.tsx'
import { Folded } from '../../parts/folded.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { SlackChannelSelect } from '../../parts/slack-channel-select.tsx'
import { ToolPolicyEditor } from '../../parts/tool-policy.tsx'
import { BoundFields } from './bound-fields.tsx'
import { VerdictRows } from './verdict-rows.tsx'

const PROMPT_MAX = 8_000

interface Props {
  draft: AgentDraft
  set: <K extends keyof AgentDraft>(field: K, value: AgentDraft[K]) => void
  /** A bearer token is stored, and kept unless typed anew. */
  tokenStored: boolean
  errors?: FieldErrors
  /** What wakes it, where that is edited here. */
  wokenBy?: ReactNode
  /** Who takes over, where that is edited here. */
  handoffs?: ReactNode
}

export function AgentFields({ draft, set, tokenStored, errors = {}, wokenBy, handoffs }: Props) {
  const servers = useChoices('MCP servers', { queryKey: dkeys.mcpServers, queryFn: declared.mcpServers })
  return (
    <Faulty errors={errors}>
      <Textarea
        label="Prompt"
        description={`Instructions for the agent. ${draft.prompt.length} of ${PROMPT_MAX} characters.`}
        value={draft.prompt}
        onChange={(e) => set('prompt', e.currentTarget.value)}
        autosize
        minRows={6}
        maxRows={24}
        maxLength={PROMPT_MAX}
        {...marksOf(errors)('prompt')}
        required
      />
      <Group grow align="flex-start" preventGrowOverflow={false}>
        {wokenBy}
        <MultiSelect
          label="MCP servers"
          description="Tools beyond reading events"
          data={[...new Set([...draft.mcp_servers, ...(servers.data ?? []).map(({ name }) => name)])]}
          {...marksOf(errors)('mcp_servers')}
          value={draft.mcp_servers}
          onChange={(value) => set('mcp_servers', value)}
          searchable
          {...servers.field}
        />
      </Group>
      {draft.mcp_servers.length > 0 && (
        <ToolPolicyEditor
          value={draft.tools}
          onChange={(tools) => set('tools', tools)}
          servers={draft.mcp_servers}
        />
      )}
      <VerdictRows
        rows={draft.verdicts}
        onChange={(rows) => set('verdicts', rows)}
        hasCheck={draft.github_writes.includes('check')}
      />
      {handoffs}
      <Checkbox
        label="Require a conclusion"
        checked={draft.concludes}
        onChange={(e) => set('concludes', e.currentTarget.checked)}
      />
      <ModelPicker
        value={{ provider: draft.provider, model: draft.model }}
        onChange={({ provider, model }) => {
          set('provider', provider)
          set('model', model)
        }}
      />
      <Folded
        changed={changedOptions(draft)}
        total={AGENT_OPTIONS.length}
        isFaulty={AGENT_OPTIONS.some((field) => faultAt(errors, field) !== undefined)}
      >
        <Stack gap="md" mt="xs">
          <Rare draft={draft} set={set} tokenStored={tokenStored} errors={errors} />
        </Stack>
      </Folded>
    </Faulty>
  )
}

/** What few agents need: the defaults of each are fit for most. */
function Rare({
  draft,
  set,
  tokenStored,
  errors = {},
}: Pick<Props, 'draft' | 'set' | 'tokenStored' | 'errors'>) {
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  return (
    <>
      <BoundFields
        draft={draft}
        set={set}
        rounds={{
          plain: agents.data?.default_max_rounds ?? 6,
          withMcp: agents.data?.default_max_rounds_with_mcp ?? 12,
          limit: agents.data?.max_rounds_limit ?? 24,
        }}
      />
      <Select
        label="Shown first"
        description="What is unusual in all readable events, or the timeline of the entity alone"
        data={Object.entries(SHOWN_FIRST).map(([value, label]) => ({ value, label }))}
        value={draft.context}
        onChange={(value) => set('context', value === 'plain' ? 'plain' : 'brief')}
        {...marksOf(errors)('context')}
        allowDeselect={false}
      />
      <Checkbox
        label="Keep observations for later runs"
        checked={draft.remembers}
        onChange={(e) => set('remembers', e.currentTarget.checked)}
      />
      <ModelPicker
        names={{ provider: 'Fallback provider', model: 'Fallback model' }}
        blank="From the settings"
        value={{ provider: draft.fallback_provider, model: draft.fallback_model }}
        onChange={({ provider, model }) => {
          set('fallback_provider', provider)
          set('fallback_model', model)
        }}
      />
      <WriteBack draft={draft} set={set} tokenStored={tokenStored} errors={errors} />
      <OnGithub draft={draft} set={set} errors={errors} />
      <SlackChannelSelect
        value={draft.slack_channel}
        onChange={(id) => set('slack_channel', id)}
        {...marksOf(errors)('slack_channel')}
      />
    </>
  )
}

/** Where each finding is posted to. */
function WriteBack({
  draft,
  set,
  tokenStored,
  errors = {},
}: Pick<Props, 'draft' | 'set' | 'tokenStored' | 'errors'>) {
  return (
    <Group grow align="flex-start" preventGrowOverflow={false}>
      <TextInput
        label="Write-back URL"
        description="Receives a POST."
        value={draft.webhook_url}
        onChange={(e) => set('webhook_url', e.currentTarget.value)}
        {...marksOf(errors)('webhook_url')}
      />
      <PasswordInput
        label="Bearer token for that address"
        description={tokenStored ? 'Stored. Leave empty to keep it' : 'Optional'}
        value={draft.webhook_token}
        onChange={(e) => set('webhook_token', e.currentTarget.value)}
        {...marksOf(errors)('webhook_token')}
        autoComplete="off"
      />
    </Group>
  )
}

/** What of each finding is written on GitHub, and with which credential. */
function OnGithub({ draft, set, errors = {} }: Pick<Props, 'draft' | 'set' | 'errors'>) {
  const put = (write: 'comment' | 'check', isOn: boolean) => {
    const others = draft.github_writes.filter((one) => one !== write)
    set('github_writes', isOn ? ([...others, write].sort().reverse() as typeof others) : others)
  }
  return (
    <Stack gap="xs">
      <CredentialSelect
        label="Credential for GitHub"
        description="Findings are written with it where the event names a repository."
        value={draft.github}
        onChange={(name) => set('github', name)}
        {...marksOf(errors)('github')}
      />
      {draft.github !== '' && (
        <Group gap="lg">
          <Checkbox
            label="Comment on the pull request or issue"
            checked={draft.github_writes.includes('comment')}
            onChange={(e) => put('comment', e.currentTarget.checked)}
          />
          <Checkbox
            label="Check of the commit"
            title="Needs the credential of a GitHub App"
            checked={draft.github_writes.includes('check')}
            onChange={(e) => put('check', e.currentTarget.checked)}
          />
        </Group>
      )}
    </Stack>
  )
}

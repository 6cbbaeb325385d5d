/** Agents: who looks first and who digs in after a handoff; or the person's own agent. */
import {
  ActionIcon,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { X } from 'lucide-react'
import { useState } from 'react'
import type { Plan, PlanAgent } from '../../../../schemas/types.ts'
import { blankFaults, marksOf } from '../../../lib/field-errors.ts'
import { withAgent } from '../../../lib/plan-edit.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import { Fold, TextBlock } from '../../../parts/fold.tsx'
import type { EditedPlan } from '../use-plan.ts'
import { Card, Entry, EntryDialog, freeKey, Problems, withoutRow } from './card.tsx'

const AGENTS_MAX = 3

export function AgentsCard(edited: EditedPlan) {
  const { plan, problems, edit } = edited
  const [open, setOpen] = useState<PlanAgent | null>(null)
  if (plan.who === 'own') return <OwnCard {...edited} />
  const put = (agent: PlanAgent) => edit((now) => withAgent(now, agent))
  return (
    <Card
      title="Agents"
      section="agents"
      problems={problems}
      {...(plan.agents.length < AGENTS_MAX
        ? {
            add: {
              label: 'Add an agent',
              onAdd: () =>
                setOpen({
                  ...NEW,
                  key: freeKey('a', plan.agents),
                  trigger: plan.agents.length === 0 ? (plan.wakes[0]?.name ?? '') : '',
                }),
            },
          }
        : {})}
    >
      {plan.agents.map((agent) => (
        <Entry
          key={agent.key}
          name={agent.name}
          where={`agents.${agent.key}`}
          problems={problems}
          {...(agent.existing ? { badge: 'here already' } : agent.optional ? { badge: 'optional' } : {})}
          sentence={agent.sentence && `${agent.sentence}.`}
          onEdit={() => setOpen(agent)}
          onRemove={() => edit((now) => ({ ...now, agents: withoutRow(now.agents, agent.key) }))}
          control={
            agent.optional && (
              <Switch
                checked={agent.enabled}
                onChange={(event) => put({ ...agent, enabled: event.currentTarget.checked })}
                aria-label={`Use ${agent.name}`}
              />
            )
          }
        >
          {agent.prompt && (
            <Fold title="Prompt">
              <TextBlock text={agent.prompt} label="Copy: Prompt" />
            </Fold>
          )}
        </Entry>
      ))}
      {open && (
        <AgentDialog
          plan={plan}
          agent={open}
          onClose={() => setOpen(null)}
          onKeep={(agent) => {
            put(agent)
            setOpen(null)
          }}
        />
      )}
    </Card>
  )
}

const NEW: PlanAgent = {
  key: '',
  existing: false,
  name: '',
  trigger: '',
  prompt: '',
  model: '',
  verdicts: [],
  handoffs: [],
  mcp_servers: [],
  sentence: '',
  optional: false,
  enabled: true,
}

function OwnCard({ plan, problems, edit }: EditedPlan) {
  const own = plan.own_agent ?? { name: '', wake: 'poll' as const, sentence: '' }
  const put = (change: Partial<typeof own>) =>
    edit((now) => ({ ...now, own_agent: { ...own, ...now.own_agent, ...change } }))
  return (
    <Card title="Your own agent" section="agents" problems={problems}>
      <Problems problems={problems} where="own_agent" />
      {own.sentence && <Text size="sm">{own.sentence}.</Text>}
      <TextInput
        label="Name"
        description="Names its key and its findings"
        value={own.name}
        onChange={(event) => put({ name: event.currentTarget.value })}
        maxLength={64}
        withAsterisk
      />
      <SegmentedControl
        value={own.wake}
        onChange={(wake) => put({ wake: wake as 'poll' | 'webhook' })}
        data={[
          { value: 'poll', label: 'Fetches firings' },
          { value: 'webhook', label: 'Receives firings' },
        ]}
        aria-label="How it gets firings"
      />
    </Card>
  )
}

interface DialogProps {
  plan: Plan
  agent: PlanAgent
  onClose: () => void
  onKeep: (agent: PlanAgent) => void
}

function AgentDialog({ plan, agent: start, onClose, onKeep }: DialogProps) {
  const kept = useDraft({ form: `plan:agent:${start.key}`, start })
  const agent = kept.value
  const set = (change: Partial<PlanAgent>) => kept.set((now) => ({ ...now, ...change }))
  const others = plan.agents.filter(({ key }) => key !== agent.key).map(({ name }) => name)
  return (
    <EntryDialog
      title={start.name ? `Agent ${start.name}` : 'Add an agent'}
      onClose={onClose}
      onCancel={kept.discard}
      onKeep={() => {
        kept.done()
        onKeep(agent)
      }}
      missing={blankFaults(agent, agent.existing ? ['name'] : ['name', 'prompt'])}
    >
      {(shown) => (
        <>
          <DraftRestored of={kept} />
          <TextInput
            label="Name"
            data-autofocus
            {...marksOf(shown)('name')}
            value={agent.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
            disabled={agent.existing}
            maxLength={60}
            withAsterisk
          />
          <Select
            label="Woken by"
            description="Optional. Without a trigger, the agent only takes over from another one."
            data={plan.wakes.map(({ name }) => name)}
            value={agent.trigger || null}
            onChange={(trigger) => set({ trigger: trigger ?? '' })}
            allowDeselect={false}
            clearable
          />
          {!agent.existing && (
            <Textarea
              label="Prompt"
              description="Instructions for the agent"
              placeholder="Find out what broke. Start with the first error, and look at what happened just before it."
              {...marksOf(shown)('prompt')}
              value={agent.prompt}
              onChange={(event) => set({ prompt: event.currentTarget.value })}
              maxLength={8_000}
              autosize
              minRows={5}
              maxRows={18}
              withAsterisk
            />
          )}
          {others.length > 0 && (
            <Handoffs agent={agent} others={others} onChange={(handoffs) => set({ handoffs })} />
          )}
        </>
      )}
    </EntryDialog>
  )
}

function Handoffs({
  agent,
  others,
  onChange,
}: {
  agent: PlanAgent
  others: readonly string[]
  onChange: (handoffs: PlanAgent['handoffs']) => void
}) {
  const { handoffs } = agent
  const put = (i: number, change: Partial<PlanAgent['handoffs'][number]>) =>
    onChange(handoffs.map((rule, j) => (j === i ? { ...rule, ...change } : rule)))
  return (
    <Stack gap="xs" role="group" aria-label="Handoffs">
      <Text size="sm" fw={500}>
        Who takes over from it
      </Text>
      {handoffs.map(({ verdict, agent: to }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has nothing of its own but its place.
        <Group key={i} gap="xs" wrap="nowrap">
          <TextInput
            aria-label="On the verdict"
            placeholder="verdict"
            value={verdict}
            onChange={(event) => put(i, { verdict: event.currentTarget.value.toLowerCase() })}
            style={{ flex: 1, minWidth: 0 }}
          />
          <Select
            aria-label="To the agent"
            placeholder="agent"
            data={[...others]}
            value={to || null}
            onChange={(next) => put(i, { agent: next ?? '' })}
            style={{ flex: 1, minWidth: 0 }}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={() => onChange(handoffs.filter((_, j) => j !== i))}
            aria-label={`Take handoff ${i + 1} out`}
          >
            <X size={15} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => onChange([...handoffs, { verdict: '', agent: others[0] ?? '' }])}
        >
          Add a handoff
        </Button>
      </Group>
    </Stack>
  )
}

/** A draft: how its plan comes about, then the plan. */
import { Button, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import { Check, X } from 'lucide-react'
import { Suspense } from 'react'
import type { Setup, SetupPlanning } from '../../../schemas/types.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { useChange } from '../../lib/use-change.ts'
import { LoadingRows } from '../../parts/states.tsx'
import { setups } from '../../setup-client.ts'
import { PlanEditor } from './plan-editor.tsx'

const NotPlanned = lazyFrom(() => import('./not-planned.tsx'))('NotPlanned')

export function DraftStep({ setup }: { setup: Setup }) {
  const { planning, plan } = setup
  if (!planning) return null
  const isRunning = planning.state === 'running'
  return (
    <Stack mt="md">
      {setup.goal !== (plan?.name || setup.name) && (
        <Text size="lg" style={{ overflowWrap: 'anywhere' }}>
          {setup.goal}
        </Text>
      )}
      {isRunning && <Progress setup={setup} planning={planning} />}
      {(planning.state === 'failed' || planning.state === 'interrupted') && (
        <Suspense fallback={<LoadingRows rows={2} />}>
          <NotPlanned setup={setup} planning={planning}>
            {planning.steps.length > 0 && <StepList planning={planning} />}
          </NotPlanned>
        </Suspense>
      )}
      {plan && !isRunning && <PlanEditor key={keyOf(planning)} setup={setup} plan={plan} />}
    </Stack>
  )
}

/** Another planning is another plan: what was typed into the one before is none of it. */
const keyOf = ({ steps, instruction }: SetupPlanning): string => `${steps[0]?.at} ${instruction}`

function Progress({ setup, planning }: { setup: Setup; planning: SetupPlanning }) {
  const stop = useChange(() => setups.stop(setup.project), { failed: 'Couldn’t stop drafting' })
  return (
    <Paper withBorder p="lg" radius="md">
      <Stack>
        <Group justify="space-between">
          <Title order={2}>
            {planning.instruction ? 'The plan is being changed' : 'The plan is being written'}
          </Title>
          <Button variant="default" size="xs" loading={stop.isPending} onClick={() => stop.mutate(undefined)}>
            Stop
          </Button>
        </Group>
        {planning.instruction && <Text size="sm">“{planning.instruction}”</Text>}
        <StepList planning={planning} />
        <Text size="sm" c="dimmed">
          This takes about a minute. You can leave: the draft is under Projects.
        </Text>
      </Stack>
    </Paper>
  )
}

function StepList({ planning: { steps } }: { planning: SetupPlanning }) {
  return (
    <ol className="setup-planning" aria-label="Planning" aria-live="polite">
      {steps.length === 0 && (
        <li>
          <Loader size={14} aria-hidden /> Starting
        </li>
      )}
      {steps.map(({ text, state, at }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sub-steps are only added, behind the others.
        <li key={`${at} ${i}`} data-state={state}>
          {state === 'running' ? (
            <Loader role="img" size={14} aria-label="In progress" />
          ) : state === 'done' ? (
            <Check size={15} aria-label="done" />
          ) : (
            <X size={15} aria-label="stopped" />
          )}
          <span>{text}</span>
        </li>
      ))}
    </ol>
  )
}

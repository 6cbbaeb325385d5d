/** A draft: how its plan comes about, then the plan. */
import { Alert, Button, Group, Loader, Modal, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { Check, CircleAlert, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Setup, SetupPlanning } from '../../../schemas/types.ts'
import { useChange } from '../../lib/use-change.ts'
import { setups } from '../../setup-client.ts'
import { PlanEditor } from './plan-editor.tsx'

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
        <NotPlanned setup={setup} planning={planning} />
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
          This takes about a minute. You can leave this page: the draft is listed under Projects.
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

function NotPlanned({ setup, planning }: { setup: Setup; planning: SetupPlanning }) {
  const isFailed = planning.state === 'failed'
  const instruction = setup.plan && planning.instruction
  return (
    <Paper withBorder p="lg" radius="md">
      <Stack>
        <Alert
          color={isFailed ? 'red' : 'yellow'}
          icon={<CircleAlert size={18} aria-hidden />}
          title={
            !isFailed
              ? 'Planning was interrupted'
              : instruction
                ? 'The plan could not be changed'
                : 'The plan could not be written'
          }
          role="status"
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {planning.error ?? 'Continue when you are ready.'}
          </Text>
          {planning.no_provider && (
            <Button component={Link} to="/settings?tab=providers" size="xs" mt="sm" variant="default">
              Add a model provider
            </Button>
          )}
        </Alert>
        {planning.steps.length > 0 && <StepList planning={planning} />}
        {instruction ? <ChangeAgain setup={setup} instruction={instruction} /> : <PlanAgain setup={setup} />}
      </Stack>
    </Paper>
  )
}

/** Sends the same instruction: the plan that is there stays what is changed. */
function ChangeAgain({ setup, instruction }: { setup: Setup; instruction: string }) {
  const again = useChange(() => setups.replan(setup.project, { instruction }, setup.version), {
    failed: 'Couldn’t change the plan',
  })
  return (
    <Stack gap="sm" align="start">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        “{instruction}”
      </Text>
      <Button loading={again.isPending} onClick={() => again.mutate(undefined)}>
        Change it again
      </Button>
    </Stack>
  )
}

function PlanAgain({ setup }: { setup: Setup }) {
  const [goal, setGoal] = useState(setup.goal)
  const [isAsking, setAsking] = useState(false)
  const again = useChange(() => setups.replan(setup.project, { goal: goal.trim() }, setup.version), {
    failed: 'Couldn’t draft a plan',
  })
  const byHand = useChange(() => setups.save(setup.project, EMPTY, setup.version), {
    failed: 'Couldn’t save the plan',
  })
  return (
    <>
      <Textarea
        label="Goal"
        value={goal}
        onChange={(event) => setGoal(event.currentTarget.value.replace(/[\r\n]+/g, ' '))}
        maxLength={200}
        autosize
      />
      <Group>
        <Button
          loading={again.isPending}
          disabled={!goal.trim()}
          onClick={() => (setup.plan ? setAsking(true) : again.mutate(undefined))}
        >
          {setup.plan ? 'Plan it again…' : 'Plan it again'}
        </Button>
        {!setup.plan && (
          <Button variant="default" loading={byHand.isPending} onClick={() => byHand.mutate(undefined)}>
            Write it by hand
          </Button>
        )}
      </Group>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title="Plan it again?" centered>
        <Text size="sm">
          A new plan takes the place of this one. What was changed in this one by hand is lost.
        </Text>
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={() => setAsking(false)}>
            Cancel
          </Button>
          <Button
            color="red"
            loading={again.isPending}
            onClick={() => again.mutate(undefined, { onSettled: () => setAsking(false) })}
          >
            Plan it again
          </Button>
        </Group>
      </Modal>
    </>
  )
}

const EMPTY = {} as Parameters<typeof setups.save>[1]

/** A plan that could not be written or changed, and what can be done. */
import { Alert, Button, Group, Modal, Paper, Stack, Text, Textarea } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { Setup, SetupPlanning } from '../../../schemas/types.ts'
import { useChange } from '../../lib/use-change.ts'
import { setups } from '../../setup-client.ts'

/** @param children what was done until then */
export function NotPlanned({
  setup,
  planning,
  children,
}: {
  setup: Setup
  planning: SetupPlanning
  children: ReactNode
}) {
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
        {children}
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

/** After a trigger is saved: whom it tells is wired and subscribed, one by one; secrets are shown this once. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { declared } from '../../declared-client.ts'
import { graphApi } from '../../graph-client.ts'
import { addressOf, wakeOperations } from '../../lib/subscriptions.ts'
import type { TriggerDraft } from '../../lib/trigger-draft.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { work } from '../../trigger-client.ts'

export interface Outcome {
  /** New secrets by what was typed; an address that was subscribed already has none. */
  secrets: { address: string; secret: string }[]
  /** What could not be done, a sentence each. */
  faults: string[]
}

/** Wires agents and subscribes addresses; what fails is told and does not keep the rest from being done. */
export async function tellSubscribers(trigger: string, draft: TriggerDraft): Promise<Outcome> {
  const told: Outcome = { secrets: [], faults: [] }
  if (draft.wakes !== null) {
    try {
      const { agents } = await declared.agents()
      const operations = wakeOperations(trigger, draft.wakes, agents)
      if (operations.length) await graphApi.apply({ operations })
    } catch (error) {
      told.faults.push(`Couldn’t notify ${draft.wakes.join(', ')}: ${messageOf(error)}`)
    }
  }
  for (const address of draft.addresses) {
    try {
      const { secret } = await work.subscribe({ trigger, url: addressOf(address) })
      if (secret) told.secrets.push({ address, secret })
    } catch (error) {
      told.faults.push(`Couldn’t subscribe ${address}: ${messageOf(error)}`)
    }
  }
  return told
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Nothing where there is nothing to say. */
export const hasWords = ({ secrets, faults }: Outcome): boolean => secrets.length + faults.length > 0

export function OutcomeDialog({
  trigger,
  told,
  onClose,
}: {
  trigger: string
  told: Outcome
  onClose: () => void
}) {
  const { secrets, faults } = told
  return (
    <Modal opened onClose={onClose} title={`${trigger} is saved`} centered size="lg">
      <Stack>
        {faults.length > 0 && (
          <Alert color="red" role="alert" title="Not everyone is notified">
            {faults.map((fault) => (
              <Text size="sm" key={fault} style={{ overflowWrap: 'anywhere' }}>
                {fault}
              </Text>
            ))}
            <Text size="sm">Add them under Subscriptions, or on the agent’s page.</Text>
          </Alert>
        )}
        {secrets.length > 0 && (
          <Alert color="yellow" title="Shown this once">
            Posts are signed with these secrets. Copy them now.
          </Alert>
        )}
        {secrets.map(({ address, secret }) => (
          <div key={address}>
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {address}
            </Text>
            <CopyBlock value={secret} label={`Copy the secret of ${address}`} />
          </div>
        ))}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

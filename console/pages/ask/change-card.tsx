/** What the assistant proposes, as a card: why, what it would change, and what a person makes of it. */
import { Button, Group, Paper, PasswordInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import type { AskProposal, ChangeSetCreate } from '../../../schemas/types.ts'
import { ask } from '../../ask-client.ts'
import { CARD_WORDS, editorOf, madePath } from '../../lib/proposed.ts'
import { useChange } from '../../lib/use-change.ts'
import { FoldedText } from '../../parts/fold.tsx'
import { Mark } from '../../parts/mark.tsx'
import { PlanView } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { applyCard } from './apply-card.ts'

interface Props {
  proposal: AskProposal
  /** What became of it; undefined: nothing yet. */
  applied: string | undefined
  isAdmin: boolean
  onApplied(said: string): Promise<void>
}

export function ChangeCard({ proposal, applied, isAdmin, onApplied }: Props) {
  const { kind, name, reasoning, needs, plan, sentence, body } = proposal
  const [typed, setTyped] = useState<Record<string, string>>({})
  const apply = useChange(
    async () => {
      const said = await applyCard(proposal, typed)
      await onApplied(said)
    },
    { said: () => `${CARD_WORDS[kind]} ${name} is applied; undo it under Changes`, quiet: true },
  )
  const isMissing = needs.some((field) => !typed[field]?.trim())
  return (
    <Paper
      withBorder
      p="md"
      radius="md"
      component="section"
      aria-label={`Proposal: ${CARD_WORDS[kind]} ${name}`}
    >
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Text fw={650} style={{ overflowWrap: 'anywhere' }}>
            {CARD_WORDS[kind]} {name}
          </Text>
          <Mark tone={applied === undefined ? 'busy' : 'good'}>
            {applied === undefined ? 'proposed' : 'applied'}
          </Mark>
        </Group>
        {sentence && <Text size="sm">{sentence}.</Text>}
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {reasoning}
        </Text>
        {plan ? (
          <PlanView plan={plan} />
        ) : (
          applied === undefined && (
            <Text size="sm">It needs what only you can type; it is checked when you apply it.</Text>
          )
        )}
        <FoldedText title="As it would be written" text={JSON.stringify(shown(body), null, 2)} />
        {applied === undefined && isAdmin && needs.length > 0 && (
          <Stack gap="xs">
            {needs.map((field) => (
              <PasswordInput
                key={field}
                label={field}
                description="Never sent to the model"
                value={typed[field] ?? ''}
                onChange={(event) => setTyped({ ...typed, [field]: event.currentTarget.value })}
                autoComplete="off"
              />
            ))}
          </Stack>
        )}
        <Refusal error={apply.error} title="Couldn’t apply the change" />
        {applied !== undefined ? (
          <Group>
            <Button component={Link} to={madePath(proposal, applied)} variant="default" size="xs">
              Open {name}
            </Button>
            <Button component={Link} to="/changes?tab=history" variant="subtle" size="xs">
              Change history
            </Button>
          </Group>
        ) : isAdmin ? (
          <Group>
            <Button loading={apply.isPending} disabled={isMissing} onClick={() => apply.mutate(undefined)}>
              Apply
            </Button>
            <OpenInEditor proposal={proposal} />
          </Group>
        ) : (
          <LeaveToOthers proposal={proposal} />
        )}
      </Stack>
    </Paper>
  )
}

/** The base is the service's own, and no field of the object. */
function shown(body: AskProposal['body']): unknown {
  const { base: _base, ...rest } = body
  return rest
}

function OpenInEditor({ proposal }: { proposal: AskProposal }) {
  const editor = editorOf(proposal)
  if (!editor) return null
  return (
    <Button component={Link} to={editor.to} state={editor.state} variant="default">
      Open in editor
    </Button>
  )
}

/** Who may not apply it leaves it to somebody who may. */
function LeaveToOthers({ proposal }: { proposal: AskProposal }) {
  const { operations } = proposal.body
  const leave = useChange(
    () =>
      ask.propose(
        operations as ChangeSetCreate['operations'],
        proposal.reasoning.replace(/\s+/g, ' ').slice(0, 500),
      ),
    {
      said: () => 'Added to Proposals',
      quiet: true,
    },
  )
  if (!operations)
    return (
      <Text size="sm" c="dimmed">
        Applying it needs scope admin.
      </Text>
    )
  return (
    <>
      <Refusal error={leave.error} title="Couldn’t propose the change" />
      <Group>
        <Button
          variant="default"
          loading={leave.isPending}
          disabled={leave.isSuccess}
          onClick={() => leave.mutate(undefined)}
        >
          {leave.isSuccess ? 'Under Proposals' : 'Propose to an admin'}
        </Button>
      </Group>
    </>
  )
}

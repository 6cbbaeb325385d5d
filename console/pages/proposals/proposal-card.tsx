/** One proposal: who wants what and why, what it would do, and the decision. */
import { Button, Group, Modal, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { callerText } from '../../../schemas/caller-words.ts'
import type { Proposal } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DialogFoot } from '../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Mark, type Tone } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { PlanBacktestSection } from '../../parts/plan-backtest.tsx'
import { PlanView } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { When } from '../../parts/when.tsx'

const TONES: Record<Proposal['state'], Tone> = {
  open: 'busy',
  approved: 'good',
  declined: 'bad',
  withdrawn: 'quiet',
}

export function ProposalCard({ proposal }: { proposal: Proposal }) {
  const [declining, setDeclining] = useState(false)
  const approve = useChange(() => declared.approveProposal(proposal.id), {
    said: () => 'Applied. Undo is under Changes',
    quiet: true,
  })
  return (
    <Paper withBorder p="md" radius="md" component="article" aria-label={proposal.summary}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <div style={{ minWidth: 0 }}>
            <Title order={2} style={{ overflowWrap: 'anywhere' }}>
              {proposal.why || proposal.summary}
            </Title>
            <Text size="xs" c="dimmed" component="div">
              <When at={proposal.made_at} /> · {callerText(proposal.proposer)} · {proposal.origin}
              {proposal.why && ` · ${proposal.summary}`}
            </Text>
          </div>
          <Mark tone={TONES[proposal.state]}>{proposal.state}</Mark>
        </Group>
        <PlanView plan={proposal.plan} />
        {proposal.state === 'open' && <PlanBacktestSection change={{ proposal: proposal.id }} />}
        <Refusal error={approve.error} title="Couldn’t approve the proposal" />
        {proposal.state === 'open' ? (
          <Acts says>
            <Group>
              <Button loading={approve.isPending} onClick={() => approve.mutate(undefined)}>
                Approve
              </Button>
              <Button variant="default" onClick={() => setDeclining(true)}>
                Decline…
              </Button>
            </Group>
          </Acts>
        ) : (
          <Decision proposal={proposal} />
        )}
      </Stack>
      {declining && <Decline proposal={proposal} onClose={() => setDeclining(false)} />}
    </Paper>
  )
}

function Decision({ proposal }: { proposal: Proposal }) {
  return (
    <Text size="sm" component="div">
      {proposal.state} by {proposal.decided_by} <When at={proposal.decided_at} />
      {proposal.reason && `: ${proposal.reason}`}
      {proposal.change_set !== null && (
        <>
          {' '}
          as <Link to="/changes?tab=history">change-set {proposal.change_set}</Link>
        </>
      )}
    </Text>
  )
}

function Decline({ proposal, onClose }: { proposal: Proposal; onClose: () => void }) {
  const kept = useDraft({ form: `decline:${proposal.id}`, start: '' })
  const { value: reason, set: setReason } = kept
  const decline = useChange(() => declared.declineProposal(proposal.id, reason.trim()), {
    failed: 'Couldn’t decline the proposal',
    said: () => 'Declined; nothing was changed',
    onDone: () => {
      kept.done()
      onClose()
    },
  })
  return (
    <Modal opened onClose={onClose} title="Decline this proposal?" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          decline.mutate(undefined)
        }}
      >
        <Stack>
          <DraftRestored of={kept} />
          <TextInput
            label="Reason"
            description="Shown to whoever proposed the change"
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            maxLength={500}
            data-autofocus
          />
          <DialogFoot
            onClose={onClose}
            cancel="Keep it open"
            word="Decline"
            color="red"
            isSending={decline.isPending}
          />
        </Stack>
      </form>
    </Modal>
  )
}

/** `svc proposals`: changes that wait for a person, and the decision about them. */
import { callerText } from '../../../schemas/caller-words.ts'
import type { Proposal } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { planText } from '../plan-text.ts'
import { type Column, escapeLine, type Io } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, verb } from '../verbs.ts'

const PROPOSALS: Column<Proposal>[] = [
  { title: 'ID', cell: (proposal) => proposal.id },
  { title: 'WHEN', cell: (proposal) => proposal.made_at },
  { title: 'WHO', cell: (proposal) => callerText(proposal.proposer) },
  { title: 'WHAT', cell: (proposal) => proposal.summary },
  { title: 'WHY', cell: (proposal) => proposal.why },
]

/** The command and its subcommands. */
export const proposalsCommand = noun('proposals', 'Show what was proposed, approve or decline it', {
  list: verb({
    does: 'List proposals, newest first',
    call: calls.listProposals,
    options: [
      ['--state <state>', 'open, approved, declined or withdrawn', 'open'],
      ['--limit <n>', 'how many', '30'],
    ],
    tell: (io, { proposals }, { flags }: GivenWords<Flags & { state: string }>) =>
      rows(PROPOSALS, `no proposal is ${flags.state}`)(io, proposals),
  }),
  show: verb({
    does: 'Show one proposal with its fields',
    call: calls.getProposal,
    tell: (io, proposal) => tellProposal(io, proposal, planText(io, proposal.plan)),
  }),
  approve: verb({
    does: 'Write exactly what was planned',
    call: calls.approveProposal,
    tell: (io, proposal) => tellProposal(io, proposal),
  }),
  decline: verb({
    does: 'Decline it; nothing is written',
    call: calls.declineProposal,
    options: [['--reason <text>', 'why, for who proposed it']],
    input: ({ words: [id = ''], flags }: GivenWords<Flags & { reason?: string }>) => ({
      id,
      body: flags.reason ? { reason: flags.reason } : {},
    }),
    tell: (io, proposal) => tellProposal(io, proposal),
  }),
  withdraw: verb({
    does: 'Take back what you proposed',
    call: calls.withdrawProposal,
    tell: (io, proposal) => tellProposal(io, proposal),
  }),
})

function tellProposal(io: Io, proposal: Proposal, plan = ''): void {
  const { id, state, made_at, proposer, origin, reason, change_set } = proposal
  const why = proposal.why ? `: ${escapeLine(proposal.why)}` : ''
  io.out(`${id}  ${state}  ${made_at}  ${escapeLine(callerText(proposer))} (${origin})${why}\n${plan}`)
  if (reason) io.out(`declined because: ${escapeLine(reason)}\n`)
  if (change_set !== null) io.err(`written as change-set ${change_set}\n`)
}

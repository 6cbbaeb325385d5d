/** `svc proposals`: changes that wait for a person, and the decision about them. */
import { Command } from 'commander'
import type { Proposal, ProposalsResult } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { parseCount } from '../labels.ts'
import { planText } from '../plan-text.ts'
import { escapeLine, type Io, printJson, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag

/** The command and its subcommands. */
export function proposalsCommand(io: Io): Command {
  const group = new Command('proposals').description('Show what was proposed, approve or decline it')
  group.addCommand(
    clientCommand('list', 'List proposals, newest first')
      .option('--state <state>', 'open, approved, declined or withdrawn', 'open')
      .option('--limit <n>', 'how many', '30')
      .action((flags: Flags & { state: string; limit: string }) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    clientCommand('show', 'Show one proposal with its fields')
      .argument('<id>')
      .action((id: string, flags: Flags) => one(io, 'GET', id, '', flags)),
  )
  group.addCommand(
    clientCommand('approve', 'Write exactly what was planned')
      .argument('<id>')
      .action((id: string, flags: Flags) => one(io, 'POST', id, '/approve', flags)),
  )
  group.addCommand(
    clientCommand('decline', 'Decline it; nothing is written')
      .argument('<id>')
      .option('--reason <text>', 'why, for who proposed it')
      .action((id: string, flags: Flags & { reason?: string }) =>
        one(io, 'POST', id, '/decline', flags, flags.reason ? { reason: flags.reason } : {}),
      ),
  )
  group.addCommand(
    clientCommand('withdraw', 'Take back what you proposed')
      .argument('<id>')
      .action((id: string, flags: Flags) => one(io, 'POST', id, '/withdraw', flags)),
  )
  return group
}

async function list(io: Io, flags: Flags & { state: string; limit: string }): Promise<void> {
  const query = new URLSearchParams({
    state: flags.state,
    limit: String(parseCount(flags.limit, '--limit')),
  })
  const { text } = await clientOf(io, flags).call(`/api/proposals?${query}`)
  if (flags.json) return printJson(io, text)
  const { proposals } = JSON.parse(text) as ProposalsResult
  if (proposals.length === 0) return void io.out(`no proposal is ${flags.state}\n`)
  io.out(
    table(
      io,
      [
        { title: 'ID', cell: (proposal: Proposal) => proposal.id },
        { title: 'WHEN', cell: (proposal) => proposal.made_at },
        { title: 'WHO', cell: (proposal) => proposal.proposer },
        { title: 'WHAT', cell: (proposal) => proposal.summary },
        { title: 'WHY', cell: (proposal) => proposal.why },
      ],
      proposals,
    ),
  )
}

async function one(
  io: Io,
  method: 'GET' | 'POST',
  id: string,
  how: '' | '/approve' | '/decline' | '/withdraw',
  flags: Flags,
  json?: Record<string, unknown>,
): Promise<void> {
  const { text } = await clientOf(io, flags).call(`/api/proposals/${encodeURIComponent(id)}${how}`, {
    method,
    ...(json ? { json } : {}),
  })
  if (flags.json) return printJson(io, text)
  const proposal = JSON.parse(text) as Proposal
  const why = proposal.why ? `: ${escapeLine(proposal.why)}` : ''
  io.out(
    `${proposal.id}  ${proposal.state}  ${proposal.made_at}  ${escapeLine(proposal.proposer)} (${proposal.origin})${why}\n`,
  )
  if (how === '') io.out(planText(io, proposal.plan))
  if (proposal.reason) io.out(`declined because: ${escapeLine(proposal.reason)}\n`)
  if (proposal.change_set !== null) io.err(`written as change-set ${proposal.change_set}\n`)
}

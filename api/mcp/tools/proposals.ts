/** The tools that change what is declared: propose it to a person, or with scope admin apply it. */
import type {
  ChangePlan,
  ChangeSet,
  Proposal,
  ToolApplyChange,
  ToolApplyChangeResult,
  ToolGetProposal,
  ToolGetProposalResult,
  ToolProposeChange,
  ToolProposeChangeResult,
  ToolUndoChange,
  ToolUndoChangeResult,
  ToolWithdrawProposal,
  ToolWithdrawProposalResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { cutTo, PAGE_TOKENS, pageOf, tokensOf } from '../paging.ts'
import { adds, type Context, defineTool, READS } from '../tool.ts'

type Shown = ToolProposeChangeResult

const PROPOSAL = { id: 'proposal_id', proposal: 'proposal_id' }

export const proposeChange = defineTool<ToolProposeChange, ToolProposeChangeResult>({
  name: 'propose_change',
  title: 'Propose a change',
  description:
    'Plans a change and leaves it to a person: nothing is written until one approves. get_part has the form of each spec.',
  scope: 'read',
  ofProject: false,
  hints: adds(),
  async run(change, context) {
    const content = await propose(change, context)
    return { text: proposalText(content), content }
  },
})

export const getProposal = defineTool<ToolGetProposal, ToolGetProposalResult>({
  name: 'get_proposal',
  title: 'Read a proposal',
  description:
    'Whether a proposal is open, approved, declined (and why) or withdrawn, and what it would change.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  aliases: PROPOSAL,
  async run({ proposal_id: id }, { daemon, signal }) {
    const content = shown(await daemon.ask(calls.getProposal, { id }, signal))
    return { text: proposalText(content), content }
  },
})

export const withdrawProposal = defineTool<ToolWithdrawProposal, ToolWithdrawProposalResult>({
  name: 'withdraw_proposal',
  title: 'Withdraw a proposal',
  description: 'Takes back a proposal that you made and that nobody has decided.',
  scope: 'read',
  ofProject: false,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  aliases: PROPOSAL,
  async run({ proposal_id: id }, { daemon, signal }) {
    const content = shown(await daemon.ask(calls.withdrawProposal, { id }, signal))
    return { text: proposalText(content), content }
  },
})

export const applyChange = defineTool<ToolApplyChange, ToolApplyChangeResult>({
  name: 'apply_change',
  title: 'Apply a change',
  description:
    'Writes operations as propose_change takes them, now, as one change-set; undo_change takes it back. Only where a person asked for just this: else propose_change.',
  scope: 'admin',
  ofProject: false,
  hints: adds({ destructiveHint: true }),
  async run({ dry_run, ...change }, context) {
    if (dry_run) {
      const made = await propose(change, context)
      const { proposal_id, changes, more, warnings } = made
      return { text: proposalText(made), content: { change_set: null, proposal_id, changes, more, warnings } }
    }
    const { change_set, plan } = await context.daemon.ask(
      calls.applyChangeSet,
      { body: change },
      context.signal,
    )
    const fitted = withinBudget(plan)
    return {
      text:
        change_set === null
          ? `nothing changed${warned(fitted.warnings)}`
          : `written as change-set ${change_set}\n${listText(fitted)}`,
      content: { change_set, proposal_id: null, ...fitted },
    }
  },
})

export const undoChange = defineTool<ToolUndoChange, ToolUndoChangeResult>({
  name: 'undo_change',
  title: 'Undo a change',
  description: 'Takes back a change-set by a new one; later changes stay. Absent: lists the newest.',
  scope: 'admin',
  ofProject: false,
  hints: adds({ destructiveHint: true }),
  async run({ change_set: id }, { daemon, signal }) {
    if (id === undefined) {
      const { change_sets: newest } = await daemon.ask(calls.listChangeSets, { limit: NEWEST }, signal)
      const { entries } = pageOf(newest.map(listedChange), undefined)
      const lines = entries.map(
        (one) =>
          `${one.change_set} ${one.at} by ${one.actor}: ${one.summary}${one.undone_by === null ? '' : ` (undone by ${one.undone_by})`}`,
      )
      return {
        text: lines.join('\n') || 'nothing was changed yet',
        content: { change_set: null, changes: [], more: 0, warnings: [], newest: entries },
      }
    }
    const { change_set, plan } = await daemon.ask(calls.undoChangeSet, { id, body: {} }, signal)
    const fitted = withinBudget(plan)
    const done = change_set === null ? 'nothing changed' : `undone by change-set ${change_set}`
    return {
      text: `change-set ${id}: ${done}\n${listText(fitted)}`.trim(),
      content: { change_set, ...fitted, newest: [] },
    }
  },
})

const NEWEST = 20

const listedChange = ({ id, at, actor, summary, undone_by }: ChangeSet) => ({
  change_set: id,
  at,
  actor,
  summary: cutTo(summary, SUMMARY_TOKENS).text,
  undone_by,
})

/** Of one in a list. */
const SUMMARY_TOKENS = 100

/** Plans a change and keeps it for a person. @throws DaemonError */
export async function propose(change: ToolProposeChange, { daemon, signal }: Context): Promise<Shown> {
  return shown(await daemon.ask(calls.propose, { body: change }, signal))
}

function shown(proposal: Proposal): Shown {
  const { id, state, summary, why, proposer, made_at, decided_by, reason, change_set, plan } = proposal
  return {
    proposal_id: id,
    state,
    summary,
    why,
    proposer,
    made_at,
    decided_by,
    reason,
    change_set,
    ...withinBudget(plan),
  }
}

/** As many changes as the budget holds, and what the plan warns of. */
function withinBudget(plan: ChangePlan): Pick<Shown, 'changes' | 'more' | 'warnings'> {
  const all = plan.changes
    .filter(({ action }) => action !== 'none')
    .map(({ action, kind, name, fields }) => ({ action, kind, name, fields: fields.map(({ path }) => path) }))
  const changes: Shown['changes'] = []
  let tokens = 0
  for (const one of all) {
    tokens += tokensOf(JSON.stringify(one))
    if (tokens > PAGE_TOKENS && changes.length > 0) break
    changes.push(one)
  }
  return {
    changes,
    more: all.length - changes.length,
    warnings: (plan.warnings ?? []).slice(0, WARNINGS_MAX),
  }
}

const WARNINGS_MAX = 20

/** Warnings as lines of their own, behind what was done. */
export const warned = (warnings: readonly string[] = []): string =>
  warnings.map((one) => `\nwarning: ${one}`).join('')

const listText = ({ changes, more, warnings }: Pick<Shown, 'changes' | 'more' | 'warnings'>): string =>
  changes
    .map(
      ({ action, kind, name, fields }) =>
        `${action} ${kind} ${name}${fields.length ? `: ${fields.join(', ')}` : ''}`,
    )
    .join('\n') +
  (more > 0 ? `\nand ${more} more` : '') +
  warned(warnings)

/** What a proposal would do, and what is to be done about it. */
export function proposalText(one: Shown): string {
  const decided = {
    open: 'nothing is written; a person decides on the Proposals page or with svc proposals',
    approved: `approved by ${one.decided_by}, written as change-set ${one.change_set}`,
    declined: `declined by ${one.decided_by}${one.reason ? `: ${one.reason}` : ''}`,
    withdrawn: `withdrawn by ${one.decided_by}`,
  }[one.state as Proposal['state']]
  return `proposal ${one.proposal_id} is ${one.state}: ${one.summary}\n${decided}\n${listText(one)}`
}

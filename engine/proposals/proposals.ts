/**
 * Changes that are proposed and not made: planned like any change-set, kept, and written when a person
 * approves. What is written is what was planned: where that is no longer the same, approving is refused.
 */
import { randomBytes } from 'node:crypto'
import type {
  ChangePlan,
  Operation,
  Proposal,
  ProposalCreate,
  ProposalsResult,
  TriggerDefinition,
} from '../../schemas/types.ts'
import { maskAddresses } from '../address-secrets.ts'
import type { Edit } from '../changes/edit.ts'
import type { Declared } from '../declared/declared.ts'
import { stageOperation } from '../declared/operations.ts'
import type { WriteBy } from '../declared/write.ts'
import { fail, SvcError } from '../errors.ts'
import { acceptedBy, advance, firstSnapshot, recordCreated } from '../lifecycle/advance.ts'
import type { Secrets } from '../secrets.ts'
import { type ProposalRow, proposalQueries } from './queries.ts'

/** So that a credential that may only read cannot fill the disk. */
const OPEN_PER_CREDENTIAL = 50
const OPEN_IN_ALL = 500
const LISTED_MAX = 100

export interface ProposalCalls {
  /** Plans and keeps a change; nothing of it is written. @throws SvcError as applying it would; too_many */
  propose(body: ProposalCreate, by: WriteBy): Promise<Proposal>
  listProposals(filter: {
    state?: Proposal['state'] | undefined
    before?: string | undefined
    limit: number
  }): Promise<ProposalsResult>
  /** @throws SvcError not_found */
  getProposal(id: string): Promise<Proposal>
  /** Writes exactly what was planned. @throws SvcError not_found; wrong_state; conflict when it would be another change now */
  approveProposal(id: string, by: WriteBy): Promise<Proposal>
  /** @throws SvcError not_found; wrong_state */
  declineProposal(id: string, reason: string, by: WriteBy): Promise<Proposal>
  /** @param own only one that this caller proposed. @throws SvcError not_found; wrong_state; forbidden */
  withdrawProposal(id: string, own: boolean, by: WriteBy): Promise<Proposal>
}

export function proposalCalls(declared: Declared): ProposalCalls {
  const { store, clock, changes, secrets } = declared
  const queries = proposalQueries(store.db)
  const require = (id: string): ProposalRow =>
    queries.byId(id) ?? fail('not_found', `no proposal has the id ${id}`)

  const stage = (operations: readonly Operation[], base: number) => (edit: Edit) => {
    operations.forEach((operation, i) => {
      stageOperation(declared, edit, operation, base, `operations[${i}]`)
    })
    return edit
  }

  function decide(id: string, event: 'approve' | 'decline' | 'withdraw', by: WriteBy): void {
    const at = clock.now()
    advance(store.db, { kind: 'proposal', id, name: id }, event, by.caller, at)
    queries.decide(id, at, by.caller.name)
  }

  return {
    propose: async ({ operations, why }, by) =>
      store.tx(() => {
        refuseTooMany(queries.openOf(by.caller.id), queries.open())
        const base = changes.version()
        const { plan, result: edit } = changes.commit(by, stage(operations, base), true)
        const wanted = onlyChanges(plan)
        if (wanted.changes.length === 0)
          fail('invalid', 'operations: they change nothing', { field: 'operations' })
        const id = `prop_${randomBytes(8).toString('hex')}`
        queries.insert({
          id,
          made_at: clock.now(),
          proposer: by.caller.name,
          proposer_id: by.caller.id,
          origin: by.origin,
          why: why ?? by.why ?? '',
          summary: summaryOf(wanted),
          base,
          operations: secrets.seal(JSON.stringify(operations), `proposals/${id}/operations`),
          plan: JSON.stringify(wanted),
          triggers: JSON.stringify(triggersOf(wanted, edit)),
          snapshot: firstSnapshot('proposal'),
        })
        recordCreated(store.db, 'proposal', id, by.caller, clock.now())
        return present(require(id))
      }),

    listProposals: async ({ state, before, limit }) => {
      const from = before === undefined ? Number.MAX_SAFE_INTEGER : require(before).seq
      const size = Math.min(LISTED_MAX, Math.max(1, limit))
      const rows = queries.list(state ?? null, from, size + 1)
      const shown = rows.slice(0, size)
      return {
        proposals: shown.map(present),
        next_before: rows.length > size ? shown.at(-1)!.id : null,
        open: queries.open(),
      }
    },

    getProposal: async (id) => present(require(id)),

    approveProposal: async (id, by) =>
      store.tx(() => {
        const row = require(id)
        decide(id, 'approve', by)
        const operations = operationsOf(row, secrets)
        const why = [row.why, `proposed by ${row.proposer}`].filter(Boolean).join('; ')
        const { plan, changeSet } = changes.commit(
          { ...by, origin: row.origin, why },
          stage(operations, row.base),
        )
        if (JSON.stringify(maskAddresses(onlyChanges(plan))) !== JSON.stringify(shownPlan(row)))
          fail(
            'conflict',
            `what proposal ${id} would change is no longer what was planned: others changed it since version ${row.base}; propose it again`,
          )
        queries.wrote(id, changeSet)
        return present(require(id))
      }),

    declineProposal: async (id, reason, by) =>
      store.tx(() => {
        require(id)
        decide(id, 'decline', by)
        queries.because(id, reason.trim() || null)
        return present(require(id))
      }),

    withdrawProposal: async (id, own, by) =>
      store.tx(() => {
        const row = require(id)
        if (own && row.proposer_id !== by.caller.id)
          fail('forbidden', 'another credential proposed this; one with scope admin declines it')
        decide(id, 'withdraw', by)
        return present(require(id))
      }),
  }
}

function refuseTooMany(ofCredential: number, inAll: number): void {
  if (ofCredential >= OPEN_PER_CREDENTIAL)
    fail('too_many', `this credential has ${ofCredential} open proposals; withdraw one, or wait for a person`)
  if (inAll >= OPEN_IN_ALL) fail('too_many', `${inAll} proposals are open; a person has to decide some first`)
}

function onlyChanges(plan: ChangePlan): ChangePlan {
  return { ...plan, changes: plan.changes.filter(({ action }) => action !== 'none') }
}

const KIND_WORDS: Record<string, string> = { mcp_server: 'MCP server' }

/** "creates trigger errors; changes agent triage and 2 more". */
function summaryOf({ changes }: ChangePlan): string {
  const verbs = { create: 'creates', update: 'changes', delete: 'deletes', none: '' } as const
  const [first, second, ...more] = changes.map(
    ({ action, kind, name }) => `${verbs[action]} ${KIND_WORDS[kind] ?? kind} ${name}`,
  )
  return [first, second && `; ${second}`, more.length > 0 && ` and ${more.length} more`]
    .filter(Boolean)
    .join('')
}

function triggersOf({ changes }: ChangePlan, edit: Edit): Proposal['triggers'] {
  return changes
    .filter(({ kind, action }) => kind === 'trigger' && action !== 'delete')
    .map(({ key }) => {
      const { paused: _, ...definition } = edit.get('trigger', key)!
      return { name: key, definition: definition as TriggerDefinition }
    })
}

/** @throws SvcError invalid where the data file was restored without the key they were sealed with */
function operationsOf({ id, operations }: ProposalRow, secrets: Secrets): Operation[] {
  try {
    return JSON.parse(secrets.open(operations, `proposals/${id}/operations`)) as Operation[]
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return fail(
      'invalid',
      `what proposal ${id} would change cannot be read with this secret.key; decline it, and have it proposed again`,
    )
  }
}

/** Plans of older releases have addresses as they were entered. */
const shownPlan = ({ plan }: ProposalRow): ChangePlan => maskAddresses(JSON.parse(plan) as ChangePlan)

function present(row: ProposalRow): Proposal {
  return {
    id: row.id,
    state: row.state,
    accepts: acceptedBy('proposal', row.snapshot),
    made_at: new Date(row.made_at).toISOString(),
    proposer: row.proposer,
    proposer_id: row.proposer_id,
    origin: row.origin,
    why: row.why,
    summary: row.summary,
    base: row.base,
    plan: shownPlan(row),
    triggers: JSON.parse(row.triggers) as Proposal['triggers'],
    decided_at: row.decided_at === null ? null : new Date(row.decided_at).toISOString(),
    decided_by: row.decided_by,
    reason: row.reason,
    change_set: row.change_set,
  }
}

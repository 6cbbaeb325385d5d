/** The SQL of proposals. */
import type { Proposal } from '../../schemas/types.ts'
import type { Database } from '../store/handle.ts'

export interface ProposalRow {
  id: string
  seq: number
  made_at: number
  proposer: string
  proposer_id: string
  origin: Proposal['origin']
  why: string
  summary: string
  base: number
  /** JSON, sealed. */
  operations: string
  plan: string
  triggers: string
  decided_at: number | null
  decided_by: string | null
  reason: string | null
  change_set: number | null
  snapshot: string
  state: Proposal['state']
}

export type NewProposal = Omit<
  ProposalRow,
  'seq' | 'state' | 'decided_at' | 'decided_by' | 'reason' | 'change_set'
>

/** The statements of proposals, prepared once. */
export function proposalQueries(db: Database) {
  const insert = db.prepare<NewProposal>(
    `INSERT INTO proposals (id, seq, made_at, proposer, proposer_id, origin, why, summary, base, operations, plan, triggers, snapshot)
     VALUES (@id, (SELECT coalesce(max(seq), 0) + 1 FROM proposals), @made_at, @proposer, @proposer_id, @origin, @why, @summary, @base, @operations, @plan, @triggers, @snapshot)`,
  )
  const byId = db.prepare<[string], ProposalRow>('SELECT * FROM proposals WHERE id = ?')
  const list = db.prepare<[string | null, string | null, number, number], ProposalRow>(
    'SELECT * FROM proposals WHERE (? IS NULL OR state = ?) AND seq < ? ORDER BY seq DESC LIMIT ?',
  )
  const open = db.prepare<[], number>("SELECT count(*) FROM proposals WHERE state = 'open'").pluck()
  const openOf = db
    .prepare<[string], number>("SELECT count(*) FROM proposals WHERE state = 'open' AND proposer_id = ?")
    .pluck()
  const decide = db.prepare<[number, string, string]>(
    'UPDATE proposals SET decided_at = ?, decided_by = ? WHERE id = ?',
  )
  const wrote = db.prepare<[number | null, string]>('UPDATE proposals SET change_set = ? WHERE id = ?')
  const because = db.prepare<[string | null, string]>('UPDATE proposals SET reason = ? WHERE id = ?')
  return {
    insert: (row: NewProposal) => insert.run(row),
    byId: (id: string) => byId.get(id),
    /** Newest first. @param before seq they are below */
    list: (state: string | null, before: number, limit: number) => list.all(state, state, before, limit),
    open: () => open.get() ?? 0,
    openOf: (proposer: string) => openOf.get(proposer) ?? 0,
    decide: (id: string, at: number, by: string) => decide.run(at, by, id),
    wrote: (id: string, changeSet: number | null) => wrote.run(changeSet, id),
    because: (id: string, reason: string | null) => because.run(reason, id),
  }
}

/**
 * Findings of agents as deliveries: one for the receiver of the agent, one for its channel of Slack, made in the
 * transaction that ends the run.
 */
import type { Database } from '../store/handle.ts'
import { addDelivery, receiverOf } from './rows.ts'

/** A run that ended with a finding. */
interface Finding {
  run: string
  agent: string
  /** What the agent concluded on. */
  entity: string
  /** Findings of one grow as one message of Slack. */
  incident: string
  projects: readonly string[]
  /** Epoch ms. */
  at: number
}

/** @param to whom it is told; none: nothing is written */
export function tellFinding(
  db: Database,
  { run, agent, entity, incident, projects, at }: Finding,
  to: readonly ('write_back' | 'slack')[],
): void {
  for (const kind of to)
    addDelivery(db, {
      ...{ of: { finding: run }, kind, recipient: receiverOf(kind, agent), projects, at },
      key: kind === 'slack' ? incident : entity,
    })
}

/** How the finding of a run was told, in the words of the API's runs. */
export interface FindingTold {
  /** Write-back: pending, ok, http and a status, or failed; null: there is none. */
  delivery: string | null
  delivery_error: string | null
  /** Post to Slack: pending, ok or failed; null: it goes to no channel. */
  slack: string | null
  slack_error: string | null
}

interface ToldRow {
  recipient_kind: 'write_back' | 'slack'
  state: 'pending' | 'running' | 'delivered' | 'failed'
  reason: string | null
  /** HTTP status of the last try. */
  status: number | null
}

const NOT_TOLD: FindingTold = { delivery: null, delivery_error: null, slack: null, slack_error: null }

/** The statement of a connection, prepared once. @returns how the finding of a run was told, by its id */
export function findingsTold(db: Database): (run: string) => FindingTold {
  const told = db.prepare<[string], ToldRow>(
    `SELECT recipient_kind, state, reason,
       (SELECT t.status FROM delivery_tries t WHERE t.delivery_id = d.id ORDER BY t.n DESC LIMIT 1) AS status
     FROM deliveries d WHERE finding_of = ?`,
  )
  return (run) => {
    const rows = told.all(run)
    const of = (kind: string) => rows.find(({ recipient_kind }) => recipient_kind === kind)
    const [back, slack] = [of('write_back'), of('slack')]
    if (!back && !slack) return NOT_TOLD
    return {
      delivery: back ? wordOf(back, true) : null,
      delivery_error: back?.reason ?? null,
      slack: slack ? wordOf(slack, false) : null,
      slack_error: slack?.reason ?? null,
    }
  }
}

function wordOf({ state, status }: ToldRow, namesStatus: boolean): string {
  if (state === 'delivered') return 'ok'
  if (state !== 'failed') return 'pending'
  return namesStatus && status !== null ? `http ${status}` : 'failed'
}

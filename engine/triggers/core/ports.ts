/** What the evaluator is given to read by. */
import type { History, LabelLookup, Ledger } from '../types.ts'

export interface EvaluatorPorts {
  labels: LabelLookup
  /** Name of a source as it is now. */
  sourceName(id: number): string
  /** Null: no event but those that are judged. */
  history: History | null
  ledger: Ledger
  /** Nothing could be stored before this instant, epoch ms: silence counts from then at the earliest. */
  listensSince?: number
  /** Entries of all windows in memory; beyond, those used last stay. Only with a history. */
  entriesMax?: number
}

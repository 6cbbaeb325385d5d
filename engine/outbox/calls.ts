/** What the worker asks of the outbox, on the thread that writes; and sending again, for people. */
import type { SlackProgress } from '../slack/finding-post.ts'
import type { Queue } from './queue.ts'
import type { Claimed, FindingToSend, OutboxPort, TryResult } from './worker.ts'

/** What the worker claims, and what came of it. */
export interface OutboxCalls {
  claimDeliveries(limit: number, busy: readonly string[]): Promise<Claimed[]>
  settleDelivery(id: string, result: TryResult): Promise<void>
  nextDelivery(): Promise<number | null>
}

export interface OutboxWrites extends OutboxCalls {
  /** @throws SvcError not_found; wrong_state; conflict when there is nobody to send it to */
  redeliver(id: string): Promise<{ ok: true }>
}

/** What sending findings needs beside them; not for doors: tokens are in it. */
export interface FindingPort {
  findingToSend(delivery: string): Promise<FindingToSend>
  noteDelivery(delivery: string, progress: SlackProgress): Promise<void>
}

export function outboxWrites(queue: Queue): OutboxWrites & FindingPort {
  return {
    redeliver: async (id) => {
      queue.redeliver(id)
      return { ok: true }
    },
    claimDeliveries: async (limit, busy) => queue.claim(limit, busy),
    settleDelivery: async (id, result) => queue.settle(id, result),
    nextDelivery: async () => queue.nextDue(),
    findingToSend: async (id) => queue.finding(id),
    noteDelivery: async (id, progress) => queue.note(id, progress),
  }
}

/** What the worker needs, of an engine wherever it runs. */
export function outboxPort(
  engine: OutboxCalls & FindingPort & { deliveryMessage(id: string): Promise<unknown> },
): OutboxPort {
  return {
    claim: (limit, busy) => engine.claimDeliveries(limit, busy),
    message: async (id) => JSON.stringify(await engine.deliveryMessage(id)),
    finding: (id) => engine.findingToSend(id),
    note: (id, progress) => engine.noteDelivery(id, progress),
    settle: (id, result) => engine.settleDelivery(id, result),
    nextDue: () => engine.nextDelivery(),
  }
}

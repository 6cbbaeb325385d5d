/** An outbox in memory, with the same rules as the table, that can be held up and made to fail. */
import type { Clock } from '../../../engine/clock.ts'
import type { ClaimedFiring, OutboxPort, TryResult } from '../../../engine/outbox/queue.ts'
import { maxTries } from '../../../machines/delivery.ts'

interface Row extends ClaimedFiring {
  key: string
  state: 'pending' | 'running' | 'delivered' | 'failed'
  dueAt: number | null
}

export interface FakePort extends OutboxPort {
  add(row: Pick<ClaimedFiring, 'deliveryId' | 'url'> & Partial<Row>): void
  stateOf(deliveryId: string): Row['state']
  /** In the order they were settled. */
  results: ({ id: string } & TryResult)[]
  calls: Record<keyof OutboxPort, number>
  /** Called in front of each call; may wait or throw. */
  before: Partial<Record<keyof OutboxPort, () => unknown>>
}

export function fakePort(clock: Clock): FakePort {
  const rows: Row[] = []
  const isDue = (row: Row, index: number) =>
    row.state === 'pending' &&
    (row.dueAt ?? 0) <= clock.now() &&
    !rows.slice(0, index).some((earlier) => sameKey(earlier, row) && isOpen(earlier))
  const find = (id: string) => rows.find(({ deliveryId }) => deliveryId === id)!
  const begin = async (name: keyof OutboxPort) => {
    port.calls[name]++
    await port.before[name]?.()
  }
  const port: FakePort = {
    results: [],
    calls: { claim: 0, message: 0, finding: 0, note: 0, place: 0, placed: 0, settle: 0, nextDue: 0 },
    before: {},
    add: (row) =>
      void rows.push({
        of: 'firing',
        kind: 'webhook',
        recipientId: row.url,
        secret: null,
        format: null,
        audience: 'operator',
        tries: 0,
        key: row.deliveryId,
        state: 'pending',
        dueAt: null,
        ...row,
      }),
    stateOf: (id) => find(id).state,
    async claim(limit, busy) {
      await begin('claim')
      const claimed = rows
        .filter((row, index) => isDue(row, index) && !busy.includes(row.recipientId))
        .slice(0, limit)
      for (const row of claimed) Object.assign(row, { state: 'running', tries: row.tries + 1 })
      return claimed.map((row) => ({ ...row }))
    },
    async message(id) {
      await begin('message')
      return JSON.stringify({ delivery_id: id })
    },
    async finding() {
      throw new Error('it holds firings alone')
    },
    async note() {},
    async place() {
      throw new Error('it holds webhooks alone')
    },
    async placed() {},
    async settle(id, result) {
      await begin('settle')
      const row = find(id)
      port.results.push({ id, ...result })
      const again =
        result.event === 'interrupted' || (result.event === 'retry' && row.tries < maxTries('webhook'))
      row.state = again ? 'pending' : result.event === 'acknowledge' ? 'delivered' : 'failed'
      row.dueAt = result.dueAt ?? null
      if (result.event === 'interrupted') row.tries--
    },
    async nextDue() {
      await begin('nextDue')
      const waiting = rows.filter(({ state }) => state === 'pending').map(({ dueAt }) => dueAt ?? 0)
      return waiting.length ? Math.min(...waiting) : null
    },
  }
  return port
}

const isOpen = ({ state }: Row) => state === 'pending' || state === 'running'
const sameKey = (a: Row, b: Row) => a.recipientId === b.recipientId && a.key === b.key

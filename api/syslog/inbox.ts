/**
 * What came by syslog and is not stored yet. Messages are put together for a moment and stored in one call of the
 * engine, one call after another, in the order they came. A store that takes nothing now is asked again: until
 * then senders over TCP are not read, and what comes over UDP is dropped and counted.
 */
import { hostname } from 'node:os'
import { type Caller, type IngestRoute, SvcError } from '../../engine/index.ts'
import type { Doors } from '../http/doors.ts'
import type { Loss, SyslogCounts, Transport } from '../http/syslog-state.ts'
import { parseMessage } from './message.ts'

const CONNECTOR = 'syslog'
const COLLECT_MS = 200
const BATCH_MESSAGES = 1_000
const BATCH_BYTES = 1024 * 1024
/** Held in all before TCP waits and UDP drops. */
const HELD_BYTES = 4 * 1024 * 1024
const AGAIN_MS = 500
/** A loss goes on being told by /health for so long. */
const TOLD_MS = 5 * 60_000
const WARN_EVERY_MS = 60_000
/** Refusals that end by themselves, or once room is made. */
const PASSING = new Set<string>(['storage_full', 'unavailable', 'too_many'])
/** Of the facility syslog, severity warning (RFC 5424, 6.2.1). */
const DROPPED_PRIORITY = 5 * 8 + 4
/** What a message of our own came from. */
const OURS = '127.0.0.1'
const SENDER: Caller = { id: 'svc', name: 'syslog' }

export interface Message {
  bytes: Uint8Array
  isCut: boolean
  from: string
  transport: Transport
}

export class Inbox {
  readonly counts: SyslogCounts = {
    received: { tcp: 0, udp: 0, tls: 0 },
    dropped: { full: 0, refused: 0, address: 0, connections: 0, tls: 0, packed: 0 },
  }
  private readonly waiting: Buffer[] = []
  private held = 0
  private timer: NodeJS.Timeout | null = null
  private storing: Promise<void> | null = null
  private isPatient = true
  private giveUp: (() => void) | null = null
  private lostAt: number | null = null
  private lostWhy = ''
  private warnedAt = Number.NEGATIVE_INFINITY
  private readonly room = new Set<() => void>()
  /** Messages over UDP that were dropped, of which the source does not know yet. */
  private untold: { count: number; since: number | null } = { count: 0, since: null }

  constructor(private readonly doors: Doors) {}

  get isFull(): boolean {
    return this.held >= HELD_BYTES
  }

  /** Takes a message. One over UDP is dropped and counted where there is no room; over TCP the reader waits. */
  take({ bytes, isCut, from, transport }: Message): void {
    this.counts.received[transport]++
    if (transport === 'udp' && this.isFull) {
      this.lose('full', 1, 'the store does not keep up')
      this.untold = { count: this.untold.count + 1, since: this.untold.since ?? this.doors.clock.now() }
      return
    }
    this.hold(bytes, isCut, from)
  }

  private hold(bytes: Uint8Array, isCut: boolean, from: string): void {
    const received = new Date(this.doors.clock.now()).toISOString()
    const record = { ...parseMessage(bytes), ...(isCut ? { cut: true } : {}), from, received }
    const item = Buffer.from(JSON.stringify(record))
    this.waiting.push(item)
    this.held += item.length
    if (this.waiting.length >= BATCH_MESSAGES || this.held >= BATCH_BYTES) void this.store()
    else this.timer ??= setTimeout(() => void this.store(), COLLECT_MS)
  }

  /** Calls once there is room again. */
  onRoom(listener: () => void): void {
    this.room.add(listener)
  }

  /** Counts what was not taken; /health and the log tell it. */
  lose(loss: Loss, count: number, why: string): void {
    this.counts.dropped[loss] += count
    const now = this.doors.clock.now()
    this.lostAt = now
    this.lostWhy = why
    if (now - this.warnedAt < WARN_EVERY_MS) return
    this.warnedAt = now
    this.doors.log.warn({ dropped: { ...this.counts.dropped }, why }, 'syslog: something was not taken')
  }

  /** @returns a sentence where messages were lost in the last minutes; else null */
  notice(): string | null {
    const { full, refused } = this.counts.dropped
    const isRecent = this.lostAt !== null && this.doors.clock.now() - this.lostAt < TOLD_MS
    if (!isRecent || full + refused === 0) return null
    return `syslog messages were dropped, ${full + refused} since the start: ${this.lostWhy}`
  }

  /** Stores what is held. @param patienceMs for how long a store that takes nothing is asked. */
  async close(patienceMs: number): Promise<void> {
    const end = setTimeout(() => {
      this.isPatient = false
      this.giveUp?.()
    }, patienceMs)
    await this.store()
    clearTimeout(end)
  }

  private store(): Promise<void> {
    if (this.timer) clearTimeout(this.timer)
    this.timer = null
    this.storing ??= this.storeAll().finally(() => {
      this.storing = null
    })
    return this.storing
  }

  private async storeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.nextBatch()
      const bytes = batch.reduce((sum, item) => sum + item.length, 0)
      await this.storeBatch(batch)
      this.held -= bytes
      this.tellDropped()
      if (!this.isFull) for (const listener of this.room) listener()
    }
  }

  /** Where something is missing the timeline says so: a message of our own, once there is room for it. */
  private tellDropped(): void {
    const { count, since } = this.untold
    if (count === 0 || since === null || this.isFull) return
    this.untold = { count: 0, since: null }
    const [from, until] = [since, this.doors.clock.now()].map((at) => new Date(at).toISOString())
    const what = `${count} ${count === 1 ? 'message' : 'messages'} over UDP`
    const said = `${what} from ${from} to ${until} were dropped: the store did not keep up`
    this.hold(Buffer.from(`<${DROPPED_PRIORITY}>1 ${until} ${hostname()} svc - - - ${said}`), false, OURS)
  }

  private nextBatch(): Buffer[] {
    let count = 0
    for (let bytes = 0; count < this.waiting.length && count < BATCH_MESSAGES; count++) {
      bytes += this.waiting[count]!.length
      if (count > 0 && bytes > BATCH_BYTES) break
    }
    return this.waiting.splice(0, count)
  }

  /** Until it is stored, refused for good, or the daemon does not wait any longer. */
  private async storeBatch(batch: readonly Buffer[]): Promise<void> {
    for (;;) {
      try {
        return await this.send(batch)
      } catch (error) {
        const isPassing = error instanceof SvcError && PASSING.has(error.code)
        if (isPassing && (await this.mayTryAgain())) continue
        const why = error instanceof SvcError ? error.message : 'the engine failed'
        if (!(error instanceof SvcError))
          this.doors.log.error({ err: error }, 'syslog: a batch was not stored')
        return this.lose('refused', batch.length, why)
      }
    }
  }

  private async send(batch: readonly Buffer[]): Promise<void> {
    const { engine } = this.doors
    // The engine owns what it is given, and a batch may be sent again.
    const body = Buffer.from(`[${batch.map(String).join(',')}]`)
    const route = this.activeRoute() ?? (await this.makeRoute(body))
    const result = await engine.ingest({
      ingestKey: route.ingestKey,
      body,
      bypassCooldown: false,
      caller: SENDER.id,
    })
    if (result.rejected?.length)
      this.lose('refused', result.rejected.length, result.rejected[0]!.error ?? 'a message was refused')
  }

  private activeRoute(): IngestRoute | undefined {
    return this.doors.auth.routesOf(CONNECTOR).find(({ paused }) => !paused)
  }

  /** Makes the first source. @throws SvcError wrong_state: there are sources, and all are paused */
  private async makeRoute(body: Buffer): Promise<IngestRoute> {
    const { engine, auth } = this.doors
    if (auth.routesOf(CONNECTOR).length === 0) {
      await engine.makeFirstSource(CONNECTOR, { body: Buffer.from(body) }, SENDER)
      await auth.refresh()
    }
    return (
      this.activeRoute() ??
      Promise.reject(new SvcError('wrong_state', 'every source of connector syslog is paused'))
    )
  }

  /** @returns false once the daemon stops and its patience is at an end */
  private mayTryAgain(): Promise<boolean> {
    if (!this.isPatient) return Promise.resolve(false)
    return new Promise((resolve) => {
      const again = setTimeout(() => {
        this.giveUp = null
        resolve(true)
      }, AGAIN_MS)
      this.giveUp = () => {
        clearTimeout(again)
        this.giveUp = null
        resolve(false)
      }
    })
  }
}

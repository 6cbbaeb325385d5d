/**
 * Keys that are watched for silence: from an event of theirs on, until nothing came for so long. They
 * wait in the order of their last event, so that the next one due is always the first.
 */
import type { AbsenceCondition } from '../../../schemas/types.ts'
import { parseDuration } from '../../timeline/duration.ts'
import type { Ledger, WatchedKey } from '../types.ts'
import type { Compiled } from './compile.ts'
import type { EventCursor } from './cursor.ts'
import type { Key } from './keys.ts'

export class Silence {
  /** Those heard longest ago first. */
  private readonly keys = new Map<number | string, WatchedKey>()
  private readonly absentMs: number
  readonly reason: string

  constructor(
    trigger: Compiled,
    condition: AbsenceCondition,
    ledger: Ledger,
    private readonly since: number,
  ) {
    this.absentMs = parseDuration(condition.absent_for, 'condition.absent_for')
    this.reason = `nothing for ${condition.absent_for}`
    const known = ledger.watched(trigger.definition.id).filter(({ isSilent }) => !isSilent)
    for (const watched of known.sort((a, b) => a.lastAt - b.lastAt))
      this.keys.set(trigger.key.idOf(watched.labels), watched)
  }

  /** An event of a key was stored. */
  heard(event: EventCursor, key: Key): WatchedKey {
    const watched: WatchedKey = {
      key: key.text,
      labels: key.labels,
      lastId: event.id,
      lastAt: event.ingestedAt,
      isSilent: false,
    }
    this.keys.delete(key.id)
    this.keys.set(key.id, watched)
    return watched
  }

  /** When the next key has been silent for long enough, epoch ms. */
  dueAt(): number | null {
    const first = this.keys.values().next()
    return first.done ? null : this.dueOf(first.value)
  }

  dueOf({ lastAt }: Pick<WatchedKey, 'lastAt'>): number {
    return Math.max(lastAt, this.since) + this.absentMs
  }

  /** The next key that is due; it is watched no more. */
  take(): WatchedKey {
    const [id, watched] = this.keys.entries().next().value!
    this.keys.delete(id)
    return { ...watched, isSilent: true }
  }
}

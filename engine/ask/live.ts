/** A turn as it is told: its frames by number, and who reads them. */
import type { AskFrame } from '../../schemas/types.ts'
import type { Timers } from '../clock.ts'
import type { FrameReader } from './calls.ts'

/** A reader that lost its connection has so long to come back. */
const GRACE_MS = 30_000

export class LiveTurn {
  private readonly frames: AskFrame[] = []
  private readonly readers = new Set<FrameReader>()
  private callOff = () => {}
  private isEnded = false

  /** @param forsaken nobody has read it for a while */
  constructor(
    readonly owner: string,
    private readonly timers: Timers,
    private readonly forsaken: () => void,
  ) {
    this.wait()
  }

  tell(frame: AskFrame): void {
    this.frames.push(frame)
    for (const reader of this.readers) reader.frame(this.frames.length, frame)
  }

  /** Nothing more is told. */
  end(): void {
    this.isEnded = true
    this.callOff()
    for (const reader of this.readers) reader.end()
    this.readers.clear()
  }

  /** Tells the frames after number `after`, then those to come. */
  follow(after: number, reader: FrameReader): { stop(): void } {
    this.callOff()
    this.frames.forEach((frame, i) => {
      if (i >= after) reader.frame(i + 1, frame)
    })
    this.readers.add(reader)
    return {
      stop: () => {
        if (this.readers.delete(reader) && this.readers.size === 0 && !this.isEnded) this.wait()
      },
    }
  }

  private wait(): void {
    this.callOff()
    this.callOff = this.timers.after(GRACE_MS, this.forsaken)
  }
}

/**
 * What only the process knows and lists show: counters of sources and of ingest since the start, and why
 * ingest is refused. They lie in memory that all threads see, so that a thread that reads asks nobody: the
 * writer sets them before it answers, and whoever has its answer finds them.
 */

/** Of one source, since the process started. */
export interface SourceCounters {
  events: number
  rejected: number
  polls: number
}

const PIPELINE = ['commits', 'fsync_batches', 'events', 'duplicates', 'rejected'] as const
/** Of all sources. */
export type PipelineCounters = Record<(typeof PIPELINE)[number], number>

/** Sources with an id up to this are counted for all to see; memory is used as they are. */
const SOURCES_MAX = 65_536
const PER_SOURCE = 3
const TEXT_BYTES = 2_048
/** Integers before the text: its version, odd while it is written; its length, 0 for none; reads. */
const [VERSION, LENGTH, READS] = [0, 1, 2]
const HEADER_BYTES = 16
const COUNTERS_AT = HEADER_BYTES + TEXT_BYTES
const SOURCES_AT = PIPELINE.length

/** Memory for `Figures`, to be given to each thread. */
export function figuresMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(COUNTERS_AT + (SOURCES_AT + SOURCES_MAX * PER_SOURCE) * 8)
}

export class Figures {
  /** Counted by the writer alone. */
  readonly pipeline: PipelineCounters
  private readonly header: Int32Array
  private readonly text: Uint8Array
  private readonly counters: Float64Array

  /** @param memory that others see too; its own when absent. */
  constructor(memory: SharedArrayBuffer = figuresMemory()) {
    this.header = new Int32Array(memory, 0, HEADER_BYTES / 4)
    this.text = new Uint8Array(memory, HEADER_BYTES, TEXT_BYTES)
    this.counters = new Float64Array(memory, COUNTERS_AT)
    this.pipeline = pipelineIn(this.counters)
  }

  /** @param id of the source's row. */
  ofSource(id: number): SourceCounters {
    return id < SOURCES_MAX
      ? new SharedCounters(this.counters, SOURCES_AT + id * PER_SOURCE)
      : { events: 0, rejected: 0, polls: 0 }
  }

  /** Reads that were answered, on any thread. */
  get reads(): number {
    return Atomics.load(this.header, READS) >>> 0
  }

  countRead(): void {
    Atomics.add(this.header, READS, 1)
  }

  /** Why ingest is refused for want of storage, in a sentence; null: it is not. */
  get refusal(): string | null {
    for (;;) {
      const version = Atomics.load(this.header, VERSION)
      const bytes = this.text.slice(0, Atomics.load(this.header, LENGTH))
      if (version % 2 === 0 && Atomics.load(this.header, VERSION) === version)
        return bytes.length === 0 ? null : new TextDecoder().decode(bytes)
    }
  }

  /** By the writer alone. */
  set refusal(reason: string | null) {
    const bytes = new TextEncoder().encode(reason ?? '').subarray(0, TEXT_BYTES)
    Atomics.add(this.header, VERSION, 1)
    this.text.set(bytes)
    Atomics.store(this.header, LENGTH, bytes.length)
    Atomics.add(this.header, VERSION, 1)
  }
}

class SharedCounters implements SourceCounters {
  constructor(
    private readonly counters: Float64Array,
    private readonly at: number,
  ) {}

  get events(): number {
    return this.counters[this.at]!
  }

  set events(n: number) {
    this.counters[this.at] = n
  }

  get rejected(): number {
    return this.counters[this.at + 1]!
  }

  set rejected(n: number) {
    this.counters[this.at + 1] = n
  }

  get polls(): number {
    return this.counters[this.at + 2]!
  }

  set polls(n: number) {
    this.counters[this.at + 2] = n
  }
}

function pipelineIn(counters: Float64Array): PipelineCounters {
  const fields = PIPELINE.map((name, i) => [
    name,
    {
      enumerable: true,
      get: () => counters[i],
      set: (n: number) => {
        counters[i] = n
      },
    },
  ])
  return Object.defineProperties({}, Object.fromEntries(fields)) as PipelineCounters
}

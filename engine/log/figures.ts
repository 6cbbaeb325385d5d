/**
 * What only the process knows and lists show: counters of sources and of ingest since the start, and why
 * ingest is refused. They lie in memory that all threads see, so that a thread that reads asks nobody: the
 * writer sets them before it answers, and whoever has its answer finds them.
 */

import { crc32 } from 'node:zlib'
import { dollars } from '../model/units.ts'

/** How many there are of what is to be told, and what the first of them says. */
export interface Told {
  count: number
  sample: string
}

/** Of one source, since the process started. */
export interface SourceCounters {
  events: number
  rejected: number
  polls: number
  /** Events whose time was too far off to be used, and that of the first. This and what follows: since its config is what it is; null: none. */
  skewed: Told | null
  /** Events whose time was not understood, and what the first of them gave. */
  untimed: Told | null
  /** Bodies of which something could not be stored, and why of the first. */
  refused: Told | null
  /** Events without a label since its value was too long, and which label of the first. */
  tooLong: Told | null
  /** Events that something else reads better, and what reads the first. */
  reader: Told | null
}

const PIPELINE = ['commits', 'fsync_batches', 'events', 'duplicates', 'rejected'] as const
/** Of all sources. */
export type PipelineCounters = Record<(typeof PIPELINE)[number], number>

/** Sources with an id up to this are counted for all to see; memory is used as they are. */
const SOURCES_MAX = 65_536
/** What is told of it: where its count lies, with the config that it is of behind it, and its sample, with a byte for its length. */
const TOLD = {
  untimed: { at: 3, from: 0, to: 96 },
  refused: { at: 5, from: 96, to: 352 },
  tooLong: { at: 7, from: 352, to: 424 },
  reader: { at: 9, from: 424, to: 496 },
  skewed: { at: 11, from: 496, to: 592 },
} as const
type ToldName = keyof typeof TOLD
/** Its counters, and those of what is told. */
const PER_SOURCE = 13
const SAMPLE_BYTES = 592
const TEXT_BYTES = 2_048
/** Integers before the text: its version, odd while it is written; its length, 0 for none; reads. */
const [VERSION, LENGTH, READS] = [0, 1, 2]
const HEADER_BYTES = 16
const COUNTERS_AT = HEADER_BYTES + TEXT_BYTES
const SOURCES_AT = PIPELINE.length
const SAMPLES_AT = COUNTERS_AT + (SOURCES_AT + SOURCES_MAX * PER_SOURCE) * 8

const NOTHING_TOLD: Pick<SourceCounters, ToldName> = {
  ...{ skewed: null, untimed: null, refused: null, tooLong: null, reader: null },
}

/** Memory for `Figures`, to be given to each thread. */
export function figuresMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(SAMPLES_AT + SOURCES_MAX * SAMPLE_BYTES)
}

export class Figures {
  /** Counted by the writer alone. */
  readonly pipeline: PipelineCounters
  private readonly header: Int32Array
  private readonly text: Uint8Array
  private readonly counters: Float64Array
  private readonly samples: Uint8Array

  /** @param memory that others see too; its own when absent. */
  constructor(memory: SharedArrayBuffer = figuresMemory()) {
    this.header = new Int32Array(memory, 0, HEADER_BYTES / 4)
    this.text = new Uint8Array(memory, HEADER_BYTES, TEXT_BYTES)
    this.counters = new Float64Array(memory, COUNTERS_AT, SOURCES_AT + SOURCES_MAX * PER_SOURCE)
    this.samples = new Uint8Array(memory, SAMPLES_AT)
    this.pipeline = pipelineIn(this.counters)
  }

  /**
   * @param id of the source's row.
   * @param config of it: what was said of its times holds for the config it was said of.
   */
  ofSource(id: number, config: string): SourceCounters {
    if (id >= SOURCES_MAX) return { events: 0, rejected: 0, polls: 0, ...NOTHING_TOLD }
    const sample = this.samples.subarray(id * SAMPLE_BYTES, (id + 1) * SAMPLE_BYTES)
    return new SharedCounters(this.counters, SOURCES_AT + id * PER_SOURCE, sample, crc32(config))
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
    private readonly sample: Uint8Array,
    private readonly config: number,
  ) {}

  get skewed(): Told | null {
    return this.told('skewed')
  }

  set skewed(given: Told | null) {
    this.tell('skewed', given)
  }

  get untimed(): Told | null {
    return this.told('untimed')
  }

  set untimed(given: Told | null) {
    this.tell('untimed', given)
  }

  get refused(): Told | null {
    return this.told('refused')
  }

  set refused(given: Told | null) {
    this.tell('refused', given)
  }

  get tooLong(): Told | null {
    return this.told('tooLong')
  }

  set tooLong(given: Told | null) {
    this.tell('tooLong', given)
  }

  get reader(): Told | null {
    return this.told('reader')
  }

  set reader(given: Told | null) {
    this.tell('reader', given)
  }

  private told(name: ToldName): Told | null {
    const { at, from, to } = TOLD[name]
    const [count = 0, config] = this.counters.subarray(this.at + at, this.at + at + 2)
    if (count === 0 || config !== this.config) return null
    const sample = this.sample.slice(from, to)
    return { count, sample: new TextDecoder().decode(sample.slice(1, 1 + sample[0]!)) }
  }

  private tell(name: ToldName, given: Told | null): void {
    const { at, from, to } = TOLD[name]
    // Written once for a config, before the count that shows it.
    if (given && !this.told(name)) {
      const sample = this.sample.subarray(from, to)
      // Whole characters alone.
      const { written } = new TextEncoder().encodeInto(given.sample, sample.subarray(1))
      sample[0] = written
      this.counters[this.at + at + 1] = this.config
    }
    this.counters[this.at + at] = given?.count ?? 0
  }

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

/*
 * What was done since the process started, counted for /metrics by what it is about; never by entity.
 * Nothing is decided by it, so it may be forgotten: what is true is in the rows.
 */

export type TallyName =
  | 'firings'
  | 'runs'
  | 'polls'
  | 'catalog_looks'
  | 'slack_requests'
  | 'model_calls'
  | 'model_tokens'
  | 'model_spend_usd'
  | 'model_unpriced_calls'

export interface Tally {
  name: TallyName
  labels: Record<string, string>
  value: number
}

export class Tallies {
  private readonly known = new Map<string, Tally>()
  private readonly changed = new Set<Tally>()

  /** @param by how many more; 0 makes it known. */
  add(name: TallyName, labels: Record<string, string>, by = 1): void {
    const key = keyOf({ name, labels })
    const tally = this.known.get(key) ?? { name, labels, value: 0 }
    tally.value = name === 'model_spend_usd' ? dollars(tally.value + by) : tally.value + by
    this.known.set(key, tally)
    this.changed.add(tally)
  }

  /** Takes what another thread counted. */
  put(tallies: readonly Tally[]): void {
    for (const tally of tallies) this.known.set(keyOf(tally), tally)
  }

  /** Those that changed since this was asked last. */
  news(): Tally[] {
    const news = [...this.changed]
    this.changed.clear()
    return news
  }

  list(): Tally[] {
    return [...this.known.values()]
  }
}

const keyOf = ({ name, labels }: Pick<Tally, 'name' | 'labels'>): string => JSON.stringify([name, labels])

/**
 * How far V8 lets the heaps of the process grow. Left alone it favours speed: a heap may reach four times what
 * lives in it before it is collected, and since Node 22 a young one takes up to 96 MB.
 */
import { setFlagsFromString } from 'node:v8'

/** In MB. The young one is three semi-spaces, each of four. */
export const THREAD_HEAP = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1_024 }

/**
 * Of the thread of wide reads: a catalog file that is parsed lives for as long as the plan made of it, and a small
 * young heap would copy most of it into the old one. It is larger only while such work is done.
 */
export const WIDE_HEAP = { ...THREAD_HEAP, maxYoungGenerationSizeMb: 48 }

/** Of the thread that copies pages and makes next to nothing. */
export const SMALL_HEAP = { maxYoungGenerationSizeMb: 3, maxOldGenerationSizeMb: 256 }

/** A heap is collected when it has grown by a fifth of what lived at the last collection. */
const GROWTH = '--heap_growing_percent=20'

/**
 * Bounds the heaps of this process; called before its threads start, once what they load is loaded. V8 reads
 * this flag at each collection, so that it needs no command line; the young heap of the main thread does, which
 * bin/runtime.mjs gives it.
 */
export function limitHeaps(): void {
  setFlagsFromString(GROWTH)
}

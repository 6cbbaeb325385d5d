/**
 * How far V8 lets the heaps of the process grow. Left alone it favours speed: a heap may reach four times what
 * lives in it before it is collected, and since Node 22 a young one takes up to 96 MB.
 */
import { setFlagsFromString } from 'node:v8'

/** In MB. The young one is three semi-spaces, each of four. */
export const THREAD_HEAP = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1_024 }

const FLAGS = [
  // A heap is collected when it has grown by three tenths of what lived at the last collection.
  '--heap_growing_percent=30',
  // Of threads that begin after this: their young heaps have their whole size at once …
  '--min_semi_space_size=4',
  // … since none grows any further, which is for that of the main thread, which no limit of a worker covers.
  '--semi_space_growth_factor=1',
]

/**
 * Bounds the heaps of this process; called before its threads start, once what they load is loaded. V8 reads
 * these flags at each collection and for each new thread, so that no flag of the command line is needed.
 */
export function limitHeaps(): void {
  for (const flag of FLAGS) setFlagsFromString(flag)
}

/** How loudly the status of a run is said. By itself, since Home needs no more of what is said of runs. */
import type { Run } from '../../schemas/types.ts'
import type { Tone } from '../parts/mark.tsx'

export const RUN_TONES: Record<Run['status'], Tone> = {
  queued: 'busy',
  running: 'busy',
  parked: 'quiet',
  succeeded: 'good',
  exhausted: 'bad',
  failed: 'bad',
  cancelled: 'quiet',
  capped: 'bad',
  empty: 'bad',
}

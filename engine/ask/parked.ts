/** A turn that waits for its model, as its steps tell. */
import type { Parked, Step } from '../runs/types.ts'

/** The last wait since a reply; null: its model answered since, or it never waited. */
export function parkedOf(steps: readonly Step[]): Parked | null {
  for (const step of [...steps].reverse()) {
    if (step.kind === 'model' && step.data.reply) return null
    if (step.kind === 'note' && step.data.parked) return step.data.parked
  }
  return null
}

/** The same where nothing was asked since: it waits now. */
export function waitsNow(steps: readonly Step[]): Parked | null {
  const last = steps.at(-1)
  return last?.kind === 'note' ? (last.data.parked ?? null) : null
}

/** Of a turn that a stop came between: nobody reads it any more, so that it is not gone on with. */
export function interruptedIn(steps: readonly Step[]): string {
  const parked = waitsNow(steps)
  return parked
    ? `the service stopped while this waited for its model (${parked.reason}); ask again`
    : 'the service stopped while this was answered; ask again'
}

/** Wiring as a table edits it. */
import type { HandoffRule, Wake, Wiring } from '../../schemas/types.ts'

/** A wiring with a wake added or switched; on where none is said. */
export function withWake(wiring: Wiring, wake: Wake): Wiring {
  const others = wiring.wakes.filter((row) => row.trigger !== wake.trigger || row.agent !== wake.agent)
  return { ...wiring, wakes: [...others, wake] }
}

export function withoutWake(wiring: Wiring, { trigger, agent }: Wake): Wiring {
  return { ...wiring, wakes: wiring.wakes.filter((row) => row.trigger !== trigger || row.agent !== agent) }
}

const isSame = (a: HandoffRule, b: HandoffRule): boolean =>
  a.agent === b.agent && a.verdict === b.verdict && a.to === b.to

/** A wiring with a handoff added or changed. */
export function withHandoff(wiring: Wiring, handoff: HandoffRule): Wiring {
  return { ...wiring, handoffs: [...wiring.handoffs.filter((row) => !isSame(row, handoff)), handoff] }
}

export function withoutHandoff(wiring: Wiring, handoff: HandoffRule): Wiring {
  return { ...wiring, handoffs: wiring.handoffs.filter((row) => !isSame(row, handoff)) }
}

/** Whether two wirings say the same, in whatever order. */
export function isSameWiring(a: Wiring, b: Wiring): boolean {
  const text = ({ wakes, handoffs }: Wiring) =>
    JSON.stringify([
      wakes.map((row) => `${row.trigger}>${row.agent}:${row.enabled ?? false}`).sort(),
      handoffs.map((row) => `${row.agent}/${row.verdict}/${row.to}:${row.cooldown ?? '30m'}`).sort(),
    ])
  return text(a) === text(b)
}

/** What is remembered of the demo: one row of the settings, gone with it. */
import type { DemoFault } from '../connectors/demo/faults.ts'
import type { DemoWorld } from '../connectors/demo/generator.ts'
import { DEMO_SETTING } from '../settings/demo-key.ts'
import type { Settings } from '../settings/settings.ts'

export interface DemoState extends DemoWorld {
  faults: DemoFault[]
  /** When it was loaded, epoch ms. */
  at: number
  /** Id of its project. */
  project: string
  /** Ids of rows: a name alone may have been somebody else's before. */
  sources: number[]
  triggers: number[]
  /** Id of the source of findings that was made for it; null: there was one. */
  findings: number | null
}

export const readDemo = (settings: Settings): DemoState | undefined => settings.get<DemoState>(DEMO_SETTING)

/** What polls of the demo's sources are given. @param now epoch ms */
export function demoWorld(settings: Settings, now: number): { world?: DemoWorld; now: number } {
  const state = readDemo(settings)
  return state ? { world: { seed: state.seed, faults: state.faults }, now } : { now }
}

/** Broken now. */
export const openFaults = ({ faults }: DemoState): DemoFault[] => faults.filter(({ to }) => to === null)

/**
 * Breaks a service, or mends it. A change is of a millisecond after `now`: what was polled reaches up to `now`.
 * @returns the state after it; the same where nothing is to be done
 */
export function broken(state: DemoState, service: string, now: number): DemoState {
  if (openFaults(state).some((fault) => fault.service === service)) return state
  const n = 1 + state.faults.filter((fault) => fault.service === service).length
  return { ...state, faults: [...state.faults, { service, n, from: now + 1, to: null }] }
}

/** @param service absent: all that are broken */
export function mended(state: DemoState, service: string | undefined, now: number): DemoState {
  const isMeant = (fault: DemoFault) => fault.to === null && (service ?? fault.service) === fault.service
  return {
    ...state,
    faults: state.faults.map((fault) => (isMeant(fault) ? { ...fault, to: now + 1 } : fault)),
  }
}

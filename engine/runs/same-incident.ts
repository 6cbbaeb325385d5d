/**
 * Which runs are of one incident; nothing else says it. An incident is what one trigger wakes for one entity
 * until that has been quiet: from the last firing its cooldown passes, in which it could not fire, and then
 * its context window, which is how far back a firing looks, without another firing. Runs that take over or
 * repeat are of the incident of their chain. Schedules, practice and people begin none that goes on.
 */
import type { TriggerSpec } from '../../schemas/types.ts'
import { TRIGGER_DEFAULTS } from '../parts/trigger-spec.ts'
import { parseDuration } from '../timeline/duration.ts'

/** Milliseconds without a firing of an entity, after which its next one is another incident. */
export function quietMs({ cooldown, emit }: Pick<TriggerSpec, 'cooldown' | 'emit'>): number {
  return (
    parseDuration(cooldown ?? TRIGGER_DEFAULTS.cooldown, 'cooldown') +
    parseDuration(emit?.context_window ?? TRIGGER_DEFAULTS.context_window, 'emit.context_window')
  )
}

/** What incidents are told apart by, before time is looked at. */
export const wakeKeyOf = (trigger: string, label: string, entity: string): string =>
  JSON.stringify([trigger, label, entity])

/** @param last the last firing, epoch ms. @param at the one now */
export const goesOn = (last: number, at: number, quiet: number): boolean => at - last <= quiet

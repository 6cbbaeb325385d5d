/** Calls about maintenance windows. */
import type { InputOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import type { MaintenanceCreate } from '../schemas/types.ts'
import { ask } from './client.ts'
import { actorName } from './lib/actor.ts'

type State = InputOf<typeof calls.listMaintenance>['state']

/** Who does it, where the credential has no name of its own. */
const who = (): { by?: string } => {
  const by = actorName()
  return by === null ? {} : { by }
}

export const maintenance = {
  list: async (state: NonNullable<State>) => (await ask(calls.listMaintenance, { state })).windows,
  create: (body: MaintenanceCreate) => ask(calls.createMaintenance, { body: { ...body, ...who() } }),
  /** @param until ISO 8601 */
  setEnd: (window: string, until: string) =>
    ask(calls.setMaintenanceEnd, { window, body: { until, ...who() } }),
  end: (window: string) => ask(calls.endMaintenance, { window, body: who() }),
  stopRepeating: (window: string) =>
    ask(calls.endMaintenance, { window, body: { stop_repeating: true, ...who() } }),
}

/** Query keys; they begin as those of incidents, so that both are read again together. */
export const mkeys = {
  list: (state: string) => ['work', 'maintenance', state],
} as const

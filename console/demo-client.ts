/** The demo, as the console asks for it. */
import * as calls from '../api/client/calls.ts'
import type { DemoBreak } from '../schemas/types.ts'
import { ask } from './client.ts'

export const demo = {
  start: () => ask(calls.startDemo),
  remove: () => ask(calls.removeDemo),
  break: (service: DemoBreak['service']) => ask(calls.breakDemo, { body: { service } }),
  mend: (service: DemoBreak['service']) => ask(calls.mendDemo, { service }),
}

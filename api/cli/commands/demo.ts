/** `svc demo`: a made-up shop to look at svc with; break it, mend it, remove it whole. */
import { Argument } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type { Demo } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { escapeLine, type Io } from '../terminal.ts'
import { noun, say, verb } from '../verbs.ts'

const SERVICES = ['checkout', 'payments', 'cart', 'search'] as const
type Service = (typeof SERVICES)[number]

/** The command and its subcommands. */
export const demoCommand = noun('demo', 'Load, break, mend and remove the demo', {
  start: verb({
    does: 'Load it, with 90 minutes of history and one open incident',
    call: calls.startDemo,
    tell,
  }),
  break: verb({
    does: 'Break a service of it; an incident opens within seconds',
    call: calls.breakDemo,
    args: [new Argument('<service>', 'service of the demo shop').choices(SERVICES)],
    input: ({ words: [service] }) => ({ body: { service: service as Service } }),
    tell,
  }),
  mend: verb({
    does: 'Mend a service of it, or all that are broken',
    call: calls.mendDemo,
    args: [new Argument('[service]', 'only this service').choices(SERVICES)],
    input: ({ words: [service] }) => (service === undefined ? {} : { service: service as Service }),
    tell,
  }),
  remove: verb({
    does: 'Remove it with all that it made',
    call: calls.removeDemo,
    tell: say(
      (_words, { events, incidents, runs }) =>
        `demo removed: ${countWords(events, 'event')}, ${countWords(incidents, 'incident')}, ${countWords(runs, 'run')}`,
    ),
  }),
  status: verb({ does: 'Say whether it is loaded, and what is broken', call: calls.getDemo, tell }),
})

function tell(io: Io, { loaded, since, faults, services }: Demo): void {
  const broken = faults.map(({ service, since: at }) => `${service} since ${at}`).join(', ')
  const line = loaded
    ? `demo loaded ${since}; broken: ${broken || 'nothing'}; can be broken: ${services.join(', ')}`
    : 'demo not loaded; load it with svc demo start'
  io.out(`${escapeLine(line)}\n`)
}

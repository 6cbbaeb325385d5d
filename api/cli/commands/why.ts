/** `svc why`: what every trigger that watches its source made of an event. */
import type { Command } from 'commander'
import type { WhyRecord, WhyResult } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { escapeLine, type Io, paint, printJson, type Style, table } from '../terminal.ts'

interface WhyFlags extends ClientFlags, JsonFlag {
  trigger?: string
}

/** The command. */
export function whyCommand(io: Io): Command {
  return clientCommand('why', 'Say why an event fired each trigger, or did not')
    .argument('<event>', 'id of the event, such as evt_42')
    .option('--trigger <trigger>', 'only this trigger')
    .action((event: string, flags: WhyFlags) => why(io, event, flags))
}

async function why(io: Io, event: string, flags: WhyFlags): Promise<void> {
  const query = flags.trigger === undefined ? '' : `?trigger=${encodeURIComponent(flags.trigger)}`
  const { text } = await clientOf(io, flags).call(`/api/events/${encodeURIComponent(event)}/why${query}`)
  if (flags.json) return printJson(io, text)
  const { event_id, records } = JSON.parse(text) as WhyResult
  if (records.length === 0) return void io.out(`no trigger watches the source of ${escapeLine(event_id)}\n`)
  io.out(
    table(
      io,
      [
        { title: 'TRIGGER', cell: (record: WhyRecord) => record.trigger },
        { title: 'KEY', cell: (record) => record.key ?? '' },
        // Recorded as it happened, or by the trigger as it is now: the two can differ.
        { title: 'KNOWN', cell: (record) => (record.recomputed ? 'worked out' : 'recorded') },
        { title: 'WHY', cell: whyText, style: ({ reason }) => STYLES[reason] },
      ],
      records,
    ),
  )
  if (records.some(({ recomputed }) => recomputed))
    io.err(paint(io, 'dim', 'worked out: by the trigger as it is now, over what was stored before\n'))
}

const whyText = ({ text, dispatch_id }: WhyRecord): string =>
  dispatch_id === null ? text : `${text} (firing ${dispatch_id})`

const STYLES: Partial<Record<WhyRecord['reason'], Style>> = {
  fired: 'green',
  no_subscriber: 'green',
  folded: 'green',
  held: 'yellow',
  cooldown: 'yellow',
  active: 'yellow',
  error: 'red',
  filter: 'dim',
  paused: 'dim',
}

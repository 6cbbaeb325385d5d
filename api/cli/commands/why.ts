/** `svc why`: what every trigger that watches its source made of an event. */
import { Argument } from 'commander'
import type { WhyRecord, WhyResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type Column, escapeLine, type Io, paint, type Style } from '../terminal.ts'
import { type MakeCommand, rows, verb } from '../verbs.ts'

const RECORDS: Column<WhyRecord>[] = [
  { title: 'TRIGGER', cell: (record) => record.trigger },
  { title: 'KEY', cell: (record) => record.key ?? '' },
  // Recorded as it happened, or by the trigger as it is now: the two can differ.
  { title: 'KNOWN', cell: (record) => (record.recomputed ? 'worked out' : 'recorded') },
  { title: 'WHY', cell: whyText, style: ({ reason }) => STYLES[reason] },
]

/** The command. */
export const whyCommand: MakeCommand = verb({
  does: 'Say why an event fired each trigger, or did not',
  call: calls.why,
  args: [new Argument('<event>', 'id of the event, such as evt_42')],
  options: [['--trigger <trigger>', 'only this trigger']],
  tell: tellWhy,
})

function tellWhy(io: Io, { event_id, records }: WhyResult): void {
  rows(RECORDS, `no trigger watches the source of ${escapeLine(event_id)}`)(io, records)
  if (records.some(({ recomputed }) => recomputed))
    io.err(paint(io, 'dim', 'worked out: by the trigger as it is now, over what was stored before\n'))
}

function whyText({ text, dispatch_id }: WhyRecord): string {
  return dispatch_id === null ? text : `${text} (firing ${dispatch_id})`
}

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

/** The demo shop as sources: each is a stream of made-up events, polled like any other (docs/demo.md). */
import type { DemoConfig } from '../../../schemas/types.ts'
import type { MappedEvent, PollConnector } from '../connector.ts'
import { type DemoEvent, type DemoWorld, demoEvents } from './generator.ts'

/** How far back it begins, and what is made up for after a pause, ms. */
export const DEMO_HISTORY_MS = 90 * 60_000

/**
 * The config with the world as it was read, and when, epoch ms; without one nothing happens there. Not the clock of
 * the poll: what breaks between the two would lie before the cursor, and never be told.
 */
type Polled = DemoConfig & { world?: DemoWorld; now?: number }

export const demo: PollConnector = {
  kind: 'demo',
  label: 'Demo',
  mode: 'poll',
  description: 'Demo: one stream of a made-up shop. svc makes its sources when the demo is loaded.',
  sourceType: 'event_stream',
  onRequest: true,
  configSchema: 'connector-demo.json',
  suggestedPoll: '2s',
  identity: ['stream'],
  provides: [
    { name: 'service', help: 'Service of the shop.', primary: true },
    { name: 'level', help: 'Level of a log line.' },
    { name: 'state', help: 'State of an alert.' },
  ],
  compile: () => (item) => [eventOf(item.value as DemoEvent)],
  poll: async (config, cursor) => {
    const { stream, world, now } = config as Partial<Polled> & { stream: Polled['stream'] }
    if (!world || now === undefined)
      return { items: [], cursor, notice: 'The demo is not loaded, so nothing happens here.' }
    const after = Math.max(Number(cursor ?? 0), now - DEMO_HISTORY_MS)
    // A clock that was set back: what is stored is not made up again.
    if (after >= now) return { items: [], cursor }
    const items = demoEvents(world, stream, after, now).map((event) => JSON.stringify(event))
    return { items, cursor: String(now) }
  },
}

function eventOf(event: DemoEvent): MappedEvent {
  return {
    eventType: String(event.type ?? 'event'),
    text: String(event.text ?? ''),
    context: event,
    ...(event.at === undefined ? {} : { eventTime: event.at }),
    ...(event.id === undefined ? {} : { dedupeKey: event.id }),
  }
}

/** The same incidents as less is known of their events: what a first message shows must not hang on one field. */

/** What of an event a variant may take away. */
interface Described {
  source: string
  type: string
  /** Seconds before the firing, at most 0. */
  t: number
  labels: Record<string, string>
}

type Variant = <E extends Described>(events: readonly E[]) => E[]

/** Source and type of all events where they tell nothing. */
const ONE_SOURCE = 'events'
const ONE_TYPE = 'event'
/** Labels that say where something ran, and for whom. */
const PLACES = new Set(['host', 'region', 'zone', 'node', 'customer'])
/** Seconds of history, where there is hardly any. */
const SHORT = 1_200

const variants = {
  /** Everything comes from one source: none is of deploys alone, and none is quiet. */
  'one-source': (events) => events.map((event) => ({ ...event, source: ONE_SOURCE })),
  /** No event says on which host, in which region or for which customer. */
  'no-places': (events) => events.map((event) => ({ ...event, labels: withoutPlaces(event.labels) })),
  /** All events have one type: no level, and no kind of change. */
  'one-type': (events) => events.map((event) => ({ ...event, type: ONE_TYPE })),
  /** Nothing is older than twenty minutes. */
  'no-history': (events) => events.filter(({ t }) => t >= -SHORT),
} satisfies Record<string, Variant>

export type VariantName = keyof typeof variants
export const VARIANTS = Object.keys(variants) as VariantName[]

/** @param name none: as they are. @returns the events as the variant has them, in their order */
export const variantOf = <E extends Described>(events: E[], name: VariantName | undefined): E[] =>
  name === undefined ? events : (variants[name] as Variant)(events)

const withoutPlaces = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !PLACES.has(name)))

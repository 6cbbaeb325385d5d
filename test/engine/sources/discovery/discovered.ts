/** A fresh webhook source, given only a name: sent to, discovered, applied without an edit, and sent to again. */
import type { ProposedRole, ProposedRow } from '../../../../schemas/types.ts'
import { openDoor } from '../../../api/http/door.ts'
import type { Row, Sender } from './senders.ts'

/** Later than every time of the payloads. */
const NOW = Date.parse('2026-11-23T12:00:00Z')

export interface Found {
  config: Record<string, unknown>
  roles: ProposedRole[]
  rows: { before: ProposedRow[]; after: ProposedRow[] }[]
  summary: string
}

interface Event {
  id: string
  event_type: string
  event_time: string
  text: string
  entity: { label: string; value: string } | null
}

export type Door = Awaited<ReturnType<typeof openDoor>>

export async function openFresh(): Promise<Door> {
  const door = await openDoor()
  door.clock.at = NOW
  return door
}

/** @returns what was proposed, and the rows of a second delivery in the order of the payload. */
export async function discovered(door: Door, name: string, { headers, body }: Sender) {
  const { url } = await door.source(name)
  const first = await door.call('POST', url, body, headers)
  if (first.status !== 202) throw new Error(`${name}: ${first.status} ${first.text}`)
  const asked = await door.call('POST', '/api/sources/discover', { connector: 'webhook', name })
  const { proposed_config: config, ...rest } = asked.json() as unknown as Found & {
    proposed_config: Found['config']
  }
  const put = await door.call('PUT', `/api/sources/${name}`, { name, connector: 'webhook', config })
  if (put.status !== 200) throw new Error(`${name}: ${put.status} ${put.text}`)
  const before = new Set((await eventsOf(door, name)).map(({ id }) => id))
  await door.call('POST', url, body, headers)
  const events = (await eventsOf(door, name)).filter(({ id }) => !before.has(id))
  return { found: { ...rest, config }, events: events.sort((a, b) => numberOf(a) - numberOf(b)) }
}

const numberOf = ({ id }: Event): number => Number(id.slice('evt_'.length))

async function eventsOf(door: Door, name: string): Promise<Event[]> {
  return (await door.call('GET', `/api/sources/${name}/events?limit=100`)).json() as unknown as Event[]
}

/** What of the rows is not as it should be; empty: they are right. */
export function misses(events: readonly Event[], rows: readonly Row[]): string[] {
  if (events.length !== rows.length) return [`${events.length} rows, not ${rows.length}`]
  return events.flatMap((event, i) => {
    const row = rows[i]!
    const isOneOf = (value: string | undefined, wanted: string | string[]) =>
      [wanted].flat().includes(value ?? '')
    return [
      ...(isOneOf(event.entity?.value, row.entity) ? [] : [`entity ${event.entity?.value ?? 'none'}`]),
      ...(isOneOf(event.event_type, row.type) ? [] : [`type ${event.event_type}`]),
      ...(event.event_time === row.time ? [] : [`time ${event.event_time}`]),
      ...(row.text.every((part) => event.text.includes(part)) && !event.text.startsWith('{')
        ? []
        : [`text ${event.text.slice(0, 80)}`]),
    ]
  })
}

/** What the form of a trigger over alerts of a preset begins with, over the examples of that preset. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { presets } from '../../../../engine/sources/connectors/preset.ts'
import { ofAlerts } from '../../../../schemas/alert-words.ts'
import { openDoor } from '../../../api/http/door.ts'

let door: Awaited<ReturnType<typeof openDoor>>
beforeAll(async () => {
  door = await openDoor()
  door.clock.at = Date.parse('2026-11-23T12:00:00Z')
})
afterAll(() => door.close())

const OF_ALERTS = Object.entries(presets()).filter(([preset]) => ofAlerts('webhook', { preset }))

// Whoever takes what the form begins with would else be woken by nothing.
it.each(OF_ALERTS)(
  '%s: it takes what comes up, with its severity, and nothing that is over',
  async (preset, file) => {
    const { url } = await door.source(preset, { preset })
    for (const { body, headers = {} } of file.examples)
      expect((await door.call('POST', url, JSON.stringify(body), headers)).json()).toHaveProperty('ingested')
    const { filter, severity_field: severity } = ofAlerts('webhook', { preset })!
    const answer = await door.call('GET', `/api/sources/${preset}/events?limit=100`)
    const events = answer.json() as unknown as { event_type: string; labels: Record<string, string> }[]
    const taken = events.filter(({ event_type, labels }) =>
      [filter.value].flat().includes(filter.field === 'event_type' ? event_type : labels[filter.field]!),
    )
    expect(taken.length).toBeGreaterThan(0)
    expect(taken.filter(({ labels }) => labels[severity] === undefined)).toEqual([])
    expect(taken.filter(({ labels }) => /resolved|recovered/i.test(labels.status ?? ''))).toEqual([])
    // What is opened again is on again.
    expect(events.filter((event) => /reopen/.test(event.event_type) && !taken.includes(event))).toEqual([])
    // What ends an alert is known by what all its events have.
    const { filters, equal } = ofAlerts('webhook', { preset })!.over!
    const fieldOf = ({ event_type, labels }: (typeof events)[number], field: string) =>
      field === 'event_type' ? event_type : labels[field]
    const ends = events.filter((event) =>
      filters.every(({ field, value }) => [value].flat().includes(fieldOf(event, field)!)),
    )
    const known = equal.filter((field) => !field.startsWith('payload.'))
    for (const event of known.length === 0 ? [] : [...taken, ...ends])
      expect(known.map((field) => fieldOf(event, field)).join('')).not.toBe('')
    expect(ends.length).toBeGreaterThan(0)
  },
)

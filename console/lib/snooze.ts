/** Until when an incident can be snoozed. */

const HOUR_MS = 3_600_000
/** When a day of work begins. */
const MORNING = 9

/** @param now local time. @returns choices, the soonest first; until is ISO 8601, null until it changes */
export function snoozeTimes(now: Date): { word: string; until: string | null }[] {
  const morning = new Date(now)
  morning.setHours(MORNING, 0, 0, 0)
  if (morning.getTime() <= now.getTime()) morning.setDate(morning.getDate() + 1)
  const after = (hours: number): string => new Date(now.getTime() + hours * HOUR_MS).toISOString()
  return [
    { word: '1 h', until: after(1) },
    { word: '4 h', until: after(4) },
    { word: 'Until 09:00', until: morning.toISOString() },
    { word: 'Until it changes', until: null },
  ]
}

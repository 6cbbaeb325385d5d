/** The first message of a run taken apart again, by scripted agents: lines with what they say of time and place. */

export interface SeenLine {
  section: string
  /** Ids that the line begins with. */
  ids: string[]
  /** When it began, minutes from the firing, at most about 0; null: it does not say, or more than half a day ago. */
  at: number | null
  /** `since` of a number or a request that moved, likewise. */
  since: number | null
  entity: string
  text: string
}

export interface SeenMessage {
  entity: string
  /** Minutes from the firing. */
  onset: number | null
  lines: SeenLine[]
}

const LINE = /^(evt_\d+)(?:(?:…|, )(evt_\d+))? (.*)$/
const DAY = 1_440
const DAY_MS = 86_400_000
/** Minutes that an event may be ahead of the clock. */
const AHEAD = 5
const TIME = /\b(\d\d):(\d\d)(?::(\d\d))?\b/

export function readMessage(message: string): SeenMessage {
  const entity = /for \w+=(\S+) at /.exec(message)?.[1] ?? ''
  const [, year = '', day = '', time] = / at (\d{4})-(\d\d-\d\d)T(\S+?)Z/.exec(message) ?? []
  const fired = minutesOf(time) ?? 0
  const minutesIn = (text: string | undefined): number | null => {
    const minutes = minutesOf(text)
    if (text === undefined || minutes === null) return null
    const dated = /\d\d-\d\d(?= )/.exec(text)?.[0]
    if (dated) return minutes - fired - daysBetween(`${year}-${dated}`, `${year}-${day}`) * DAY
    // Of the day before, where it would be after the firing.
    return minutes - fired - (minutes > fired + AHEAD ? DAY : 0)
  }
  const onset = minutesIn(/trouble since ((?:\d\d-\d\d )?\S+) UTC/.exec(message)?.[1])
  let section = ''
  const lines: SeenLine[] = []
  for (const line of message.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3).split(':')[0]!
    const found = LINE.exec(line)
    if (!found) continue
    const [, first, second, text = ''] = found
    // A date before the time: it was more than half a day ago.
    const isOld = /^\d\d-\d\d /.test(text)
    lines.push({
      section,
      ids: [first!, ...(second ? [second] : [])],
      at: isOld ? null : minutesIn(TIME.exec(text.slice(0, 40))?.[0]),
      since: minutesIn(/ since ((?:\d\d-\d\d )?\d\d:\d\d(?::\d\d)?)/.exec(text)?.[1]),
      entity: /\bservice=([^\s,}]+)/.exec(text)?.[1] ?? entity,
      text,
    })
  }
  return { entity, onset, lines }
}

/** Whole days; of a day that would be later, from the year before. */
function daysBetween(first: string, second: string): number {
  const days = (Date.parse(second) - Date.parse(first)) / DAY_MS
  return days < 0 ? days + 365 : days
}

/** Minutes of the day. */
function minutesOf(text: string | undefined): number | null {
  const found = text === undefined ? null : TIME.exec(text)
  return found ? Number(found[1]) * 60 + Number(found[2]) + Number(found[3] ?? 0) / 60 : null
}

/** The first message of a run taken apart again, by scripted agents: lines with what they say of time and place. */

export interface SeenLine {
  section: string
  /** Ids that the line begins with. */
  ids: string[]
  /** Minutes of the day when it began, UTC; null: it does not say. */
  at: number | null
  /** `since` of a number or a request that moved, likewise. */
  since: number | null
  entity: string
  text: string
}

export interface SeenMessage {
  entity: string
  /** Minutes of the day. */
  onset: number | null
  lines: SeenLine[]
}

const LINE = /^(evt_\d+)(?:(?:…|, )(evt_\d+))? (.*)$/
const TIME = /\b(\d\d):(\d\d)(?::(\d\d))?\b/

export function readMessage(message: string): SeenMessage {
  const entity = /for \w+=(\S+) at /.exec(message)?.[1] ?? ''
  const onset = minutesIn(/trouble since (\S+) UTC/.exec(message)?.[1])
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
      since: minutesIn(/ since (\d\d:\d\d:\d\d)/.exec(text)?.[1]),
      entity: /\bservice=([^\s,}]+)/.exec(text)?.[1] ?? entity,
      text,
    })
  }
  return { entity, onset, lines }
}

function minutesIn(text: string | undefined): number | null {
  const found = text === undefined ? null : TIME.exec(text)
  return found ? Number(found[1]) * 60 + Number(found[2]) + Number(found[3] ?? 0) / 60 : null
}

/** Events as lines for an agent: those of the daemon's text timeline. */
import { eventLine } from '../../schemas/event-line.ts'
import type { Event } from '../../schemas/types.ts'

/** Oldest first, as given. */
export const renderEvents = (rows: readonly Event[]): string => rows.map(eventLine).join('\n')

/** An incident as it grew, in short, for the tools that list findings. */
import type { FindingIncident } from '../../schemas/types.ts'

/** Its notes are what get_finding gives. */
type FindingGrowth = Omit<FindingIncident, 'notes'>

/** @returns null: nothing was found of it */
export function grownOf(incident: FindingIncident | null): FindingGrowth | null {
  if (!incident) return null
  const { notes: _notes, ...grown } = incident
  return grown
}

/** Behind a line of a list; empty where there was one run. */
export function grownText(grown: FindingGrowth | null): string {
  if (!grown || grown.runs < 2) return ''
  const verdicts = grown.verdicts.length > 1 ? `, verdicts ${grown.verdicts.join(', ')}` : ''
  const since =
    grown.looked_at > grown.updated ? `, nothing new since, last looked at ${grown.looked_at}` : ''
  return `\nthe same incident since ${grown.first_seen}: ${grown.findings} findings of ${grown.runs} runs${verdicts}${since}`
}

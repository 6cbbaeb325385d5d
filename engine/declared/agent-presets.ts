/** Prompts to start an agent from. */
import type { AgentsResult } from '../../schemas/types.ts'

export const agentPresets: AgentsResult['presets'] = [
  {
    id: 'what-changed',
    label: 'What changed',
    prompt:
      'Read the timeline of this entity for the last hour. Say what changed shortly before the trigger fired: deploys, configuration, traffic, dependencies. Name each change with its time. If nothing changed, say so.',
  },
  {
    id: 'error-investigation',
    label: 'Error investigation',
    prompt:
      'Find the most likely cause of the errors on this entity. Start with the first error, look at what happened just before it on every source, and separate what you saw from what you conclude. End with one next step a person can take now.',
  },
  {
    id: 'summarise-window',
    label: 'Summarise the window',
    prompt:
      'Summarise what happened on this entity in the window: what is normal, what stands out, and what a person should look at. Three short paragraphs at most, with numbers.',
  },
  {
    id: 'triage-schedule',
    label: 'Triage on a schedule',
    prompt:
      'Look through the summary of the window. Pick the one entity that most needs a closer look and give the verdict investigate with its name; if none does, conclude that there is nothing to report.',
  },
  {
    id: 'root-cause',
    label: 'Root cause after a handoff',
    prompt:
      'Another agent looked first and handed this entity to you. Read its finding, then find the root cause: widen the window, compare with other entities, test each explanation against the events. Give the verdict rca with the cause and its evidence, or resolved when it is over.',
  },
]

/** Applies a card of Ask through the route of its kind. */
import type {
  AgentWrite,
  AskProposal,
  ChangeSetCreate,
  ProjectCreate,
  SourceWrite,
} from '../../../schemas/types.ts'
import { ask } from '../../ask-client.ts'
import { api } from '../../client.ts'
import { declared } from '../../declared-client.ts'
import { withTyped } from '../../lib/proposed.ts'

/** Makes what the card proposes, through the route of its kind. @returns what became of it, to be kept */
export async function applyCard(proposal: AskProposal, typed: Record<string, string>): Promise<string> {
  // The daemon planned it as the kind of the card has it.
  const body: unknown = withTyped(proposal, typed)
  switch (proposal.kind) {
    case 'labels':
    case 'trigger': {
      const { change_set } = await ask.change(body as ChangeSetCreate)
      return change_set === null ? '' : String(change_set)
    }
    case 'source':
      return String((await api.createSource(body as SourceWrite)).change_set ?? '')
    case 'project':
      return (await declared.createProject(body as ProjectCreate)).id
    default:
      return String((await declared.createAgent(body as AgentWrite)).change_set ?? '')
  }
}

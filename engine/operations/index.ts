/**
 * The table of operations: every call of the service but those that are streams, bytes or a door's own. Their
 * order is that of the API document.
 */
import type { Tell } from '../calls.ts'
import type { StoreCalls } from '../roles/calls.ts'
import { agents, agentTests, evals } from './agents.ts'

import { ask } from './ask.ts'
import { catalog } from './catalog.ts'
import { changes, proposals } from './changes.ts'
import { entities } from './entities.ts'
import { events, instance } from './events.ts'
import { incidents, maintenance } from './incidents.ts'
import type { OperationInput } from './input.ts'
import { credentials, keys, logins, oauthSessions } from './keys.ts'
import { mcpServers } from './mcp-servers.ts'
import type { Operation, Role } from './operation.ts'
import { demo, graph, projects, replay } from './projects.ts'
import { results, runs } from './runs.ts'

import { providerA, settings, slack, workspaces } from './settings.ts'
import { setup } from './setup.ts'
import { skills } from './skills.ts'
import { sources } from './sources.ts'
import { deliveries, firings, subscriptions } from './subscriptions.ts'

import { triggers } from './triggers.ts'

/** By noun. */
export const nouns = {
  ...{
    instance,
    sources,
    triggers,
    incidents,
    maintenance,
    firings,
    deliveries,
    runs,
    evals,
    agentTests,
    subscriptions,
    agents,
  },
  ...{
    mcpServers,
    skills,
    projects,
    results,
    replay,
    graph,
    changes,
    proposals,
    setup,
    catalog,
    entities,
    events,
    ask,
  },
  ...{ keys, logins, oauthSessions, settings, providerA, credentials, slack, workspaces, demo },
}

export const operations: readonly Operation[] = Object.values(nouns).flat()

const byId = new Map(operations.map((one) => [one.id, one]))

/** @throws Error for an id that no operation has: a fault of ours */
export function operationOf(id: string): Operation {
  const found = byId.get(id)
  if (!found) throw new Error(`no operation has the id ${id}`)
  return found
}

/** Method and path of an operation. */
export function routeOf({ route }: Operation): { method: string; path: string } {
  const at = route.indexOf(' ')
  return { method: route.slice(0, at), path: route.slice(at + 1) }
}

/** Where a call of it runs: what only plans, reads. */
export const roleOf = ({ role }: Operation, input: OperationInput): Role =>
  typeof role === 'function' ? role(input as OperationInput<never, never, never>) : role

/** Whether it takes an Idempotency-Key: a POST that may write, sent again, is done once. */
export const isRepeatable = ({ route, role, repeatable }: Operation): boolean =>
  route.startsWith('POST ') && (repeatable === true || role === 'writer' || typeof role === 'function')

/** Whether a door needs nothing of what it answers but the text. */
export const isTextAlone = ({ answer, versioned, mayExist, access }: Operation): boolean =>
  (typeof answer === 'string' || ('listOf' in answer && !answer.write)) &&
  !versioned &&
  !mayExist &&
  access !== 'changes'

/** Runs an operation where one is, whatever its role. @returns its answer; with `asText` the UTF-8 of its JSON text */
export const performOn =
  (engine: StoreCalls) =>
  async (id: string, input: OperationInput, told?: Tell): Promise<unknown> => {
    const operation = operationOf(id)
    const answer = await operation.run(engine, told ? { ...input, told } : input)
    return input.asText ? textOf(operation, answer) : answer
  }

/** The schemas are loaded with the first of these: no start waits for them. */
async function textOf({ answer: shown }: Operation, answer: unknown): Promise<Uint8Array> {
  const { shapeOf } = await import('../../schemas/shape.ts')
  const schema =
    typeof shown === 'object' && 'listOf' in shown
      ? { type: 'array', items: { $ref: shown.listOf } }
      : { $ref: shown as string }
  return new TextEncoder().encode(JSON.stringify(shapeOf(schema)(answer)))
}

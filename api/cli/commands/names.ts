/** `svc names`: what completion of a shell asks of an instance. It is hidden, and says nothing where it gets no answer. */
import { Argument, type Command } from 'commander'
import * as calls from '../../client/calls.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { NAMED, type Named } from '../reference/tree.ts'
import { escapeLine, type Io } from '../terminal.ts'

/** A key press waits for no longer. */
const WAIT_MS = 700
/** More than anybody looks through. */
const NAMES_MAX = 1_000

type Names = Promise<readonly { name: string }[]>

const LISTS: Readonly<Record<Named, (client: Client) => Names>> = {
  sources: (client) => client.ask(calls.listSources),
  triggers: (client) => client.ask(calls.listTriggers),
  agents: async (client) => (await client.ask(calls.listAgents, {})).agents,
  'mcp-servers': async (client) => (await client.ask(calls.listMcpServers)).servers,
  projects: async (client) => (await client.ask(calls.listProjects, {})).projects,
  skills: (client) => client.ask(calls.listSkills),
  entities: async (client) => (await client.ask(calls.listJoinedEntities)).entities,
  credentials: async (client) => (await client.ask(calls.listCredentials)).credentials,
}

/** The command. */
export function namesCommand(io: Io): Command {
  return clientCommand('names', 'Print the names of what an instance has, for completion of shells')
    .addArgument(new Argument('<noun>').choices(NAMED))
    .action(async (noun: Named, flags: ClientFlags) => {
      const soon = AbortSignal.any([io.interrupted, AbortSignal.timeout(WAIT_MS)])
      try {
        const listed = await LISTS[noun](clientOf({ ...io, interrupted: soon }, flags))
        // One that a terminal could not show as it is can be typed by nobody.
        const names = listed.map(({ name }) => name).filter((name) => escapeLine(name) === name)
        io.out(
          names
            .slice(0, NAMES_MAX)
            .map((name) => `${name}\n`)
            .join(''),
        )
      } catch (error) {
        // Whoever presses a key did not ask for an error: there are no names, then.
        if (!(error instanceof CliError)) throw error
      }
    })
}

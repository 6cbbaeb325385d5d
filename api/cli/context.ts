/** What the client commands share: their connection options and the HTTP client made of them. */
import { Command, Option } from 'commander'
import { version } from '../version.ts'
import { Client } from './client.ts'
import { type ClientFlags, resolveTarget } from './credentials.ts'
import type { CliError } from './exit.ts'
import { escapeLine, type Io } from './terminal.ts'

export interface JsonFlag {
  json?: boolean
}

const CONNECTION = 'Connection:'
const clientCommands = new WeakSet<Command>()

/** A command that talks to a daemon: it gets --json, --svcd, --token and --data-dir. */
export function clientCommand(name: string, description: string): Command {
  const command = new Command(name).description(description)
  clientCommands.add(command)
  return command
}

/** Adds the connection options to a client command, below its own in the help. */
export function addConnectionOptions(command: Command): void {
  if (!clientCommands.has(command)) return
  command.addOption(new Option('--json', "print the API's JSON, for scripts"))
  addDaemonOptions(command)
}

/** Adds the options that say which daemon a command talks to. */
export function addDaemonOptions(command: Command): Command {
  return command
    .addOption(new Option('--svcd <url>', 'daemon to talk to (SVCD_URL)').helpGroup(CONNECTION))
    .addOption(new Option('--token <token>', 'credential (SVC_AUTH_TOKEN)').helpGroup(CONNECTION))
    .addOption(
      new Option('--data-dir <dir>', 'data home of the login and the root token (SVC_HOME)').helpGroup(
        CONNECTION,
      ),
    )
}

const clients = new WeakMap<Io, Client>()

/** The HTTP client for the daemon that flags and environment name. */
export function clientOf(io: Io, flags: ClientFlags): Client {
  const client = new Client(resolveTarget(flags, io.env), io)
  clients.set(io, client)
  return client
}

/** The error that says so, where the daemon which was asked last is none of svc; null: it is, or none was asked. */
export const strangeAnswer = async (io: Io): Promise<CliError | null> =>
  (await clients.get(io)?.strangeAnswer()) ?? null

/** That the daemon which was asked last is of another version than this command; null: it is not, or is not known. */
export async function otherVersion(io: Io): Promise<string | null> {
  const client = clients.get(io)
  const daemon = await client?.versionThere()
  if (!daemon || daemon === version) return null
  return `the daemon at ${client!.target.url} is svc ${escapeLine(daemon)} and this command svc ${version}: use the command of the daemon's version, or bring the daemon to this one`
}

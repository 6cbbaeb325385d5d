/** `svc login`, `svc logout`, `svc whoami`: this machine's key (SPEC.md, Authentication 10). */
import { Command } from 'commander'
import * as calls from '../../client/calls.ts'
import { resolveHome } from '../../data-home.ts'
import { readVariable } from '../../environment.ts'
import { Client } from '../client.ts'
import { clientCommand, type JsonFlag } from '../context.ts'
import { type ClientFlags, locate, resolveTarget } from '../credentials.ts'
import { prepareFolder } from '../daemon/data-folder.ts'
import { CliError, usageError } from '../exit.ts'
import { repeatable } from '../labels.ts'
import { readLogin, removeLogin, type SavedLogin, saveLogin } from '../login/file.ts'
import { obtainKey } from '../login/flow.ts'
import { escapeLine, type Io, printJson } from '../terminal.ts'

const SCOPES = ['read', 'ingest', 'admin']

interface LoginFlags {
  svcd?: string
  dataDir?: string
  scope?: string[]
  browser: boolean
}

export function loginCommand(io: Io): Command {
  return new Command('login')
    .description('Get a key for this machine: approve in the console, and client commands use it')
    .argument('[url]', 'daemon to log in to, as --svcd')
    .option('--svcd <url>', 'daemon to log in to (SVCD_URL, else the saved login, else the local one)')
    .addOption(repeatable('--scope <scope>', 'propose read, ingest or admin; admin without it'))
    .option('--no-browser', 'print the address, and take the code by hand')
    .option('--data-dir <dir>', 'data home the login is saved in (SVC_HOME, else ~/.svc)')
    .action((url: string | undefined, flags: LoginFlags) => login(io, url, flags))
}

export function logoutCommand(io: Io): Command {
  return new Command('logout')
    .description("Revoke this machine's key and forget it")
    .option('--data-dir <dir>', 'data home of the saved login (SVC_HOME, else ~/.svc)')
    .action((flags: { dataDir?: string }) => logout(io, flags))
}

export function whoamiCommand(io: Io): Command {
  return clientCommand('whoami', 'Show who the daemon takes this machine for').action(
    (flags: ClientFlags & JsonFlag) => whoami(io, flags),
  )
}

async function login(io: Io, url: string | undefined, flags: LoginFlags): Promise<void> {
  if (url !== undefined && flags.svcd !== undefined) throw usageError('name the daemon once')
  const scopes = (flags.scope ?? []).flatMap((scope) => scope.split(','))
  for (const scope of scopes)
    if (!SCOPES.includes(scope)) throw usageError(`--scope ${scope}: must be read, ingest or admin`)
  const { home } = resolveHome(flags.dataDir, io.env)
  const previous = readLogin(home)
  const svcd = url ?? flags.svcd
  const target = resolveTarget({ ...(svcd === undefined ? {} : { svcd }), dataDir: home }, io.env)
  // Before a person approves: a key that cannot be saved would have to be revoked.
  prepareFolder(home, '--data-dir', true)
  const created = await obtainKey(io, {
    url: target.url,
    scopes: scopes.length ? scopes : ['admin'],
    browser: flags.browser,
  })
  const file = keep(home, { url: target.url, key: created.secret, keyId: created.id })
  io.out(`logged in to ${target.url} with ${created.scopes.join(', ')}; the key is saved in ${file}\n`)
  if (previous) io.err(`${await end(io, previous).catch((error: Error) => error.message)}\n`)
  for (const name of ['SVCD_URL', 'SVC_AUTH_TOKEN'])
    if (readVariable(io.env, name) !== undefined) io.err(`${name} is set, and comes before the saved login\n`)
}

function keep(home: string, saved: SavedLogin): string {
  try {
    return saveLogin(home, saved)
  } catch (error) {
    throw new CliError(
      `the login could not be saved (${(error as Error).message}); revoke the key ${saved.keyId} in the console, under API keys`,
    )
  }
}

async function logout(io: Io, flags: { dataDir?: string }): Promise<void> {
  const { home } = resolveHome(flags.dataDir, io.env)
  const saved = readLogin(home)
  if (!saved) return io.out('no login is saved here\n')
  const isRevoked = await end(io, saved).then(
    (words) => io.out(`${words}; the saved login is removed\n`),
    (error: Error) => error,
  )
  removeLogin(home)
  if (isRevoked instanceof Error)
    throw new CliError(`the saved login is removed, but its key still opens: ${isRevoked.message}`)
}

/** Revokes the key of a login with itself. @returns what was done. @throws CliError what remains to do */
async function end(io: Io, { url, key, keyId }: SavedLogin): Promise<string> {
  const id = keyId ?? /^svc_([0-9a-f]{8})_/.exec(key)?.[1]
  const remains = `revoke ${id ?? 'it'} at ${url}, in the console under API keys or with svc keys revoke`
  if (id === undefined) throw new CliError(remains)
  const client = new Client({ url, token: key }, io)
  const answer = await client.attempt(calls.endLogin, { id }).catch((error: Error) => {
    throw new CliError(`${error.message}; ${remains}`)
  })
  if (answer.status === 200) return `the key ${id} of ${url} is revoked`
  // Revoked by somebody else: on a secured instance it is not known, on an open one not there.
  if (answer.status === 401 || answer.status === 404) return `the key ${id} of ${url} had been revoked`
  throw new CliError(`${client.refusal(answer).message}; ${remains}`)
}

async function whoami(io: Io, flags: ClientFlags & JsonFlag): Promise<void> {
  const { from, ...target } = locate(flags, io.env)
  const answer = await new Client(target, io).call(calls.whoAmI)
  if (flags.json) return printJson(io, answer.text)
  const { id, name, scopes, project_name } = answer.read()
  const project = project_name ? `, in project ${project_name}` : ''
  io.out(
    `${escapeLine(`${name} (${id}) at ${target.url}: ${scopes.join(', ')}${project}`)}\n${
      from === null ? 'no credential was sent' : `by ${from}`
    }\n`,
  )
}

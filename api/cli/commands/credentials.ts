/** `svc credentials`: tokens and apps of GitHub, stored once by name (/api/integrations/github). */
import { Argument, type Command } from 'commander'
import type { CredentialSaved, CredentialTested, StoredCredential } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, usageError } from '../exit.ts'
import { type Column, escapeLine, type Io, printJson } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, verb } from '../verbs.ts'

type SaveFlags = Flags & { apiUrl?: string; appId?: string; installationId?: string }

const API_URL = [
  '--api-url <url>',
  'base address of the API; of GitHub Enterprise https://HOST/api/v3',
] as const
const APP_ID = ['--app-id <id>', 'it is an app: its id; standard input is its private key (PEM)'] as const
const INSTALLATION_ID = [
  '--installation-id <id>',
  'the one installation of the app that is used; all of them without it',
] as const
/** Longer input is neither a token nor a key. */
const SECRET_MAX = 16_384

const CREDENTIALS: Column<StoredCredential>[] = [
  { title: 'NAME', cell: (one) => one.name },
  { title: 'KIND', cell: ({ kind, installation_id: one }) => (one === null ? kind : `${kind} ${one}`) },
  { title: 'ACCOUNT', cell: ({ account }) => account ?? 'not known' },
  { title: 'HOST', cell: ({ api_url: url }) => new URL(url).host },
  { title: 'EXPIRES', cell: ({ expires_at: at }) => at?.slice(0, 10) ?? '' },
  {
    title: 'STATE',
    cell: ({ problem }) => (problem === null ? 'ok' : 'cannot be read'),
    style: ({ problem }) => (problem === null ? 'green' : 'red'),
  },
  {
    title: 'USED BY',
    cell: ({ sources, mcp_servers }) => [...sources, ...mcp_servers].join(', '),
  },
]
const NO_CREDENTIALS = 'no credentials yet; add one with: svc credentials add <name>'

/** The command and its subcommands. Secrets are read from standard input: an argument is seen by others. */
export const credentialsCommand = noun(
  'credentials',
  'List, add, rotate, test and delete GitHub tokens and apps',
  {
    list: verb({
      does: 'List credentials with what uses them',
      call: calls.listCredentials,
      tell: (io, { credentials }) => rows(CREDENTIALS, NO_CREDENTIALS)(io, credentials),
    }),
    add: verb({
      does: 'Store the token, or the private key of an app, on standard input',
      call: calls.createCredential,
      args: ['<name>'],
      options: [API_URL, APP_ID, INSTALLATION_ID],
      input: async ({ words: [name = ''], flags }: GivenWords<SaveFlags>, _client, io) => {
        const { apiUrl: api_url, appId: app_id, installationId } = flags
        const secret = await secretOf(io, name, 'add')
        if (app_id === undefined && installationId !== undefined)
          throw usageError('--installation-id is of an app: give --app-id')
        if (app_id === undefined && isKey(secret))
          throw usageError('standard input is a private key: give the id of its app by --app-id')
        if (app_id === undefined) return { body: { name, token: secret, api_url } }
        const installation_id = installationOf(installationId)
        return { body: { name, app_id, private_key: secret, installation_id, api_url } }
      },
      tell: tellSaved('stored'),
    }),
    rotate: verb({
      does: 'Replace the token, or the private key, by the one on standard input',
      call: calls.updateCredential,
      options: [API_URL],
      input: async ({ words: [name = ''], flags }: GivenWords<SaveFlags>, _client, io) => {
        const secret = await secretOf(io, name, 'rotate')
        const given = isKey(secret) ? { private_key: secret } : { token: secret }
        return { name, body: { ...given, api_url: flags.apiUrl } }
      },
      tell: tellSaved('rotated'),
    }),
    installation: verb({
      does: 'Say which installation of an app is used, or all',
      call: calls.updateCredential,
      args: ['<name>', new Argument('<id>', 'its number, or all')],
      input: ({ words: [name = '', id = ''] }) => ({ name, body: { installation_id: installationOf(id) } }),
      tell: tellSaved('changed'),
    }),
    test: testCommand,
    repos: verb({
      does: 'List repositories it may read',
      call: calls.listCredentialRepositories,
      args: ['<name>', new Argument('[query]', 'part of owner/name')],
      input: ({ words: [name = '', query = ''] }) => ({ name, query }),
      tell: (io, { repos, more }) => {
        for (const { repo } of repos) io.out(`${escapeLine(repo)}\n`)
        if (repos.length === 0) io.err('no repository like that may be read with it\n')
        else if (more) io.err('there may be others: give a part of owner/name\n')
      },
    }),
    tree: verb({
      does: 'List what lies in a folder of a repository',
      call: calls.readCredentialTree,
      args: ['<name>', '<repo>', new Argument('[path]', 'folder; the root without it')],
      options: [['--ref <ref>', 'branch, tag or commit; the default branch without it']],
      input: ({ words: [name = '', repo = '', path = ''], flags }: GivenWords<Flags & { ref?: string }>) => ({
        ...{ name, repo, path, ref: flags.ref ?? '' },
      }),
      tell: (io, { entries, more }) => {
        for (const { path, type } of entries) io.out(`${escapeLine(path)}${type === 'folder' ? '/' : ''}\n`)
        if (more) io.err('there may be others: GitHub lists 1,000 of a folder\n')
      },
    }),
    mcp: verb({
      does: 'Register the MCP server that GitHub hosts, called with it',
      call: calls.addCredentialServer,
      options: [['--write', 'list its tools that change something, too']],
      input: ({ words: [name = ''], flags }: GivenWords<Flags & { write?: boolean }>) => ({
        name,
        body: flags.write ? { write: true } : {},
      }),
      tell: (io, { server }) => io.out(`registered ${escapeLine(server)}\n`),
    }),
    delete: verb({
      does: 'Delete it and say what can no longer work',
      call: calls.deleteCredential,
      tell: (io, { sources, mcp_servers }, { words: [name = ''] }) => {
        io.out(`deleted ${escapeLine(name)}\n`)
        if (sources.length) io.err(`no longer polled: ${sources.map(escapeLine).join(', ')}\n`)
        if (mcp_servers.length) io.err(`left out of runs: ${mcp_servers.map(escapeLine).join(', ')}\n`)
      },
    }),
  },
)

function tellSaved(done: string) {
  return (
    io: Io,
    { account, warning }: CredentialSaved,
    { words: [name = ''] }: GivenWords<SaveFlags>,
  ): void => {
    const of = account === null ? '' : `: of ${escapeLine(account)}`
    io.out(`${done} ${escapeLine(name)}${of}\n`)
    if (warning) io.err(`${escapeLine(warning)}\n`)
  }
}

/** Reads a token or a key from standard input. @throws CliError 64 when it is empty or too long */
async function secretOf(io: Io, name: string, verb: 'add' | 'rotate'): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of io.stdin) parts.push(chunk)
  const secret = Buffer.concat(parts).toString('utf8').trim()
  if (secret !== '' && secret.length <= SECRET_MAX) return secret
  throw usageError(
    `give the token, or the private key of an app, on standard input: svc credentials ${verb} ${escapeLine(name)} < token.txt`,
  )
}

const isKey = (secret: string): boolean => secret.startsWith('-----BEGIN ')

/** @returns null: all of them. @throws CliError 64 */
function installationOf(given: string | undefined): number | null {
  if (given === undefined || given === 'all') return null
  if (/^[1-9]\d{0,15}$/.test(given)) return Number(given)
  throw usageError('an installation is its number, as its address on GitHub ends, or all')
}

function testCommand(io: Io): Command {
  return clientCommand('test', 'Ask GitHub whose it is')
    .argument('<name>')
    .action((name: string, flags: Flags) => test(io, name, flags))
}

async function test(io: Io, name: string, flags: Flags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.testCredential, { name })
  const said = answer.read()
  const { ok, error } = said
  if (flags.json) printJson(io, answer.text)
  if (!ok) throw new CliError(flags.json ? '' : `${escapeLine(name)}: ${escapeLine(error ?? 'no answer')}`)
  if (flags.json) return
  for (const line of testedLines(said)) io.out(`${escapeLine(line)}\n`)
}

function testedLines({ login, scopes, expires_at, permissions, installations }: CredentialTested): string[] {
  if (!installations) {
    const more = [
      ...(scopes?.length ? [`scopes ${scopes.join(', ')}`] : []),
      ...(expires_at ? [`expires ${expires_at.slice(0, 10)}`] : []),
    ]
    return [[login ? `token of ${login}` : 'GitHub takes the token', ...more].join('; ')]
  }
  const may = Object.entries(permissions ?? {}).map(([what, how]) => `${what}: ${how}`)
  return [
    `app ${login}${may.length ? `; may ${may.join(', ')}` : ''}`,
    ...installations.map(
      ({ id, account, repositories, suspended }) =>
        `installation ${id}: ${account}, ${repositories} repositories${suspended ? ', suspended' : ''}`,
    ),
  ]
}

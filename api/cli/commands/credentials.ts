/** `svc credentials`: tokens of GitHub, stored once by name (/api/integrations/github). */
import { Argument, type Command } from 'commander'
import type { CredentialSaved, StoredCredential } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, usageError } from '../exit.ts'
import { type Column, escapeLine, type Io, printJson } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, verb } from '../verbs.ts'

type SaveFlags = Flags & { apiUrl?: string }

const API_URL = [
  '--api-url <url>',
  'base address of the API; of GitHub Enterprise https://HOST/api/v3',
] as const
/** Longer input is no token. */
const TOKEN_MAX = 4_096

const CREDENTIALS: Column<StoredCredential>[] = [
  { title: 'NAME', cell: (one) => one.name },
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

/** The command and its subcommands. Tokens are read from standard input: an argument is seen by others. */
export const credentialsCommand = noun('credentials', 'List, add, rotate, test and delete GitHub tokens', {
  list: verb({
    does: 'List credentials with what uses them',
    call: calls.listCredentials,
    tell: (io, { credentials }) => rows(CREDENTIALS, NO_CREDENTIALS)(io, credentials),
  }),
  add: verb({
    does: 'Store the token on standard input',
    call: calls.createCredential,
    args: ['<name>'],
    options: [API_URL],
    input: async ({ words: [name = ''], flags }: GivenWords<SaveFlags>, _client, io) => ({
      body: { name, token: await tokenOf(io, name, 'add'), api_url: flags.apiUrl },
    }),
    tell: tellSaved('stored'),
  }),
  rotate: verb({
    does: 'Replace the token by the one on standard input',
    call: calls.updateCredential,
    options: [API_URL],
    input: async ({ words: [name = ''], flags }: GivenWords<SaveFlags>, _client, io) => ({
      name,
      body: { token: await tokenOf(io, name, 'rotate'), api_url: flags.apiUrl },
    }),
    tell: tellSaved('rotated'),
  }),
  test: testCommand,
  repos: verb({
    does: 'List repositories it may read, those pushed to last first',
    call: calls.listCredentialRepositories,
    args: ['<name>', new Argument('[query]', 'part of owner/name')],
    input: ({ words: [name = '', query = ''] }) => ({ name, query }),
    tell: (io, { repos, more }) => {
      for (const { repo } of repos) io.out(`${escapeLine(repo)}\n`)
      if (repos.length === 0) io.err('no repository like that may be read with it\n')
      else if (more) io.err('there may be others: give a part of owner/name\n')
    },
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
})

function tellSaved(done: string) {
  return (
    io: Io,
    { account, warning }: CredentialSaved,
    { words: [name = ''] }: GivenWords<SaveFlags>,
  ): void => {
    const of = account === null ? '' : `: the token of ${escapeLine(account)}`
    io.out(`${done} ${escapeLine(name)}${of}\n`)
    if (warning) io.err(`${escapeLine(warning)}\n`)
  }
}

/** Reads the token from standard input. @throws CliError 64 when it is empty or too long */
async function tokenOf(io: Io, name: string, verb: 'add' | 'rotate'): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of io.stdin) parts.push(chunk)
  const token = Buffer.concat(parts).toString('utf8').trim()
  if (token !== '' && token.length <= TOKEN_MAX) return token
  throw usageError(
    `give the token on standard input: svc credentials ${verb} ${escapeLine(name)} < token.txt`,
  )
}

function testCommand(io: Io): Command {
  return clientCommand('test', 'Ask GitHub whose token it is')
    .argument('<name>')
    .action((name: string, flags: Flags) => test(io, name, flags))
}

async function test(io: Io, name: string, flags: Flags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.testCredential, { name })
  const { ok, login, scopes, expires_at: expires, error } = answer.read()
  if (flags.json) printJson(io, answer.text)
  if (!ok) throw new CliError(flags.json ? '' : `${escapeLine(name)}: ${escapeLine(error ?? 'no answer')}`)
  if (flags.json) return
  const more = [
    ...(scopes?.length ? [`scopes ${scopes.join(', ')}`] : []),
    ...(expires ? [`expires ${expires.slice(0, 10)}`] : []),
  ]
  io.out(`${[login ? `token of ${login}` : 'GitHub takes the token', ...more].map(escapeLine).join('; ')}\n`)
}

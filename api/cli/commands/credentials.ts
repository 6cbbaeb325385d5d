/** `svc credentials`: tokens of GitHub, stored once by name (/api/integrations/github). */
import { Command } from 'commander'
import type {
  CredentialDeleted,
  CredentialSaved,
  CredentialsResult,
  CredentialTested,
  RepositoriesResult,
  StoredCredential,
} from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, usageError } from '../exit.ts'
import { escapeLine, type Io, printJson, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag & { apiUrl?: string }

const BASE = '/api/integrations/github'
const pathOf = (name: string): string => `${BASE}/${encodeURIComponent(name)}`
const ADDRESS = 'base address of the API; of GitHub Enterprise https://HOST/api/v3'
/** Longer input is no token. */
const TOKEN_MAX = 4_096

/** The command and its subcommands. Tokens are read from standard input: an argument is seen by others. */
export function credentialsCommand(io: Io): Command {
  const group = new Command('credentials').description('List, add, rotate, test and delete GitHub tokens')
  group.addCommand(
    clientCommand('list', 'List credentials with what uses them').action((flags: Flags) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    clientCommand('add', 'Store the token on standard input')
      .argument('<name>')
      .option('--api-url <url>', ADDRESS)
      .action((name: string, flags: Flags) => save(io, name, flags, true)),
  )
  group.addCommand(
    clientCommand('rotate', 'Replace the token by the one on standard input')
      .argument('<name>')
      .option('--api-url <url>', ADDRESS)
      .action((name: string, flags: Flags) => save(io, name, flags, false)),
  )
  group.addCommand(
    clientCommand('test', 'Ask GitHub whose token it is')
      .argument('<name>')
      .action((name: string, flags: Flags) => test(io, name, flags)),
  )
  group.addCommand(
    clientCommand('repos', 'List repositories it may read, those pushed to last first')
      .argument('<name>')
      .argument('[query]', 'part of owner/name')
      .action((name: string, query: string | undefined, flags: Flags) => repos(io, name, query ?? '', flags)),
  )
  group.addCommand(
    clientCommand('delete', 'Delete it and say what can no longer work')
      .argument('<name>')
      .action((name: string, flags: Flags) => remove(io, name, flags)),
  )
  return group
}

async function list(io: Io, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(BASE)
  if (flags.json) return printJson(io, text)
  const { credentials } = JSON.parse(text) as CredentialsResult
  if (credentials.length === 0)
    return io.out('no credentials yet; add one with: svc credentials add <name>\n')
  io.out(
    table(
      io,
      [
        { title: 'NAME', cell: (one: StoredCredential) => one.name },
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
      ],
      credentials,
    ),
  )
}

async function save(io: Io, name: string, flags: Flags, isNew: boolean): Promise<void> {
  const token = await tokenOf(io, name, isNew)
  const body = { token, ...(flags.apiUrl === undefined ? {} : { api_url: flags.apiUrl }) }
  const { text } = await clientOf(io, flags).call(isNew ? BASE : pathOf(name), {
    method: isNew ? 'POST' : 'PUT',
    json: isNew ? { name, ...body } : body,
  })
  if (flags.json) return printJson(io, text)
  const { account, warning } = JSON.parse(text) as CredentialSaved
  const of = account === null ? '' : `: the token of ${escapeLine(account)}`
  io.out(`${isNew ? 'stored' : 'rotated'} ${escapeLine(name)}${of}\n`)
  if (warning) io.err(`${escapeLine(warning)}\n`)
}

/** @throws CliError wrong usage where there is none */
async function tokenOf(io: Io, name: string, isNew: boolean): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of io.stdin) parts.push(chunk)
  const token = Buffer.concat(parts).toString('utf8').trim()
  if (token !== '' && token.length <= TOKEN_MAX) return token
  throw usageError(
    `give the token on standard input: svc credentials ${isNew ? 'add' : 'rotate'} ${escapeLine(name)} < token.txt`,
  )
}

async function test(io: Io, name: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(`${pathOf(name)}/test`, { method: 'POST' })
  const { ok, login, scopes, expires_at: expires, error } = JSON.parse(text) as CredentialTested
  if (flags.json) printJson(io, text)
  if (!ok) throw new CliError(flags.json ? '' : `${escapeLine(name)}: ${escapeLine(error ?? 'no answer')}`)
  if (flags.json) return
  const more = [
    ...(scopes?.length ? [`scopes ${scopes.join(', ')}`] : []),
    ...(expires ? [`expires ${expires.slice(0, 10)}`] : []),
  ]
  io.out(`${[login ? `token of ${login}` : 'GitHub takes the token', ...more].map(escapeLine).join('; ')}\n`)
}

async function repos(io: Io, name: string, query: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(`${pathOf(name)}/repos?query=${encodeURIComponent(query)}`)
  if (flags.json) return printJson(io, text)
  const { repos: found, more } = JSON.parse(text) as RepositoriesResult
  for (const { repo } of found) io.out(`${escapeLine(repo)}\n`)
  if (found.length === 0) io.err('no repository like that may be read with it\n')
  else if (more) io.err('there may be others: give a part of owner/name\n')
}

async function remove(io: Io, name: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(pathOf(name), { method: 'DELETE' })
  if (flags.json) return printJson(io, text)
  const { sources, mcp_servers } = JSON.parse(text) as CredentialDeleted
  io.out(`deleted ${escapeLine(name)}\n`)
  if (sources.length) io.err(`no longer polled: ${sources.map(escapeLine).join(', ')}\n`)
  if (mcp_servers.length) io.err(`left out of runs: ${mcp_servers.map(escapeLine).join(', ')}\n`)
}

/** `svc keys`: list, create, revoke API keys (/api/keys). */
import { Command } from 'commander'
import type { Key, KeyCreate, KeyCreated, KeysResult } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { usageError } from '../exit.ts'
import { repeatable } from '../labels.ts'
import { type Io, paint, printJson, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag

const SCOPES = ['read', 'ingest', 'admin', 'findings'] as const
type Scope = (typeof SCOPES)[number]

type CreateFlags = Flags & { scope?: string[]; source?: string; project?: string }

/** The command and its subcommands. */
export function keysCommand(io: Io): Command {
  const group = new Command('keys').description('List, create and revoke API keys')
  group.addCommand(
    clientCommand('list', 'List keys, revoked ones too').action((flags: Flags) => list(io, flags)),
    { isDefault: true },
  )
  group.addCommand(
    clientCommand('create', 'Create a key; its secret is shown once')
      .argument('<name>')
      .addOption(repeatable('--scope <scope>', `${SCOPES.join(', ')}; findings goes with --project`))
      .option('--source <name>', 'an ingest key that only writes to this source')
      .option('--project <name>', 'a key that reads this project and records findings in it, and no more')
      .action((name: string, flags: CreateFlags) => create(io, name, flags)),
  )
  group.addCommand(
    clientCommand('revoke', 'Revoke a key at once')
      .argument('<id>')
      .action(async (id: string, flags: Flags) => {
        const { text } = await clientOf(io, flags).call(`/api/keys/${encodeURIComponent(id)}`, {
          method: 'DELETE',
        })
        if (flags.json) printJson(io, text)
        else io.out(`revoked ${id}\n`)
      }),
  )
  return group
}

async function list(io: Io, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call('/api/keys')
  if (flags.json) return printJson(io, text)
  const { keys, enforced } = JSON.parse(text) as KeysResult
  if (keys.length === 0) io.out('no keys yet; make one with: svc keys create <name> --scope read\n')
  else {
    io.out(
      table(
        io,
        [
          { title: 'ID', cell: (key: Key) => key.id },
          { title: 'NAME', cell: (key) => key.name },
          { title: 'SCOPES', cell: (key) => key.scopes.join(',') + (key.source ? ` (${key.source})` : '') },
          {
            title: 'STATE',
            cell: (key) => key.state,
            style: (key) => (key.state === 'active' ? 'green' : 'dim'),
          },
          { title: 'CREATED', cell: (key) => key.created_at },
          { title: 'LAST USED', cell: (key) => key.last_used_at ?? 'never' },
        ],
        keys,
      ),
    )
  }
  if (!enforced)
    io.err(paint(io, 'dim', 'this instance is open: keys are not checked until it runs with --auth\n'))
}

async function create(io: Io, name: string, { source, project, ...flags }: CreateFlags): Promise<void> {
  const scopes = (flags.scope ?? []).flatMap((scope) => scope.split(',')).map(scopeOf)
  // A project key has scopes that are its own: read and findings.
  if (scopes.length === 0 && project === undefined)
    throw usageError(`--scope is required: ${SCOPES.join(', ')}; or --project`)
  const body: KeyCreate = {
    name,
    ...(scopes.length === 0 ? {} : { scopes }),
    ...(source === undefined ? {} : { source }),
    ...(project === undefined ? {} : { project }),
  }
  const { text } = await clientOf(io, flags).call('/api/keys', { method: 'POST', json: body })
  if (flags.json) return printJson(io, text)
  const created = JSON.parse(text) as KeyCreated
  io.err(`created ${created.id} with scope ${created.scopes.join(', ')}; the secret is shown this once:\n`)
  io.out(`${created.secret}\n`)
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((entry) => entry === text)
  if (!scope) throw usageError(`--scope ${text}: must be one of ${SCOPES.join(', ')}`)
  return scope
}

/** `svc keys`: list, create, revoke API keys (/api/keys). */
import type { Key, KeyCreate, KeyCreated, KeysResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { usageError } from '../exit.ts'
import { repeatable } from '../labels.ts'
import { type Column, type Io, paint } from '../terminal.ts'
import { type Flags, type GivenWords, noun, rows, say, verb } from '../verbs.ts'

const SCOPES = ['read', 'ingest', 'admin', 'findings', 'respond'] as const
type Scope = (typeof SCOPES)[number]

type CreateFlags = Flags & { scope?: string[]; source?: string; project?: string }

const KEYS: Column<Key>[] = [
  { title: 'ID', cell: (key) => key.id },
  { title: 'NAME', cell: (key) => key.name },
  { title: 'SCOPES', cell: (key) => key.scopes.join(',') + boundTo(key) },
  {
    title: 'STATE',
    cell: (key) => key.state,
    style: (key) => (key.state === 'active' ? 'green' : 'dim'),
  },
  { title: 'CREATED', cell: (key) => key.created_at },
  { title: 'LAST USED', cell: (key) => key.last_used_at ?? 'never' },
]

/** The command and its subcommands. */
export const keysCommand = noun('keys', 'List, create and revoke API keys', {
  list: verb({ does: 'List keys, revoked ones too', call: calls.listKeys, tell: tellKeys }),
  create: verb({
    does: 'Create a key; its secret is shown once',
    call: calls.createKey,
    args: ['<name>'],
    options: [
      repeatable('--scope <scope>', `${SCOPES.join(', ')}; findings goes with --project`),
      ['--source <name>', 'an ingest key that only writes to this source'],
      ['--project <name>', 'a key that reads this project and records findings in it, and no more'],
    ],
    input: ({ words: [name = ''], flags }: GivenWords<CreateFlags>) => ({ body: keyOf(name, flags) }),
    tell: tellSecret,
  }),
  revoke: verb({ does: 'Revoke a key at once', call: calls.revokeKey, tell: say(([id]) => `revoked ${id}`) }),
})

/** The one source or project that a key is for; empty: the whole instance. */
function boundTo({ source, project, project_name }: Key): string {
  if (source) return ` (source ${source})`
  return project ? ` (project ${project_name ?? project})` : ''
}

function tellKeys(io: Io, { keys, enforced }: KeysResult): void {
  rows(KEYS, 'no keys yet; make one with: svc keys create <name> --scope read')(io, keys)
  if (!enforced)
    io.err(paint(io, 'dim', 'this instance is open: keys are not checked until it runs with --auth\n'))
}

/** @throws CliError wrong usage */
function keyOf(name: string, { scope = [], source, project }: CreateFlags): KeyCreate {
  const scopes = scope.flatMap((one) => one.split(',')).map(scopeOf)
  // A project key has scopes that are its own: read and findings.
  if (scopes.length === 0 && project === undefined)
    throw usageError(`--scope is required: ${SCOPES.join(', ')}; or --project`)
  return { name, ...(scopes.length === 0 ? {} : { scopes }), source, project }
}

function tellSecret(io: Io, created: KeyCreated): void {
  io.err(`created ${created.id} with scope ${created.scopes.join(', ')}; the secret is shown once:\n`)
  io.out(`${created.secret}\n`)
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((entry) => entry === text)
  if (!scope) throw usageError(`--scope ${text}: must be one of ${SCOPES.join(', ')}`)
  return scope
}

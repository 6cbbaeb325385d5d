/**
 * `svc sources discover`: asks an upstream what it has; of a webhook, what it received or a sample is its upstream
 * (POST /api/sources/discover).
 */
import { numberWords } from '../../../schemas/plain-words.ts'
import type {
  DiscoverRequest,
  ProposedRole,
  ProposedRow,
  Source,
  SourceProposal,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readText, shownFile } from '../files.ts'
import { repeatable } from '../labels.ts'
import { type Column, escapeLine, escapeText, type Io, printJson, table } from '../terminal.ts'
import type { Flags, MakeCommand } from '../verbs.ts'
import { baseConfig, buildConfig } from './source-config.ts'

interface DiscoverFlags extends Flags {
  set?: string[]
  setJson?: string[]
  config?: string
  source?: string
  sample?: string
  apply?: boolean
  preset?: string
}

/** The proposal goes to standard output, so that it can be a file for `svc sources add --config`. */
export const discoverCommand: MakeCommand = (io, name) =>
  clientCommand(
    name,
    'Ask an upstream what it has, or a webhook what it received, and print a config that reads it',
  )
    .argument(
      '<source or connector>',
      'a source, or a connector with discovery, such as webhook or http_poll',
    )
    .addOption(repeatable('--set <field=value>', "text field of the connector's config, such as url"))
    .addOption(repeatable('--set-json <field=json>', 'field that is not a text'))
    .option('--config <file>', 'what is known as JSON from a file, - for standard input')
    .option('--source <name>', 'a source of this connector, whose secrets and payloads are used')
    .option('--sample <file>', 'of webhook: payloads as JSON or NDJSON from a file, - for standard input')
    .option('--preset <name>', 'of webhook: read it by this preset, and propose nothing else')
    .option('--apply', 'of webhook: save the proposal; it holds for new events')
    .action((of: string, flags: DiscoverFlags) => discover(io, of, flags))

async function discover(io: Io, of: string, flags: DiscoverFlags): Promise<void> {
  const client = clientOf(io, flags)
  const { set, setJson } = flags
  const config = buildConfig(await baseConfig(io, flags.config), {
    ...(set ? { set } : {}),
    ...(setJson ? { setJson } : {}),
  })
  const sample =
    flags.sample === undefined ? undefined : payloadsOf(await readText(io, flags.sample), flags.sample)
  const source = await sourceOf(client, of, flags)
  if (flags.apply && !source)
    throw usageError('--apply needs a source: name it in place of the connector, or with --source')
  const body: DiscoverRequest = {
    connector: source?.connector ?? of,
    config,
    ...(source ? { name: source.name } : {}),
    ...(sample ? { sample } : {}),
    ...(flags.preset === undefined ? {} : { config: { preset: flags.preset }, fixed: true }),
  }
  const answer = await client.call(calls.discoverSource, { body })
  if (flags.json) printJson(io, answer.text)
  else tell(io, answer.read())
  if (flags.apply && source) await apply(io, client, source.name, answer.read())
}

/**
 * The source that is meant: by --source, by its name, or, for a connector that only knows what came, its only one.
 * Null: a connector is asked for.
 */
async function sourceOf(
  client: Client,
  of: string,
  { source, set, setJson, config, sample }: DiscoverFlags,
): Promise<{ name: string; connector: string } | null> {
  if (source !== undefined) return { name: source, connector: of }
  if (set || setJson || config !== undefined) return null
  const named = await client.ask(calls.getSource, { name: of }).catch(noneOf)
  if (named) return named
  if (of !== WEBHOOK || sample !== undefined) return null
  const [only, ...more] = (await client.ask(calls.listSources, {})).filter(isWebhook)
  return only && more.length === 0 ? only : null
}

const WEBHOOK = 'webhook'
const isWebhook = ({ connector }: Source): boolean => connector === WEBHOOK

/** @returns null where the daemon refuses, as it does a name that no source has. @throws what went wrong otherwise */
function noneOf(error: unknown): null {
  if (error instanceof CliError && error.exitCode === EXIT.failed) return null
  throw error
}

/** Payloads of a document, of a list, or one a line. @throws CliError 65 */
function payloadsOf(text: string, file: string): unknown[] {
  const read = (json: string): unknown => JSON.parse(json) as unknown
  try {
    const whole = read(text)
    return Array.isArray(whole) ? whole : [whole]
  } catch {
    try {
      return text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map(read)
    } catch {
      throw new CliError(`--sample: ${shownFile(file)} is neither JSON nor NDJSON`, EXIT.data)
    }
  }
}

const ROLES: Column<ProposedRole>[] = [
  { title: 'ROLE', cell: ({ role }) => role },
  { title: 'FIELD', cell: ({ field }) => field },
  { title: 'COVERAGE', cell: ({ coverage }) => `${Math.round(coverage * 100)} %` },
  { title: 'CONFIDENCE', cell: ({ confidence }) => confidence },
  { title: 'EXAMPLE', cell: ({ example }) => example.slice(0, 60) },
]
const ROWS_SHOWN = 3

/** Names shown of one list; all are in the JSON. */
const NAMES_SHOWN = 100
/** Lists that are shown otherwise, or are no names. */
const NOT_NAMES = ['roles', 'rows', 'payload_fields', 'sample']

/** What an upstream has, to choose of: each list of the answer as its title and the names in it. */
function namesIn(proposal: SourceProposal): [title: string, names: string[]][] {
  const { catalog = {}, ...own } = proposal
  return Object.entries({ ...own, ...(catalog as object) }).flatMap(([title, list]: [string, unknown]) => {
    if (!Array.isArray(list) || NOT_NAMES.includes(title)) return []
    const names = list.flatMap(nameOf)
    return names.length ? [[title.replaceAll('_', ' '), names]] : []
  })
}

function nameOf(one: unknown): string[] {
  if (typeof one === 'string') return [one]
  const { name, uri } = (one ?? {}) as { name?: unknown; uri?: unknown }
  return [uri ?? name].filter((said) => typeof said === 'string')
}

function tell(io: Io, proposal: SourceProposal): void {
  const { summary, proposed_config: proposed, preset, roles = [], rows = [] } = proposal
  if (summary) io.err(`${escapeText(summary)}\n`)
  for (const [title, names] of namesIn(proposal)) {
    io.err(`${escapeLine(title)}:\n`)
    for (const name of names.slice(0, NAMES_SHOWN)) io.err(`  ${escapeLine(name)}\n`)
    const more = names.length - NAMES_SHOWN
    if (more > 0) io.err(`  and ${numberWords(more)} more: --json lists them\n`)
  }
  if (preset) io.err(`read it so with: --preset ${escapeText(preset.name)}\n`)
  if (roles.length) io.err(`${table(io, ROLES, roles)}`)
  for (const { before, after } of rows.slice(0, ROWS_SHOWN)) {
    for (const row of before) io.err(`- ${rowText(row)}\n`)
    for (const row of after) io.err(`+ ${rowText(row)}\n`)
  }
  io.out(`${escapeText(JSON.stringify(proposed ?? {}, null, 2))}\n`)
}

const rowText = ({ ts, event_type: type, entity, text }: ProposedRow): string =>
  escapeLine(
    [
      ts ?? 'time of arrival',
      type,
      entity ? `${entity.label}=${entity.value}` : 'no entity',
      text.slice(0, 120),
    ].join('  '),
  )

/** What says who may send stays. */
async function apply(
  io: Io,
  client: Client,
  name: string,
  { proposed_config: proposed }: SourceProposal,
): Promise<void> {
  const { connector, poll, config } = await client.ask(calls.getSource, { name })
  const kept = Object.entries(config).filter(([field]) => field.startsWith('signature_'))
  const body = { name, connector, poll, config: { ...Object.fromEntries(kept), ...proposed } }
  await client.ask(calls.updateSource, { name, body })
  io.err(`${escapeLine(name)} is saved; it holds for new events\n`)
}

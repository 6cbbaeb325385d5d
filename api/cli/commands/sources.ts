/** `svc sources`: list, show, add, rm, pause, resume, test, discover, scan (/api/sources). */
import { Command } from 'commander'
import { exampleEvent, type Mapping } from '../../../schemas/example-event.ts'
import { shellQuote } from '../../../schemas/plain-text.ts'
import type { Source, SourceCreated, SourceTestResult, SourceWrite } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { repeatable } from '../labels.ts'
import { escapeText, type Io, paint, printJson, table } from '../terminal.ts'
import { discoverCommand } from './discover.ts'
import { baseConfig, buildConfig, type ConfigFlags } from './source-config.ts'
import { scanCommand } from './source-scan.ts'

type Flags = ClientFlags & JsonFlag

interface AddFlags extends Flags, ConfigFlags {
  connector: string
  poll?: string
  dryRun?: boolean
}

/** The command and its subcommands. */
export function sourcesCommand(io: Io): Command {
  const group = new Command('sources').description('List, add and change sources')
  group.addCommand(listCommand(io), { isDefault: true })
  group.addCommand(
    clientCommand('show', 'Show one source: config, labels, health')
      .argument('<name>')
      .action((name: string, flags: Flags) => show(io, name, flags)),
  )
  group.addCommand(addCommand(io))
  group.addCommand(
    clientCommand('rm', 'Delete a source')
      .argument('<name>')
      .option('--cascade', 'delete what depends on it, too')
      .option('--purge-events', 'remove its events, too')
      .action((name: string, flags: Flags & { cascade?: boolean; purgeEvents?: boolean }) =>
        remove(io, name, flags),
      ),
  )
  for (const event of ['pause', 'resume'] as const) {
    group.addCommand(
      clientCommand(event, event === 'pause' ? 'Stop taking events' : 'Take events again')
        .argument('<name>')
        .action((name: string, flags: Flags) => move(io, name, event, flags)),
    )
  }
  group.addCommand(
    clientCommand('test', "Check a source's config, with one poll where it polls")
      .argument('<name>')
      .action((name: string, flags: Flags) => test(io, name, flags)),
  )
  group.addCommand(scanCommand(io))
  group.addCommand(discoverCommand(io))
  return group
}

function listCommand(io: Io): Command {
  return clientCommand('list', 'List sources with their health').action(async (flags: Flags) => {
    const { text } = await clientOf(io, flags).call('/api/sources')
    if (flags.json) return printJson(io, text)
    const sources = JSON.parse(text) as Source[]
    if (sources.length === 0)
      return io.out(
        'no sources yet; add one with: svc sources add <name> --connector webhook --label service=service --primary service\n',
      )
    io.out(
      table(
        io,
        [
          { title: 'NAME', cell: (s: Source) => s.name },
          { title: 'CONNECTOR', cell: (s) => s.connector },
          {
            title: 'HEALTH',
            cell: (s) => s.health.status,
            style: (s) =>
              s.health.status === 'error' || s.health.status === 'refused'
                ? 'red'
                : s.paused
                  ? 'yellow'
                  : 'green',
          },
          { title: 'EVENTS', cell: (s) => String(s.health.events_total) },
          { title: 'LAST EVENT', cell: (s) => s.health.last_ingest ?? '-' },
          { title: 'NOTE', cell: (s) => s.health.reason ?? s.health.notice ?? '' },
        ],
        sources,
      ),
    )
  })
}

function addCommand(io: Io): Command {
  return clientCommand('add', 'Add a source')
    .argument('<name>')
    .requiredOption('--connector <kind>', 'connector, such as webhook, memory or reference')
    .addOption(repeatable('--label <name=field>', 'label read from a payload field, dots for nested ones'))
    .addOption(repeatable('--const <name=value>', 'label with a fixed value'))
    .addOption(repeatable('--number <label>', 'this label is a number'))
    .option('--primary <label>', 'this label names the entity')
    .addOption(repeatable('--set <field=value>', "text field of the connector's config"))
    .addOption(
      repeatable('--set-json <field=json>', 'field that is not a text: number, truth value, list, object'),
    )
    .option(
      '--config <file>',
      'config as JSON from a file, - for standard input; other options are added to it',
    )
    .option('--poll <interval>', 'poll interval, for a connector that polls')
    .option('--dry-run', 'only check it')
    .action((name: string, flags: AddFlags) => add(io, name, flags))
}

async function add(io: Io, name: string, flags: AddFlags): Promise<void> {
  const client = clientOf(io, flags)
  const base = await baseConfig(io, flags.config)
  const body: SourceWrite = {
    name,
    connector: flags.connector,
    ...(flags.poll === undefined ? {} : { poll: flags.poll }),
    config: buildConfig(base, flags),
  }
  const { text } = await client.call(flags.dryRun ? '/api/sources/test' : '/api/sources', {
    method: 'POST',
    json: body,
  })
  if (flags.json) return printJson(io, text)
  if (flags.dryRun) return reportTest(io, name, JSON.parse(text) as SourceTestResult)
  const created = JSON.parse(text) as SourceCreated
  io.out(`added ${name}\n`)
  const isExported = flags.connector === 'otlp'
  if (isExported) io.out(`exporters: OTEL_EXPORTER_OTLP_ENDPOINT=${client.target.url}\n`)
  else if (created.ingest_key) io.out(`ingest URL: ${client.target.url}/ingest/${created.ingest_key}\n`)
  if (created.key) io.out(`key, shown this once: ${created.key.secret}\n`)
  if (created.ingest_key && !isExported) io.out(tryIt(io, body, created, flags))
}

/** A command that stores an event that fits the source as it was made, and works as it is printed. */
function tryIt(
  io: Io,
  { name, connector, config }: SourceWrite,
  created: SourceCreated,
  flags: AddFlags,
): string {
  const { signature_scheme: scheme, signature_secret: secret } = config as Record<string, unknown>
  // Nobody but its sender can sign; of a drain with a secret it is the same.
  if (scheme !== undefined || (connector === 'vercel' && secret !== undefined))
    return `${paint(io, 'dim', 'try it:')} have its sender deliver something; only what is signed is taken\n`
  const event = exampleEvent(connector, config as Mapping, 'hello', new Date().toISOString())
  const { svcd, token, dataDir } = flags
  const options = [
    ...(svcd === undefined ? [] : ['--svcd', svcd]),
    ...(dataDir === undefined ? [] : ['--data-dir', dataDir]),
    // The credential of this command is not repeated; the key of the source, shown above, is enough.
    ...(token !== undefined && created.key ? ['--token', created.key.secret] : []),
  ]
  const to = token !== undefined && created.key ? created.ingest_key! : name
  const command = ['svc', 'send', to, ...options].map(shellQuote).join(' ')
  return `${paint(io, 'dim', 'try it:')} echo ${shellQuote(JSON.stringify(event))} | ${command}\n`
}

async function show(io: Io, name: string, flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(`/api/sources/${encodeURIComponent(name)}`)
  if (flags.json) return printJson(io, text)
  io.out(`${escapeText(JSON.stringify(JSON.parse(text), null, 2))}\n`)
}

async function remove(
  io: Io,
  name: string,
  flags: Flags & { cascade?: boolean; purgeEvents?: boolean },
): Promise<void> {
  const query = `cascade=${flags.cascade === true}&purge_events=${flags.purgeEvents === true}`
  const { text } = await clientOf(io, flags).call(`/api/sources/${encodeURIComponent(name)}?${query}`, {
    method: 'DELETE',
  })
  if (flags.json) return printJson(io, text)
  const { purged_events: purged } = JSON.parse(text) as { purged_events: number }
  io.out(
    `deleted ${name}${flags.purgeEvents ? `; ${purged} events are being removed` : '; its events stay'}\n`,
  )
}

async function move(io: Io, name: string, event: 'pause' | 'resume', flags: Flags): Promise<void> {
  const { text } = await clientOf(io, flags).call(`/api/sources/${encodeURIComponent(name)}/${event}`, {
    method: 'POST',
  })
  if (flags.json) return printJson(io, text)
  io.out(`${name} is ${(JSON.parse(text) as { state: string }).state}\n`)
}

async function test(io: Io, name: string, flags: Flags): Promise<void> {
  const client = clientOf(io, flags)
  const { text: stored } = await client.call(`/api/sources/${encodeURIComponent(name)}`)
  const { connector, poll, config } = JSON.parse(stored) as Source
  const { text } = await client.call('/api/sources/test', {
    method: 'POST',
    json: { name, connector, poll, config },
  })
  if (flags.json) return printJson(io, text)
  reportTest(io, name, JSON.parse(text) as SourceTestResult)
}

function reportTest(io: Io, name: string, result: SourceTestResult): void {
  if (!result.ok) throw new CliError(`${name}: ${result.error ?? 'the test failed'}`)
  io.out(
    `${name} is good${result.events ? `: ${result.events} events` : ''}${result.note ? `; ${result.note}` : ''}\n`,
  )
  for (const sample of result.sample ?? []) io.out(`  ${escapeText(sample)}\n`)
}

/** `svc sources`: list, show, add, rm, pause, resume, test, discover, scan (/api/sources). */

import type { Command } from 'commander'
import { exampleEvent, type Mapping } from '../../../schemas/example-event.ts'
import { shellQuote } from '../../../schemas/plain-text.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  EnvironmentScan,
  SenderPreset,
  Source,
  SourceCreated,
  SourceTestResult,
  SourceWrite,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf } from '../context.ts'
import { CliError } from '../exit.ts'
import { repeatable } from '../labels.ts'
import { type Column, escapeText, type Io, paint, printJson, table } from '../terminal.ts'
import { type Flags, noun, rows, say, toName, verb, whole } from '../verbs.ts'
import { discoverCommand } from './discover.ts'
import { baseConfig, buildConfig, type ConfigFlags } from './source-config.ts'

interface AddFlags extends Flags, ConfigFlags {
  connector: string
  poll?: string
  dryRun?: boolean
}

const healthStyle = ({ health, paused }: Source) =>
  health.status === 'error' || health.status === 'refused' ? 'red' : paused ? 'yellow' : 'green'

const SOURCES: Column<Source>[] = [
  { title: 'NAME', cell: (s) => s.name },
  { title: 'CONNECTOR', cell: (s) => s.connector },
  { title: 'HEALTH', cell: (s) => s.health.status, style: healthStyle },
  { title: 'EVENTS', cell: (s) => String(s.health.events_total) },
  { title: 'LAST EVENT', cell: (s) => s.health.last_ingest ?? '-' },
  { title: 'NOTE', cell: (s) => s.health.reason ?? s.health.notice ?? '' },
]
const PRESETS: Column<SenderPreset>[] = [
  { title: 'PRESET', cell: ({ name }) => name },
  { title: 'SENDER', cell: ({ label }) => label },
  { title: 'ENTITY', cell: ({ entity }) => entity.join(', ') },
  { title: 'SIGNATURE', cell: ({ signature }) => signature?.scheme ?? '-' },
  { title: 'ABOUT', cell: ({ about }) => about },
]
const NO_SOURCES =
  'no sources yet; add one with: svc sources add <name> --connector webhook --label service=service --primary service'

/* `svc sources scan`: what runs in containers here, and the sources that could read it. */

type Proposed = EnvironmentScan['proposed_sources'][number]
type Skipped = EnvironmentScan['skipped'][number]

const PROPOSED: Column<Proposed>[] = [
  { title: 'SOURCE', cell: (one) => one.name },
  { title: 'CONNECTOR', cell: (one) => one.connector },
  { title: 'CHOSEN', cell: (one) => (one.preselect ? 'yes' : 'no') },
  { title: 'WHAT', cell: (one) => one.summary },
]

const SKIPPED: Column<Skipped>[] = [
  { title: 'LEFT OUT', cell: (one) => one.service },
  { title: 'IMAGE', cell: (one) => one.image },
  { title: 'WHY', cell: (one) => one.reason },
]

const scanCommand = verb({
  does: 'Propose sources for the containers beside the daemon',
  call: calls.discoverEnvironment,
  input: () => ({ provider: 'docker' }),
  tell: printScan,
})

function printScan(io: Io, { summary, proposed_sources: proposed, skipped }: EnvironmentScan): void {
  io.out(
    `${countWords(summary.containers, 'container')}, ${countWords(summary.proposed, 'source')} proposed; nothing is saved\n`,
  )
  if (proposed.length > 0) io.out(`\n${table(io, PROPOSED, proposed)}`)
  if (skipped.length > 0) io.out(`\n${table(io, SKIPPED, skipped)}`)
  const [first] = proposed
  if (first)
    io.out(
      `\n${paint(io, 'dim', 'make one:')} svc sources scan --json | jq '.proposed_sources[] | select(.name == "${escapeText(first.name)}") | .config' | svc sources add ${escapeText(first.name)} --connector ${first.connector} --config -\n`,
    )
}

/** The command and its subcommands. */
export const sourcesCommand = noun('sources', 'List, add and change sources', {
  list: verb({
    does: 'List sources with their health',
    call: calls.listSources,
    tell: rows(SOURCES, NO_SOURCES),
  }),
  show: verb({ does: 'Show one source: config, labels, health', call: calls.getSource, tell: whole }),
  add: addCommand,
  rm: verb({
    does: 'Delete a source',
    call: calls.deleteSource,
    options: [
      ['--cascade', 'delete the triggers that read it, too; agents stay'],
      ['--purge-events', 'remove its events, too'],
    ],
    tell: say(([name], gone, flags: Flags & { purgeEvents?: boolean }) => {
      const { purged_events: purged, deleted, agents_without_trigger: left } = gone
      const also = deleted?.length ? ` with ${deleted.join(', ')}` : ''
      const events = flags.purgeEvents
        ? `${countWords(purged ?? 0, 'event is', 'events are')} being removed`
        : 'its events stay'
      return `deleted ${name}${also}; ${events}${left?.length ? `; nothing wakes ${left.join(', ')} any more` : ''}`
    }),
  }),
  rename: verb({
    does: 'Give it another name; events and ingest key go along',
    call: calls.renameSource,
    ...toName,
    tell: say(([name, to]) => `${name} is now called ${to}`),
  }),
  pause: verb({
    does: 'Stop taking events',
    call: calls.pauseSource,
    tell: say(([name], { state }) => `${name} is ${state}`),
  }),
  resume: verb({
    does: 'Take events again',
    call: calls.resumeSource,
    tell: say(([name], { state }) => `${name} is ${state}`),
  }),
  test: (io) =>
    clientCommand('test', "Check a source's config, with one poll where it polls")
      .argument('<name>')
      .action((name: string, flags: Flags) => test(io, name, flags)),
  presets: verb({
    does: 'List the presets of webhook senders: how each is read, and how it signs',
    call: calls.listPresets,
    tell: rows(PRESETS, 'no presets'),
  }),
  scan: scanCommand,
  discover: discoverCommand,
})

function addCommand(io: Io): Command {
  return clientCommand('add', 'Add a source')
    .argument('<name>')
    .requiredOption('--connector <kind>', 'connector, such as webhook, memory or reference')
    .option('--preset <name>', 'of webhook: a known sender, such as grafana (svc sources presets)')
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
  if (flags.dryRun) {
    const answer = await client.call(calls.testSource, { body })
    return flags.json ? printJson(io, answer.text) : reportTest(io, name, answer.read())
  }
  const answer = await client.call(calls.createSource, { body })
  if (flags.json) return printJson(io, answer.text)
  const created = answer.read()
  io.out(`added ${name}\n`)
  const isExported = flags.connector === 'otlp'
  if (isExported) io.out(`exporters: OTEL_EXPORTER_OTLP_ENDPOINT=${client.target.url}\n`)
  else if (created.ingest_key) io.out(`ingest URL: ${client.target.url}/ingest/${created.ingest_key}\n`)
  if (created.key) io.out(`key (shown once): ${created.key.secret}\n`)
  if (isExported) return
  io.out(
    created.ingest_key
      ? tryIt(io, body, created, flags, await exampleOf(client, body))
      : `${paint(io, 'dim', 'try it:')} ${commandLine(['sources', 'test', name], flags)}\n`,
  )
}

/** A command as it is typed, for the daemon of this one. */
const commandLine = (words: readonly string[], { svcd, dataDir }: AddFlags): string =>
  [
    ...['svc', ...words],
    ...(svcd === undefined ? [] : ['--svcd', svcd]),
    ...(dataDir === undefined ? [] : ['--data-dir', dataDir]),
  ]
    .map(shellQuote)
    .join(' ')

const isPreset = (config: SourceWrite['config']): boolean => config?.preset !== undefined

/** What its sender documents, where the config names one; else an event that has what the config reads. */
async function exampleOf(client: Client, { connector, config = {} }: SourceWrite): Promise<unknown> {
  const named = config.preset
  const preset =
    named === undefined
      ? undefined
      : (await client.ask(calls.listPresets, {})).find(({ name }) => name === named)
  return preset
    ? preset.example.body
    : exampleEvent(connector, config as Mapping, 'hello', new Date().toISOString())
}

/** A command that stores an event that fits the source as it was made, and works as it is printed. */
function tryIt(
  io: Io,
  { name, connector, config }: SourceWrite,
  created: SourceCreated,
  flags: AddFlags,
  event: unknown,
): string {
  const { signature_scheme: scheme, signature_secret: secret } = config as Record<string, unknown>
  // Nobody but its sender can sign; of a drain or a preset with a secret it is the same.
  if (scheme !== undefined || (secret !== undefined && (connector === 'vercel' || isPreset(config))))
    return `${paint(io, 'dim', 'try it:')} have its sender deliver something; only what is signed is taken\n`
  // The credential of this command is not repeated; the key of the source, shown above, is enough.
  const key = flags.token === undefined ? undefined : created.key?.secret
  const words = ['send', key === undefined ? name : created.ingest_key!]
  const command = `${commandLine(words, flags)}${key === undefined ? '' : ` --token ${shellQuote(key)}`}`
  return `${paint(io, 'dim', 'try it:')} echo ${shellQuote(JSON.stringify(event))} | ${command}\n`
}

async function test(io: Io, name: string, flags: Flags): Promise<void> {
  const client = clientOf(io, flags)
  const { connector, poll, config } = await client.ask(calls.getSource, { name })
  const answer = await client.call(calls.testSource, { body: { name, connector, poll, config } })
  if (flags.json) return printJson(io, answer.text)
  reportTest(io, name, answer.read())
}

function reportTest(io: Io, name: string, result: SourceTestResult): void {
  if (!result.ok) throw new CliError(`${name}: ${result.error ?? 'the test failed'}`)
  io.out(
    `${name} is good${result.events ? `: ${countWords(result.events, 'event')}` : ''}${result.note ? `; ${result.note}` : ''}\n`,
  )
  for (const sample of result.sample ?? []) io.out(`  ${escapeText(sample)}\n`)
}

/** `svc sources discover`: asks an upstream what it has (POST /api/sources/discover). */
import type { Command } from 'commander'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { repeatable } from '../labels.ts'
import { escapeText, type Io, printJson } from '../terminal.ts'
import { baseConfig, buildConfig } from './source-config.ts'

interface DiscoverFlags extends ClientFlags, JsonFlag {
  set?: string[]
  setJson?: string[]
  config?: string
  source?: string
}

interface Discovered {
  summary?: string
  proposed_config?: Record<string, unknown>
}

/** The proposal goes to standard output, so that it can be a file for `svc sources add --config`. */
export function discoverCommand(io: Io): Command {
  return clientCommand('discover', 'Ask an upstream what it has, and print a config that reads it')
    .argument('<connector>', 'connector with discovery, such as http_poll')
    .addOption(repeatable('--set <field=value>', "text field of the connector's config, such as url"))
    .addOption(repeatable('--set-json <field=json>', 'field that is not a text'))
    .option('--config <file>', 'what is known as JSON from a file, - for standard input')
    .option('--source <name>', 'a source of this connector, whose secrets are used')
    .action((connector: string, flags: DiscoverFlags) => discover(io, connector, flags))
}

async function discover(io: Io, connector: string, flags: DiscoverFlags): Promise<void> {
  const { set, setJson, source } = flags
  const config = buildConfig(await baseConfig(io, flags.config), {
    ...(set ? { set } : {}),
    ...(setJson ? { setJson } : {}),
  })
  const { text } = await clientOf(io, flags).call('/api/sources/discover', {
    method: 'POST',
    json: { connector, config, ...(source === undefined ? {} : { name: source }) },
  })
  if (flags.json) return printJson(io, text)
  const { summary, proposed_config: proposed } = JSON.parse(text) as Discovered
  if (summary) io.err(`${escapeText(summary)}\n`)
  io.out(`${escapeText(JSON.stringify(proposed ?? {}, null, 2))}\n`)
}

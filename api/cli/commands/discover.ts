/** `svc sources discover`: asks an upstream what it has (POST /api/sources/discover). */
import { Argument } from 'commander'
import * as calls from '../../client/calls.ts'
import { repeatable } from '../labels.ts'
import { escapeText } from '../terminal.ts'
import { type Flags, type GivenWords, verb } from '../verbs.ts'
import { baseConfig, buildConfig } from './source-config.ts'

interface DiscoverFlags extends Flags {
  set?: string[]
  setJson?: string[]
  config?: string
  source?: string
}

/** The proposal goes to standard output, so that it can be a file for `svc sources add --config`. */
export const discoverCommand = verb({
  does: 'Ask an upstream what it has, and print a config that reads it',
  call: calls.discoverSource,
  args: [new Argument('<connector>', 'connector with discovery, such as http_poll')],
  options: [
    repeatable('--set <field=value>', "text field of the connector's config, such as url"),
    repeatable('--set-json <field=json>', 'field that is not a text'),
    ['--config <file>', 'what is known as JSON from a file, - for standard input'],
    ['--source <name>', 'a source of this connector, whose secrets are used'],
  ],
  input: async ({ words: [connector = ''], flags }: GivenWords<DiscoverFlags>, _client, io) => {
    const { set, setJson, source } = flags
    const config = buildConfig(await baseConfig(io, flags.config), {
      ...(set ? { set } : {}),
      ...(setJson ? { setJson } : {}),
    })
    return { body: { connector, config, name: source } }
  },
  tell: (io, { summary, proposed_config: proposed }) => {
    if (summary) io.err(`${escapeText(summary)}\n`)
    io.out(`${escapeText(JSON.stringify(proposed ?? {}, null, 2))}\n`)
  },
})

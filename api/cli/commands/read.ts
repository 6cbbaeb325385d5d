/** `svc read`: one entity's timeline (POST /read). */
import type { Command } from 'commander'
import type { ReadRequest, ReadResult } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { usageError } from '../exit.ts'
import { parseCount, parsePairs, repeatable } from '../labels.ts'
import { formatRow, rawOfRows } from '../rows.ts'
import { escapeLine, escapeText, type Io, paint, printJson } from '../terminal.ts'

interface ReadFlags extends ClientFlags, JsonFlag {
  window?: string
  from?: string
  to?: string
  limit?: string
  order?: string
  cursor?: string
  type?: string[]
  source?: string[]
  text?: string
  payload?: boolean
  /** False: the labels alone. */
  join?: boolean
  allPoints?: boolean
  asOf?: string
  maxTokens?: string
}

/** The command. */
export function readCommand(io: Io): Command {
  return clientCommand('read', "Read one entity's timeline, merged across sources")
    .argument('[label=value...]', 'labels the events carry; several are all required; none with --source')
    .option('--window <duration>', 'how far back, such as 15m, 6h, 7d')
    .option('--from <time>', 'start of the window, ISO 8601, instead of --window')
    .option('--to <time>', 'end of the window, ISO 8601 (default: now)')
    .option('--limit <n>', 'rows at most')
    .option('--order <order>', 'asc or desc; without it the newest rows, oldest of them first')
    .option('--cursor <cursor>', 'continue where the read before stopped')
    .addOption(repeatable('--type <event_type>', 'only events of this type'))
    .addOption(repeatable('--source <name>', 'only events of this source'))
    .option('--all-points', 'metric points of a series each by itself, not folded')
    .option('--text <words>', 'only events whose text contains this, in any case')
    .option('--no-join', 'only these labels, not the other names of a joined entity')
    .option('--payload', 'show each stored item as received')
    .option('--as-of <time>', 'only what had been ingested by then, ISO 8601')
    .option('--max-tokens <n>', 'keep the answer within this size; repeats are folded')
    .action((pairs: string[], flags: ReadFlags) => read(io, pairs, flags))
}

async function read(io: Io, pairs: string[], flags: ReadFlags): Promise<void> {
  const request = requestOf(pairs, flags)
  const answer = await clientOf(io, flags).call(calls.read, { body: request })
  if (flags.json) return printJson(io, answer.text)
  const result = answer.read()
  if (io.isTerminal || flags.payload) printRows(io, result, flags.payload ? rawOfRows(answer.text) : [])
  else io.out(`${escapeText(result.payload)}\n`)
  printRest(io, result)
}

function requestOf(pairs: string[], flags: ReadFlags): ReadRequest {
  if (flags.window !== undefined && flags.from !== undefined)
    throw usageError('give --window or --from, not both')
  if (pairs.length === 0 && !flags.source)
    throw usageError('give labels such as service=checkout, or --source to read all of what a source brought')
  const { order } = flags
  if (order !== undefined && order !== 'asc' && order !== 'desc')
    throw usageError('--order must be asc or desc')
  return {
    ...(pairs.length === 0 ? {} : { selector: parsePairs(pairs) }),
    client: 'cli',
    ...(flags.window === undefined ? {} : { window: flags.window }),
    ...(flags.from === undefined ? {} : { from: flags.from }),
    ...(flags.to === undefined ? {} : { to: flags.to }),
    ...(flags.limit === undefined ? {} : { limit: parseCount(flags.limit, '--limit') }),
    ...(order === undefined ? {} : { order }),
    ...(flags.cursor === undefined ? {} : { cursor: flags.cursor }),
    ...(flags.type ? { event_types: flags.type } : {}),
    ...(flags.source ? { sources: flags.source } : {}),
    ...(flags.text === undefined ? {} : { text: flags.text }),
    ...(flags.allPoints ? { points: 'all' } : {}),
    ...(flags.payload ? { include_payload: true } : {}),
    ...(flags.join === false ? { joined: false } : {}),
    ...(flags.asOf === undefined ? {} : { as_of: flags.asOf }),
    ...(flags.maxTokens === undefined
      ? {}
      : { max_tokens: parseCount(flags.maxTokens, '--max-tokens', 100) }),
  }
}

function printRows(io: Io, result: ReadResult, payloads: (string | null)[]): void {
  result.rows.forEach((row, i) => {
    io.out(`${formatRow(io, row)}\n`)
    const raw = payloads[i]
    if (raw) io.out(`  ${paint(io, 'dim', escapeText(raw).replaceAll('\n', '\n  '))}\n`)
  })
  if (result.rows.length > 0) return
  const until = result.searched_to === undefined ? result.from : result.searched_to
  const { last_seen: seen } = result
  const ever = seen === undefined ? '' : seen === null ? ', nor at any other time' : `; last seen ${seen}`
  io.err(`no events from ${until} to ${result.to}${ever}\n`)
  if (result.notice !== undefined && result.searched_to === undefined)
    io.err(`${escapeText(result.notice)}\n`)
}

/** What the answer leaves out goes to standard error: the rows alone are the output. */
function printRest(io: Io, result: ReadResult): void {
  for (const { names } of result.joined ?? [])
    if (names.length > 1) io.err(paint(io, 'dim', `names of one thing: ${escapeLine(names.join(', '))}\n`))
  for (const left of result.omitted ?? [])
    io.err(paint(io, 'dim', `left out: ${left.count} ${left.event_type} from ${left.source}\n`))
  const { next_cursor: next, searched_to: stopped } = result
  // Not dimmed: without it, rows that were not looked at would seem not to be there.
  if (stopped !== undefined)
    io.err(
      `the search looked at ${result.scanned?.toLocaleString('en')} events and stopped at ${stopped}; to search on from there, repeat with --cursor ${next}\n`,
    )
  else if (next) io.err(paint(io, 'dim', `more rows: repeat with --cursor ${next}\n`))
}

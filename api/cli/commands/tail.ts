/**
 * `svc tail`: events as they are stored (GET /api/tail, server-sent events).
 *
 * Connecting → reading → (stream ends or breaks) waiting → connecting with the last id seen, until
 * the person ends it or `--limit` rows were shown. The first connection must work; a later refusal
 * of the credential ends the command, anything else is tried again.
 */
import type { Command } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type { Event, TailGap, TailNotice } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { readEvents } from '../../client/sse.ts'
import type { Client } from '../client.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { parseCount, parsePairs, repeatable } from '../labels.ts'
import { formatRow } from '../rows.ts'
import { type Io, printJson } from '../terminal.ts'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 15_000

interface TailFlags extends ClientFlags, JsonFlag {
  source?: string[]
  after?: string
  limit?: string
}

interface Progress {
  lastId: string | null
  shown: number
  limit: number
  /** What the server asks to wait before connecting again, milliseconds. */
  retryMs: number
}

/** The command. */
export function tailCommand(io: Io): Command {
  return clientCommand('tail', 'Follow events as they arrive')
    .argument('[label=value...]', 'labels the events carry; several are all required, none means every event')
    .addOption(repeatable('--source <name>', 'only events of this source'))
    .option('--after <event_id>', 'begin with what was stored after this event')
    .option('--limit <n>', 'end after this many events')
    .action((pairs: string[], flags: TailFlags) => tail(io, pairs, flags))
}

async function tail(io: Io, pairs: string[], flags: TailFlags): Promise<void> {
  const client = clientOf(io, flags)
  const label = Object.entries(parsePairs(pairs)).map(([name, value]) => `${name}=${value}`)
  const selector = { label, source: flags.source ?? [] }
  const progress: Progress = {
    lastId: flags.after ?? null,
    shown: 0,
    limit: flags.limit === undefined ? Number.POSITIVE_INFINITY : parseCount(flags.limit, '--limit'),
    retryMs: FIRST_WAIT_MS,
  }
  let failures = 0
  for (let isFirst = true; !io.interrupted.aborted && progress.shown < progress.limit; isFirst = false) {
    const before = progress.shown
    const problem = await follow(io, client, selector, progress, flags.json === true, isFirst)
    if (io.interrupted.aborted || progress.shown >= progress.limit) return
    failures = progress.shown > before ? 0 : failures + 1
    const wait = Math.min(LONGEST_WAIT_MS, progress.retryMs * 2 ** Math.min(failures, 6))
    if (problem) io.err(`svc: ${problem}; trying again in ${Math.round(wait / 1000)} s\n`)
    await io.sleep(wait, io.interrupted)
  }
}

/** One connection, to its end. @returns what went wrong, or null when the server ended it. */
async function follow(
  io: Io,
  client: Client,
  selector: { label: string[]; source: string[] },
  progress: Progress,
  json: boolean,
  isFirst: boolean,
): Promise<string | null> {
  const connection = new AbortController()
  const signal = AbortSignal.any([connection.signal, io.interrupted])
  try {
    const since: Record<string, string> = progress.lastId === null ? {} : { 'last-event-id': progress.lastId }
    const response = await client.open(calls.tail, selector, since, signal)
    if (response.status !== 200 || !response.body) {
      const refusal = client.refusal({ status: response.status, text: await response.text() })
      if (isFirst || (response.status >= 400 && response.status < 500 && response.status !== 429))
        throw refusal
      return refusal.message
    }
    for await (const event of readEvents(response.body, (ms) => (progress.retryMs = ms))) {
      show(io, event, progress, json)
      if (progress.shown >= progress.limit) return null
    }
    return null
  } catch (error) {
    if (io.interrupted.aborted) return null
    if (error instanceof CliError && (isFirst || !isTriedAgain(error))) throw error
    return (error as Error).message
  } finally {
    connection.abort()
  }
}

/** The daemon is away, or a proxy in front of it shows a page of its own meanwhile. */
const isTriedAgain = ({ message, fields }: CliError): boolean =>
  message.startsWith('cannot reach') || fields.status === 200

function show(
  io: Io,
  event: { type: string; data: string; id: string },
  progress: Progress,
  json: boolean,
): void {
  if (event.type === 'gap') {
    const gap = JSON.parse(event.data) as TailGap
    // At its begin a tail is given the newest of what it missed, whatever the reader's pace.
    const why =
      gap.after_id !== '' && gap.after_id === progress.lastId
        ? `${countWords(gap.missed, 'event')} stored after ${gap.after_id} ${gap.missed === 1 ? 'was' : 'were'} left out: a tail begins with the newest 1,000 of them`
        : `${gap.missed} or more events were left out, because they came faster than they were read`
    io.err(`svc: ${why}; svc read shows them\n`)
    return
  }
  if (event.type === 'notice') {
    io.err(`svc: ${(JSON.parse(event.data) as TailNotice).notice}\n`)
    return
  }
  if (event.type !== 'event') return
  if (event.id) progress.lastId = event.id
  progress.shown++
  if (json) printJson(io, event.data)
  else io.out(`${formatRow(io, JSON.parse(event.data) as Event)}\n`)
}

/** `svc send`: JSON or NDJSON from a file or standard input to a source (POST /ingest/<key>). */
import { randomUUID } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import type { Command } from 'commander'
import { readRetryAfter } from '../../../schemas/retry-after.ts'
import type { IngestResult, Problem } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { Notices } from '../../notices.ts'
import { type Batch, type BodyType, batches, itemsIn, lineOfItem } from '../batches.ts'
import type { Answer, Client, More } from '../client.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { escapeLine, type Io, printJson } from '../terminal.ts'

const gzip = promisify(gzipCallback)
/** A longer wait is the sender's to decide. */
const MAX_ASKED_MS = 60_000
/** Smaller bodies are not worth compressing. */
const GZIP_FROM_BYTES = 64 * 1024
const ATTEMPTS = 6

interface SendFlags extends ClientFlags, JsonFlag {
  type?: string
  idempotencyKey?: string
}

/** An item the daemon refused: its line of the input, or its place where items are no lines. */
interface Rejected {
  line?: number
  index?: number
  error: string
}

/** As many as one answer of the daemon lists. */
const REJECTED_LISTED = 100

interface Totals {
  ingested: number
  duplicates: number
  rejected: number
  /** What should be known although it is stored. */
  notices: Notices
}

/** The command. */
export function sendCommand(io: Io): Command {
  return clientCommand('send', 'Send events to a source: JSON, a JSON array, or NDJSON as it comes')
    .argument(
      '<source|ingest_key>',
      'name of the source, or its ingest key (then an ingest credential is enough)',
    )
    .argument('[file]', 'file to send; - or none reads standard input')
    .option('--type <type>', 'json or ndjson (default: by the file name, else by the first line)')
    .option('--idempotency-key <key>', 'a repeat with the same key is stored once (24 hours)')
    .action((source: string, file: string | undefined, flags: SendFlags) => send(io, source, file, flags))
}

async function send(io: Io, source: string, file: string | undefined, flags: SendFlags): Promise<void> {
  const type = typeOf(flags.type, file)
  const input = openInput(io, file)
  const client = clientOf(io, flags)
  const to = await ingestKeyOf(client, source)
  const key = flags.idempotencyKey ?? randomUUID()
  const so: Sent = {
    totals: { ingested: 0, duplicates: 0, rejected: 0, notices: new Notices() },
    rejected: [],
    items: 0,
    next: 1,
  }
  const { totals, rejected } = so
  const json = flags.json === true
  const all = batches(input, type)
  let sent = 0
  let batch: Batch | null = null
  try {
    // By hand, since what a loop leaves cannot be counted any more.
    for (batch = await nextOf(all); batch !== null; batch = await nextOf(all)) {
      const answer = await deliver(io, client, to, batch, sent === 0 ? key : `${key}-${sent}`, sent > 0)
      sent++
      report(io, answer, { ...so, batch, file }, json)
      so.items += itemsIn(batch)
      so.next = batch.firstLine + batch.lines
      // None is on its way while the next one is read.
      batch = null
    }
  } catch (error) {
    if (sent === 0 || !(error instanceof CliError)) throw error
    const total = isFile(file) ? await totalOf(so.items, batch, all) : null
    if (!json) io.out(`${storedText(totals, total)}\n`)
    throw cutShort(error, so, batch, total)
  }
  if (sent === 0) {
    // An empty file of a job that had nothing to report is no failure.
    io.err('there was nothing to send\n')
    if (json) printJson(io, JSON.stringify({ ingested: 0 }))
    return
  }
  if (!json) io.out(`${storedText(totals)}\n`)
  const notice = totals.notices.said()
  if (!json && notice !== undefined) io.err(`svc: ${escapeLine(notice)}\n`)
  if (totals.rejected)
    throw new CliError(
      totals.rejected === 1 ? 'one item was rejected' : `${totals.rejected} items were rejected`,
      EXIT.data,
      { rejected },
    )
}

/** What was sent when something stopped it. */
interface Sent {
  totals: Totals
  rejected: Rejected[]
  /** Items of the batches that were answered. */
  items: number
  /** The line after those. */
  next: number
}

async function nextOf(all: AsyncGenerator<Batch>): Promise<Batch | null> {
  const { done, value } = await all.next()
  return done ? null : value
}

const storedText = ({ ingested, duplicates, rejected }: Totals, total: number | null = null): string =>
  `stored ${ingested}${total === null ? '' : ` of ${total}`}${duplicates ? `, ${duplicates} seen before` : ''}${rejected ? `, ${rejected} rejected` : ''}`

/** How many items there are in all; null where that cannot be told. */
async function totalOf(
  items: number,
  batch: Batch | null,
  rest: AsyncGenerator<Batch>,
): Promise<number | null> {
  if (batch === null) return null
  let total = items + itemsIn(batch)
  try {
    for await (const one of rest) total += itemsIn(one)
    return total
  } catch {
    // The rest of the file cannot be read: the next `svc send` reports that at its line.
    return null
  }
}

/** The error that stopped it, with the line to go on from: what came before is stored. */
function cutShort(
  { message, exitCode, fields }: CliError,
  { totals, rejected, next }: Sent,
  batch: Batch | null,
  total: number | null,
): CliError {
  // Where no answer came the batch may have arrived all the same.
  const unsure = batch !== null && fields.status === undefined ? next + batch.lines - 1 : null
  const [head = '', ...more] = message.split('\n')
  const advice =
    unsure === null
      ? `go on from line ${next}`
      : `go on from line ${next}; whether lines ${next} to ${unsure} were stored is not known`
  return new CliError([`${head}; ${advice}`, ...more].join('\n'), exitCode, {
    ...fields,
    stored: totals.ingested,
    ...(total === null ? {} : { total }),
    next_line: next,
    ...(unsure === null ? {} : { unsure_to_line: unsure }),
    ...(rejected.length ? { rejected } : {}),
  })
}

function typeOf(flag: string | undefined, file: string | undefined): BodyType | null {
  if (flag === 'json' || flag === 'ndjson') return flag
  if (flag !== undefined) throw usageError('--type must be json or ndjson')
  if (file !== undefined && /\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  return file !== undefined && /\.json$/i.test(file) ? 'json' : null
}

/** Whether a file is sent: what standard input has may never end. */
const isFile = (file: string | undefined): file is string => file !== undefined && file !== '-'

function openInput(io: Io, file: string | undefined): AsyncIterable<Uint8Array> {
  if (!isFile(file)) return io.stdin
  if (!existsSync(file)) throw new CliError(`there is no file ${file}`, EXIT.input)
  return createReadStream(file)
}

/** An ingest key is used as it is; anything else is the name of a source. */
async function ingestKeyOf(client: Client, source: string): Promise<string> {
  if (/^[a-z0-9_]+-[0-9a-f]{32}$/.test(source)) return source
  const { ingest_key: key, mode } = await client.ask(calls.getSource, { name: source })
  if (!key) throw new CliError(`${source} takes no events: it is a ${mode} source`)
  return key
}

/** Sends a batch, again after 429, 503 or (once one has arrived) a broken connection. */
async function deliver(
  io: Io,
  client: Client,
  to: string,
  batch: Batch,
  key: string,
  hasArrived: boolean,
): Promise<Answer<IngestResult>> {
  const bytes = await bytesOf(batch, key)
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS
    const answer = await client.attempt(calls.ingest, { key: to }, bytes).catch((error: unknown) => {
      if (!hasArrived || isLast || io.interrupted.aborted) throw error
      return null
    })
    if (answer && ((answer.status >= 200 && answer.status < 300) || isRejection(answer))) return answer
    if (answer && (isLast || (answer.status !== 429 && answer.status !== 503))) throw client.refusal(answer)
    const asked = readRetryAfter(answer?.headers.get('retry-after'), Date.now())
    await io.sleep(asked ? Math.min(asked, MAX_ASKED_MS) : 250 * 2 ** attempt, io.interrupted)
    if (io.interrupted.aborted) throw new CliError('interrupted', EXIT.interrupted)
  }
}

async function bytesOf(batch: Batch, key: string): Promise<More> {
  const headers: Record<string, string> = {
    'content-type': batch.type === 'ndjson' ? 'application/x-ndjson' : 'application/json',
    'idempotency-key': key,
  }
  if (batch.body.length < GZIP_FROM_BYTES) return { bytes: batch.body, headers }
  const packed = await gzip(batch.body, { level: 1 })
  return { bytes: packed, headers: { ...headers, 'content-encoding': 'gzip' } }
}

/** A 400 that lists refused items: every item of the batch was bad; those after it may be good. */
function isRejection(answer: Answer): boolean {
  return answer.status === 400 && rejectedOf(answer).length > 0
}

function rejectedOf(answer: Answer): { index: number; error: string }[] {
  try {
    return (JSON.parse(answer.text) as Problem | IngestResult).rejected ?? []
  } catch {
    // Not JSON: not an answer of the daemon; the caller reports it.
    return []
  }
}

/** Each rejected item with its line of the input, where items are lines. */
function report(
  io: Io,
  answer: Answer<IngestResult>,
  so: { totals: Totals; batch: Batch; file: string | undefined; rejected: Rejected[] },
  json: boolean,
): void {
  const { totals, batch, file } = so
  const items = rejectedOf(answer)
  const result: Partial<IngestResult> = answer.status === 400 ? {} : answer.read()
  for (const { index, error } of items) {
    const line = lineOfItem(batch, index)
    if (so.rejected.length < REJECTED_LISTED)
      so.rejected.push({ ...(line === null ? { index } : { line }), error })
    if (json) continue
    const place = line === null ? `item ${index}` : `${isFile(file) ? `${file}:` : 'line '}${line}`
    io.err(`svc: ${place} was rejected: ${escapeLine(error)}\n`)
  }
  totals.ingested += result.ingested ?? 0
  totals.duplicates += result.duplicates ?? 0
  totals.rejected += result.rejected_in_all ?? items.length
  totals.notices.add(result.notice)
  if (json) printJson(io, answer.text)
}

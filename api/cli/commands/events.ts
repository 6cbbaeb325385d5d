/** `svc events export`: stored events as a file, for plans where no instance is. */
import { Command } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { EventsFile, headingOf } from '../recorded-events.ts'
import { type Io, printJson } from '../terminal.ts'

const EVENTS_MAX = 1_000_000

interface ExportFlags extends ClientFlags, JsonFlag {
  window: string
  source?: string[]
  sample?: string
  maxEvents?: string
}

const collect = (value: string, before: string[] = []): string[] => [...before, value]

export function eventsCommand(io: Io): Command {
  const group = new Command('events').description('Export stored events')
  group.addCommand(exporting(io))
  return group
}

const exporting = (io: Io): Command =>
  clientCommand('export', 'Write stored events with their payloads to a file, secrets redacted')
    .argument('<file>', 'NDJSON; .gz and .zst are compressed; - is standard output')
    .option('--window <window>', 'how far back', '7d')
    .option('--source <name>', 'only this source; may be repeated', collect)
    .option('--sample <n>', 'of a hundred entities so many, with all of their events (100)')
    .option('--max-events <n>', `refuse to export more events than this (${EVENTS_MAX})`)
    .action((file: string, flags: ExportFlags) => exportTo(io, file, flags))

function numberOf(text: string | undefined, flag: string, most: number, absent: number): number {
  const value = text === undefined ? absent : Number(text)
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw usageError(`${flag} must be a number from 1 to ${most}`)
  return value
}

async function exportTo(io: Io, file: string, flags: ExportFlags): Promise<void> {
  const sample = numberOf(flags.sample, '--sample', 100, 100)
  const most = numberOf(flags.maxEvents, '--max-events', 100_000_000, EVENTS_MAX)
  const client = clientOf(io, flags)
  const asked = {
    ...{ window: flags.window, sample },
    ...(flags.source ? { sources: flags.source.join(',') } : {}),
  }
  let page = await client.ask(calls.exportEvents, asked)
  const { from, to, total } = page
  if (total > most)
    throw new CliError(
      `there are ${total} events, and ${most} are exported at most: narrow --window or --source, or raise --max-events`,
      EXIT.failed,
    )
  const written = new EventsFile(io, file)
  let events = 0
  try {
    await written.add([headingOf(from, to, sample)])
    for (;;) {
      await written.add(page.events)
      events += page.events.length
      if (page.next_after === null) break
      page = await client.ask(calls.exportEvents, { ...asked, to, after: page.next_after })
    }
    await written.finish()
  } catch (error) {
    written.discard()
    throw error
  }
  if (flags.json && file !== '-') printJson(io, JSON.stringify({ file, from, to, events }))
  else
    io.err(
      `wrote ${countWords(events, 'event')} of ${from} to ${to} to ${file === '-' ? 'standard output' : file}\n`,
    )
}

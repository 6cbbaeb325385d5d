/** `svc status`: is the daemon there, and how is it (GET /health, /api/usage). */
import type { Command } from 'commander'
import { countWords } from '../../../schemas/plain-words.ts'
import type { Health, Usage } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { escapeLine, type Io, paint, printJson } from '../terminal.ts'

/** The command. */
export function statusCommand(io: Io): Command {
  return clientCommand('status', 'Show whether the daemon runs, and how it is').action(
    (flags: ClientFlags & JsonFlag) => status(io, flags),
  )
}

async function status(io: Io, flags: ClientFlags & JsonFlag): Promise<void> {
  const client = clientOf(io, flags)
  const answer = await client.attempt(calls.getHealth)
  const health = parseHealth(answer.text)
  if (!health) throw client.refusal(answer)
  if (flags.json) printJson(io, answer.text)
  else {
    const colour = health.status === 'ok' ? 'green' : health.status === 'degraded' ? 'yellow' : 'red'
    const facts = [
      health.version ? `svc ${health.version}` : null,
      health.uptime_seconds === undefined ? null : `up ${duration(health.uptime_seconds)}`,
      health.auth_required ? 'auth on' : 'auth off',
    ]
    io.out(
      `${paint(io, colour, health.status)}  ${client.target.url}  ${escapeLine(facts.filter((fact) => fact !== null).join(', '))}\n`,
    )
    if (health.detail) io.out(`${escapeLine(health.detail)}\n`)
    const usage = await client.attempt(calls.getUsage)
    if (usage.status === 200) io.out(describeUsage(usage.read()))
    else if (usage.status === 401)
      io.out(
        `${client.target.token === null ? 'no credential: ' : ''}${client.credentialAdvice()}, to see more\n`,
      )
  }
  if (health.status === 'down' || health.status === 'stopping')
    throw new CliError(`the daemon is ${health.status}`)
}

function parseHealth(text: string): Health | null {
  try {
    const body = JSON.parse(text) as Partial<Health>
    return typeof body.status === 'string' ? (body as Health) : null
  } catch {
    // Another program answers there.
    return null
  }
}

function describeUsage(usage: Usage): string {
  const { events, sources, db_bytes, free_bytes, wal_bytes, pct_used, max_bytes } = usage
  // The daemon counts its share the same way: without free pages, which it uses again, and without the log.
  const stored = `${megabytes(db_bytes - free_bytes)} stored, ${pct_used} % of ${megabytes(max_bytes)}`
  const log = wal_bytes === 0 ? '' : `; the log beside it has ${megabytes(wal_bytes)}`
  return `${countWords(events, 'event')} from ${countWords(sources.length, 'source')}, ${stored}${log}\n`
}

function megabytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

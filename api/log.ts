/**
 * Structured logs to standard output: one JSON object a line, or readable lines on a terminal.
 * Written synchronously, so that the last line before an exit is not lost. Credentials never reach
 * a line: header names that carry them are removed, and `?token=` is cut out of addresses.
 */
import type { IncomingMessage, Server } from 'node:http'
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { LogFormat, LogLevel } from './config.ts'

const REDACTED = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-svc-token',
  'x-amz-firehose-access-key',
  'token',
  'secret',
  'password',
]
/** A request that took longer is logged at warn. */
const SLOW_MS = 1_000

/** While lines cannot be written, so many bytes of them are kept, to be written later; further lines are dropped. */
const KEPT_BYTES = 1 << 20

/**
 * Lines as they are written to a stream of the process. A log that cannot be written, as on a full volume, ends nothing:
 * what takes events goes on, and says by /health and 507 that there is no room.
 * @param fd 1: standard output; 2: standard error
 */
export function linesTo(fd: 1 | 2): DestinationStream {
  const stream = destination({ dest: fd, sync: true, maxLength: KEPT_BYTES })
  stream.on('error', () => undefined)
  return stream
}

/**
 * Makes the logger of this process.
 * @param output where lines go; standard output when absent.
 */
export function createLog(
  options: { level: LogLevel; format: LogFormat; colour?: boolean },
  output?: DestinationStream,
): Logger {
  const stream = output ?? linesTo(1)
  const lines = options.format === 'pretty' ? readable(stream, options.colour ?? false) : stream
  return pino(
    {
      level: options.level,
      base: { name: 'svc' },
      timestamp: stdTimeFunctions.isoTime,
      redact: {
        paths: REDACTED.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
        censor: '[redacted]',
      },
      serializers: { req: describeRequest },
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
  )
}

/** Lines for people. Not pino-pretty's stream: it writes a turn later, and an exit would lose lines. */
function readable(stream: DestinationStream, colorize: boolean): DestinationStream {
  const format = prettyFactory({ colorize, ignore: 'pid,hostname,name', translateTime: 'SYS:HH:MM:ss.l' })
  return { write: (line) => stream.write(format(line)) }
}

/** The address without what gives access: a token in the query, most of an ingest key. */
export function scrubUrl(url: string): string {
  return url
    .replace(/([?&](?:token|code|key)=)[^&#]*/gi, '$1[redacted]')
    .replace(/^(\/ingest\/[^/?#]{0,12})[^/?#]*/, '$1…')
}

function describeRequest(request: { method?: string; url?: string }): {
  method: string | undefined
  url: string
} {
  return { method: request.method, url: scrubUrl(request.url ?? '') }
}

/**
 * Logs every answered request, one line at debug; one that took over a second or failed with 5xx
 * at warn. Listens beside the HTTP framework, so refusals of the framework itself are seen too.
 * @param monotonicMs a clock that never goes back, milliseconds.
 */
export function logRequests(server: Server, log: Logger, monotonicMs: () => number): void {
  server.on('request', (request: IncomingMessage, response) => {
    const startedAt = monotonicMs()
    response.once('close', () => {
      const ms = Math.round((monotonicMs() - startedAt) * 10) / 10
      const isStream = String(response.getHeader('content-type') ?? '').startsWith('text/event-stream')
      const isRefusedForSpace = response.statusCode === 507
      const level =
        (response.statusCode >= 500 && !isRefusedForSpace) || (ms > SLOW_MS && !isStream) ? 'warn' : 'debug'
      if (!log.isLevelEnabled(level)) return
      log[level](
        {
          method: request.method,
          url: scrubUrl(request.url ?? ''),
          status: response.statusCode,
          ms,
          aborted: response.writableEnded ? undefined : true,
        },
        'request',
      )
    })
  })
}

/**
 * The stdio transport: one client, which started this process and speaks over its standard input and
 * output. Nothing else may be written there; logs go to standard error.
 */
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { DaemonError } from './daemon.ts'
import { MESSAGE_MAX } from './http/body.ts'
import { Session, type Shared } from './session.ts'
import { WATCH_EVERY_MS } from './watches.ts'

/** How often it is looked whether the credential may now do something else. */
const LOOK_EVERY_MS = 30_000
/** What is being answered when the client goes gets this long. */
const DRAIN_MS = 5_000

/**
 * Serves one client until its input ends or `stopped` is aborted.
 * @param token the process's own credential. @returns why it ended: "closed", or what was wrong.
 */
export async function serveStdio(
  shared: Shared,
  token: string | null,
  { input, output, stopped }: { input: Readable; output: Writable; stopped: AbortSignal },
): Promise<'closed' | Error> {
  const session = new Session(shared, token, 'stdio')
  // The message itself, and the start of the next that came with it.
  const transport = new StdioServerTransport(input, output, { maxBufferSize: 2 * MESSAGE_MAX })
  let fault: Error | null = null
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve)
    input.once('close', resolve)
    stopped.addEventListener('abort', () => resolve(), { once: true })
    const { onclose, onerror } = session.server
    session.server.onclose = () => {
      onclose?.()
      resolve()
    }
    session.server.onerror = (error) => {
      if (error.message.startsWith('ReadBuffer exceeded'))
        fault = new Error(`a message must have at most ${MESSAGE_MAX} bytes; the connection is over`)
      onerror?.(error)
    }
  })
  const ends = [
    shared.every(WATCH_EVERY_MS, () => void shared.watches.tick()),
    shared.every(LOOK_EVERY_MS, () => void look(shared, session)),
  ]
  await session.server.connect(transport)
  await ended
  await Promise.race([session.settled(), delay(shared, DRAIN_MS)])
  for (const end of ends) end()
  await session.server.close()
  return fault ?? 'closed'
}

async function look({ access, log }: Shared, session: Session): Promise<void> {
  try {
    await session.tellTools(await access.identify(session.token))
  } catch (error) {
    // Calls say so themselves.
    if (!(error instanceof DaemonError)) log.debug({ err: error }, 'the client was not told of its tools')
  }
}

function delay({ every }: Shared, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = every(ms, () => {
      end()
      resolve()
    })
  })
}

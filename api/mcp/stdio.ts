/**
 * The stdio transport: one client, which started this process and speaks over its standard input and
 * output. Nothing else may be written there; logs go to standard error. The first message says which
 * revision of the protocol is spoken (2026-07-28, stdio: Backward Compatibility).
 */
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import { Credential } from './access.ts'
import { DaemonError } from './daemon.ts'
import { MESSAGE_MAX } from './http/body.ts'
import { StdioWire } from './modern/stdio-wire.ts'
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
  const credential = new Credential(token)
  // The SDK answers no more once its input ends; ours has an end only when all is answered.
  const open = input.pipe(new PassThrough(), { end: false })
  // The message itself, and the start of the next that came with it.
  const stdio = new StdioServerTransport(open, output, { maxBufferSize: 2 * MESSAGE_MAX })
  const wire = new StdioWire(
    stdio,
    new Session(shared, credential, { transport: 'stdio', era: 'modern' }),
    shared.log,
  )
  let fault: Error | null = null
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve)
    input.once('close', resolve)
    stopped.addEventListener('abort', () => resolve(), { once: true })
    wire.closed = resolve
  })
  const handle = serve(
    ({ era }) => {
      const session = new Session(shared, credential, { transport: 'stdio', era })
      wire.serves(session)
      return session.server
    },
    {
      transport: wire,
      onerror: (error) => {
        if (error.message.startsWith('ReadBuffer exceeded'))
          fault = new Error(`a message must have at most ${MESSAGE_MAX} bytes; the connection is over`)
        shared.log.debug({ err: error }, 'a message of a client was not right')
      },
    },
  )
  const ends = [
    shared.every(WATCH_EVERY_MS, () => void shared.watches.tick()),
    shared.every(LOOK_EVERY_MS, () => void look(shared, wire.session)),
  ]
  await ended
  await Promise.race([wire.settled(), delay(shared, DRAIN_MS)])
  for (const end of ends) end()
  await handle.close()
  return fault ?? 'closed'
}

async function look({ access, log }: Shared, session: Session | null): Promise<void> {
  if (session === null) return
  try {
    const identity = await access.identify(session.credential.token)
    session.knows(identity)
    await session.tellTools(identity)
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

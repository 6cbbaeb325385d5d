/**
 * Tells the daemon which client is at work, so that a person who connects one sees it arrive (console,
 * Connect). A word in passing: nothing waits for it, and nothing depends on it.
 */
import type { Implementation } from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import type { McpClientSeen } from '../../schemas/types.ts'
import * as calls from '../client/calls.ts'
import { type Caller, DaemonError } from './daemon.ts'
import { printable } from './words.ts'

/** After the call of a tool was told, those that follow are not: a busy agent must not cost a call a call. */
const QUIET_MS = 5_000

export class Presence {
  private isQuiet = false
  /** Settles once the daemon has answered the posts so far. They are sent one by one, as the daemon keeps the last it gets. */
  private told: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly shared: {
      log: Logger
      /** Calls `fn` every `ms` until told to stop. */
      every(ms: number, fn: () => void): () => void
    },
    /** The daemon, for this client. */
    private readonly daemon: Caller,
    private readonly transport: McpClientSeen['transport'],
  ) {}

  /** @param call connect, list_tools, or the name of a tool. */
  tell(client: Implementation | undefined, call: string): void {
    const isTool = call !== 'connect' && call !== 'list_tools'
    if (isTool && this.isQuiet) return
    if (isTool) this.rest()
    const { name = 'mcp client', version = '' } = client ?? {}
    const seen: McpClientSeen = {
      name: printable(name),
      version: version === '' ? '' : printable(version),
      transport: this.transport,
      call,
    }
    const tell = () => this.daemon.ask(calls.noteMcpClient, { body: seen })
    this.told = this.told.then(tell).catch((error: Error) => {
      // The client hears of it by its own calls.
      if (!(error instanceof DaemonError)) this.shared.log.debug({ err: error }, 'a client was not told of')
    })
  }

  private rest(): void {
    this.isQuiet = true
    const end = this.shared.every(QUIET_MS, () => {
      end()
      this.isQuiet = false
    })
  }
}

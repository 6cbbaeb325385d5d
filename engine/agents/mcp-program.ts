/**
 * A program of this machine that speaks MCP: started without a shell, with what its operator declares in its
 * environment and nothing else, in a group of its own that ends with it. A small process of its own runs it
 * (bin/program-keeper.mjs) and ends it when svc is gone, however that came; what it says is bounded.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Duplex, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Timers } from '../clock.ts'
import type { McpServerRef } from './mcp-types.ts'

type Sdk = typeof import('@modelcontextprotocol/client')

/** Bytes of one message, and of all that a program says. */
const MESSAGE_MAX = 8 * 1024 * 1024
const SAID_MAX = 256 * 1024 * 1024
/** Places of a line at which a message may begin that are tried. */
const BEGINNINGS = 8
/** Characters kept of the end of its standard error. */
const ERRORS_KEPT = 2_048
/** For each of: ending by itself once its input is closed, and ending when it is told to. */
const END_MS = 1_000

/** Beside what is built, or in the sources. */
const KEEPER = ['../bin/', '../../bin/']
  .map((folder) => fileURLToPath(new URL(`${folder}program-keeper.mjs`, import.meta.url)))
  .find((file) => existsSync(file))

/** Groups that run: they end with this process, too, where it ends by itself. */
const running = new Set<number>()
let isHooked = false

export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** How it ended, as a sentence; null: it runs, or was ended by us. */
  ended: string | null = null
  private child: ChildProcess | null = null
  private readonly over: Promise<void>
  private tellOver = () => {}
  private isClosing = false
  private said = 0
  private errors = ''
  /** Of the line that is not whole yet. */
  private parts: Buffer[] = []
  private bytes = 0

  constructor(
    private readonly sdk: Pick<Sdk, 'deserializeMessage' | 'serializeMessage'>,
    private readonly program: NonNullable<McpServerRef['program']>,
    private readonly timers: Timers,
  ) {
    this.over = new Promise((resolve) => {
      this.tellOver = resolve
    })
  }

  /** @throws Error with a sentence: it cannot be started */
  start(): Promise<void> {
    const { words, env } = this.program
    return new Promise((resolve, reject) => {
      const refuse = (error: NodeJS.ErrnoException) => {
        this.ended ??= startFault(words[0], error)
        reject(new Error(this.ended))
        this.finish()
      }
      if (KEEPER === undefined) return refuse(new Error('bin/program-keeper.mjs of svc is missing'))
      const child = spawn(process.execPath, [KEEPER], {
        // What the program finds in its environment is none of the keeper's, and on no command line.
        env: {},
        cwd: '/',
        stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        shell: false,
        detached: true,
        windowsHide: true,
      })
      this.child = child
      child.once('spawn', () => keep(child.pid!))
      child.once('error', refuse)
      const line = child.stdio[3] as Duplex
      let told = ''
      line
        .on('error', () => {})
        .on('data', (part: Buffer) => {
          told += part.toString('utf8')
          if (!told.endsWith('\n')) return
          const { code, message } = JSON.parse(told) as { code?: string; message?: string }
          if (message === undefined) return resolve()
          refuse(Object.assign(new Error(message), { code }))
        })
      line.write(`${JSON.stringify({ words, env })}\n`)
      // Not "close": what it started may hold its output open.
      child.once('exit', async (code, signal) => {
        endGroup(child.pid!, 'SIGKILL')
        running.delete(child.pid!)
        // The program may write an answer just before it exits, and the error quotes its last line of standard error.
        await Promise.all([this.readToEnd(child.stdout!), this.readToEnd(child.stderr!)])
        if (!this.isClosing) this.ended ??= this.endFault(code, signal)
        // Where it ended before it said that it runs; else the promise is settled already.
        reject(new Error(this.ended ?? 'its program was ended'))
        this.finish()
      })
      child.stdin!.on('error', () => {})
      child
        .stderr!.on('error', () => {})
        .on('data', (part: Buffer) => {
          this.errors = (this.errors + part.toString('utf8')).slice(-ERRORS_KEPT)
        })
      child.stdout!.on('error', () => {}).on('data', (part: Buffer) => this.take(part))
    })
  }

  /** @throws Error with a sentence: how it ended, or that it reads no more */
  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this
    if (!child) throw new Error(this.ended ?? 'its program was ended')
    const stdin = child.stdin!
    const isWritten =
      stdin.writable &&
      (await new Promise<boolean>((resolve) => {
        stdin.write(this.sdk.serializeMessage(message), (error) => resolve(!error))
      }))
    if (isWritten) return
    // A write to a program that ended fails before its exit is reported.
    await this.isOverWithin(END_MS)
    throw new Error(this.ended ?? 'its program reads no more')
  }

  /** Its input is closed; where that does not end it within a second it is told to end, and then killed. */
  async close(): Promise<void> {
    const { child } = this
    this.isClosing = true
    if (!child?.pid) return this.finish()
    child.stdin?.end()
    if (await this.isOverWithin(END_MS)) return
    endGroup(child.pid, 'SIGTERM')
    if (await this.isOverWithin(END_MS)) return
    endGroup(child.pid, 'SIGKILL')
    await this.over
  }

  private take(part: Buffer): void {
    this.said += part.length
    if (this.said > SAID_MAX) {
      this.cut(`its program said more than ${SAID_MAX / 1024 ** 2} MB`)
      return
    }
    for (let rest = part; ; ) {
      const end = rest.indexOf('\n')
      const piece = end < 0 ? rest : rest.subarray(0, end)
      this.bytes += piece.length
      if (this.bytes > MESSAGE_MAX) {
        this.cut(`its program sent a message of more than ${MESSAGE_MAX / 1024 ** 2} MB`)
        return
      }
      this.parts.push(piece)
      if (end < 0) return
      this.bytes = 0
      this.read(Buffer.concat(this.parts.splice(0)).toString('utf8'))
      rest = rest.subarray(end + 1)
    }
  }

  /** One line. What is none of MCP, programs write by mistake; of a bar of progress there is no end before a message. */
  private read(line: string): void {
    let fault: Error | null = null
    for (let at = 0, tries = 0; at >= 0 && tries < BEGINNINGS; tries++, at = line.indexOf('{"', at + 1)) {
      const message = this.messageIn(line.slice(at))
      if (!(message instanceof Error)) {
        this.onmessage?.(message)
        return
      }
      fault ??= message
    }
    if (fault !== null) this.onerror?.(fault)
  }

  private messageIn(text: string): JSONRPCMessage | Error {
    try {
      return this.sdk.deserializeMessage(text)
    } catch (error) {
      return error as Error
    }
  }

  private cut(why: string): void {
    this.ended ??= why
    if (this.child?.pid) endGroup(this.child.pid, 'SIGKILL')
  }

  private finish(): void {
    this.tellOver()
    for (const stream of this.child?.stdio ?? []) stream?.destroy()
    this.child = null
    const tell = this.onclose
    this.onclose = undefined as never
    tell?.()
  }

  /** Resolves once the stream is read to its end; after a second at most, as a process that left the group may keep it open. */
  private readToEnd(stream: Readable): Promise<void> {
    return new Promise((resolve) => {
      if (stream.readableEnded || stream.destroyed) return resolve()
      const cancel = this.timers.after(END_MS, resolve)
      stream.once('close', () => {
        cancel()
        resolve()
      })
    })
  }

  private isOverWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.timers.after(ms, () => resolve(false))
      void this.over.then(() => {
        cancel()
        resolve(true)
      })
    })
  }

  private endFault(code: number | null, signal: NodeJS.Signals | null): string {
    const last = this.errors.trim().split('\n').at(-1)?.trim()
    return `its program ended ${signal === null ? `with status ${code}` : `by ${signal}`}${last ? `: ${last}` : ''}`
  }
}

function startFault(name: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `its program cannot be started: ${name} is not there`
  if (code === 'EACCES') return `its program cannot be started: ${name} may not be run`
  return `its program cannot be started: ${message}`
}

function keep(pid: number): void {
  running.add(pid)
  if (isHooked) return
  isHooked = true
  process.once('exit', () => {
    for (const group of running) endGroup(group, 'SIGKILL')
  })
}

function endGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

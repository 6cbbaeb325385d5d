/** Entry of the `svc` command (bin/svc.mjs): the process around `run`. */
import { setTimeout as delay } from 'node:timers/promises'
import { nodeRefusal } from '../version.ts'
import { openBrowser } from './daemon/open-browser.ts'
import { EXIT } from './exit.ts'
import { run } from './program.ts'
import { confirmOn, type Io } from './terminal.ts'

const interrupt = new AbortController()

/** What became of standard output: a pipe that nobody reads any more, or a fault of what it is written to. */
let lost: 'closed' | 'failed' | null = null

const io: Io = {
  out: (text) => {
    if (!lost) process.stdout.write(text)
  },
  err: (text) => void process.stderr.write(text),
  stdin: process.stdin,
  isTerminal: process.stdout.isTTY === true,
  // NO_COLOR: https://no-color.org; a dumb terminal shows escapes as text.
  colour: process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
  env: process.env,
  fetch: globalThis.fetch,
  confirm: (question) => confirmOn(process.stdin, process.stderr, question, interrupt.signal),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
  browse: openBrowser,
  interrupted: interrupt.signal,
}

const command = process.argv[2]

/** Commands that do nothing but write, for as long as they are read. */
const isStreaming =
  command === 'tail' || command === 'events' || command === 'mcp' || process.argv.includes('--watch')

// What a command does, such as an apply, it does all the same where nobody reads how it went: `svc catalog apply … | true`.
// The daemon takes events whether or not it can write its log.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (command === 'up' || lost) return
  lost = error.code === 'EPIPE' ? 'closed' : 'failed'
  if (lost === 'failed') {
    io.err(`svc: cannot write standard output: ${error.message}\n`)
    process.exitCode = EXIT.disk
  }
  // `svc tail | head` is an end, and not a failure.
  if (isStreaming) process.exit()
})
// Where standard error is closed nobody can be told, and the command goes on.
process.stderr.on('error', () => undefined)

/** Commands that run until they are told to stop, and end in good order by themselves. */
const isServing = command === 'up' || command === 'mcp'

if (!isServing) {
  process.once('SIGINT', () => {
    interrupt.abort()
    process.once('SIGINT', () => process.exit(130))
  })
}

const refusal = nodeRefusal(process.versions.node)
if (refusal !== null) {
  io.err(`svc: ${refusal}\n`)
  process.exit(1)
}

const code = await run(io, process.argv.slice(2))
process.exitCode ??= code
// A start that failed may leave threads and timers behind.
if (code !== 0 && isServing) process.exit(code)

/** Entry of the `svc` command (bin/svc.mjs): the process around `run`. */
import { setTimeout as delay } from 'node:timers/promises'
import { nodeRefusal } from '../version.ts'
import { openBrowser } from './daemon/open-browser.ts'
import { run } from './program.ts'
import type { Io } from './terminal.ts'

const interrupt = new AbortController()

async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `)).trim())
  } finally {
    prompt.close()
  }
}

const io: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  stdin: process.stdin,
  isTerminal: process.stdout.isTTY === true,
  // NO_COLOR: https://no-color.org; a dumb terminal shows escapes as text.
  colour: process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
  env: process.env,
  fetch: globalThis.fetch,
  confirm: ask,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
  browse: openBrowser,
  interrupted: interrupt.signal,
}

const command = process.argv[2]

// `svc tail | head` closes the pipe: that is an end, not a failure. The daemon takes events whether or not it can write its log.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (command !== 'up') process.exit(error.code === 'EPIPE' ? 0 : 1)
})

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
process.exitCode = code
// A start that failed may leave threads and timers behind.
if (code !== 0 && isServing) process.exit(code)

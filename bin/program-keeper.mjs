/**
 * Runs a program that speaks MCP over its input and output, and ends it when whoever started it is gone, however that came: a
 * daemon that is killed can end nothing by itself, and a program may ignore that its input was closed.
 *
 * Standard input, output and errors are the program's; this process reads none of them. Over the fourth file it is told what to run,
 * `{words, env}` in a line, and tells that it runs, `{}`, or why it does not, `{code, message}`. That file closes with its other
 * end. It is the first of a process group, of which the program is, and what that starts. Node built-ins only.
 */
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

/** For each of: ending by itself once its input is closed, and ending when it is told to. */
const END_MS = 1_000

const line = new Socket({ fd: 3, readable: true, writable: true })
/** @type {import('node:child_process').ChildProcess | null} */
let child = null
let isAlone = false
let told = ''

// Those are for the program, which has them as one of the group.
for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) process.on(signal, () => {})

line.setEncoding('utf8')
line.on('data', (/** @type {string} */ part) => {
  if (child) return
  told += part
  const end = told.indexOf('\n')
  if (end !== -1) run(JSON.parse(told.slice(0, end)))
})
line.on('error', () => {})
line.once('close', () => {
  isAlone = true
  if (!child) process.exit(1)
  setTimeout(() => endGroup('SIGTERM'), END_MS)
  setTimeout(() => endGroup('SIGKILL'), 2 * END_MS)
})

/** @param {{ words: [string, ...string[]], env: Record<string, string> }} program */
function run({ words: [name, ...args], env }) {
  child = spawn(name, args, { env, cwd: '/', stdio: 'inherit', shell: false, windowsHide: true })
  child.once('spawn', () => line.write('{}\n'))
  child.once('error', (error) => {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    line.end(`${JSON.stringify({ code, message })}\n`, () => process.exit(1))
  })
  child.once('exit', (code, signal) => {
    // What it started goes with it; else the daemon does that, once it has read what was said last.
    if (isAlone) endGroup('SIGKILL')
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    // A signal that ends this process by no default, such as SIGSTOP's kin, did end the program.
    setTimeout(() => process.exit(1), END_MS)
  })
}

/** @param {'SIGTERM' | 'SIGKILL'} signal to this process, too */
function endGroup(signal) {
  try {
    process.kill(-process.pid, signal)
  } catch {
    // It has no group of its own, as where a person starts it: then the program alone.
    child?.kill(signal)
  }
}

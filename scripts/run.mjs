/** Runs other programs for the scripts. Node built-ins only: packages may not be installed yet. */
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand, RuntimeError } from '../bin/runtime.mjs'

/** The project's root folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Ends a script: its message is for the person who ran it. */
export class ScriptError extends Error {}

/** @param {string} line one line for the person, on standard error */
export function say(line) {
  process.stderr.write(`svc: ${line}\n`)
}

/**
 * Runs a program to its end.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string | undefined>, show?: boolean, cwd?: string, signal?: AbortSignal | undefined }} [options] `show` passes output on as it comes
 * @returns {Promise<{ code: number, output: string }>} exit code and, unless shown, what it wrote
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      ...(options.signal ? { signal: options.signal } : {}),
      env: { ...process.env, ...options.env },
      stdio: options.show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout?.on('data', (chunk) => (output += chunk))
    child.stderr?.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ code: 127, output: `${output}${error.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/**
 * Runs npm, by the Node that runs this.
 * @param {readonly string[]} args
 * @param {{ show?: boolean, cwd?: string, signal?: AbortSignal | undefined }} [options]
 */
export function runNpm(args, options) {
  const npm = npmCommand()
  return run(npm.command, [...npm.args, ...args], options)
}

/** @param {string} name a program of node_modules/.bin */
export function localBin(name) {
  return `${root}/node_modules/.bin/${name}${process.platform === 'win32' ? '.cmd' : ''}`
}

/**
 * Runs a script's body and turns its failure into a message and exit code 1.
 * @param {() => Promise<number | void>} body returns the exit code; nothing is 0
 */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? 0
  } catch (error) {
    process.stderr.write(
      error instanceof ScriptError || error instanceof RuntimeError || isMistyped(error)
        ? `svc: ${error.message}\n`
        : `${error instanceof Error ? error.stack : error}\n`,
    )
    process.exitCode = 1
  }
}

/**
 * An option that the script does not have, by parseArgs.
 * @param {unknown} error
 * @returns {error is Error}
 */
const isMistyped = (error) =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')

/** The real, built daemon in a process of its own, to be killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SHORT_LIVED } from '../short-lived.ts'

const BUNDLE = fileURLToPath(new URL('../../dist/svc.mjs', import.meta.url))
/** Not where memory and time are measured, which is in the bench. */
const V8_OPTIONS = process.env.VITEST ? SHORT_LIVED : []

export interface Daemon {
  url: string
  process: ChildProcess
  /** Everything printed so far. */
  output: string[]
  /** Ends it at once, as a power cut or the kernel would. */
  kill(): Promise<void>
  /** Asks it to stop. @returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/**
 * Starts the daemon on a free port and waits until it answers.
 * @param args more arguments of `svc up`. @param bundle another build than the one in dist/.
 * @param under `handles`: files it may have open; `niceness`: that it is started with.
 * @throws Error with its output when it ends before it listens.
 */
export async function startDaemon(
  dataDir: string,
  args: string[] = [],
  env: Record<string, string> = {},
  bundle = BUNDLE,
  { handles, niceness }: { handles?: number; niceness?: number } = {},
): Promise<Daemon> {
  if (!existsSync(bundle)) throw new Error(`${bundle} is missing: run npm run setup`)
  const command = [
    process.execPath,
    ...V8_OPTIONS,
    bundle,
    'up',
    '--port',
    '0',
    '--data-dir',
    dataDir,
    ...args,
  ]
  const limited = handles === undefined ? [] : ['sh', '-c', `ulimit -n ${handles}; exec "$0" "$@"`]
  const nicer = niceness === undefined ? [] : ['nice', '-n', String(niceness)]
  const [program, ...rest] = [...nicer, ...limited, ...command]
  const child = spawn(program!, rest, {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: dataDir,
      SVC_LOG_FORMAT: 'json',
      SVC_LOG_LEVEL: 'warn',
      SVC_OTLP_GRPC_PORT: 'off',
      // As the command keeps it, which is not started here: its process is the one to kill.
      NODE_COMPILE_CACHE: join(dirname(bundle), '.compiled'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output: string[] = []
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!])
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line)
        const found = /console at (http:\/\/\S+)/.exec(line)
        if (found) resolve(found[1]!.replace(/\/$/, ''))
      })
    void exited.then(([code]) =>
      reject(new Error(`the daemon ended with ${code} before it listened:\n${output.join('\n')}`)),
    )
  })
  return {
    url,
    process: child,
    output,
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return (await exited)[0]
    },
  }
}

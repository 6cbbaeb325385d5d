/**
 * The system's git, run as a program: without a shell, a prompt, a hook, a helper or a configuration but its own, over
 * few protocols, for so long and with so much to say. What it is to keep secret it gets by its environment.
 */
import { spawn } from 'node:child_process'
import type { Timers } from '../clock.ts'

/** What kind of thing went wrong, as the state of the sync tells it. */
export type FaultCode =
  | 'unreachable'
  | 'credential'
  | 'gone'
  | 'ref'
  | 'git'
  | 'too_large'
  | 'problems'
  | 'mirror'
  | 'protected'
  | 'moved'

/** Why a repository cannot be read, as a sentence without secrets. */
export class RepositoryFault extends Error {
  readonly code: FaultCode
  constructor(code: FaultCode, message: string) {
    super(message)
    this.name = 'RepositoryFault'
    this.code = code
  }
}

export interface GitWorld {
  timers: Timers
  /** Of the daemon: what git needs of it to find programs, proxies and certificates is passed on. */
  env: Readonly<Record<string, string | undefined>>
}

export interface GitAsk {
  /** Without the first word. None is made of what came from outside, but behind `--` or checked (repository.ts). */
  args: readonly string[]
  input?: string
  timeoutMs: number
  /** Of standard output. */
  maxBytes: number
  /** Settings of git by name, in its environment: they are on no command line. */
  settings?: Readonly<Record<string, string>>
  /** Further variables. */
  variables?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
  /** Looked at now and then: whether what is being made has grown too large. */
  isTooLarge?(): boolean
}

const PASSED_ON =
  /^(PATH|HOME|TMPDIR|SSH_AUTH_SOCK|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO|(https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY)$/
const STDERR_MAX = 16 * 1024
const LOOK_MS = 500
/** Hooks and helpers would be programs of whoever made the repository or the machine's configuration. */
const SETTINGS = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'credential.helper': '',
  'gc.autoDetach': 'false',
  'http.followRedirects': 'false',
  'protocol.version': '2',
}

/** @returns what it says on standard output. @throws RepositoryFault */
export function runGit({ env, timers }: GitWorld, ask: GitAsk): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ask.args, {
      env: environmentOf(env, ask),
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: what it starts ends with it.
      detached: true,
    })
    const out: Buffer[] = []
    let size = 0
    let said = ''
    let fault: RepositoryFault | null = null
    const end = (code: FaultCode, message: string) => {
      fault ??= new RepositoryFault(code, message)
      endGroup(child.pid)
    }
    const seconds = ask.timeoutMs / 1_000
    const callOff = timers.after(ask.timeoutMs, () =>
      end('unreachable', `git gave no answer within ${seconds} s`),
    )
    const aborted = () => end('git', 'the daemon stops')
    ask.signal?.addEventListener('abort', aborted)
    if (ask.signal?.aborted) aborted()
    let callOffLook = () => {}
    const look = () => {
      if (ask.isTooLarge?.()) end('too_large', 'the repository is larger than 1 GiB')
      else callOffLook = timers.after(LOOK_MS, look)
    }
    if (ask.isTooLarge) look()
    child.stdout.on('data', (part: Buffer) => {
      size += part.length
      if (size > ask.maxBytes) end('too_large', `git answered more than ${ask.maxBytes} bytes`)
      else out.push(part)
    })
    child.stderr.on('data', (part: Buffer) => {
      if (said.length < STDERR_MAX) said += part.toString('utf8')
    })
    // It may end before it has read all of it.
    child.stdin.on('error', () => {})
    child.stdin.end(ask.input ?? '')
    const over = (settle: () => void) => {
      callOff()
      callOffLook()
      ask.signal?.removeEventListener('abort', aborted)
      settle()
    }
    child.on('error', (error: NodeJS.ErrnoException) =>
      over(() => reject(new RepositoryFault('git', startFault(error)))),
    )
    child.on('close', (code) =>
      over(() => {
        if (fault) reject(fault)
        else if (code === 0) resolve(Buffer.concat(out))
        else reject(faultIn(said))
      }),
    )
  })
}

const startFault = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ENOENT' ? 'git is not installed where svc runs' : `git cannot be started: ${message}`

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function environmentOf(env: GitWorld['env'], { settings, variables }: GitAsk): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && PASSED_ON.test(name) ? [[name, value] as const] : [],
  )
  const all = Object.entries({ ...SETTINGS, ...settings })
  const numbered = all.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ])
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:file',
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(numbered),
    ...variables,
  }
}

/** What git says, by what it means; the first that fits. */
const MEANINGS: readonly [FaultCode, RegExp, string][] = [
  // Of a push; what the host says of it follows in brackets.
  ['moved', /\(stale info\)|\((non-fast-forward|fetch first)\)/, 'the branch was changed meanwhile'],
  [
    'protected',
    /\[remote rejected\]|GH006|pre-receive hook declined/,
    'the host refuses the branch: it is protected, or the credential may not write it',
  ],
  [
    'mirror',
    /Unable to create '[^']*\.lock'|cannot lock ref|bad object|object file .* is empty|loose object .* is corrupt/,
    'the mirror is damaged',
  ],
  [
    'credential',
    /Authentication failed|could not read (Username|Password)|Access denied|error: 40[13]|Permission denied|terminal prompts disabled|Host key verification failed/i,
    'the repository refuses the credential, or asks for one',
  ],
  ['ref', /couldn't find remote ref|no such ref/i, 'the repository has no such branch or tag'],
  [
    'gone',
    /does not appear to be a git repository|repository '[^']*' not found|Repository not found|error: 404|does not exist/i,
    'the repository is not there, or may not be read',
  ],
  [
    'unreachable',
    /Could not resolve|Failed to connect|Connection (refused|timed out|reset|closed)|unable to access|early EOF|hung up|unexpected disconnect/i,
    'the repository cannot be reached',
  ],
]

function faultIn(said: string): RepositoryFault {
  const [code, , meaning] = MEANINGS.find(([, pattern]) => pattern.test(said)) ?? ['git', /./, 'git failed']
  const line =
    said
      .split('\n')
      .map((one) => one.replace(/^(fatal|error|remote|warning): */, '').trim())
      .filter(Boolean)
      .at(-1) ?? ''
  const told =
    // What a push was refused for.
    /^remote: (?:error: )?(GH\d+: .*\S)/m.exec(said)?.[1] ??
    /\[(?:remote )?rejected\].*\((.*)\)$/m.exec(said)?.[1] ??
    said
      .split('\n')
      .find((one) => /^(fatal|error): /.test(one))
      ?.replace(/^\w+: */, '') ??
    line
  return new RepositoryFault(code, told ? `${meaning}: ${told.slice(0, 300)}` : meaning)
}

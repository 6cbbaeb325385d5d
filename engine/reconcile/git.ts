/**
 * The system's git, run as a program: without a shell, a prompt, a hook, a helper or a configuration but its own, over
 * few protocols, for so long and with so much to say. What it is to keep secret it gets by its environment.
 * What a repository is, and what may not be said of one, is checked here before git is run.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { CatalogRepository } from '../../schemas/types.ts'
import type { Timers } from '../clock.ts'

export type Policy = CatalogRepository['policy']

/** As the daemon is started with it (SVC_CATALOG_REPO and its kin). */
export interface Repository {
  /** https, ssh or file address, or a path of this machine. */
  address: string
  /** Folder or file of the catalog in it, without slashes at its ends; empty: all of it. */
  path: string
  /** Branch or tag. */
  ref: string
  policy: Policy
  intervalMs: number
  environment: string | null
  /** Name of the stored credential that it is read with. */
  credential: string | null
  /** File of an SSH key, absolute. */
  sshKey: string | null
  /** What pushes are signed with; null: none is taken. */
  pushSecret: string | null
  /** Folder for the mirror, absolute. */
  folder: string
  /** Name of this instance, by which statuses of commits are told apart. */
  instance: string
}

/** What any repository is followed with, whoever names it. */
export type RepositoryHome = Pick<Repository, 'folder' | 'instance' | 'environment' | 'sshKey' | 'pushSecret'>

const SCHEMES = ['https:', 'http:', 'ssh:', 'file:']
/** git@HOST:PATH, as git takes it for SSH. */
const SCP = /^[A-Za-z0-9_][\w.-]*@[\w.-]+:[^\s:][^\s]*$/

/** What is wrong with the address of a repository, as the end of a sentence; null: nothing. */
export function addressFaultOf(address: string): string | null {
  // A name that git would take for an option, or a line of its own.
  if (/^-|\p{Cc}/u.test(address)) return 'must not begin with a dash or hold control characters'
  if (address.startsWith('/') || SCP.test(address)) return null
  if (!URL.canParse(address))
    return 'must be an https, ssh or file address, git@HOST:PATH or an absolute path'
  const url = new URL(address)
  if (!SCHEMES.includes(url.protocol))
    return `must be an https, ssh or file address, and ${url.protocol.slice(0, -1)} is none of these`
  if (url.password || (url.username && url.protocol !== 'ssh:'))
    return 'must have no user or password in it; name a stored credential in SVC_CATALOG_REPO_CREDENTIAL'
  if (url.username.startsWith('-') || url.hostname.startsWith('-'))
    return 'must not have a dash before a name'
  if (url.search || url.hash) return 'must have no query or fragment'
  return null
}

/** The same of a branch or tag: what git takes as one (git-check-ref-format), and no hash. */
export function refFaultOf(ref: string): string | null {
  const isOne = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}$/.test(ref)
  if (isOne && !/\.\.|\/\/|\/\.|\.lock(\/|$)|[./]$/.test(ref)) return null
  return 'must be the name of a branch or a tag'
}

/** The same of a path in the repository. */
export function pathFaultOf(path: string): string | null {
  const steps = path.split('/').filter(Boolean)
  if (/\p{Cc}|\\/u.test(path) || steps.includes('..') || steps.includes('.'))
    return 'must be a path in the repository, without . and ..'
  return null
}

/** Of a path as it is given. */
export const pathIn = (path: string): string => path.split('/').filter(Boolean).join('/')

/** What it is called where no file says `catalog`: by its path, else by its address. */
export function nameOfRepository({ address, path }: Pick<Repository, 'address' | 'path'>): string {
  const last = (path || address)
    .replace(/[/\\]+$/, '')
    .split(/[/\\:]/)
    .at(-1)!
  const stem = last.replace(/\.(git|ya?ml|json)$/i, '').replace(/[^A-Za-z0-9_.-]/g, '-')
  return stem.replace(/^[^A-Za-z0-9]+/, '').slice(0, 64) || 'catalog'
}

/** Host a repository is at; null: this machine. */
export function hostOfRepository(address: string): string | null {
  if (address.startsWith('/')) return null
  if (SCP.test(address)) return /@([^:]+):/.exec(address)![1]!
  return new URL(address).hostname || null
}

/** Folder of its mirror: of another address another one. */
export const mirrorOf = ({ folder, address }: Repository): string =>
  `${folder}/${createHash('sha256').update(address).digest('hex').slice(0, 16)}.git`

/** What is stored and shown of it: neither secrets, nor places of this machine. */
export const shownOf = (of: Repository): CatalogRepository => ({
  address: of.address,
  path: of.path,
  ref: of.ref,
  environment: of.environment,
  policy: of.policy,
  interval_seconds: of.intervalMs / 1_000,
  credential: of.credential,
  takes_pushes: of.pushSecret !== null,
  links: linksOf(of.address),
})

/** Where the hosts that are known by their name show files and commits, also where they are run by oneself. */
const HOSTS: readonly [name: RegExp, commit: string, line: string][] = [
  [/(^|\.)github(\.|$)/, '/commit/COMMIT', '/blob/COMMIT/PATH#LLINE'],
  [/(^|\.)gitlab(\.|$)/, '/-/commit/COMMIT', '/-/blob/COMMIT/PATH#LLINE'],
  [/^bitbucket\.org$/, '/commits/COMMIT', '/src/COMMIT/PATH#lines-LINE'],
  [/^codeberg\.org$|(^|\.)(gitea|forgejo)(\.|$)/, '/commit/COMMIT', '/src/commit/COMMIT/PATH#LLINE'],
]

/** Addresses for people of what is at a repository; null: its host is none that is known. */
export function linksOf(address: string): CatalogRepository['links'] {
  const [, scpHost, scpPath] = SCP.test(address) ? /@([^:]+):(.*)$/.exec(address)! : []
  const url = scpHost === undefined && URL.canParse(address) ? new URL(address) : null
  const [host, path] = url ? [url.hostname, url.pathname] : [scpHost ?? '', scpPath ?? '']
  const known = HOSTS.find(([name]) => name.test(host))
  if (!known || url?.protocol === 'file:') return null
  const name = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  // The port of ssh is none of the pages.
  const origin = url && /^https?:$/.test(url.protocol) ? url.origin : `https://${host}`
  const [, commit, line] = known
  return { commit: `${origin}/${name}${commit}`, line: `${origin}/${name}${line}` }
}

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
  /** Without the first word. None is made of what came from outside, but behind `--` or checked (`refFaultOf`). */
  args: readonly string[]
  input?: string
  timeoutMs: number
  /** Of standard output, or of what is kept of it. */
  maxBytes: number
  /** Of records that end with a NUL: which are kept. A listing may be far larger than what is looked for in it. */
  keeps?(record: string): boolean
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
    const take = (part: Buffer) => {
      size += part.length
      if (size > ask.maxBytes) end('too_large', `git answered more than ${ask.maxBytes} bytes`)
      else out.push(part)
    }
    const sieve = ask.keeps ? sieveOf(ask.keeps, take) : null
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
    child.stdout.on('data', sieve ?? take)
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

/** Passes on the records that are kept, of parts that begin and end anywhere. */
function sieveOf(keeps: (record: string) => boolean, take: (kept: Buffer) => void): (part: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (part) => {
    const all = rest.length === 0 ? part : Buffer.concat([rest, part])
    const end = all.lastIndexOf(0) + 1
    rest = Buffer.from(all.subarray(end))
    const kept = all.toString('utf8', 0, end).split('\0').slice(0, -1).filter(keeps)
    if (kept.length) take(Buffer.from(kept.map((record) => `${record}\0`).join('')))
  }
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
  [
    'gone',
    /info\/refs not valid/,
    'what answers is no git repository, such as the page of a proxy or of a sign-in',
  ],
  [
    'gone',
    /dubious ownership/,
    'the repository belongs to another user than the one svc runs as, and git reads none of others: let that user own it, or follow it over https or ssh',
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

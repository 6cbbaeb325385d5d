/**
 * A bare mirror of one branch in the data folder. Nothing is checked out: trees and files are read from its objects. It
 * is a cache: one that is damaged, such as by a kill in the middle of a fetch, is made anew.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { didYouMean } from '../../schemas/near-names.ts'
import { listSome } from '../../schemas/plain-words.ts'
import type { CatalogCommit, CatalogPushTaken } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { CatalogText } from '../gitops/nodes.ts'
import type { PulledFile } from '../gitops/pull.ts'
import { oneLine } from '../log/ingest/label.ts'
import { verifySignature } from '../log/ingest/signature.ts'
import {
  type GitAsk,
  type GitWorld,
  hostOfRepository,
  mirrorOf,
  type Repository,
  RepositoryFault,
  runGit,
} from './git.ts'

/** A first fetch may be of a large repository. */
const FETCH_MS = 300_000
const READ_MS = 30_000
const MIRROR_MAX = 1024 * 1024 * 1024
const LISTING_MAX = 16 * 1024 * 1024
const TEXTS_MAX = 64 * 1024 * 1024
const FILES_MAX = 10_000
const MESSAGE_MAX = 200
const BRANCHES_NAMED = 5
/** Where the branch is kept, whatever its name. */
const HERE = 'refs/svc/followed'
/** A commit that is made here, and the branch of the repository that it is for. */
const MADE = 'refs/svc/made'
const THERE = 'refs/svc/there'

/** What a fetch is made with: a token goes to the host of the repository alone, in a header. */
export type Access = { token: string } | { sshKey: string } | null

export class Mirror {
  private readonly dir: string

  constructor(
    private readonly of: Repository,
    private readonly world: GitWorld,
    private readonly signal: AbortSignal,
  ) {
    this.dir = mirrorOf(of)
  }

  /** Removes mirrors of other addresses, and locks that a kill left: whoever has the data folder has it alone. */
  tidy(): void {
    const folder = dirname(this.dir)
    if (!existsSync(folder)) return
    for (const name of readdirSync(folder))
      if (name.endsWith('.git') && name !== basename(this.dir))
        rmSync(join(folder, name), { recursive: true, force: true })
    if (existsSync(this.dir))
      for (const name of readdirSync(this.dir, { recursive: true }) as string[])
        if (name.endsWith('.lock')) rmSync(join(this.dir, name), { force: true })
  }

  /** Brings the newest commit of the branch. @throws RepositoryFault */
  async bring(access: Access): Promise<CatalogCommit> {
    try {
      return await this.bringOnce(access)
    } catch (error) {
      if (!(error instanceof RepositoryFault) || error.code !== 'mirror') throw error
      rmSync(this.dir, { recursive: true, force: true })
      return this.bringOnce(access)
    }
  }

  private async bringOnce(access: Access): Promise<CatalogCommit> {
    if (!existsSync(join(this.dir, 'HEAD'))) {
      mkdirSync(dirname(this.dir), { recursive: true, mode: 0o700 })
      // No template, so no hook either.
      await this.run(
        { args: ['init', '--bare', '--quiet', '--template=', '--', this.dir], timeoutMs: READ_MS },
        false,
      )
    }
    const { ref, address } = this.of
    const how = ['--quiet', '--no-tags', '--force', '--no-recurse-submodules', '--no-write-fetch-head']
    try {
      await this.run({
        args: ['fetch', ...how, '--', address, `+${ref}:${HERE}`],
        timeoutMs: FETCH_MS,
        ...accessOf(this.of, access, dirname(this.dir)),
        isTooLarge: () => sizeOf(this.dir) > MIRROR_MAX,
      })
    } catch (error) {
      throw error instanceof RepositoryFault && error.code === 'ref'
        ? await this.absent(error, access)
        : error
    }
    const commit = await this.commit(HERE)
    return commit ?? this.damaged()
  }

  /**
   * Why there is no such branch or tag: which branches there are. Git reads a page that a proxy answers with 200 as a
   * repository without any.
   */
  private async absent(fault: RepositoryFault, access: Access): Promise<RepositoryFault> {
    const { ref, address } = this.of
    try {
      const told = await this.run({
        args: ['ls-remote', '--quiet', '--heads', '--', address],
        ...accessOf(this.of, access, dirname(this.dir)),
      })
      const heads = [...told.toString('utf8').matchAll(/\trefs\/heads\/(.+)$/gm)].map(([, name]) => name!)
      const near = didYouMean(ref, heads)
      const there = heads.length
        ? `the repository has no branch or tag ${ref}${near}; it has ${listSome(heads, BRANCHES_NAMED)}`
        : `the repository has no branch: it is empty${/^https?:/.test(address) ? ', or what answers is not git, such as the page of a proxy or of a sign-in' : ''}`
      return new RepositoryFault('ref', there.slice(0, 500))
    } catch (error) {
      // It is said without the branches, then.
      if (error instanceof RepositoryFault) return fault
      throw error
    }
  }

  private damaged(): never {
    throw new RepositoryFault('mirror', 'the mirror lacks the commit that was fetched')
  }

  /** A commit by its hash, or the beginning of it; null: it is not here. @throws RepositoryFault */
  async commit(id: string): Promise<CatalogCommit | null> {
    const found = await this.try(['rev-parse', '--verify', '--quiet', '--end-of-options', `${id}^{commit}`])
    if (found === null) return null
    const told = await this.run({
      args: ['log', '-1', '--format=%H%x00%an%x00%ct%x00%s', found.trim(), '--'],
    })
    const [hash = '', author = '', at = '', message = ''] = told.toString('utf8').trimEnd().split('\0')
    return {
      id: hash,
      author: oneLine(author, 100),
      at: timeOf(at),
      message: oneLine(message, MESSAGE_MAX),
    }
  }

  /** Whether a commit is here. @throws RepositoryFault */
  async has(commit: string): Promise<boolean> {
    return existsSync(join(this.dir, 'HEAD')) && (await this.commit(commit)) !== null
  }

  /** Whether a commit is in the history of another. @throws RepositoryFault */
  async isIn(commit: string, history: string): Promise<boolean> {
    // One that was rewritten may be gone altogether.
    if ((await this.commit(commit)) === null) return false
    return (await this.try(['merge-base', '--is-ancestor', commit, history])) !== null
  }

  /**
   * The YAML files of a commit at a path, by path, as a folder of the machine is read (engine/files.ts): without
   * hidden ones and node_modules. Links and submodules are no files. @throws RepositoryFault
   */
  async texts(commit: string, path: string): Promise<CatalogText[]> {
    const files = await this.list(commit, path)
    if (files.length > FILES_MAX)
      throw new RepositoryFault(
        'too_large',
        `${path || 'the repository'} has more than ${FILES_MAX} catalog files`,
      )
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    if (bytes > TEXTS_MAX)
      throw new RepositoryFault('too_large', 'the catalog files have more than 64 MiB together')
    if (files.length === 0) return []
    const input = files.map(({ blob }) => `${blob}\n`).join('')
    const told = await this.run({
      args: ['cat-file', '--batch'],
      input,
      maxBytes: bytes + files.length * 128,
    })
    return textsIn(told, files)
  }

  /** The commits that wrote lines of a file, by line. @throws RepositoryFault */
  async writersOf(
    commit: string,
    file: string,
    lines: readonly number[],
  ): Promise<Map<number, CatalogCommit>> {
    const ranges = [...new Set(lines)].flatMap((line) => ['-L', `${line},${line}`])
    const told = await this.run({ args: ['blame', '--porcelain', ...ranges, commit, '--', file] })
    return writersIn(told.toString('utf8'))
  }

  /** Makes a commit of changed files on another, in the mirror alone. @returns its hash. @throws RepositoryFault */
  async commitOn(
    parent: string,
    files: readonly PulledFile[],
    { author, committer, atMs, message }: NewCommit,
  ): Promise<string> {
    const changed = new Set(files.map(({ path }) => path))
    const listed = await this.run({
      args: ['ls-tree', '-r', '-z', '--full-tree', parent],
      keeps: (line) => changed.has(line.slice(line.indexOf('\t') + 1)),
    })
    const modes = new Map(
      listed
        .toString('utf8')
        .split('\0')
        .map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6)]),
    )
    const when = `${Math.floor(atMs / 1_000)} +0000`
    const person = ({ name, email }: Person) =>
      `${name.replace(/[<>\p{Cc}]/gu, ' ').trim()} <${email}> ${when}`
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
    const changes = files.map(({ path, after }) => {
      const quoted = `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
      return after === null
        ? `D ${quoted}\n`
        : `M ${modes.get(path) ?? '100644'} inline ${quoted}\n${data(after)}`
    })
    // git-fast-import(1): one program, and no file beside the mirror.
    const input = [
      `commit ${MADE}\nauthor ${person(author)}\ncommitter ${person(committer)}\n`,
      `${data(message)}from ${parent}\n${changes.join('')}\ndone\n`,
    ].join('')
    await this.run({ args: ['fast-import', '--quiet', '--force', '--done'], input })
    return (await this.commit(MADE))?.id ?? this.damaged()
  }

  /** The newest commit of another branch of the repository; null: there is none. @throws RepositoryFault */
  async tipOf(branch: string, access: Access): Promise<BranchTip | null> {
    const how = ['--quiet', '--no-tags', '--force', '--no-recurse-submodules', '--no-write-fetch-head']
    try {
      await this.run({
        args: ['fetch', ...how, '--', this.of.address, `+refs/heads/${branch}:${THERE}`],
        timeoutMs: FETCH_MS,
        ...accessOf(this.of, access, dirname(this.dir)),
      })
    } catch (error) {
      if (error instanceof RepositoryFault && error.code === 'ref') return null
      throw error
    }
    const told = await this.run({ args: ['log', '-1', '--format=%H%x00%P%x00%T%x00%cE%x00%an', THERE, '--'] })
    const [id = '', parents = '', tree = '', committer = '', author = ''] = told
      .toString('utf8')
      .trimEnd()
      .split('\0')
    return { id, parent: parents.split(' ')[0]!, tree, committer, author: oneLine(author, 100) }
  }

  /** The tree of a commit, by which two that say the same are known. @throws RepositoryFault */
  async treeOf(commit: string): Promise<string> {
    return (await this.run({ args: ['rev-parse', '--verify', `${commit}^{tree}`] })).toString('utf8').trim()
  }

  /** Makes a branch of the repository a commit. @param tip what it is now; null: it is not there. @throws RepositoryFault */
  async push(commit: string, branch: string, tip: string | null, access: Access): Promise<void> {
    const lease = `--force-with-lease=refs/heads/${branch}:${tip ?? ''}`
    await this.run({
      args: [
        'push',
        '--quiet',
        '--no-verify',
        lease,
        '--',
        this.of.address,
        `${commit}:refs/heads/${branch}`,
      ],
      timeoutMs: FETCH_MS,
      ...accessOf(this.of, access, dirname(this.dir)),
    })
  }

  private async list(commit: string, path: string): Promise<TreeFile[]> {
    const where = path === '' ? [] : ['--', `:(literal)${path}`]
    const told = await this.run({
      args: ['ls-tree', '-r', '-l', '-z', '--full-tree', commit, ...where],
      keeps: (line) => /\.ya?ml$/.test(line) || line.endsWith(`\t${path}`),
    })
    return told
      .toString('utf8')
      .split('\0')
      .flatMap((line) => {
        const [, mode, blob, size, file] = /^(\d+) blob (\w+) +(\d+)\t(.*)$/s.exec(line) ?? []
        if (file === undefined || mode === '120000') return []
        const below = file === path ? '' : file.slice(path === '' ? 0 : path.length + 1)
        const isHidden = below.split('/').some((step) => step.startsWith('.') || step === 'node_modules')
        return isHidden || !(/\.ya?ml$/.test(file) || file === path)
          ? []
          : [{ path: file, blob: blob!, size: Number(size) }]
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** @returns null where git says no. @throws RepositoryFault for what stands in its way */
  private async try(args: readonly string[]): Promise<string | null> {
    try {
      return (await this.run({ args })).toString('utf8')
    } catch (error) {
      if (error instanceof RepositoryFault && error.code === 'git' && error.message === 'git failed')
        return null
      throw error
    }
  }

  private run(ask: Partial<GitAsk> & Pick<GitAsk, 'args'>, isInside = true): Promise<Buffer> {
    const args = isInside ? ['--git-dir', this.dir, ...ask.args] : ask.args
    return runGit(this.world, {
      timeoutMs: READ_MS,
      maxBytes: LISTING_MAX,
      signal: this.signal,
      ...ask,
      args,
    })
  }
}

export interface Person {
  name: string
  email: string
}

interface NewCommit {
  author: Person
  committer: Person
  atMs: number
  message: string
}

/** What a branch has on top. */
export interface BranchTip {
  id: string
  /** The first of its parents; empty: it has none. */
  parent: string
  tree: string
  /** Address of who committed it. */
  committer: string
  author: string
}

/** The last second that four digits of a year have. */
const LAST = 253_402_300_799

/** When a commit was made, as ISO 8601. Whoever made it wrote it: it may be none. @param seconds since 1970 */
function timeOf(seconds: string): string {
  const at = Number(seconds)
  return new Date(at >= 0 ? Math.min(at, LAST) * 1_000 : 0).toISOString()
}

/** What git-blame(1) --porcelain says: a commit is described where it is named first. */
function writersIn(told: string): Map<number, CatalogCommit> {
  const known = new Map<string, CatalogCommit>()
  const writers = new Map<number, CatalogCommit>()
  let commit: CatalogCommit = { id: '', author: '', at: '', message: '' }
  let line = 0
  for (const one of told.split('\n')) {
    const [, id, at] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(one) ?? []
    const [, word, value = ''] = /^(author|committer-time|summary) (.*)$/.exec(one) ?? []
    if (id !== undefined) {
      commit = known.get(id) ?? { id, author: '', at: '', message: '' }
      known.set(id, commit)
      line = Number(at)
    } else if (one.startsWith('\t')) writers.set(line, commit)
    else if (word === 'author') commit.author = oneLine(value, 100)
    else if (word === 'committer-time') commit.at = timeOf(value)
    else if (word === 'summary') commit.message = oneLine(value, MESSAGE_MAX)
  }
  return writers
}

interface TreeFile {
  path: string
  blob: string
  size: number
}

/** What cat-file --batch answers: for each a line with its size, its bytes, a line break. */
function textsIn(told: Buffer, files: readonly TreeFile[]): CatalogText[] {
  let at = 0
  return files.map(({ path, blob }) => {
    const end = told.indexOf(10, at)
    const [id, type, size] = told.toString('latin1', at, end).split(' ')
    if (id !== blob || type !== 'blob') throw new RepositoryFault('mirror', `the mirror lacks ${path}`)
    const bytes = told.subarray(end + 1, end + 1 + Number(size))
    at = end + 2 + Number(size)
    try {
      return { path, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
    } catch {
      throw new RepositoryFault('problems', `${path} is not UTF-8; save it as UTF-8 first`)
    }
  })
}

/** How git proves who asks: the header and the key are in its environment, on no command line. */
function accessOf(
  { address }: Repository,
  access: Access,
  folder: string,
): Pick<GitAsk, 'settings' | 'variables'> {
  if (access === null) return { variables: { GIT_SSH_COMMAND: sshOf(null, folder) } }
  if ('sshKey' in access) return { variables: { GIT_SSH_COMMAND: sshOf(access.sshKey, folder) } }
  const { protocol, host } = new URL(address)
  const basic = Buffer.from(`x-access-token:${access.token}`).toString('base64')
  return { settings: { [`http.${protocol}//${host}/.extraHeader`]: `Authorization: Basic ${basic}` } }
}

/** The command that git runs by a shell: a path in it is quoted. A host is known from the first time on. */
function sshOf(key: string | null, folder: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const known = [
    '-o',
    quoted(`UserKnownHostsFile=${folder}/known_hosts`),
    '-o',
    'StrictHostKeyChecking=accept-new',
  ]
  const own = key === null ? [] : ['-i', quoted(key), '-o', 'IdentitiesOnly=yes']
  return ['ssh', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=20', ...known, ...own].join(' ')
}

/** Whether a credential may be sent to a repository: it is for the host that it was entered for. */
export function credentialFaultOf(address: string, apiUrl: string): string | null {
  const host = hostOfRepository(address)
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'a stored credential is for an https address; give an SSH key for this one'
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'http:' && !isLocal) return 'a credential is not sent over http; use an https address'
  const of = new URL(apiUrl).hostname
  return of === host || of === `api.${host}`
    ? null
    : `the credential is for ${of}, and the repository is at ${host}`
}

/** Bytes of its packs, those that are being received among them. */
function sizeOf(dir: string): number {
  const folder = join(dir, 'objects', 'pack')
  const sizes = readdirSync(folder).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/* A signed push: that a branch has moved, from GitHub, Gitea or Forgejo (X-Hub-Signature-256), Bitbucket (X-Hub-Signature) or GitLab (X-Gitlab-Token). */

export interface PushRequest {
  /** The bytes that were signed. */
  raw: Uint8Array
  /** Lower-case names. */
  headers: Record<string, string>
}

/**
 * Whether a push is of the branch that is followed. What it says is not trusted beyond that: the commit comes of a fetch.
 * @throws SvcError not_found: none is taken; bad_signature; invalid
 */
export function takePush(
  repository: Repository | null,
  { raw, headers }: PushRequest,
  now: number,
): CatalogPushTaken {
  const secret = repository?.pushSecret
  if (!repository || !secret)
    return fail(
      'not_found',
      'no push is taken: set SVC_CATALOG_REPO and SVC_CATALOG_REPO_SECRET where svc is started',
    )
  const host = hostOfPush(headers)
  const [scheme, header] = host === 'bitbucket' ? (['hmac_sha256', 'X-Hub-Signature'] as const) : [host]
  const reason = verifySignature(scheme, { secrets: [secret], ...(header && { header }) }, raw, headers, now)
  if (reason !== null) fail('bad_signature', `signature check failed (${host}): ${reason}`)
  return { ok: true, looks: isOf(repository, raw, headers) }
}

function hostOfPush(headers: PushRequest['headers']): 'github' | 'gitlab' | 'bitbucket' {
  if (headers['x-gitlab-token'] !== undefined) return 'gitlab'
  // GitHub signs older hooks so, too, beside the digest that is checked.
  return headers['x-event-key'] !== undefined && headers['x-hub-signature-256'] === undefined
    ? 'bitbucket'
    : 'github'
}

function isOf({ ref }: Repository, raw: Uint8Array, headers: Record<string, string>): boolean {
  const event = headers['x-github-event'] ?? headers['x-gitlab-event'] ?? headers['x-event-key']
  if (event !== undefined && !/^(push|push hook|tag push hook|repo:push|repo:refs_changed)$/i.test(event))
    return false
  const names = [ref, `refs/heads/${ref}`, `refs/tags/${ref}`]
  return refsIn(raw, headers['content-type']).some((moved) => names.includes(moved))
}

/** What moved: one `ref`, or the `changes` of Bitbucket Cloud (`new` and `old`) or Data Center (`refId`). */
interface PushBody {
  ref?: unknown
  push?: { changes?: Moved[] }
  changes?: Moved[]
}
type Moved = { refId?: unknown; new?: { name?: unknown } | null; old?: { name?: unknown } | null } | null

/** @throws SvcError invalid */
function refsIn(raw: Uint8Array, type = ''): string[] {
  const text = Buffer.from(raw).toString('utf8')
  try {
    const json = /form-urlencoded/.test(type) ? (new URLSearchParams(text).get('payload') ?? '') : text
    const { ref, push, changes } = (JSON.parse(json) ?? {}) as PushBody
    const listed = push?.changes ?? changes
    const refs = Array.isArray(listed)
      ? listed.map((moved) => moved?.refId ?? moved?.new?.name ?? moved?.old?.name)
      : [ref]
    const named = refs.filter((one) => typeof one === 'string')
    if (named.length) return named
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return fail('invalid', 'the body of a push must be JSON with a ref, or with the changes of Bitbucket', {
    field: 'ref',
  })
}

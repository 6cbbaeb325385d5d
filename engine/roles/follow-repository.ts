/**
 * Which repository is followed: that of the environment, else the one that was stored, which may change while the daemon
 * runs. Each has a reconciler of its own; of two never both are at work.
 *
 * Beside it, the other place outside that an instance belongs to: workspaces of the platform that an instance is hosted on: who has several goes from one to another. The platform is
 * asked at SVC_WORKSPACE_API_URL, with who is asking as its own proxy said (SVC_USER_HEADER).
 */
import type { CatalogRepositoryWrite, CatalogSync, Workspace, WorkspacesResult } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { Egress } from '../net/fetch.ts'
import {
  addressFaultOf,
  pathFaultOf,
  pathIn,
  type Repository,
  type RepositoryHome,
  refFaultOf,
  shownOf,
} from '../reconcile/git.ts'
import type { SyncPort } from '../reconcile/port.ts'
import {
  createReconciler,
  type Reconciler,
  type ReconcilerParts,
  type SyncCalls,
} from '../reconcile/worker.ts'

const INTERVAL_S = 180

export interface FollowerParts extends Omit<ReconcilerParts, 'repository'> {
  /** Of the environment; null: it names none. */
  repository: Repository | null
  /** What a stored one is followed with; null: none may be, since the catalog is kept like a file. */
  repositoryHome: RepositoryHome | null
  /** Also where the stored repository is kept. */
  port: ReconcilerParts['port'] & Pick<SyncPort, 'repositorySetting' | 'saveRepositorySetting'>
}

export interface FollowCalls {
  /** Follows a repository from now on, without a start. @throws SvcError invalid; conflict: the environment names one */
  followCatalogRepository(setting: CatalogRepositoryWrite): Promise<CatalogSync>
  /** What was applied stays. @throws SvcError not_found; conflict: the environment names one */
  leaveCatalogRepository(): Promise<CatalogSync>
}

export interface Follower {
  calls: SyncCalls & FollowCalls
  start(): void
  stop(): Promise<void>
}

export function createFollower(parts: FollowerParts): Follower {
  const { port, repository: given, repositoryHome: home, onError } = parts
  let works = false
  const open = (repository: Repository | null) => createReconciler({ ...parts, repository })
  let current: Promise<Reconciler> | null = null
  const stored = async (): Promise<Repository | null> => {
    const setting = home && (await port.repositorySetting())
    return setting ? repositoryOf(setting, home) : null
  }
  /** What is stored is read once, with the first call that needs it. */
  const now = (): Promise<Reconciler> => {
    current ??= (given ? Promise.resolve(given) : stored()).then(open).catch((error: unknown) => {
      current = null
      throw error
    })
    return current
  }
  /** One change at a time. */
  let last: Promise<unknown> = Promise.resolve()
  const change = (setting: CatalogRepositoryWrite | null): Promise<CatalogSync> => {
    const turn = Promise.allSettled([last]).then(async () => {
      const next = setting && repositoryOf(setting, home!)
      await (await now()).stop()
      await port.saveRepositorySetting(setting)
      await port.followRepository(next && shownOf(next))
      const reconciler = open(next)
      current = Promise.resolve(reconciler)
      if (works) reconciler.start()
      return port.catalogSync('differing')
    })
    last = turn
    return turn
  }
  return {
    calls: {
      syncCatalog: async (asked, by) => (await now()).calls.syncCatalog(asked, by),
      catalogAdoption: async () => (await now()).calls.catalogAdoption(),
      openPullRequest: async (asked, by) => (await now()).calls.openPullRequest(asked, by),
      takeCatalogPush: async (push) => (await now()).calls.takeCatalogPush(push),
      followCatalogRepository: async (setting) => {
        refuseChange(parts)
        repositoryOf(setting, home!)
        return change(setting)
      },
      leaveCatalogRepository: async () => {
        refuseChange(parts)
        if (!(await port.repositorySetting())) fail('not_found', 'no repository is stored that is followed')
        return change(null)
      },
    },
    start: () => {
      works = true
      now().then((reconciler) => reconciler.start(), onError)
    },
    stop: async () => {
      works = false
      if (current) await (await current).stop()
    },
  }
}

/** @throws SvcError conflict */
function refuseChange({ repository, repositoryHome }: FollowerParts): void {
  if (repository)
    fail(
      'conflict',
      'SVC_CATALOG_REPO names the repository where svc is started, and holds: change it there, or take it out',
    )
  if (!repositoryHome)
    fail('conflict', 'SVC_CATALOG_SYNC keeps the catalog like a file: take it out where svc is started first')
}

/** A stored repository as it is followed. @throws SvcError invalid, naming field and rule */
function repositoryOf(setting: CatalogRepositoryWrite, home: RepositoryHome): Repository {
  const {
    address,
    path = '',
    ref = 'main',
    policy = 'manual',
    interval_seconds: seconds = INTERVAL_S,
  } = setting
  const refuse = (field: string, fault: string | null) => {
    if (fault !== null) fail('invalid', `${field} ${fault}`, { field })
  }
  refuse('address', addressFaultOf(address))
  refuse('path', pathFaultOf(path))
  refuse('ref', refFaultOf(ref))
  const credential = setting.credential ?? null
  return {
    ...home,
    ...{ address, path: pathIn(path), ref, policy, credential },
    intervalMs: seconds * 1_000,
    environment: setting.environment ?? home.environment,
    // A token is sent where one is named.
    sshKey: credential === null ? home.sshKey : null,
  }
}

export interface WorkspaceCalls {
  /** Never rejects for what the platform answers: that is a reason. @param user as the proxy says; null: not known */
  listWorkspaces(user: string | null): Promise<WorkspacesResult>
}

const VARIABLE = 'SVC_WORKSPACE_API_URL'
const TIMEOUT_MS = 5_000
const ANSWER_BYTES = 256 * 1024
const LISTED_MAX = 200
const NAME_MAX = 120

export function workspaceCalls({
  egress,
  env,
}: {
  egress: Pick<Egress, 'send'>
  env: Readonly<Record<string, string | undefined>>
}): WorkspaceCalls {
  return {
    listWorkspaces: async (user) => {
      const url = env[VARIABLE]?.trim() ?? ''
      if (url === '') return { workspaces: [], reason: 'none' }
      const answer = await egress.send({
        url,
        method: 'GET',
        headers: {
          accept: 'application/json',
          ...(user === null ? {} : { 'svc-user': encodeURIComponent(user) }),
        },
        audience: 'operator',
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: ANSWER_BYTES,
      })
      if (!answer.ok) return refused(`the platform cannot be reached: ${answer.message}`)
      if (answer.status < 200 || answer.status >= 300)
        return refused(`the platform answered ${answer.status}`)
      const listed = workspacesIn(answer.body)
      return listed === null
        ? refused('the platform answered no list of workspaces')
        : { workspaces: listed, reason: null }
    },
  }
}

const refused = (detail: string): WorkspacesResult => ({ workspaces: [], reason: 'error', detail })

/** `{workspaces: […]}`, or the list itself. @returns null: it is neither */
function workspacesIn(body: Buffer): Workspace[] | null {
  let said: unknown
  try {
    said = JSON.parse(body.toString('utf8'))
  } catch {
    // A page of a proxy.
    return null
  }
  const list = Array.isArray(said) ? said : (said as { workspaces?: unknown } | null)?.workspaces
  if (!Array.isArray(list)) return null
  return list.slice(0, LISTED_MAX).flatMap((one: Record<string, unknown> | null) => {
    const { id, name, url, current } = one ?? {}
    if (typeof name !== 'string' || typeof url !== 'string' || !/^https?:\/\//i.test(url)) return []
    return [{ id: String(id ?? name), name: name.slice(0, NAME_MAX), url, is_current: current === true }]
  })
}

/**
 * Events of a Kubernetes cluster and what becomes of its pods, by its API: a list, and from then on a watch that goes on
 * at the resourceVersion where the one before ended (Kubernetes API concepts, "Efficient detection of changes").
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { KubernetesConfig } from '../../../schemas/types.ts'
import { oneLine, TEXT_MAX } from '../../log/ingest/label.ts'
import { getOver } from '../../net/fetch.ts'
import {
  ANSWER_BYTES,
  type MappedEvent,
  objectOf,
  type PollConnector,
  type Polled,
  type Reach,
  scalar,
  UpstreamError,
} from './connector.ts'
import { type Answer, ask, refusal } from './upstream.ts'

/** Objects of a page of a list. */
const PAGE = 250
/** Pages of one poll; the next goes on. */
const PAGES = 4
/** How long a watch stays open, in seconds: what it has since the last one comes at once. */
const WATCH_S = 1
/** Where a pod finds its service account (Kubernetes docs, "Accessing the API from within a Pod"). */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Bytes of a watch that are taken at once, below what an answer may have; the next poll goes on behind them. */
const WATCH_BYTES = ANSWER_BYTES / 2
const GONE = 410
const ENTITY = 'workload'

const KINDS = ['events', 'pods'] as const
type Kind = (typeof KINDS)[number]

const UPSTREAM = { name: 'Kubernetes', api: '/api/v1', credentials: 'bearer_token' }

export const kubernetes: PollConnector = {
  kind: 'kubernetes',
  label: 'Kubernetes',
  mode: 'poll',
  description:
    'Events of a Kubernetes cluster, and what becomes of its pods: restarts, why a container waits or ended, ready or not. The entity is the workload, such as a deployment.',
  sourceType: 'infrastructure',
  configSchema: 'connector-kubernetes.json',
  suggestedPoll: '5s',
  identity: ['url', 'in_cluster', 'namespace', 'pods'],
  provides: [
    {
      name: ENTITY,
      help: 'Deployment, stateful set, job or other owner; else the object itself.',
      primary: true,
    },
    { name: 'namespace', help: 'Namespace of the object.' },
    { name: 'kind', help: 'Kind of the object, such as Pod.' },
    { name: 'object', help: 'Name of the object.' },
    { name: 'reason', help: 'Reason, such as BackOff, OOMKilled or Ready.' },
    { name: 'level', help: 'WARN or INFO.' },
    { name: 'node', help: 'Node the pod is on, or that reports.' },
    { name: 'container', help: 'Container of the pod that changed.' },
    { name: 'cluster', help: 'Name of the cluster, where the source has one.' },
    { name: 'count', help: 'How often the event was seen; a number.' },
    { name: 'restarts', help: 'Restarts of the container; a number.' },
  ],
  validate: (config: FieldsOf<KubernetesConfig>) => {
    if (config.in_cluster && (config.url || config.bearer_token))
      return ['in_cluster takes address and token of the cluster itself: leave url and bearer_token out']
    return config.in_cluster || config.url
      ? []
      : ['url is needed, or in_cluster where svc runs in the cluster']
  },
  compile: (config: FieldsOf<KubernetesConfig>) => {
    return ({ value }) => {
      const { type, object } = objectOf(value)
      const told = objectOf(object)
      const event = told.kind === 'Pod' || told.spec ? podEvent(told, type === 'DELETED') : clusterEvent(told)
      if (!event) return []
      const { cluster } = config
      return [cluster ? { ...event, stamped: { cluster, ...event.stamped } } : event]
    }
  },
  poll: (config: FieldsOf<KubernetesConfig>, cursor, reach) => pollCluster(config, cursor, reach),
  discover: async (config: FieldsOf<KubernetesConfig>, reach) => {
    const { namespaces, faults } = await look(config, reach)
    return {
      summary: [countWords(namespaces.length, 'namespace'), ...faults].join('; '),
      namespaces,
      proposed_config: { ...config },
    }
  },
}

/* What is stored of an object. */

/** An event of the cluster (Kubernetes API reference, Event v1 core and events.k8s.io/v1). */
function clusterEvent(event: Record<string, unknown>): MappedEvent | null {
  const meta = objectOf(event.metadata)
  const about = objectOf(event.involvedObject ?? event.regarding)
  const reason = scalar(event.reason) ?? 'Event'
  const level = event.type === 'Warning' ? 'WARN' : 'INFO'
  const series = objectOf(event.series)
  const count = Number(event.count ?? series.count ?? 1)
  const name = scalar(about.name)
  const uid = scalar(meta.uid)
  if (!uid || !name) return null
  const kind = scalar(about.kind) ?? 'Object'
  const message = scalar(event.message ?? event.note) ?? ''
  // Only the kubelet names its node as the reporting instance: the scheduler and the controllers name themselves.
  const isOfNode = (event.reportingComponent ?? event.reportingController) === 'kubelet'
  const node =
    scalar(objectOf(event.source ?? event.deprecatedSource).host) ??
    (isOfNode ? scalar(event.reportingInstance) : undefined)
  const container = /\{([^{}]+)\}$/.exec(scalar(about.fieldPath) ?? '')?.[1]
  return {
    eventType: 'kubernetes_event',
    text: oneLine(
      `${reason} ${kind} ${whereOf(about)}: ${message}${count > 1 ? ` (×${count})` : ''}`,
      TEXT_MAX,
    ),
    eventTime:
      event.lastTimestamp ??
      series.lastObservedTime ??
      event.eventTime ??
      event.firstTimestamp ??
      meta.creationTimestamp,
    context: event,
    stamped: compact({
      [ENTITY]: workloadNamed(kind, name),
      namespace: about.namespace ?? meta.namespace,
      kind,
      object: name,
      reason,
      level,
      node,
      container,
      count: Number.isFinite(count) ? count : undefined,
    }),
    entityLabel: ENTITY,
    // An event that is seen again is changed, not made anew: its version tells each time.
    dedupeKey: `${uid} ${scalar(meta.resourceVersion) ?? count}`,
  }
}

/** What a pod has become; one that is as it was when it was last seen has the same key. */
function podEvent(pod: Record<string, unknown>, isDeleted: boolean): MappedEvent | null {
  const meta = objectOf(pod.metadata)
  const status = objectOf(pod.status)
  const name = scalar(meta.name)
  const uid = scalar(meta.uid)
  if (!uid || !name) return null
  const phase = isDeleted
    ? 'Deleted'
    : meta.deletionTimestamp
      ? 'Terminating'
      : (scalar(status.phase) ?? 'Unknown')
  const containers = containersOf(status)
  const ready = objectsOf(status.conditions).find(({ type }) => type === 'Ready')
  const at = newest([
    isDeleted ? undefined : meta.creationTimestamp,
    meta.deletionTimestamp,
    ready?.lastTransitionTime,
    ...containers.map((one) => one.at),
  ])
  // That it runs again is what happened, where nothing came after it: why it had ended is the reason then.
  const isNews = ({ back }: ContainerState) => back && Date.parse(String(at)) - Date.parse(back.at) <= NEWS_MS
  const worst = containers.find(({ isBad }) => isBad) ?? (isDeleted ? undefined : containers.find(isNews))
  const isReady = ready?.status === 'True'
  const isLive = phase === 'Running' || phase === 'Pending' || phase === 'Unknown'
  const reason = worst?.reason ?? scalar(status.reason) ?? (isLive ? (isReady ? 'Ready' : 'NotReady') : phase)
  const restarts = containers.reduce((sum, one) => sum + one.restarts, 0)
  const isBad = worst !== undefined || phase === 'Failed' || (phase === 'Running' && !isReady)
  const facts = [
    `Pod ${whereOf(meta)} ${phase}`,
    ...(isLive ? [isReady ? 'ready' : 'not ready'] : []),
    ...containers
      .filter((one) => one.isBad || (one.back && !isDeleted))
      .map(({ name, words }) => `${name} ${words}`),
    ...(restarts > 0 ? [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`] : []),
    ...(scalar(status.message) ? [scalar(status.message)!] : []),
  ]
  return {
    eventType: 'pod_state',
    text: oneLine(facts.join(', '), TEXT_MAX),
    eventTime: at,
    context: pod,
    stamped: compact({
      [ENTITY]: workloadOf(meta, name),
      namespace: meta.namespace,
      kind: 'Pod',
      object: name,
      reason,
      level: isBad ? 'WARN' : 'INFO',
      node: objectOf(pod.spec).nodeName,
      container: worst?.name,
      restarts,
    }),
    entityLabel: ENTITY,
    dedupeKey: `${uid} ${createHash('sha256')
      .update(
        JSON.stringify([
          phase,
          status.reason,
          ready?.status,
          ready?.lastTransitionTime,
          containers.map(({ state }) => state),
        ]),
      )
      .digest('base64url')
      .slice(0, 22)}`,
  }
}

interface ContainerState {
  name: string
  restarts: number
  reason: string | undefined
  /** It waits for a reason that is none of a start, or it ended with an error. */
  isBad: boolean
  /** It runs again after it had ended with an error. */
  back: { at: string } | undefined
  words: string
  at: unknown
  /** What tells one state from another. */
  state: unknown
}

/** Within this a pod is told to be ready after its container runs again, where nothing probes it. */
const NEWS_MS = 5_000
/** Reasons to wait that every start has. */
const STARTING = new Set(['ContainerCreating', 'PodInitializing'])

function containersOf(status: Record<string, unknown>): ContainerState[] {
  return [...objectsOf(status.initContainerStatuses), ...objectsOf(status.containerStatuses)].map((one) => {
    const { waiting, running, terminated } = objectOf(one.state)
    const ended = objectOf(terminated)
    const last = objectOf(objectOf(one.lastState).terminated)
    const waits = scalar(objectOf(waiting).reason)
    const endReason = scalar(ended.reason)
    const code = terminated ? Number(ended.exitCode) : Number(last.exitCode)
    const isWaiting = waits !== undefined && !STARTING.has(waits)
    const isBad = isWaiting || (terminated !== undefined && Number(ended.exitCode) !== 0)
    const why = scalar(last.reason)
    const startedAt = scalar(objectOf(running).startedAt)
    const back = startedAt && Number(last.exitCode) > 0 ? { at: startedAt } : undefined
    const words = [
      isWaiting ? `waits: ${waits}` : back ? 'runs again' : `ended: ${endReason}`,
      ...((isWaiting || back) && why ? [`after ${why}`] : []),
      ...(Number.isFinite(code) ? [`exit code ${code}`] : []),
    ].join(' ')
    return {
      name: scalar(one.name) ?? '',
      restarts: Number(one.restartCount) || 0,
      // What ended it says more than that it waits to be started again.
      reason: isWaiting
        ? waits === 'CrashLoopBackOff' && why && why !== 'Error'
          ? why
          : waits
        : back
          ? why
          : endReason,
      isBad,
      back,
      words,
      at: newest([objectOf(running).startedAt, ended.finishedAt, last.finishedAt]),
      state: [one.name, one.restartCount, waits, objectOf(running).startedAt, ended.finishedAt, endReason],
    }
  })
}

const whereOf = ({ namespace, name }: Record<string, unknown>): string =>
  namespace ? `${scalar(namespace)}/${scalar(name)}` : (scalar(name) ?? '')

/** The owner that people know: of a pod of a replica set the deployment, whose hash its name ends with. */
function workloadOf(meta: Record<string, unknown>, name: string): string {
  const owner = objectsOf(meta.ownerReferences).find(({ controller }) => controller === true)
  const owned = scalar(owner?.name)
  const hash = scalar(objectOf(meta.labels)['pod-template-hash'])
  if (owned && owner?.kind === 'ReplicaSet' && hash && owned.endsWith(`-${hash}`))
    return owned.slice(0, -hash.length - 1)
  if (owned && owner?.kind === 'Job') return workloadNamed('Job', owned)
  return owned ?? workloadOfName(name)
}

/** Letters and digits that Kubernetes makes names of (k8s.io/apimachinery, util/rand: no vowels, no 0, 1, 3). */
const SAFE = '[bcdfghjklmnpqrstvwxz2456789]'
const REPLICA = new RegExp(`^(.+)-${SAFE}{6,10}-${SAFE}{5}$`)
const OF_JOB = new RegExp(`^(.+?)(?:-\\d{8,10})?-${SAFE}{5}$`)

/** As far as its name tells: an event has no owner of the pod it is about. */
function workloadOfName(name: string): string {
  return REPLICA.exec(name)?.[1] ?? OF_JOB.exec(name)?.[1] ?? /^(.+)-\d+$/.exec(name)?.[1] ?? name
}

const REPLICA_SET = new RegExp(`^(.+)-${SAFE}{6,10}$`)

/** What an object of a kind belongs to: an event names the object alone, and no owner of it. */
function workloadNamed(kind: string, name: string): string {
  if (kind === 'Pod') return workloadOfName(name)
  if (kind === 'ReplicaSet') return REPLICA_SET.exec(name)?.[1] ?? name
  // A job of a cron job ends with the minute it was due.
  return kind === 'Job' ? name.replace(/-\d{8,10}$/, '') : name
}

const objectsOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.map(objectOf) : []

/** The latest of some instants, as it was given. */
function newest(times: readonly unknown[]): unknown {
  const known = times.filter(
    (time): time is string => typeof time === 'string' && !Number.isNaN(Date.parse(time)),
  )
  return known.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1)
}

function compact(labels: Record<string, unknown>): Record<string, string | number> {
  const known: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(labels)) {
    const told = typeof value === 'number' ? value : scalar(value)
    if (told !== undefined) known[name] = told
  }
  return known
}

/* Lists and watches. */

/** Where reading of a kind stands: a version, and within a list the page that follows. */
interface Place {
  version?: string
  next?: string
}

type Cursor = Partial<Record<Kind, Place>>

async function pollCluster(config: KubernetesConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const api = apiOf(config, reach)
  const from = cursor === null ? {} : (JSON.parse(cursor) as Cursor)
  const kinds = KINDS.filter((kind) => kind === 'events' || config.pods !== false)
  const read = await Promise.all(
    kinds.map(async (kind) => ({ kind, ...(await readKind(api, config, kind, from[kind] ?? {})) })),
  )
  const notices = new Set(read.flatMap(({ notice }) => (notice ? [notice] : [])))
  return {
    items: read.flatMap(({ items }) => items),
    cursor: JSON.stringify(Object.fromEntries(read.map(({ kind, place }) => [kind, place]))),
    ...(read.some(({ more }) => more) ? { more: true } : {}),
    ...(notices.size ? { notice: [...notices].join(' ') } : {}),
  }
}

interface Read {
  items: string[]
  place: Place
  more?: boolean
  notice?: string
}

const MISSED =
  'The cluster no longer has all changes since the last poll: what is there now was read, some in between may be missing.'

async function readKind(api: Api, config: KubernetesConfig, kind: Kind, place: Place): Promise<Read> {
  if (place.version === undefined || place.next !== undefined) return await list(api, config, kind, place)
  const watched = await watch(api, config, kind, place.version)
  return watched ?? { ...(await list(api, config, kind, {})), notice: MISSED }
}

const pathOf = ({ namespace }: KubernetesConfig, kind: Kind): string =>
  namespace ? `/api/v1/namespaces/${namespace}/${kind}` : `/api/v1/${kind}`

const selectorOf = ({ normal }: KubernetesConfig, kind: Kind): Record<string, string> =>
  kind === 'events' && normal === false ? { fieldSelector: 'type=Warning' } : {}

/** @throws UpstreamError */
async function list(api: Api, config: KubernetesConfig, kind: Kind, place: Place): Promise<Read> {
  const items: string[] = []
  let { next, version } = place
  for (let page = 0; page < PAGES; page++) {
    const query = new URLSearchParams({
      limit: String(PAGE),
      ...selectorOf(config, kind),
      ...(next ? { continue: next } : {}),
    })
    const answer = await api.get(`${pathOf(config, kind)}?${query}`)
    // The list that was being read is no longer kept: it is begun anew, and what is read twice is stored once.
    if (answer.status === GONE && next) return { items, place: {}, more: true }
    const { metadata, items: rows } = objectOf(answer.body)
    if (answer.status !== 200 || !Array.isArray(rows)) throw api.refusal(answer)
    for (const row of rows) items.push(JSON.stringify({ type: 'LISTED', object: row }))
    version = scalar(objectOf(metadata).resourceVersion) ?? version
    next = scalar(objectOf(metadata).continue)
    if (!next) return { items, place: { ...(version ? { version } : {}) } }
  }
  return { items, place: { ...(version ? { version } : {}), next: next! }, more: true }
}

/** @returns null: the version is too old. @throws UpstreamError */
async function watch(api: Api, config: KubernetesConfig, kind: Kind, version: string): Promise<Read | null> {
  const query = new URLSearchParams({
    watch: '1',
    resourceVersion: version,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(WATCH_S),
    ...selectorOf(config, kind),
  })
  const answer = await api.get(`${pathOf(config, kind)}?${query}`, WATCH_BYTES)
  if (answer.status === GONE) return null
  if (answer.status !== 200) throw api.refusal(answer)
  const items: string[] = []
  let at = version
  // The last line may have been cut off with the time of the watch, or with what is taken of it.
  for (const line of answer.text.slice(0, answer.text.lastIndexOf('\n') + 1).split('\n')) {
    if (line.trim() === '') continue
    const { type, object } = objectOf(parsed(line))
    const told = objectOf(object)
    if (type === 'ERROR') {
      if (told.code === GONE) return items.length ? { items, place: { version: at } } : null
      throw new UpstreamError(
        `Kubernetes ended the watch: ${oneLine(scalar(told.message) ?? 'no reason was given', 300)}`,
      )
    }
    at = scalar(objectOf(told.metadata).resourceVersion) ?? at
    if (type !== 'BOOKMARK' && (kind === 'pods' || type !== 'DELETED')) items.push(line)
  }
  return {
    items,
    place: { version: at },
    ...(Buffer.byteLength(answer.text) >= WATCH_BYTES ? { more: true } : {}),
  }
}

/* The API server, by address or from within. */

interface Api {
  /** @param take bytes after which no more is read: the text ends there. Absent: all of it, within the bound of answers. */
  get(path: string, take?: number): Promise<Answer & { text: string }>
  refusal(answer: Answer): UpstreamError
}

function apiOf(config: KubernetesConfig, reach: Reach): Api {
  const upstream = { ...UPSTREAM, url: config.url ?? '', bearer_token: config.bearer_token }
  return {
    get: (path, take) =>
      config.in_cluster ? getWithin(path, reach, take) : askText(upstream, path, reach, take),
    refusal: (answer) => refusal(upstream, answer, scalar(objectOf(answer.body).message)),
  }
}

/** A watch is no JSON but lines of it, so the text is kept beside what it parses to. */
async function askText(
  upstream: typeof UPSTREAM & { url: string; bearer_token?: string | undefined },
  path: string,
  reach: Reach,
  take: number | undefined,
): Promise<Answer & { text: string }> {
  let text = ''
  const answer = await ask(upstream, path, {
    ...reach,
    fetch: async (url, init) => {
      const response = await reach.fetch(url, init)
      text = take === undefined || !response.body ? await response.text() : await textOf(response.body, take)
      return new Response(text, response)
    },
  })
  return { ...answer, text }
}

/** @param take bytes after which no more is read. @throws UpstreamError where there is more than an answer may have */
async function textOf(stream: AsyncIterable<Uint8Array>, take: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= take) break
    if (bytes > ANSWER_BYTES)
      throw new UpstreamError('Kubernetes answers more than is taken. Name a namespace.')
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** As a pod of the cluster: address by its variables, token and certificate by its files, which are renewed. */
async function getWithin(
  path: string,
  { env = {}, signal }: Reach,
  take = Number.POSITIVE_INFINITY,
): Promise<Answer & { text: string }> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env
  if (!host)
    throw new UpstreamError(
      'The daemon does not run in a cluster: KUBERNETES_SERVICE_HOST is not set. Give url instead.',
    )
  const { token, ca } = readAccount(ACCOUNT)
  try {
    const origin = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    const answer = await getOver({ origin, socketPath: undefined, tls: { ca }, headers }, path, signal)
    const text = await textOf(answer.stream as AsyncIterable<Buffer>, take)
    return { status: answer.status, body: parsed(text), plain: undefined, retryAfterMs: null, text }
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    if (signal.aborted) throw new UpstreamError('Kubernetes gave no answer in the time of a poll.')
    throw new UpstreamError('Kubernetes cannot be reached from within the cluster. Check network policies.')
  }
}

/** The token of the service account, and the authority that the cluster is known by. @throws UpstreamError naming the file */
export function readAccount(folder: string): { token: string; ca: Buffer } {
  const read = (name: string): Buffer => {
    const file = `${folder}/${name}`
    try {
      return readFileSync(file)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new UpstreamError(
        code === 'ENOENT'
          ? `The daemon has no service account in this cluster: ${file} is missing.`
          : `${file} of the service account cannot be read by the user that the daemon runs as (${code ?? 'no reason is given'}).`,
      )
    }
  }
  return { token: read('token').toString('utf8').trim(), ca: read('ca.crt') }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Lines of a watch, or a page of a proxy: what is told is its status.
    return undefined
  }
}

/** What may be read: namespaces, and what the account lacks. */
async function look(
  config: KubernetesConfig,
  reach: Reach,
): Promise<{ namespaces: string[]; faults: string[] }> {
  const api = apiOf(config, reach)
  const probe = async (kind: Kind): Promise<string[]> => {
    const answer = await api.get(`${pathOf(config, kind)}?limit=1`)
    if (answer.status === 200) return []
    if (answer.status !== 403) throw api.refusal(answer)
    return [`the account may not list ${kind}: it needs get, list and watch of events and pods`]
  }
  const faults = [...(await probe('events')), ...(config.pods === false ? [] : await probe('pods'))]
  const answer = await api.get('/api/v1/namespaces?limit=500')
  const { items } = objectOf(answer.body)
  const namespaces = objectsOf(items).flatMap(({ metadata }) => scalar(objectOf(metadata).name) ?? [])
  return { namespaces, faults }
}

/**
 * A stand-in of the Kubernetes API server, as far as lists and watches go (Kubernetes docs, "Kubernetes API Concepts": limit
 * and continue, resourceVersion, watch events of the types ADDED, MODIFIED, DELETED, BOOKMARK and ERROR, 410 Gone). It is no
 * cluster: objects are put into it by a test, in the form of the API reference. The official client, `@kubernetes/client-node`,
 * lists, watches and keeps an informer on it (kubernetes-client.test.ts). A watch that names its time (`timeoutSeconds`) ends once
 * it has told what there is, as if that time were over; any other goes on.
 */
import type http from 'node:http'
import type { Received } from '../../net/egress/receiver.ts'
import { type Said, type UpstreamServer, upstreamServer } from './upstream-server.ts'

type Kind = 'events' | 'pods'
interface Change {
  version: number
  kind: Kind
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: Record<string, unknown>
}

export interface Cluster {
  server: UpstreamServer
  /** What was asked for: path and query. */
  asked: string[]
  /** Makes, changes or deletes an object by its uid. */
  put(kind: Kind, object: object, type?: Change['type']): void
  /** Ends the watches that go on, as the server does after some minutes. */
  endWatches(): void
  /** Forgets the changes up to now, as a cluster does after some minutes. */
  compact(): void
  /** Kinds that the account may not list. */
  forbidden: Set<Kind>
}

const status = (code: number, reason: string, message: string): Said => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
})

/** @param token that is asked for. Ends with its test. */
export async function startCluster(token = 'service-account'): Promise<Cluster> {
  let version = 1000
  let oldest = 0
  const changes: Change[] = []
  const stored: Record<Kind, Map<string, object>> = { events: new Map(), pods: new Map() }
  const asked: string[] = []
  const forbidden = new Set<Kind>()

  const watching = new Map<http.ServerResponse, Kind>()

  const list = (kind: Kind, query: URLSearchParams): Said => {
    const all = [...stored[kind].values()]
    const from = Number(query.get('continue') ?? 0)
    const rows = all.slice(from, from + Number(query.get('limit') ?? 500))
    const next = from + rows.length
    return {
      body: {
        kind: kind === 'events' ? 'EventList' : 'PodList',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: String(version),
          ...(next < all.length ? { continue: String(next), remainingItemCount: all.length - next } : {}),
        },
        items: rows,
      },
    }
  }
  const watch = (kind: Kind, query: URLSearchParams): Said => {
    const since = Number(query.get('resourceVersion'))
    if (since < oldest) return status(410, 'Expired', `too old resource version: ${since} (${oldest})`)
    const lines = changes
      .filter((change) => change.kind === kind && change.version > since)
      .map(({ type, object }) => JSON.stringify({ type, object }))
    const headers = { 'content-type': 'application/json' }
    if (!query.has('timeoutSeconds'))
      return {
        headers,
        body: lines.map((line) => `${line}\n`).join(''),
        goesOn: (response) => {
          response.flushHeaders()
          watching.set(response, kind)
          response.once('close', () => watching.delete(response))
        },
      }
    const bookmark = {
      kind: kind === 'pods' ? 'Pod' : 'Event',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(version) },
    }
    // The last line is cut off in the middle, as where the time of a watch is over.
    const text = [
      ...lines,
      ...(query.get('allowWatchBookmarks') === 'true'
        ? [JSON.stringify({ type: 'BOOKMARK', object: bookmark })]
        : []),
      '{"type":"ADDED","obj',
    ].join('\n')
    return { headers, body: text }
  }
  const server = await upstreamServer(({ path: url, headers }: Received): Said => {
    asked.push(url)
    const { pathname, searchParams } = new URL(url, 'http://cluster')
    if (headers.authorization !== `Bearer ${token}`) return status(401, 'Unauthorized', 'Unauthorized')
    if (pathname === '/api/v1/namespaces')
      return {
        body: {
          kind: 'NamespaceList',
          items: [{ metadata: { name: 'default' } }, { metadata: { name: 'shop' } }],
        },
      }
    const kind = pathname.split('/').at(-1) as Kind
    if (!stored[kind]) return status(404, 'NotFound', 'the server could not find the requested resource')
    if (forbidden.has(kind))
      return status(403, 'Forbidden', `${kind} is forbidden: User "svc" cannot list resource "${kind}"`)
    return searchParams.get('watch') ? watch(kind, searchParams) : list(kind, searchParams)
  })
  return {
    server,
    asked,
    forbidden,
    put(kind, given, type) {
      version++
      const object = structuredClone(given) as { metadata: { uid: string; resourceVersion?: string } }
      object.metadata.resourceVersion = String(version)
      const { uid } = object.metadata
      const isKnown = stored[kind].has(uid)
      if (type === 'DELETED') stored[kind].delete(uid)
      else stored[kind].set(uid, object)
      const record = object as unknown as Record<string, unknown>
      const change: Change = { version, kind, type: type ?? (isKnown ? 'MODIFIED' : 'ADDED'), object: record }
      changes.push(change)
      for (const [response, watched] of watching)
        if (watched === kind) response.write(`${JSON.stringify({ type: change.type, object: record })}\n`)
    },
    endWatches() {
      for (const response of watching.keys()) response.end()
      watching.clear()
    },
    compact() {
      oldest = ++version
      changes.length = 0
    },
  }
}

/**
 * The stand-in of the Kubernetes API server that the connector is tested against, asked by the official client: what that
 * understands, a real server says.
 */
import { ApiException, CoreV1Api, KubeConfig, makeInformer, Watch } from '@kubernetes/client-node'
import { expect, it, onTestFinished } from 'vitest'
import { kubernetes } from '../../../../engine/sources/connectors/kubernetes.ts'
import { eventually } from '../../../eventually.ts'
import { startCluster } from './kubernetes-server.ts'
import { mapped, reach } from './reach.ts'

const TOKEN = 'service-account'
const pod = (name: string, phase = 'Running') => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, creationTimestamp: '2026-11-20T11:00:00Z' },
  status: { phase },
})

async function world(token = TOKEN) {
  const cluster = await startCluster(TOKEN)
  const config = new KubeConfig()
  config.loadFromClusterAndUser(
    // It takes plain HTTP only so.
    { name: 'test', server: cluster.server.url.replace(/\/$/, ''), skipTLSVerify: true },
    { name: 'svc', token },
  )
  return { cluster, config, api: config.makeApiClient(CoreV1Api) }
}

/** Watches until the server ends it. @returns what came, and how it ended */
async function watched(config: KubeConfig, query: Record<string, string | number | boolean>) {
  const told: [string, string | undefined][] = []
  const ended = await new Promise<unknown>((resolve) => {
    void new Watch(config).watch(
      '/api/v1/pods',
      query,
      (type, object) => told.push([type, object.metadata?.resourceVersion]),
      resolve,
    )
  })
  return { told, ended }
}

it('lists in pages, with the version to watch from', async () => {
  const { cluster, api } = await world()
  for (const name of ['a', 'b', 'c']) cluster.put('pods', pod(name))
  const first = await api.listPodForAllNamespaces({ limit: 2 })
  expect(first.items.map(({ metadata }) => metadata?.name)).toEqual(['a', 'b'])
  expect(first.metadata).toMatchObject({ remainingItemCount: 1, resourceVersion: '1003' })
  const rest = await api.listPodForAllNamespaces({ limit: 2, _continue: first.metadata!._continue! })
  expect(rest.items.map(({ metadata }) => metadata?.name)).toEqual(['c'])
  expect(rest.metadata?._continue).toBeUndefined()
})

it('refuses in the words of a Status', async () => {
  const { cluster, api } = await world()
  cluster.forbidden.add('pods')
  const refused = await api.listPodForAllNamespaces().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiException)
  expect(refused).toMatchObject({ code: 403 })
  const { api: stranger } = await world('another')
  expect(await stranger.listPodForAllNamespaces().catch((error: unknown) => error)).toMatchObject({
    code: 401,
  })
})

it('tells what changed since a version, ends with a bookmark, and says 410 of one that is too old', async () => {
  const { cluster, config } = await world()
  cluster.put('pods', pod('a'))
  cluster.put('pods', pod('a', 'Failed'))
  cluster.put('pods', pod('a', 'Failed'), 'DELETED')
  const query = { resourceVersion: '1001', allowWatchBookmarks: true, timeoutSeconds: 1 }
  expect(await watched(config, query)).toEqual({
    told: [
      ['MODIFIED', '1002'],
      ['DELETED', '1003'],
      ['BOOKMARK', '1003'],
    ],
    ended: null,
  })
  // None that was not asked for.
  expect((await watched(config, { resourceVersion: '1002', timeoutSeconds: 1 })).told).toEqual([
    ['DELETED', '1003'],
  ])
  cluster.compact()
  expect(await watched(config, query)).toMatchObject({ told: [], ended: { statusCode: 410 } })
})

it('keeps an informer up to date over one watch, and over a version that is gone', async () => {
  const { cluster, config, api } = await world()
  cluster.put('pods', pod('a'))
  const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces())
  const told: string[] = []
  for (const verb of ['add', 'update', 'delete'] as const)
    informer.on(verb, ({ metadata, status }) => told.push(`${verb} ${metadata?.name} ${status?.phase}`))
  await informer.start()
  onTestFinished(() => informer.stop())
  expect(told).toEqual(['add a Running'])
  const watches = () => cluster.asked.filter((path) => path.includes('watch=')).length
  await eventually(() => expect(watches()).toBe(1))
  cluster.put('pods', pod('a', 'Failed'))
  cluster.put('pods', pod('b', 'Pending'))
  await eventually(() => expect(told.slice(1)).toEqual(['update a Failed', 'add b Pending']))
  cluster.put('pods', pod('a', 'Failed'), 'DELETED')
  await eventually(() => expect(told.at(-1)).toBe('delete a Failed'))
  expect(watches()).toBe(1)
  // Nobody watches while it changes, and then the version is no longer kept: it is listed anew.
  cluster.endWatches()
  cluster.put('pods', pod('c'))
  cluster.compact()
  await eventually(() => expect(told.at(-1)).toBe('add c Running'))
  expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['b', 'c'])
})

it('says the connector what it says the official client', async () => {
  const { cluster, config } = await world()
  const source = { url: cluster.server.url, bearer_token: TOKEN }
  const out = reach()
  cluster.put('pods', pod('a'))
  const { cursor } = await kubernetes.poll(source, null, out)
  cluster.put('pods', pod('a', 'Failed'))
  cluster.put('pods', pod('b', 'Pending'))
  const polled = await kubernetes.poll(source, cursor, out)
  expect(mapped(kubernetes, source, polled).map(({ stamped }) => stamped?.object)).toEqual(['a', 'b'])
  const query = { resourceVersion: '1001', timeoutSeconds: 1 }
  const { told } = await watched(config, query)
  expect(
    polled.items
      .map((item) => JSON.parse(item))
      .map(({ type, object }) => [type, object.metadata.resourceVersion]),
  ).toEqual(told)
})

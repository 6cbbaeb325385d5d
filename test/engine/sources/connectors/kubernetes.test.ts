/**
 * Objects have the form of the Kubernetes API reference (v1.31, core/v1 Event and Pod, events.k8s.io/v1); their texts are
 * those that kubelet and scheduler write (Kubernetes docs, "Debug Pods", "Determine the Reason for Pod Failure").
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { kubernetes, readAccount } from '../../../../engine/sources/connectors/kubernetes.ts'
import { startCluster } from './kubernetes-server.ts'
import { mapped, reach } from './reach.ts'

const backOff = (count: number, at: string) => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: {
    name: 'checkout-7d9fc8b6d5-x2x7k.17a2',
    namespace: 'shop',
    uid: 'e-1',
    creationTimestamp: '2026-11-20T11:50:00Z',
  },
  involvedObject: {
    kind: 'Pod',
    namespace: 'shop',
    name: 'checkout-7d9fc8b6d5-x2x7k',
    uid: 'p-1',
    fieldPath: 'spec.containers{app}',
  },
  reason: 'BackOff',
  message: 'Back-off restarting failed container app in pod checkout-7d9fc8b6d5-x2x7k_shop(p-1)',
  source: { component: 'kubelet', host: 'node-a' },
  firstTimestamp: '2026-11-20T11:50:00Z',
  lastTimestamp: at,
  count,
  type: 'Warning',
})

const scheduled = {
  kind: 'Event',
  apiVersion: 'events.k8s.io/v1',
  metadata: {
    name: 'worker-0.17a3',
    namespace: 'shop',
    uid: 'e-2',
    creationTimestamp: '2026-11-20T11:55:00Z',
  },
  regarding: { kind: 'Pod', namespace: 'shop', name: 'worker-0' },
  reason: 'Scheduled',
  note: 'Successfully assigned shop/worker-0 to node-b',
  eventTime: '2026-11-20T11:55:00.123456Z',
  reportingController: 'default-scheduler',
  type: 'Normal',
}

type State = { waiting?: object; running?: object; terminated?: object }
const pod = (state: State, { restarts = 0, ready = false, last = {} as State, phase = 'Running' } = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'checkout-7d9fc8b6d5-x2x7k',
    namespace: 'shop',
    uid: 'p-1',
    creationTimestamp: '2026-11-20T11:00:00Z',
    labels: { app: 'checkout', 'pod-template-hash': '7d9fc8b6d5' },
    ownerReferences: [{ kind: 'ReplicaSet', name: 'checkout-7d9fc8b6d5', controller: true }],
  },
  spec: { nodeName: 'node-a', containers: [{ name: 'app' }] },
  status: {
    phase,
    conditions: [
      { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-11-20T11:58:00Z' },
    ],
    containerStatuses: [{ name: 'app', ready, restartCount: restarts, state, lastState: last }],
  },
})
const RUNNING = { running: { startedAt: '2026-11-20T11:58:00Z' } }
const OOM = {
  terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-11-20T11:59:00Z' },
}

async function world(more: Record<string, unknown> = {}) {
  const cluster = await startCluster()
  const config = { url: cluster.server.url, bearer_token: 'service-account', labels: [], ...more }
  const out = reach()
  let cursor: string | null = null
  const poll = async () => {
    const polled = await kubernetes.poll(config, cursor, out)
    cursor = polled.cursor
    return { ...polled, events: mapped(kubernetes, config, polled) }
  }
  return { cluster, config, out, poll }
}

describe('Kubernetes', () => {
  it('tells events by reason, object and message, with their own time and the workload as their entity', async () => {
    const { cluster, poll } = await world({ cluster: 'prod' })
    cluster.put('events', backOff(3, '2026-11-20T11:57:00Z'))
    cluster.put('events', scheduled)
    const { events } = await poll()
    expect(events).toMatchObject([
      {
        eventType: 'kubernetes_event',
        text: 'BackOff Pod shop/checkout-7d9fc8b6d5-x2x7k: Back-off restarting failed container app in pod checkout-7d9fc8b6d5-x2x7k_shop(p-1) (×3)',
        eventTime: '2026-11-20T11:57:00Z',
        entityLabel: 'workload',
        stamped: {
          workload: 'checkout',
          namespace: 'shop',
          kind: 'Pod',
          object: 'checkout-7d9fc8b6d5-x2x7k',
          reason: 'BackOff',
          level: 'WARN',
          node: 'node-a',
          container: 'app',
          count: 3,
          cluster: 'prod',
        },
      },
      {
        text: 'Scheduled Pod shop/worker-0: Successfully assigned shop/worker-0 to node-b',
        eventTime: '2026-11-20T11:55:00.123456Z',
        stamped: { workload: 'worker', level: 'INFO' },
      },
    ])
  })

  it('takes the reporting instance for the node where the kubelet reports, and nobody else', async () => {
    const { cluster, poll } = await world()
    cluster.put('events', { ...scheduled, reportingInstance: 'default-scheduler-cp-1' })
    const kubelet = { reportingController: 'kubelet', reportingInstance: 'node-b', reason: 'Unhealthy' }
    cluster.put('events', { ...scheduled, ...kubelet, metadata: { ...scheduled.metadata, uid: 'e-3' } })
    const { events } = await poll()
    expect(events.map(({ stamped }) => [stamped?.reason, stamped?.node])).toEqual([
      ['Scheduled', undefined],
      ['Unhealthy', 'node-b'],
    ])
  })

  it('goes on where the watch before ended: each change once, an event that is seen again as another', async () => {
    const { cluster, poll } = await world()
    cluster.put('events', backOff(1, '2026-11-20T11:51:00Z'))
    const first = await poll()
    expect(first.events).toHaveLength(1)
    expect((await poll()).events).toEqual([])
    cluster.put('events', backOff(2, '2026-11-20T11:52:00Z'))
    const { events } = await poll()
    expect(events.map(({ text }) => text.slice(-4))).toEqual(['(×2)'])
    expect(events[0]!.dedupeKey).not.toBe(first.events[0]!.dedupeKey)
    expect((await poll()).events).toEqual([])
    // Its end, an hour later, is nothing that happened.
    cluster.put('events', backOff(2, '2026-11-20T11:52:00Z'), 'DELETED')
    expect((await poll()).events).toEqual([])
  })

  it('tells what becomes of a pod: why it waits, what ended it, restarts, ready, deleted', async () => {
    const { cluster, poll } = await world()
    const next = async (object: object, type?: 'DELETED') => {
      cluster.put('pods', object, type)
      const { events } = await poll()
      return events.map(({ text, stamped, eventTime }) => [text, stamped!.reason, stamped!.level, eventTime])
    }
    const name = 'Pod shop/checkout-7d9fc8b6d5-x2x7k'
    expect(await next(pod({ waiting: { reason: 'ContainerCreating' } }, { phase: 'Pending' }))).toEqual([
      [`${name} Pending, not ready`, 'NotReady', 'INFO', '2026-11-20T11:58:00Z'],
    ])
    expect(await next(pod(RUNNING, { ready: true }))).toEqual([
      [`${name} Running, ready`, 'Ready', 'INFO', '2026-11-20T11:58:00Z'],
    ])
    expect(await next(pod({ waiting: { reason: 'CrashLoopBackOff' } }, { restarts: 4, last: OOM }))).toEqual([
      [
        `${name} Running, not ready, app waits: CrashLoopBackOff after OOMKilled exit code 137, 4 restarts`,
        'OOMKilled',
        'WARN',
        '2026-11-20T11:59:00Z',
      ],
    ])
    // It runs again: why it had ended is told, as the reason where nothing has come since.
    const again = pod(
      { running: { startedAt: '2026-11-20T11:59:02Z' } },
      { restarts: 5, ready: true, last: OOM },
    )
    expect(await next(again)).toEqual([
      [
        `${name} Running, ready, app runs again after OOMKilled exit code 137, 5 restarts`,
        'OOMKilled',
        'WARN',
        '2026-11-20T11:59:02Z',
      ],
    ])
    again.status.conditions[0]!.lastTransitionTime = '2026-11-20T12:30:00Z'
    expect(await next(again)).toMatchObject([
      [expect.stringContaining('runs again'), 'Ready', 'INFO', '2026-11-20T12:30:00Z'],
    ])
    expect(await next(pod({ waiting: { reason: 'ImagePullBackOff' } }, { phase: 'Pending' }))).toEqual([
      [
        `${name} Pending, not ready, app waits: ImagePullBackOff`,
        'ImagePullBackOff',
        'WARN',
        expect.anything(),
      ],
    ])
    expect(await next(pod(RUNNING, { ready: true }), 'DELETED')).toEqual([
      [`${name} Deleted`, 'Deleted', 'INFO', expect.anything()],
    ])
  })

  it('has one key for a pod that is as it was, and another once it changes', async () => {
    const { cluster, poll } = await world()
    const key = async (object: object) => {
      cluster.put('pods', object)
      return (await poll()).events[0]!.dedupeKey
    }
    const first = await key(pod(RUNNING, { ready: true }))
    expect(
      await key({ ...pod(RUNNING, { ready: true }), spec: { nodeName: 'node-a', tolerations: [] } }),
    ).toBe(first)
    expect(await key(pod(RUNNING, { ready: true, restarts: 1 }))).not.toBe(first)
  })

  it('reads a long list in pages, over several polls, and all of it', async () => {
    const { cluster, poll } = await world({ pods: false })
    for (let i = 0; i < 1_300; i++)
      cluster.put('events', {
        ...backOff(1, '2026-11-20T11:51:00Z'),
        metadata: { ...backOff(1, '').metadata, uid: `e-${i}` },
      })
    const first = await poll()
    expect(first).toMatchObject({ more: true })
    const second = await poll()
    expect(second.more).toBeUndefined()
    const keys = [...first.events, ...second.events].map(({ dedupeKey }) => dedupeKey)
    expect(new Set(keys).size).toBe(1_300)
    expect(keys).toHaveLength(1_300)
    cluster.put('events', scheduled)
    expect((await poll()).events.map(({ text }) => text)).toEqual([expect.stringMatching(/^Scheduled/)])
  })

  it('reads what is there anew where the cluster has forgotten the changes, and says so', async () => {
    const { cluster, poll } = await world()
    cluster.put('pods', pod(RUNNING, { ready: true }))
    const before = await poll()
    cluster.put('events', scheduled)
    cluster.compact()
    const after = await poll()
    expect(after.notice).toMatch(/^The cluster no longer has all changes since the last poll/)
    expect(after.events.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Scheduled/),
      before.events[0]!.text,
    ])
    // What was known already is stored once.
    expect(after.events[1]!.dedupeKey).toBe(before.events[0]!.dedupeKey)
    expect((await poll()).notice).toBeUndefined()
  })

  it('takes a watch that tells more than an answer may have in parts, and misses nothing', async () => {
    const { cluster, poll } = await world({ pods: false })
    await poll()
    const note = 'x'.repeat(900_000)
    for (let i = 0; i < 20; i++)
      cluster.put('events', { ...backOff(i + 1, '2026-11-20T11:57:00Z'), metadata: { uid: `e-${i}` }, note })
    const told: unknown[] = []
    for (let polled = await poll(); ; polled = await poll()) {
      told.push(...polled.events.map(({ context }) => (context.metadata as { uid: string }).uid))
      if (!polled.more) break
    }
    expect(told).toEqual([...Array(20).keys()].map((i) => `e-${i}`))
  })

  it('asks for warnings alone, and for one namespace, where it is told to', async () => {
    const { cluster, poll } = await world({ normal: false, pods: false, namespace: 'shop' })
    await poll()
    await poll()
    expect(cluster.asked).toEqual([
      '/api/v1/namespaces/shop/events?limit=250&fieldSelector=type%3DWarning',
      expect.stringMatching(
        /^\/api\/v1\/namespaces\/shop\/events\?watch=1&resourceVersion=1000&.*fieldSelector=type%3DWarning$/,
      ),
    ])
  })

  it('says what is wrong: a wrong token, rights that are missing, an address of something else', async () => {
    const { cluster, config, out } = await world()
    const fault = (more: object) =>
      kubernetes.poll({ ...config, ...more }, null, out).then(
        () => '',
        (error: Error) => error.message,
      )
    expect(await fault({ bearer_token: 'other' })).toBe(
      'Kubernetes does not take the credentials (401): Unauthorized. Check bearer_token.',
    )
    cluster.forbidden.add('pods')
    expect(await fault({})).toMatch(/^Kubernetes forbids the request \(403\): pods is forbidden/)
    expect(await fault({ in_cluster: true, url: undefined, bearer_token: undefined })).toBe(
      'The daemon does not run in a cluster: KUBERNETES_SERVICE_HOST is not set. Give url instead.',
    )
    expect(kubernetes.validate!({ in_cluster: true, url: 'https://elsewhere' })).toEqual([
      'in_cluster takes address and token of the cluster itself: leave url and bearer_token out',
    ])
    expect(kubernetes.validate!({})).toEqual(['url is needed, or in_cluster where svc runs in the cluster'])
  })

  it('discovers namespaces, and what the account may not read', async () => {
    const { cluster, config, out } = await world()
    cluster.forbidden.add('pods')
    expect(await kubernetes.discover!(config, out)).toMatchObject({
      namespaces: ['default', 'shop'],
      summary: '2 namespaces; the account may not list pods: it needs get, list and watch of events and pods',
    })
  })

  it.each([
    ['checkout-7d9fc8b6d5-x2x7k', 'checkout'],
    ['worker-0', 'worker'],
    ['node-exporter-x2x7k', 'node-exporter'],
    ['backup-29401230-x2x7k', 'backup'],
    ['web', 'web'],
  ])('takes the pod %s for one of %s where an event names it alone', async (name, workload) => {
    const { cluster, poll } = await world({ pods: false })
    const event = backOff(1, '2026-11-20T11:51:00Z')
    cluster.put('events', { ...event, involvedObject: { ...event.involvedObject, name } })
    expect((await poll()).events[0]!.stamped!.workload).toBe(workload)
  })

  it.each([
    ['ReplicaSet', 'checkout-7d9fc8b6d5', 'checkout'],
    ['ReplicaSet', 'checkout', 'checkout'],
    ['Job', 'backup-29401230', 'backup'],
    ['Job', 'migrate', 'migrate'],
    ['Deployment', 'checkout', 'checkout'],
    ['Node', 'node-12345678', 'node-12345678'],
  ])('takes what is said of the %s %s for its workload, %s', async (kind, name, workload) => {
    const { cluster, poll } = await world({ pods: false })
    const event = backOff(1, '2026-11-20T11:51:00Z')
    cluster.put('events', { ...event, involvedObject: { kind, namespace: 'shop', name } })
    const { stamped } = (await poll()).events[0]!
    expect(stamped).toMatchObject({ workload, kind, object: name })
  })
})

it('the service account of a pod is told by the file that is missing, or that cannot be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-account-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  expect(() => readAccount(folder)).toThrow(
    `The daemon has no service account in this cluster: ${folder}/token is missing.`,
  )
  writeFileSync(join(folder, 'token'), 'abc\n')
  mkdirSync(join(folder, 'ca.crt'))
  expect(() => readAccount(folder)).toThrow(
    `${folder}/ca.crt of the service account cannot be read by the user that the daemon runs as (EISDIR).`,
  )
  rmSync(join(folder, 'ca.crt'), { recursive: true })
  writeFileSync(join(folder, 'ca.crt'), 'pem')
  expect(readAccount(folder)).toEqual({ token: 'abc', ca: Buffer.from('pem') })
})

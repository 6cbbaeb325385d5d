import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import {
  type Known,
  type Scanned,
  scanContainers,
} from '../../../../engine/sources/upstreams/docker-environment.ts'
import { check } from '../../../../schemas/index.ts'
import { idOf } from './engine-server.ts'

const NOTHING: Known = { sources: [], hasPrometheus: true, hostName: 'host', portHost: '127.0.0.1' }
const container = (n: number, name: string, more: Partial<Scanned> = {}): Scanned => ({
  id: idOf(n),
  name,
  image: 'shop/app:1',
  state: 'running',
  createdMs: 0,
  service: null,
  project: null,
  composeFiles: [],
  ports: [],
  driver: 'json-file',
  ...more,
})
const replica = (n: number, service: string, more: Partial<Scanned> = {}) =>
  container(n, `shop-${service}-${n}`, {
    service,
    project: 'shop',
    composeFiles: ['/srv/shop/compose.yaml'],
    ...more,
  })

describe('a scan', () => {
  it('proposes one source for all replicas of a compose service', () => {
    const scan = scanContainers([replica(1, 'api'), replica(2, 'api')], NOTHING)
    expect(check('environment-scan.json', scan)).toBeNull()
    expect(scan.summary).toEqual({ containers: 2, proposed: 1 })
    expect(scan.proposed_sources).toEqual([
      {
        connector: 'docker_logs',
        name: 'api_logs',
        config: {
          container: 'api',
          labels: [
            { name: 'service', field: 'service', primary: true },
            { name: 'level', field: 'level' },
          ],
        },
        summary: 'Logs of service api of project shop, 2 containers (shop/app:1)',
        preselect: true,
        from: 'api',
      },
    ])
    expect(() => validateConfig('docker_logs', scan.proposed_sources[0]!.config)).not.toThrow()
  })

  it('preselects software of the people here, not its infrastructure nor lone containers', () => {
    const images = [
      'postgres:16',
      'docker.io/library/redis@sha256:aa',
      'ghcr.io/org/redis-proxy:2',
      'prom/node-exporter',
    ]
    const scan = scanContainers(
      [...images.map((image, n) => replica(n, `s${n}`, { image })), container(9, 'lone')],
      NOTHING,
    )
    expect(Object.fromEntries(scan.proposed_sources.map((one) => [one.from, one.preselect]))).toEqual({
      s0: false,
      s1: false,
      s2: true,
      s3: false,
      lone: false,
    })
    expect(scan.proposed_sources[0]!.from).toBe('s2')
  })

  it('narrows to the compose file, and names the project, where a service is in two', () => {
    const blog = replica(2, 'api', { project: 'blog', composeFiles: ['/srv/blog/compose.yaml'] })
    const { proposed_sources: proposed } = scanContainers([replica(1, 'api'), blog], NOTHING)
    expect(proposed.map(({ name, config }) => [name, config.compose_file])).toEqual([
      ['blog_api_logs', '/srv/blog/compose.yaml'],
      ['shop_api_logs', '/srv/shop/compose.yaml'],
    ])
  })

  it('takes no name a source has', () => {
    const sources = [{ name: 'api_logs', connector: 'webhook', config: {} }]
    const { proposed_sources: proposed } = scanContainers([replica(1, 'api')], { ...NOTHING, sources })
    expect(proposed[0]!.name).toBe('api_logs_2')
  })

  it('leaves out what is read, stopped, without a log, or svc itself, and says why', () => {
    const sources = [
      {
        name: 'apis',
        connector: 'docker_logs',
        config: { container: 'api', compose_file: 'shop/compose.yaml' },
      },
    ]
    const { skipped, proposed_sources: proposed } = scanContainers(
      [
        replica(1, 'api'),
        container(2, 'job', { state: 'exited' }),
        container(3, 'quiet', { driver: 'none' }),
        container(4, 'svc'),
      ],
      { ...NOTHING, sources, hostName: idOf(4).slice(0, 12) },
    )
    expect(proposed).toEqual([])
    expect(Object.fromEntries(skipped.map(({ service, reason }) => [service, reason]))).toEqual({
      api: 'source apis reads it already',
      job: 'it is not running',
      quiet: 'it keeps no log: its logging driver is none',
      svc: 'svc runs in it: reading its own log would feed itself',
    })
  })

  it('adds the metrics of a Prometheus on a published port, once', () => {
    const prometheus = replica(1, 'prometheus', {
      image: 'prom/prometheus:v3',
      ports: [{ inside: 9090, outside: 19_090 }],
    })
    const of = (known: Partial<Known>) =>
      scanContainers([prometheus], { ...NOTHING, ...known }).proposed_sources.find(
        ({ connector }) => connector === 'prometheus',
      )
    expect(of({})).toMatchObject({
      name: 'metrics',
      config: { url: 'http://127.0.0.1:19090', queries: [{ promql: 'up', event_type: 'up' }] },
    })
    expect(of({ hasPrometheus: false })).toBeUndefined()
    expect(of({ sources: [{ name: 'm', connector: 'prometheus', config: {} }] })).toBeUndefined()
  })
})

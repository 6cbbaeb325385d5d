/**
 * Asking the machine what runs on it: GET /api/discover/environment, and whether there is anything to
 * ask. Its calls go over a socket and run on the main thread, for the writer never waits for a network.
 */
import { hostname } from 'node:os'
import type { EnvironmentScan, Label } from '../../../schemas/types.ts'
import type { Clock, Timers } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { withDeadline, within } from '../../net/fetch.ts'
import { UpstreamError } from '../connectors/connector.ts'
import { hasConnector } from '../connectors/index.ts'
import { type DockerClient, dockerAddress, type Environment, openDocker } from './docker.ts'
import { type Container, isSameFile, listContainers, loggingDriver } from './docker-containers.ts'

export interface EnvironmentCalls {
  /**
   * What runs here, and the sources that could read it.
   * @throws SvcError not_found for a provider that is not known; invalid where it cannot be asked
   */
  discoverEnvironment(provider: string): Promise<EnvironmentScan>
  /**
   * Whether the Docker engine answers; as it was within the last 30 seconds, found out within one. Of one that takes
   * longer it is said once it has answered.
   */
  hasDocker(): Promise<boolean>
}

interface EnvironmentParts {
  env: Environment
  clock: Clock
  timers: Timers
  /** Those there are. */
  sources(): Known['sources'] | Promise<Known['sources']>
}

const SCAN_MS = 15_000
/** Whoever asks whether there is an engine waits so long; the engine has as long as for a scan. */
const WAIT_MS = 1_000
const PROBE_AGE_MS = 30_000
const INSPECTED_AT_ONCE = 8

export function environmentCalls({ env, clock, timers, sources }: EnvironmentParts): EnvironmentCalls {
  let probe: { at: number; there: Promise<boolean>; isLate: boolean } | null = null
  return {
    async discoverEnvironment(provider) {
      if (provider !== 'docker')
        fail('not_found', `provider ${provider} is not known; there is docker`, { field: 'provider' })
      try {
        const containers = await scanned(env, timers)
        const { socketPath, host } = dockerAddress(env)
        return scanContainers(containers, {
          sources: await sources(),
          hasPrometheus: hasConnector('prometheus'),
          hostName: hostname(),
          portHost: socketPath === undefined && host !== undefined ? host : '127.0.0.1',
        })
      } catch (error) {
        if (error instanceof UpstreamError) fail('invalid', error.message, { field: 'provider' })
        throw error
      }
    },
    async hasDocker() {
      const now = clock.now()
      if (!probe || now - probe.at >= PROBE_AGE_MS || now < probe.at)
        probe = { at: now, there: answers(env, timers), isLate: false }
      // Whoever asks while a late answer is awaited does not wait, too.
      const asked = probe
      const found = await within(timers, asked.isLate ? 0 : WAIT_MS, undefined, asked.there)
      if (found === 'timeout') asked.isLate = true
      return typeof found !== 'string' && found.value
    },
  }
}

/** @throws UpstreamError */
async function scanned(env: Environment, timers: Timers): Promise<Scanned[]> {
  const found = await withDeadline(timers, SCAN_MS, undefined, async (signal) => {
    const client = await openDocker(env, signal)
    return withDrivers(client, await listContainers(client))
  })
  if (typeof found === 'string')
    throw new UpstreamError(`Docker did not answer in time at ${dockerAddress(env).shown}`)
  return found.value
}

async function answers(env: Environment, timers: Timers): Promise<boolean> {
  try {
    return (
      typeof (await withDeadline(timers, SCAN_MS, undefined, (signal) => openDocker(env, signal))) !==
      'string'
    )
  } catch (error) {
    // No engine is an answer, too; the reason is told where it is asked for, by the scan.
    if (error instanceof UpstreamError) return false
    throw error
  }
}

/** How each container that runs keeps its log. One that goes away meanwhile is left as it was listed. */
async function withDrivers(client: DockerClient, containers: readonly Container[]): Promise<Scanned[]> {
  const scanned: Scanned[] = []
  for (let at = 0; at < containers.length; at += INSPECTED_AT_ONCE)
    scanned.push(
      ...(await Promise.all(
        containers.slice(at, at + INSPECTED_AT_ONCE).map(async (one) => ({
          ...one,
          driver: one.state === 'running' ? await loggingDriver(client, one) : null,
        })),
      )),
    )
  return scanned
}

/*
 * The environment scan: what containers run here, and the sources that would read them. Pure, but for
 * the containers it is given.
 */

/** A container and how its log is kept. */
export interface Scanned extends Container {
  /** Name of its logging driver; null where it was not asked for. */
  driver: string | null
}

/** What there is already. */
export interface Known {
  sources: readonly { name: string; connector: string; config: Record<string, unknown> }[]
  /** Whether metrics can be read. */
  hasPrometheus: boolean
  /** Name of the host the daemon runs on: in a container the first digits of its id. */
  hostName: string
  /** Host at which published ports answer. */
  portHost: string
}

type Proposed = EnvironmentScan['proposed_sources'][number]
type Skipped = EnvironmentScan['skipped'][number]

/** What serves others: its log is seldom what a team acts on, so it is offered but not chosen. */
const INFRASTRUCTURE = new RegExp(
  `^(${[
    'postgres(ql)?|postgis|pgbouncer|mysql|mariadb|mongo|redis|valkey|memcached|cassandra|clickhouse(-server)?',
    'elasticsearch|opensearch|kibana|rabbitmq|kafka|cp-.*|redpanda|zookeeper|nats|etcd|consul|vault|minio',
    'nginx|traefik|caddy|haproxy|envoy|registry|portainer.*|watchtower|adminer|pgadmin4|mailhog|mailpit',
    'prometheus|alertmanager|pushgateway|.*-exporter|.*_exporter|node-exporter|cadvisor|grafana.*|loki|promtail|tempo',
    'mimir|jaeger.*|all-in-one|zipkin|opentelemetry-collector.*|otel.*|fluentd|fluent-bit|vector|telegraf|influxdb',
    'localstack|dind|pause',
  ].join('|')})$`,
)
const PROMETHEUS_PORT = 9090
const NAME_MAX = 64

/** @returns proposals for what runs, and what is left out with the reason. */
export function scanContainers(containers: readonly Scanned[], known: Known): EnvironmentScan {
  const taken = new Set(known.sources.map(({ name }) => name))
  const proposed: Proposed[] = []
  const skipped: Skipped[] = []
  const groups = [...groupsOf(containers)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
  for (const group of groups) {
    const [first] = group as [Scanned, ...Scanned[]]
    const reason = reasonToSkip(group, known)
    if (reason !== null) skipped.push({ service: first.service ?? first.name, image: first.image, reason })
    else proposed.push(logsOf(group, isAmbiguous(first, containers), taken))
  }
  const metrics = known.hasPrometheus ? metricsOf(containers, known, taken) : null
  if (metrics) proposed.push(metrics)
  proposed.sort((a, b) => Number(b.preselect) - Number(a.preselect))
  return {
    provider: 'docker',
    summary: { containers: containers.length, proposed: proposed.length },
    containers: containers.map(({ name, image, state, service, project }) => ({
      name,
      image,
      state,
      service,
      project,
    })),
    proposed_sources: proposed,
    skipped,
  }
}

/** Replicas of a compose service are read by one source; any other container by its own. */
function groupsOf(containers: readonly Scanned[]): Map<string, Scanned[]> {
  const groups = new Map<string, Scanned[]>()
  for (const one of containers) {
    const key = one.service === null ? `container ${one.name}` : `compose ${one.project}/${one.service}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return groups
}

function reasonToSkip(group: readonly Scanned[], { sources, hostName }: Known): string | null {
  const isOwn = ({ id }: Scanned) => /^[0-9a-f]{12}$/.test(hostName) && id.startsWith(hostName)
  if (group.some(isOwn)) return 'svc runs in it: reading its own log would feed itself'
  const reader = sources.find(({ connector, config }) => connector === 'docker_logs' && reads(config, group))
  if (reader) return `source ${reader.name} reads it already`
  if (!group.some(({ state }) => state === 'running')) return 'it is not running'
  return group.every(({ driver }) => driver === 'none') ? 'it keeps no log: its logging driver is none' : null
}

function reads(config: Record<string, unknown>, group: readonly Scanned[]): boolean {
  const { container, compose_file: file } = config
  return group.some(
    (one) =>
      (one.name === container || one.service === container) &&
      (typeof file !== 'string' || one.composeFiles.some((whole) => isSameFile(whole, file))),
  )
}

/** A service of that name is in another project too, or a container has its name. */
function isAmbiguous({ service, project }: Scanned, containers: readonly Scanned[]): boolean {
  if (service === null) return false
  return containers.some(
    (other) => (other.service === service && other.project !== project) || other.name === service,
  )
}

function logsOf(group: readonly Scanned[], ambiguous: boolean, taken: Set<string>): Proposed {
  const [{ service, project, name, image, composeFiles }] = group as [Scanned, ...Scanned[]]
  const from = service ?? name
  const entity = service === null ? 'container' : 'service'
  const labels: Label[] = [
    { name: entity, field: entity, primary: true },
    { name: 'level', field: 'level' },
  ]
  const narrowed = ambiguous && composeFiles[0] !== undefined ? { compose_file: composeFiles[0] } : {}
  const replicas = group.length === 1 ? `container ${name}` : `${group.length} containers`
  const of = service === null ? '' : `service ${service} of project ${project}, `
  return {
    connector: 'docker_logs',
    name: freeName(ambiguous && project ? `${project}_${from}_logs` : `${from}_logs`, taken),
    config: { container: from, ...narrowed, labels },
    summary: `Logs of ${of}${replicas} (${image})`,
    preselect: service !== null && !INFRASTRUCTURE.test(baseOf(image)),
    from,
  }
}

/** A Prometheus that answers on a published port. */
function metricsOf(containers: readonly Scanned[], known: Known, taken: Set<string>): Proposed | null {
  if (known.sources.some(({ connector }) => connector === 'prometheus')) return null
  for (const { image, state, name, service, ports } of containers) {
    if (state !== 'running' || baseOf(image) !== 'prometheus') continue
    const port = ports.find(({ inside }) => inside === PROMETHEUS_PORT)
    if (!port) continue
    const labels: Label[] = [
      { name: 'job', field: 'job', primary: true },
      { name: 'instance', field: 'instance' },
      { name: 'value', field: 'value', type: 'number' },
    ]
    return {
      connector: 'prometheus',
      name: freeName('metrics', taken),
      config: {
        url: `http://${known.portHost}:${port.outside}`,
        queries: [{ promql: 'up', event_type: 'up' }],
        labels,
      },
      summary: `Metrics of ${service ?? name}, beginning with up: which targets answer`,
      preselect: true,
      from: service ?? name,
    }
  }
  return null
}

/** `ghcr.io/org/app:1.2@sha256:…` is `app`. */
const baseOf = (image: string): string =>
  image.replace(/@.*$/, '').replace(/^.*\//, '').replace(/:.*$/, '').toLowerCase()

function freeName(wanted: string, taken: Set<string>): string {
  const base = wanted
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, NAME_MAX - 4)
  let name = base
  for (let n = 2; taken.has(name); n++) name = `${base}_${n}`
  taken.add(name)
  return name
}

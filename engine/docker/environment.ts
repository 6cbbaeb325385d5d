/**
 * Asking the machine what runs on it: GET /api/discover/environment, and whether there is anything to
 * ask. Its calls go over a socket and run on the main thread, for the writer never waits for a network.
 */
import { hostname } from 'node:os'
import type { EnvironmentScan } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { UpstreamError } from '../connectors/connector.ts'
import { hasConnector } from '../connectors/index.ts'
import { fail } from '../errors.ts'
import { dockerAddress, type Environment } from './address.ts'
import { type DockerClient, openDocker } from './client.ts'
import { type Container, listContainers, loggingDriver } from './containers.ts'
import { type Known, type Scanned, scanContainers } from './scan.ts'

export interface EnvironmentCalls {
  /**
   * What runs here, and the sources that could read it.
   * @throws SvcError not_found for a provider that is not known; invalid where it cannot be asked
   */
  discoverEnvironment(provider: string): Promise<EnvironmentScan>
  /** Whether the Docker engine answers; as it was within the last 30 seconds, found out within one. */
  hasDocker(): Promise<boolean>
}

export interface EnvironmentParts {
  env: Environment
  clock: Clock
  /** Those there are. */
  sources(): Known['sources'] | Promise<Known['sources']>
}

const SCAN_MS = 15_000
const PROBE_MS = 1_000
const PROBE_AGE_MS = 30_000
const INSPECTED_AT_ONCE = 8

export function environmentCalls({ env, clock, sources }: EnvironmentParts): EnvironmentCalls {
  let probe: { at: number; there: Promise<boolean> } | null = null
  return {
    async discoverEnvironment(provider) {
      if (provider !== 'docker')
        fail('not_found', `provider ${provider} is not known; there is docker`, { field: 'provider' })
      try {
        const client = await openDocker(env, AbortSignal.timeout(SCAN_MS))
        const containers = await withDrivers(client, await listContainers(client))
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
    hasDocker() {
      const now = clock.now()
      if (!probe || now - probe.at >= PROBE_AGE_MS || now < probe.at) probe = { at: now, there: answers(env) }
      return probe.there
    },
  }
}

async function answers(env: Environment): Promise<boolean> {
  try {
    await openDocker(env, AbortSignal.timeout(PROBE_MS))
    return true
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

/** Tracing of agents as the environment says it (SPEC.md, Outbound 6). */
import { hostname } from 'node:os'
import { parseTraceHeaders, TRACING_PRESETS, type TracingEnvironment } from '../engine/index.ts'
import { ConfigError, parseChoice, parseHttpUrl, parseSwitch, parseToken } from './config-values.ts'
import { type Environment, readVariable } from './environment.ts'
import { version } from './version.ts'

/**
 * @param host name of the instance where SVC_INSTANCE_NAME sets none
 * @throws ConfigError naming the variable and the rule, never the value.
 */
export function loadTracing(env: Environment, host: string = hostname()): TracingEnvironment {
  const read = <T>(name: string, parse: (value: string, from: string) => T): T | null => {
    const value = readVariable(env, name)
    return value === undefined ? null : parse(value, name)
  }
  const presets = TRACING_PRESETS.map(({ id }) => id)
  return Object.freeze<TracingEnvironment>({
    enabled: read('SVC_TRACING_ENABLED', parseSwitch),
    provider: read('SVC_TRACING_PROVIDER', (value, from) => parseChoice(value, presets, from)),
    endpoint: read('SVC_TRACING_ENDPOINT', parseHttpUrl),
    apiKey: read('SVC_TRACING_API_KEY', parseToken),
    headers: read('SVC_TRACING_HEADERS', parseHeaders),
    content: read('SVC_TRACING_CONTENT', parseSwitch),
    instance: read('SVC_INSTANCE_NAME', parseInstance) ?? host,
    version,
  })
}

function parseHeaders(value: string, from: string): string {
  const headers = parseTraceHeaders(value)
  if (typeof headers === 'string') throw new ConfigError(`${from} ${headers}`)
  return value
}

function parseInstance(value: string, from: string): string {
  if (!/^[^\s/][^\r\n/]{0,79}$/.test(value))
    throw new ConfigError(`${from} must be a name of at most 80 characters without slashes`)
  return value
}

/**
 * Flags and environment to one typed, frozen Config (SPEC.md, Deployment and configuration). A
 * flag wins over the environment, which wins over the default. Nothing is read from or written to
 * the disk here; guards.ts does the checks of the disk, root-token.ts reads and writes the token.
 */
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import {
  isOwnVariable,
  type ModelEnvironment,
  type OutboundProxy,
  outboundProxy,
  PROGRAMS,
  parsePrograms,
  parseTraceHeaders,
  type Repository,
  type RepositoryHome,
  type SlackEnvironment,
  TRACING_PRESETS,
  type TracingEnvironment,
} from '../engine/index.ts'
import { loadModels } from './config-models.ts'
import { loadRepository, loadRepositoryHome } from './config-repository.ts'
import { loadSyslog, parseNetworks } from './config-syslog.ts'
import {
  ConfigError,
  parseBindHost,
  parseChoice,
  parseDuration,
  parseEnvironment,
  parseFolders,
  parseHeaderName,
  parseHosts,
  parseHttpUrl,
  parseHttpUrls,
  parseJournals,
  parsePort,
  parsePublicUrl,
  parseSize,
  parseSwitch,
  parseToken,
} from './config-values.ts'
import { absolute, resolveHome, type Surroundings, surroundings } from './data-home.ts'
import { type Environment, readVariable } from './environment.ts'
import type { SyslogSettings } from './http/syslog-state.ts'
import { version } from './version.ts'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export const LOG_FORMATS = ['pretty', 'json'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogFormat = (typeof LOG_FORMATS)[number]

/** How secured mode gets its root token; `stored` reads or makes the file in the data home. */
export type AuthChoice = { mode: 'open' } | { mode: 'given'; token: string } | { mode: 'stored' }

export interface Config {
  /** Data home, absolute. */
  home: string
  /** True when the data home is the default one, ~/.svc. */
  isDefaultHome: boolean
  /** Data file, absolute. */
  dataFile: string
  host: string
  port: number
  /** Port of OTLP/gRPC; null: it is off. */
  otlpGrpcPort: number | null
  /** Where syslog is taken, and from whom; null: it is off. */
  syslog: SyslogSettings | null
  auth: AuthChoice
  publicUrl: string | null
  /** Header that names who is asking, lower case, set by a proxy in front; null: none. */
  userHeader: string | null
  allowedHosts: readonly string[]
  /** Whether an address is of a proxy in front, whose X-Forwarded-For is believed; null: none is. */
  isProxy: ((address: string) => boolean) | null
  /** Addresses of other servers that clients may sign in to. */
  oauthResources: readonly string[]
  /** Storage limit in bytes; null: the volume's size. */
  maxDbSize: number | null
  /** Milliseconds and bytes; null keeps everything. */
  retention: { maxAgeMs: number | null; maxBytes: number | null }
  /** Catalog file, absolute; whether it was named, and whether every boot imports it. */
  catalog: { file: string; isNamed: boolean; sync: boolean; environment: string | null }
  /** The repository that the catalog is synced with; null: none. */
  repository: Repository | null
  /** What a stored one is followed with; null: none may be. */
  repositoryHome: RepositoryHome | null
  /** Template key of a project to make once. */
  seedProject: string | null
  /** Keys without scope admin may subscribe private addresses too. */
  webhookAllowPrivate: boolean
  /** What requests to other hosts go out through; null: nothing is between. */
  proxy: OutboundProxy | null
  /** Model providers of the environment. */
  models: ModelEnvironment
  /** Tracing as the environment says it. */
  tracing: TracingEnvironment
  slack: SlackEnvironment
  logLevel: LogLevel
  logFormat: LogFormat
  /** Addresses of a hosted workspace, by their name in GET /health. */
  hostedUrls: Readonly<Record<string, string>>
}

/** Options of `svc up` that reach the configuration. */
export interface Flags {
  host?: string
  port?: string
  dataDir?: string
  /** `--auth` alone is true, `--auth=<token>` the token. */
  auth?: string | true
}

const HOSTED_URLS = {
  slack_connect_url: 'SVC_SLACK_CONNECT_URL',
  workspaces_url: 'SVC_WORKSPACES_URL',
  workspace_api_url: 'SVC_WORKSPACE_API_URL',
  logout_url: 'SVC_LOGOUT_URL',
} as const

const DEMO_URLS = ['SVC_DEMO_PROMETHEUS_URL', 'SVC_DEMO_API_SERVER_URL', 'SVC_DEMO_LOKI_URL'] as const

/**
 * The configuration of this process.
 * @throws ConfigError naming the flag or variable and the rule it breaks.
 */
export function loadConfig(flags: Flags, env: Environment, around: Surroundings = surroundings()): Config {
  const read = <T>(name: string, parse: (value: string, from: string) => T): T | null => {
    const value = readVariable(env, name)
    return value === undefined ? null : parse(value, name)
  }
  const { home, isDefaultHome } = resolveHome(flags.dataDir, env, around)
  const otlpGrpcPort = read('SVC_OTLP_GRPC_PORT', (value, from) =>
    value.toLowerCase() === 'off' ? { port: null } : { port: parsePort(value, from) },
  )
  const hostedUrls = Object.entries(HOSTED_URLS).flatMap(([field, name]) => {
    const url = read(name, parseHttpUrl)
    return url === null ? [] : [[field, url] as const]
  })
  // Read where they are used; checked here, so that a slip stops the start.
  read('SVC_SECRETS', parseSecretNames)
  read('SVC_FILES', parseFolders)
  read('SVC_JOURNAL', parseJournals)
  read(PROGRAMS, (value, from) => {
    const found = parsePrograms(value, env)
    if (typeof found === 'string') throw new ConfigError(`${from} ${found}`)
    return found
  })
  const publicUrl = read('SVC_PUBLIC_URL', parsePublicUrl)
  // Read where a template asks for its parameters; a start says at once what cannot be used.
  for (const name of DEMO_URLS) read(name, parseHttpUrl)
  const dataFile = read('SVC_DB', (value) => parseDataFile(value, around)) ?? join(home, 'svc.db')
  const environment = read('SVC_CATALOG_ENV', parseEnvironment)
  const mirrored = {
    folder: join(dirname(dataFile), 'catalog-mirror'),
    environment,
    absolute: (path: string) => absolute(path, around),
  }
  const host =
    flags.host === undefined
      ? (read('SVC_HOST', parseBindHost) ?? '127.0.0.1')
      : parseBindHost(flags.host, '--host')
  return Object.freeze<Config>({
    home,
    isDefaultHome,
    dataFile,
    host,
    port: flags.port === undefined ? (read('SVC_PORT', parsePort) ?? 8787) : parsePort(flags.port, '--port'),
    otlpGrpcPort: otlpGrpcPort === null ? 4317 : otlpGrpcPort.port,
    syslog: loadSyslog(env, host, (path) => absolute(path, around)),
    auth: chooseAuth(flags.auth, env),
    publicUrl,
    userHeader: read('SVC_USER_HEADER', parseHeaderName),
    allowedHosts: Object.freeze(read('SVC_ALLOWED_HOSTS', parseHosts) ?? []),
    isProxy: read('SVC_TRUSTED_PROXIES', parseNetworks),
    oauthResources: Object.freeze(read('SVC_OAUTH_RESOURCES', parseHttpUrls) ?? []),
    maxDbSize: read('SVC_MAX_DB_SIZE', parseSize),
    retention: Object.freeze({
      maxAgeMs: read('SVC_RETENTION_AGE', parseDuration),
      maxBytes: read('SVC_RETENTION_SIZE', parseSize),
    }),
    catalog: Object.freeze({
      file: read('SVC_CATALOG', (value) => absolute(value, around)) ?? join(home, 'catalog.yaml'),
      isNamed: readVariable(env, 'SVC_CATALOG') !== undefined,
      sync: read('SVC_CATALOG_SYNC', parseSwitch) ?? false,
      environment,
    }),
    repository: loadRepository(env, mirrored),
    repositoryHome: loadRepositoryHome(env, mirrored, read('SVC_CATALOG_SYNC', parseSwitch) ?? false),
    seedProject: readVariable(env, 'SVC_SEED_PROJECT') ?? null,
    proxy: loadProxy(env),
    webhookAllowPrivate: read('SVC_WEBHOOK_ALLOW_PRIVATE', parseSwitch) ?? false,
    models: loadModels(env),
    tracing: loadTracing(env),
    slack: loadSlack(env, publicUrl),
    logLevel: read('SVC_LOG_LEVEL', (value, from) => parseChoice(value, LOG_LEVELS, from)) ?? 'info',
    logFormat:
      read('SVC_LOG_FORMAT', (value, from) => parseChoice(value, LOG_FORMATS, from)) ??
      (around.isTerminal ? 'pretty' : 'json'),
    hostedUrls: Object.freeze(Object.fromEntries(hostedUrls)),
  })
}

/** The proxies that requests go out through (HTTPS_PROXY, HTTP_PROXY, NO_PROXY); null: none. @throws ConfigError */
export function loadProxy(env: Environment): OutboundProxy | null {
  try {
    return outboundProxy(env)
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}

/** The folder that holds the data file; the same as the data home unless SVC_DB says otherwise. */
export function dataFolder(config: Config): string {
  return dirname(config.dataFile)
}

/** `--auth=<token>`, then SVC_AUTH_TOKEN, then the stored or a new token for a bare `--auth`. */
function chooseAuth(flag: string | true | undefined, env: Environment): AuthChoice {
  if (typeof flag === 'string') {
    if (flag.trim() === '')
      throw new ConfigError(
        '--auth= needs a token after the equals sign; --auth alone makes one and keeps it in the data home',
      )
    return { mode: 'given', token: parseToken(flag, '--auth') }
  }
  const token = readVariable(env, 'SVC_AUTH_TOKEN')
  if (token !== undefined) return { mode: 'given', token: parseToken(token, 'SVC_AUTH_TOKEN') }
  return flag === true ? { mode: 'stored' } : { mode: 'open' }
}

function parseDataFile(value: string, around: Surroundings): string {
  if (value.startsWith('file:')) throw new ConfigError('SVC_DB must be a path, not a file: address')
  return absolute(value, around)
}

/* The list of variables that an operator lets documents refer to. */

/** Names of variables that documents may refer to. @returns them. @throws ConfigError */
function parseSecretNames(value: string, from: string): string[] {
  const names = value.split(',').map((name) => name.trim())
  for (const name of names.filter((one) => one !== '')) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new ConfigError(
        `${from} must be names of variables separated by commas, such as API_TOKEN,DB_URL`,
      )
    if (isOwnVariable(name))
      throw new ConfigError(`${from} must not list ${name}: svc's own variables are never sent on`)
  }
  return names
}

/* Slack as the environment says it (SPEC.md, Settings: Slack). */

const API_URL = 'https://slack.com/api'

/**
 * @param publicUrl address people reach the daemon at; null: messages have no buttons
 * @throws ConfigError naming the variable and the rule, never the value.
 */
function loadSlack(env: Environment, publicUrl: string | null): SlackEnvironment {
  const read = <T>(name: string, parse: (value: string, from: string) => T): T | null => {
    const value = readVariable(env, name)
    return value === undefined ? null : parse(value, name)
  }
  return Object.freeze<SlackEnvironment>({
    botToken: read('SVC_SLACK_BOT_TOKEN', parseBotToken),
    signingSecret: read('SVC_SLACK_SIGNING_SECRET', parseToken),
    apiUrl: (read('SVC_SLACK_API_URL', parseHttpUrl) ?? API_URL).replace(/\/+$/, ''),
    publicUrl,
  })
}

function parseBotToken(value: string, from: string): string {
  const token = parseToken(value, from)
  if (!token.startsWith('xox')) throw new ConfigError(`${from} must be a bot token: it begins with xoxb-`)
  return token
}

/* Tracing of agents as the environment says it (SPEC.md, Outbound 6). */

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

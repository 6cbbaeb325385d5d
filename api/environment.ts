/**
 * Every environment variable of the service, in one table: what reads it, its default and what it
 * means (SPEC.md, Deployment and configuration). docs/configuration.md and `svc up --help` are checked
 * against this table.
 */

import { closest } from '../schemas/near-names.ts'

/** Who reads a variable: the daemon, the client commands, or the MCP server. */
export type Reader = 'daemon' | 'client' | 'mcp'

export interface EnvironmentVariable {
  name: string
  readers: readonly Reader[]
  /** As shown to people; null: unset. */
  default: string | null
  meaning: string
}

const daemon: readonly Reader[] = ['daemon']
const both: readonly Reader[] = ['daemon', 'client']
const urls: readonly Reader[] = ['client', 'mcp']
const mcp: readonly Reader[] = ['mcp']
const listening: readonly Reader[] = ['daemon', 'mcp']
const all: readonly Reader[] = ['daemon', 'client', 'mcp']

function now(
  name: string,
  readers: readonly Reader[],
  standard: string | null,
  meaning: string,
): EnvironmentVariable {
  return { name, readers, default: standard, meaning }
}

export const environment: readonly EnvironmentVariable[] = [
  now('SVC_HOME', all, '~/.svc', 'data home: data file, root token, key file'),
  now('SVC_DB', daemon, '<data home>/svc.db', 'path of the data file'),
  now('SVC_HOST', daemon, '127.0.0.1', 'bind address; 0.0.0.0 exposes the daemon'),
  now('SVC_PORT', both, '8787', 'bind port'),
  now(
    'SVC_AUTH_TOKEN',
    all,
    null,
    'secured mode with this root token; the token client commands and svc mcp over stdio send',
  ),
  now('SVC_PUBLIC_URL', listening, null, 'address people reach the daemon at, where a proxy is in front'),
  now(
    'SVC_USER_HEADER',
    daemon,
    null,
    'header by which a proxy in front says who is asking, such as X-Forwarded-User; the proxy must set it itself',
  ),
  now(
    'SVC_ALLOWED_HOSTS',
    listening,
    null,
    'more host names an open instance and svc mcp answer to, comma separated',
  ),
  now(
    'SVC_TRUSTED_PROXIES',
    daemon,
    null,
    'addresses or networks of proxies in front whose X-Forwarded-For says who asks, comma separated',
  ),
  now(
    'SVC_OAUTH_RESOURCES',
    daemon,
    null,
    'addresses of svc mcp and svc telemetry servers that clients may sign in to, comma separated',
  ),
  now(
    'SVC_SECRETS',
    daemon,
    null,
    'more variables that a reference may open besides SVC_SECRET_*, comma separated',
  ),
  now('SVC_SECRET_*', daemon, null, 'secrets that sources, MCP servers and agents refer to by name'),
  now(
    'SVC_FILES',
    daemon,
    null,
    'folders whose files sources of the connector file may read, comma separated',
  ),
  now(
    'SVC_JOURNAL',
    daemon,
    null,
    "on: sources of the connector journald may read the machine's journal; or folders of journals, comma separated",
  ),
  now(
    'SVC_MCP_STDIO_COMMANDS',
    daemon,
    null,
    'programs that agents may use as MCP servers: names with command lines, separated by semicolons',
  ),
  now('SVC_MAX_DB_SIZE', daemon, 'the volume', 'storage limit; ingest is refused with 507 at 95 %'),
  now('SVC_RETENTION_AGE', daemon, null, 'events older than this are removed, such as 30d'),
  now('SVC_RETENTION_SIZE', daemon, null, 'the oldest events are removed above this size, such as 20G'),
  now(
    'SVC_WEBHOOK_ALLOW_PRIVATE',
    daemon,
    null,
    'if set, keys without scope admin may subscribe private addresses too',
  ),
  now(
    'HTTPS_PROXY',
    daemon,
    null,
    'proxy for requests to other hosts by https, such as http://proxy.example.com:3128; also in small letters',
  ),
  now('HTTP_PROXY', daemon, null, 'proxy for those by http'),
  now(
    'NO_PROXY',
    daemon,
    null,
    'hosts with all below them, addresses, networks and host:port that are asked directly, comma separated; * for all',
  ),
  now('SVC_LOG_LEVEL', listening, 'info', 'trace, debug, info, warn, error, fatal or silent'),
  now('SVC_LOG_FORMAT', listening, 'pretty on a terminal, else json', 'pretty or json'),
  now('SVCD_URL', urls, 'http://127.0.0.1:8787', 'daemon that client commands and svc mcp talk to'),
  now('SVC_SLACK_BOT_TOKEN', daemon, null, 'bot token of Slack; wins over the stored one'),
  now('SVC_SLACK_SIGNING_SECRET', daemon, null, 'signing secret of Slack; wins over the stored one'),
  now('SVC_SLACK_API_URL', daemon, 'https://slack.com/api', "base address of Slack's Web API"),
  now(
    'SVC_SLACK_CONNECT_URL',
    daemon,
    null,
    'hosted workspace: where Slack is connected; a button under Settings, Slack',
  ),
  now(
    'SVC_WORKSPACES_URL',
    daemon,
    null,
    'hosted workspace: the page of all workspaces, a link in the console',
  ),
  now(
    'SVC_WORKSPACE_API_URL',
    daemon,
    null,
    'hosted workspace: where the platform lists workspaces, for the switcher',
  ),
  now('SVC_LOGOUT_URL', daemon, null, 'hosted workspace: where signing out ends'),
  now(
    'SVC_CATALOG',
    daemon,
    '<data home>/catalog.yaml',
    'catalog, a file or a folder, imported on first boot if the store is empty',
  ),
  now('SVC_CATALOG_ENV', daemon, null, 'environment of the catalog whose files hold, too'),
  now('SVC_CATALOG_SYNC', daemon, null, 'on: the catalog is imported on every boot'),
  now('SVC_CATALOG_REPO', daemon, null, 'git repository that the catalog is synced with'),
  now('SVC_CATALOG_REPO_PATH', daemon, 'all of it', 'folder or file of the catalog in the repository'),
  now('SVC_CATALOG_REPO_REF', daemon, 'main', 'branch or tag that is followed'),
  now(
    'SVC_CATALOG_REPO_POLICY',
    daemon,
    'manual',
    'manual: a person applies; auto: each commit is applied; auto-prune: and what no file names is deleted',
  ),
  now('SVC_CATALOG_REPO_INTERVAL', daemon, '3m', 'time from one look at the repository to the next'),
  now('SVC_CATALOG_REPO_CREDENTIAL', daemon, null, 'stored credential that the repository is read with'),
  now('SVC_CATALOG_REPO_SSH_KEY', daemon, null, 'file of the SSH key that the repository is read with'),
  now('SVC_CATALOG_REPO_SECRET', daemon, null, 'secret that pushes to /hooks/catalog are signed with'),
  now('SVC_OTLP_GRPC_PORT', daemon, '4317', 'OTLP/gRPC receiver port; off disables it'),
  now(
    'SVC_SYSLOG_PORT',
    daemon,
    'off',
    'port that syslog is taken on, TCP and UDP, without TLS; off disables it',
  ),
  now('SVC_SYSLOG_TLS_PORT', daemon, 'off', 'port that syslog over TLS is taken on, such as 6514'),
  now('SVC_SYSLOG_TLS_CERT', daemon, null, 'file of its certificate, PEM'),
  now('SVC_SYSLOG_TLS_KEY', daemon, null, 'file of the key of that certificate, PEM'),
  now(
    'SVC_SYSLOG_TLS_CA',
    daemon,
    null,
    'file of authorities, PEM: senders must show a certificate of one of them',
  ),
  now('SVC_SYSLOG_HOST', daemon, 'SVC_HOST', 'bind address of syslog'),
  now(
    'SVC_SYSLOG_ALLOW',
    daemon,
    '127.0.0.0/8, ::1',
    'addresses and networks that may send syslog, comma separated',
  ),
  now('PROVIDERA_API_KEY', daemon, null, 'provider A key for Ask and agents'),
  now('PROVIDERA_AUTH_TOKEN', daemon, null, 'provider A bearer token for a gateway; wins over the key'),
  now('PROVIDERA_BASE_URL', daemon, null, "gateway address in provider A's message format"),
  now('SVC_PROVIDERA_BASE', daemon, null, 'old name of PROVIDERA_BASE_URL'),
  now('PROVIDERB_API_KEY', daemon, null, 'provider B key'),
  now('PROVIDERB_BASE_URL', daemon, null, 'provider B address, for a proxy or hosted variant'),
  now('SVC_MODEL_PROVIDER', daemon, null, 'id of the default model provider'),
  now(
    'SVC_AGENT_MODEL',
    daemon,
    'by the rule of docs/models.md',
    'default model for Ask and agents, of the provider the environment makes the default',
  ),
  now('SVC_AGENT_DAILY_CAP', daemon, '50', 'runs of one agent in 24 hours, where none is set'),
  now('SVC_TRACING_ENABLED', daemon, null, 'on: runs of agents are exported as OpenTelemetry traces'),
  now('SVC_TRACING_PROVIDER', daemon, 'otlp', 'otlp, or collector: one on this host'),
  now('SVC_TRACING_ENDPOINT', daemon, null, 'base address of an OTLP/HTTP receiver'),
  now('SVC_TRACING_API_KEY', daemon, null, 'sent to it as a bearer token'),
  now('SVC_TRACING_HEADERS', daemon, null, 'more headers for it: k=v,k2=v2'),
  now('SVC_TRACING_CONTENT', daemon, 'on', 'off: traces hold no messages, prompts, arguments or results'),
  now('SVC_INSTANCE_NAME', daemon, 'the host name', 'names this instance in traces'),
  now('SVC_SEED_PROJECT', daemon, null, 'template of a project made once on first boot'),
  now(
    'SVC_DEMO_PROMETHEUS_URL',
    daemon,
    null,
    'Prometheus of a shared demo stack, which the template ai_sre_demo offers',
  ),
  now('SVC_DEMO_API_SERVER_URL', daemon, null, 'its API server'),
  now('SVC_DEMO_LOKI_URL', daemon, null, 'its Loki, read instead of a container'),
  now('SVC_DEMO_USERNAME', daemon, null, 'user name for all three'),
  now('SVC_DEMO_PASSWORD', daemon, null, 'its password, never shown'),
  now('SVC_PLATFORM_PROVIDER_URL', daemon, null, 'address of a model provider given by a deployment'),
  now('SVC_PLATFORM_PROVIDER_KEY', daemon, null, 'its key'),
  now('SVC_PLATFORM_PROVIDER_NAME', daemon, null, 'its name'),
  now('SVC_MCP_TRANSPORT', mcp, 'stdio', 'stdio, streamable-http or sse'),
  now('SVC_MCP_HOST', mcp, '127.0.0.1', 'bind address of the MCP server'),
  now('SVC_MCP_PORT', mcp, '8788', 'bind port of the MCP server'),
  now('SVC_MCP_TOOLSETS', mcp, 'all', 'sets of tools that the MCP server offers, comma separated'),
  now(
    'SVC_MCP_URL',
    mcp,
    null,
    'address clients reach the MCP server at, such as https://mcp.example.com/mcp',
  ),
  now('SVC_TELEMETRY_HOST', mcp, '127.0.0.1', 'bind address of svc telemetry'),
  now('SVC_TELEMETRY_PORT', mcp, '8789', 'bind port of svc telemetry'),
  now('SVC_TELEMETRY_URL', mcp, null, 'address clients reach svc telemetry at, with its path'),
  now('SVC_MCP_READ_ONLY', mcp, null, 'if on, the MCP server offers only tools that change nothing'),
]

/** Names that tests and scripts of this project read; never the daemon. */
const PROJECT_ONLY = new Set(['SVC_NODE', 'SVC_TEST_BROWSER'])

/** The environment as a process gets it. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * What Kubernetes tells every container of a Service: of one named `svc` that SVC_PORT is `tcp://10.96.1.2:8787`
 * (kubernetes.io, Service, environment variables). It says nothing of the port to listen at.
 */
const ofService = (name: string, value: string): boolean =>
  name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value)

/** A variable's value with surrounding blanks removed; a blank one counts as unset, and so does what Kubernetes set. */
export function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim()
  return value && !ofService(name, value) ? value : undefined
}

/** The names that variables of a Service begin with, such as `SVC` of SVC_SERVICE_HOST and SVC_PORT_8787_TCP. */
const servicesOf = (env: Environment): string[] =>
  Object.entries(env)
    .filter(([name, value]) => ofService(name, value?.trim() ?? ''))
    .map(([name]) => name.replace(/_PORT$/, ''))

/** Names that are looked for, such as those of options, and that no letter leads from to the right one. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ SVC_DATA_DIR: 'SVC_HOME', SVC_DATA: 'SVC_HOME', SVC_CATALOG_FILE: 'SVC_CATALOG' },
  ...{ SVC_TOKEN: 'SVC_AUTH_TOKEN', SVC_AUTH: 'SVC_AUTH_TOKEN', SVC_URL: 'SVCD_URL' },
}

/** The variable that a name was likely meant to be. What all names begin with says nothing. */
function meantBy(name: string): string {
  if (Object.hasOwn(MEANT, name)) return ` (did you mean ${MEANT[name]}?)`
  const prefix = /^[A-Z]+_/.exec(name)?.[0] ?? ''
  const alike = environment.map((one) => one.name).filter((one) => one.startsWith(prefix))
  const close = closest(
    name.slice(prefix.length),
    alike.map((one) => one.slice(prefix.length)),
  )
  return close === undefined ? '' : ` (did you mean ${prefix}${close}?)`
}

/**
 * Variables that are set and have no effect: misspelt ones, those of before 0.2.0 under a new prefix, and a port that
 * Kubernetes set.
 * @returns a sentence for each, without its value.
 */
export function describeUnread(env: Environment): string[] {
  const names = environment.map((variable) => variable.name)
  const services = servicesOf(env)
  const isOfService = (name: string) =>
    services.some((service) => new RegExp(`^${service}_(SERVICE_|PORT_[0-9])`).test(name))
  const unread = Object.keys(env).filter(
    (name) =>
      /^(SVC_|SVCD_|PROVIDER[AB]_)/.test(name) &&
      !PROJECT_ONLY.has(name) &&
      !name.startsWith('SVC_SECRET_') &&
      readVariable(env, name) !== undefined &&
      !names.includes(name) &&
      !isOfService(name),
  )
  const ports = names.filter((name) => ofService(name, env[name]?.trim() ?? ''))
  return [
    ...unread.map((name) => `${name} is set, but svc has no variable of that name${meantBy(name)}`),
    ...ports.map(
      (name) =>
        `${name} is an address, as Kubernetes sets it for a Service named ${name
          .replace(/_PORT$/, '')
          .toLowerCase()
          .replaceAll('_', '-')}, and counts as unset; enableServiceLinks: false keeps it away`,
    ),
  ].sort()
}

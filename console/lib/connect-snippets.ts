/** What to put where, so that an MCP client finds svc: pure, from a choice to a text. */

export type Client = 'desktop' | 'editor' | 'vscode' | 'terminal' | 'toml' | 'curl'
export type Via = 'stdio' | 'http'

export interface Snippet {
  /** Where it goes. */
  place: string
  text: string
}

export interface Addresses {
  /** Of the daemon, for a client that starts svc mcp. */
  svcd: string
  /** Of a running svc mcp. */
  mcp: string
  /** Null: the instance is open and needs none. */
  key: string | null
}

export const CLIENTS: readonly { value: Client; label: string; description: string; via: readonly Via[] }[] =
  [
    {
      value: 'desktop',
      label: 'Desktop app',
      description: 'Its settings file has mcpServers. Most clients start a command.',
      via: ['stdio', 'http'],
    },
    {
      value: 'editor',
      label: 'Editor',
      description: 'Its mcp.json has mcpServers.',
      via: ['http', 'stdio'],
    },
    {
      value: 'vscode',
      label: 'VS Code',
      description: '.vscode/mcp.json has servers.',
      via: ['http', 'stdio'],
    },
    {
      value: 'terminal',
      label: 'Command-line agent',
      description: '.mcp.json in the project has mcpServers.',
      via: ['http', 'stdio'],
    },
    {
      value: 'toml',
      label: 'Command-line agent, TOML',
      description: 'Its config.toml has mcp_servers.',
      via: ['stdio', 'http'],
    },
    { value: 'curl', label: 'curl', description: 'By hand, or what your own program sends.', via: ['http'] },
  ]

const PLACES: Record<Exclude<Client, 'curl'>, string> = {
  desktop: "the app's settings file (Settings, Developer or MCP); then start the app again",
  editor: "the editor's mcp.json, in the project or in your home folder",
  vscode: '.vscode/mcp.json in the project',
  terminal: '.mcp.json in the project',
  toml: "the agent's config.toml",
}

/** @returns what to write, and where. */
export function snippetOf(client: Client, via: Via, at: Addresses): Snippet {
  if (client === 'curl') return { place: 'a terminal', text: curl(at) }
  const text = client === 'toml' ? toml(via, at) : json(client, via, at)
  return { place: PLACES[client], text }
}

const environment = ({ svcd, key }: Addresses): Record<string, string> => ({
  SVCD_URL: svcd,
  ...(key === null ? {} : { SVC_AUTH_TOKEN: key }),
})

function json(client: Client, via: Via, at: Addresses): string {
  const typed = client === 'vscode'
  const stdio = { ...(typed ? { type: 'stdio' } : {}), command: 'svc', args: ['mcp'], env: environment(at) }
  const http = {
    type: 'http',
    url: at.mcp,
    ...(at.key === null ? {} : { headers: { Authorization: `Bearer ${at.key}` } }),
  }
  return JSON.stringify(
    { [typed ? 'servers' : 'mcpServers']: { svc: via === 'stdio' ? stdio : http } },
    null,
    2,
  ).replace('[\n        "mcp"\n      ]', '["mcp"]')
}

/** A JSON string is a TOML basic string. */
function toml(via: Via, at: Addresses): string {
  if (via === 'http')
    return [
      '[mcp_servers.svc]',
      `url = ${JSON.stringify(at.mcp)}`,
      ...(at.key === null
        ? []
        : [`http_headers = { Authorization = ${JSON.stringify(`Bearer ${at.key}`)} }`]),
    ].join('\n')
  return [
    '[mcp_servers.svc]',
    'command = "svc"',
    'args = ["mcp"]',
    '',
    '[mcp_servers.svc.env]',
    ...Object.entries(environment(at)).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
  ].join('\n')
}

/** Begins a session and lists the tools in it. */
function curl({ mcp, key }: Addresses): string {
  const ask = (message: object, more: string): string =>
    [
      `curl -s ${more}${quoted(mcp)}`,
      ...(key === null ? [] : [`-H ${quoted(`Authorization: Bearer ${key}`)}`]),
      "-H 'Content-Type: application/json'",
      "-H 'Accept: application/json, text/event-stream'",
      `-d ${quoted(JSON.stringify(message))}`,
    ].join(' \\\n  ')
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'curl', version: '1' },
  }
  const begin = ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello }, '-D - -o /dev/null ')
  const list = ask({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, '-H "Mcp-Session-Id: $session" ')
  return `session=$(${begin} \\\n  | tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" { print $2 }')\n${list}`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The address of svc mcp as far as the console can know it. @param host of the page. */
export function mcpAddress(publicUrl: string | null, host: string): string {
  if (publicUrl !== null) return `${publicUrl.replace(/\/$/, '')}/mcp`
  return `http://${isLocal(host) ? '127.0.0.1' : host}:8788/mcp`
}

/**
 * The command that starts svc mcp where the daemon runs, for clients that reach it under `mcp`.
 * @param console address of the page, which is the daemon's where no proxy is in between.
 */
export function startCommand(mcp: string, publicUrl: string | null, console: string): string {
  const base = 'svc mcp --transport streamable-http'
  if (publicUrl !== null) return `SVC_PUBLIC_URL=${publicUrl} ${base}`
  const daemonPort = new URL(console).port || '80'
  const daemon = daemonPort === '8787' ? '' : ` --svcd http://127.0.0.1:${daemonPort}`
  const { hostname, port } = URL.canParse(mcp) ? new URL(mcp) : { hostname: '127.0.0.1', port: '8788' }
  const isElsewhere = !isLocal(hostname)
  return `${base}${daemon}${isElsewhere ? ' --host 0.0.0.0' : ''}${port === '8788' || port === '' ? '' : ` --port ${port}`}`
}

const isLocal = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127\./.test(host)

/** What a client did, of a call as svc mcp tells it. */
export function didWords(call: string): string {
  if (call === 'connect') return 'connected'
  return call === 'list_tools' ? 'listed its tools' : `called ${call}`
}

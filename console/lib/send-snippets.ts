/** What to put where, so that what a source takes reaches it: pure, from an address to texts. */
import type { Mapping } from '../../schemas/example-event.ts'
import { curlCommand, shellQuote } from './curl.ts'
import { type Documented, exampleBody, type SendTo, type Snippet, sendOne } from './send-one.ts'

/** Any source with an ingest URL. */
export function plainSnippets(
  at: SendTo,
  connector: string,
  config: Mapping,
  documented?: Documented,
): Snippet[] {
  return [
    { title: 'Ingest URL', text: `${at.origin}/ingest/${at.ingestKey}` },
    sendOne(at, connector, config, documented),
  ]
}

/** A source whose producers sign: where they send to. */
export const signedSnippets = ({ origin, ingestKey }: SendTo): Snippet[] => [
  {
    title: 'Ingest URL',
    text: `${origin}/ingest/${ingestKey}`,
    note: 'Point the sender here with the same secret. A body without its signature is answered 401.',
  },
]

/** Exporters of OpenTelemetry. */
export function otlpSnippets(
  at: SendTo,
  config: Mapping = {},
): { sdk: Snippet[]; collector: Snippet[]; curl: Snippet[] } {
  return { sdk: sdkSnippets(at), collector: [collectorSnippet(at)], curl: [exportByHand(at, config)] }
}

function sdkSnippets(at: SendTo): Snippet[] {
  const overHttp = environment(at, at.origin, 'http/protobuf')
  const { port, problem } = at.grpc
  const { hostname } = new URL(at.origin)
  return [
    {
      title: 'OTLP/HTTP',
      text: overHttp,
      note: 'Set these where the program runs; http/json works as well.',
    },
    port === null
      ? {
          title: 'OTLP/gRPC is off',
          text: '',
          note: problem ?? 'SVC_OTLP_GRPC_PORT is off where the daemon runs.',
        }
      : { title: 'OTLP/gRPC', text: environment(at, `http://${hostname}:${port}`, 'grpc') },
  ]
}

function environment(at: SendTo, endpoint: string, protocol: string): string {
  const headers = headersOf(at).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return [
    'export OTEL_SERVICE_NAME=checkout',
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`,
    `export OTEL_EXPORTER_OTLP_PROTOCOL=${protocol}`,
    ...(headers.length ? [`export OTEL_EXPORTER_OTLP_HEADERS=${shellQuote(headers.join(','))}`] : []),
  ].join('\n')
}

function collectorSnippet(at: SendTo): Snippet {
  const headers = headersOf(at).map(([name, value]) => `      ${name}: ${JSON.stringify(value)}`)
  const pipeline = '{ receivers: [otlp], exporters: [otlphttp/svc] }'
  return {
    title: 'Its configuration',
    text: [
      'exporters:',
      '  otlphttp/svc:',
      `    endpoint: ${at.origin}`,
      ...(headers.length ? ['    headers:', ...headers] : []),
      'service:',
      '  pipelines:',
      ...['logs', 'traces', 'metrics'].map((signal) => `    ${signal}: ${pipeline}`),
    ].join('\n'),
  }
}

function exportByHand(at: SendTo, config: Mapping): Snippet {
  return {
    title: 'One log record',
    text: curlCommand({
      url: `${at.origin}/v1/logs`,
      body: exampleBody('otlp', config),
      headers: headersOf(at).map(([name, value]) => `${name}: ${value}`),
    }),
  }
}

const headersOf = ({ token, isOneOfSeveral, name }: SendTo): [string, string][] => [
  ...(token === null ? [] : ([['Authorization', `Bearer ${token}`]] as [string, string][])),
  ...(isOneOfSeveral ? ([['X-SVC-Source', name]] as [string, string][]) : []),
]

/** Senders of syslog: they have no address of their own, and no key. */
export const syslogSnippets = (at: SendTo, config: Mapping = {}): Snippet[] => [
  {
    title: 'rsyslog, in /etc/rsyslog.d/svc.conf',
    text: `*.* action(type="omfwd" target="${new URL(at.origin).hostname}" port="5514" protocol="tcp" TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format")`,
    note: 'The port is that of SVC_SYSLOG_PORT where the daemon runs, for TCP and UDP; without it none is open. SVC_SYSLOG_ALLOW names who may send, this machine alone if it is not set.',
  },
  // To see how a message is read, where no port is open yet.
  sendOne(at, 'syslog', config),
]

/** Alertmanager, and a Prometheus that posts its alerts without one. */
export function alertmanagerSnippets(at: SendTo, config: Mapping = {}): Snippet[] {
  const { protocol, host } = new URL(at.origin)
  const credentials = `{ credentials: ${at.token} }`
  return [
    {
      title: 'A receiver, in alertmanager.yml',
      text: [
        'receivers:',
        '  - name: svc',
        '    webhook_configs:',
        `      - url: ${at.origin}/ingest/${at.ingestKey}`,
        '        send_resolved: true',
        ...(at.token === null ? [] : [`        http_config: { authorization: ${credentials} }`]),
      ].join('\n'),
      note: 'A route has to name it: receiver: svc, with continue: true where other receivers are to get the alerts, too. Alertmanager must reach the address.',
    },
    {
      title: 'Without an Alertmanager, in prometheus.yml',
      text: [
        'alerting:',
        '  alertmanagers:',
        `    - path_prefix: /ingest/${at.ingestKey}`,
        ...(protocol === 'https:' ? ['      scheme: https'] : []),
        ...(at.token === null ? [] : [`      authorization: ${credentials}`]),
        `      static_configs: [{ targets: ["${host}"] }]`,
      ].join('\n'),
    },
    sendOne(at, 'alertmanager', config),
  ]
}

/** A log drain of Vercel. @param isSigned whether the source has the drain's signature secret. */
export function vercelSnippets(at: SendTo, isSigned: boolean, config: Mapping = {}): Snippet[] {
  const needsKey = !isSigned && at.token !== null
  return [
    {
      title: 'Endpoint of the drain',
      text: `${at.origin}/ingest/${at.ingestKey}`,
      note: 'In Vercel: team settings, Drains, add a drain for logs with a custom endpoint, JSON or NDJSON. Vercel must reach the address.',
    },
    ...(needsKey
      ? [
          {
            title: 'Custom header of the drain',
            text: `Authorization: Bearer ${at.token}`,
            note: 'Not needed once the source has the signature secret of the drain, under Settings.',
          },
        ]
      : []),
    // Nobody but Vercel can sign.
    ...(isSigned ? [] : [sendOne(at, 'vercel', config)]),
  ]
}

/** Lines of sessions. @param isFirst whether the address of its connector leads to it. */
export function sessionSnippets(at: SendTo, isFirst: boolean): Snippet[] {
  const ingestKey = isFirst ? 'claude_code' : at.ingestKey
  const url = `${at.origin}/ingest/${ingestKey}`
  const authorization = at.token === null ? '' : ` -H ${shellQuote(`Authorization: Bearer ${at.token}`)}`
  return [
    { title: 'Address for the plugin', text: url },
    sendOne({ ...at, ingestKey }, 'claude_code', {}),
    {
      title: 'Send a session by hand',
      text: `curl -sS ${shellQuote(url)}${authorization} --data-binary @session.jsonl`,
      note: 'A line that was sent before is not stored again.',
    },
  ]
}

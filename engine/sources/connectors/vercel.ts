/**
 * Log drains of Vercel (SPEC.md, Sources and labels 4): an event for each entry of the arrays or lines it
 * posts. A drain with a secret signs its bodies, and a new one is verified by a header of the answer.
 */
import { oneLine, summarise } from '../../log/ingest/label.ts'
import { type Item, type MappedEvent, objectOf, type PushConnector, scalar } from './connector.ts'

const EVENT_TYPE_MAX = 200
const TEXT_MAX = 1_000
const ENTITY = 'project'

export const vercel: PushConnector = {
  kind: 'vercel',
  label: 'Vercel log drain',
  mode: 'push',
  description:
    'Logs of Vercel deployments: builds, functions, edge and static requests, posted by a log drain as JSON or NDJSON. The entity is the project, where no label below is.',
  sourceType: 'application_log',
  configSchema: 'connector-vercel.json',
  signatureScheme: 'vercel',
  labels: [
    { name: ENTITY, field: ENTITY, primary: true },
    { name: 'environment', field: 'environment' },
    { name: 'branch', field: 'branch' },
  ],
  provides: [
    { name: 'project', help: 'Name of the project; its id where the entry has no name.', primary: true },
    { name: 'environment', help: 'production or preview.' },
    { name: 'source', help: 'build, static, lambda, edge, external, redirect or firewall.' },
    { name: 'path', help: 'Path of the request, or of the function.' },
    { name: 'host', help: 'Host name of the deployment, or that the request was for.' },
    { name: 'deployment', help: 'Id of the deployment.' },
    { name: 'branch', help: 'Branch the deployment was made from.' },
    { name: 'status_code', help: 'Status the request was answered with.' },
    { name: 'url', help: 'Path of the request with its query.' },
    { name: 'method', help: 'Method of the request.' },
    { name: 'referer', help: 'Page the request came from.' },
    { name: 'path_type', help: 'What answered: func, prerender, static and others.' },
    { name: 'region', help: 'Region that answered.' },
    { name: 'cache', help: 'HIT, MISS, STALE and others.' },
  ],
  compile: () => (item) => [eventOf(item)],
  note: (path) => `Name ${path} as the endpoint of a log drain; the first entry shows here.`,
}

function eventOf(item: Item): MappedEvent {
  const entry = objectOf(item.value)
  const proxy = objectOf(entry.proxy)
  const facts = factsOf(entry, proxy)
  const { project } = facts
  return {
    eventType: oneLine(scalar(entry.source) ?? scalar(entry.type) ?? 'log', EVENT_TYPE_MAX),
    text: oneLine(scalar(entry.message) ?? requestText(proxy, facts) ?? summarise(item.whole()), TEXT_MAX),
    ...(typeof entry.timestamp === 'number' ? { eventTime: entry.timestamp } : {}),
    context: { ...entry, ...facts },
    ...(project === undefined ? {} : { stamped: { [ENTITY]: project }, entityLabel: ENTITY }),
    ...(scalar(entry.id) === undefined ? {} : { dedupeKey: String(entry.id) }),
  }
}

type Facts = Record<string, string>

/** What an entry says under names of its own; what is missing stays missing. */
function factsOf(entry: Facts | Record<string, unknown>, proxy: Record<string, unknown>): Facts {
  const given: [string, unknown][] = [
    ['project', scalar(entry.projectName) ?? entry.projectId],
    ['environment', scalar(entry.environment) ?? entry.target],
    ['source', entry.source],
    ['path', scalar(entry.path) ?? pathOf(proxy.path)],
    ['host', scalar(entry.host) ?? proxy.host],
    ['deployment', entry.deploymentId],
    ['branch', scalar(entry.branch) ?? proxy.branch],
    ['status_code', statusOf(entry.statusCode) ?? statusOf(proxy.statusCode)],
    ['url', proxy.path],
    ['method', proxy.method],
    ['referer', proxy.referer],
    ['path_type', proxy.pathType],
    ['region', scalar(proxy.region) ?? entry.executionRegion],
    ['cache', proxy.vercelCache],
  ]
  return Object.fromEntries(
    given.flatMap(([name, value]) => {
      const text = scalar(value)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

const pathOf = (url: unknown): string | undefined => scalar(url)?.split('?')[0]

/** -1 stands for a function that was not answered. */
const statusOf = (status: unknown): string | undefined => {
  const text = scalar(status)
  return text === undefined || text === '-1' ? undefined : text
}

function requestText(proxy: Record<string, unknown>, facts: Facts): string | undefined {
  const path = scalar(proxy.path)
  if (path === undefined) return undefined
  return `${scalar(proxy.method) ?? 'GET'} ${path}${facts.status_code ? ` -> ${facts.status_code}` : ''}`
}

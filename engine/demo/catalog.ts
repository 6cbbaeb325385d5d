/** The demo as a catalog file: what it declares, every part named demo-… and labelled Demo. */
import type { Stream } from '../connectors/demo/usual.ts'
import { SCRIPTED_MODEL, SCRIPTED_PROMPT, SCRIPTED_PROVIDER } from '../models/scripted.ts'

export const DEMO_PROJECT = 'Demo shop'
const FILE = 'demo'

const label = (name: string, type?: 'number') => ({ name, field: name, ...(type ? { type } : {}) })
const SERVICE = { name: 'service', field: 'service', primary: true }
/** On every event, so that a list of events says what they are. */
const DEMO = { name: 'demo', const: 'true' }

/** The last one wakes the agent, which reads what the others brought. */
export const DEMO_SOURCES: readonly { name: string; stream: Stream; labels: object[] }[] = [
  { name: 'demo-deploys', stream: 'deploys', labels: [] },
  {
    name: 'demo-metrics',
    stream: 'metrics',
    labels: [label('error_rate', 'number'), label('p95_ms', 'number')],
  },
  { name: 'demo-access-logs', stream: 'access_logs', labels: [label('route'), label('status')] },
  { name: 'demo-alerts', stream: 'alerts', labels: [label('state')] },
  { name: 'demo-tickets', stream: 'tickets', labels: [] },
  { name: 'demo-app-logs', stream: 'app_logs', labels: [label('level')] },
]

export const DEMO_TRIGGER = 'demo-errors'
export const DEMO_AGENT = 'demo-first-look'

/** What it declares, by kind. */
export const DEMO_PARTS = [
  ...DEMO_SOURCES.map(({ name }) => ({ kind: 'source' as const, name })),
  { kind: 'trigger' as const, name: DEMO_TRIGGER },
  { kind: 'agent' as const, name: DEMO_AGENT },
]

/** The file, as JSON, which is YAML. */
export const demoCatalog = (): string =>
  JSON.stringify({
    catalog: FILE,
    sources: DEMO_SOURCES.map(({ name, stream, labels }) => ({
      ...{ name, projects: [DEMO_PROJECT], connector: 'demo', poll: '2s' },
      config: { stream, labels: [SERVICE, ...labels, DEMO] },
    })),
    triggers: [
      {
        name: DEMO_TRIGGER,
        project: DEMO_PROJECT,
        description: 'Demo: a service logs more than 4 errors in 30 s',
        sources: ['demo-app-logs'],
        filters: [{ field: 'level', op: 'eq', value: 'error' }],
        condition: { aggregate: 'count', predicate: '> 4', window: '30s', resolve: true },
        key_field: 'service',
        cooldown: '1s',
        // The history is there to be read. What is over by the clock when it is stored would only fire to be over.
        max_late: '28s',
        severity: 'critical',
      },
    ],
    agents: [
      {
        name: DEMO_AGENT,
        project: DEMO_PROJECT,
        prompt: SCRIPTED_PROMPT,
        provider: SCRIPTED_PROVIDER,
        model: SCRIPTED_MODEL,
        context: 'plain',
        concludes: true,
        daily_cap: 1_000,
        verdicts: [
          { verdict: 'take_back', when: 'A change came right before the errors.' },
          { verdict: 'investigate', when: 'No change came before the errors.' },
        ],
      },
    ],
    projects: [
      {
        template: 'custom',
        name: DEMO_PROJECT,
        description: 'Demo: a made-up shop with a scripted model. Remove it any time.',
      },
    ],
    wiring: [{ project: DEMO_PROJECT, wake: DEMO_TRIGGER, agent: DEMO_AGENT, enabled: true }],
  })

export const DEMO_FILE = FILE

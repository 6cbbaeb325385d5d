/** The tools of a model that plans: it looks at what is here, and proposes. None of them changes anything. */
import type { Connector, FieldsResult, TemplatesResult } from '../../../schemas/types.ts'
import type { ToolCall, ToolSpec } from '../../agents/models/types.ts'
import { fence } from '../../agents/runs/prompt.ts'
import type { Row } from '../../calls.ts'
import { SvcError } from '../../errors.ts'
import type { PlanningJob, PlanningPort } from './port.ts'

export const PROPOSE = 'propose_plan'
const EVENTS_SHOWN = 3
const FIELDS_SHOWN = 60
const TEXT_MAX = 300
const RESULT_MAX = 16_000

/** What the tools read; the calls of the engine by these names. */
export interface PlanningReads {
  listConnectors(): Promise<Record<string, Connector>>
  listTemplates(): Promise<TemplatesResult>
  sourceFields(name: string, limit: number): Promise<FieldsResult>
  sourceEvents(name: string, limit: number): Promise<Row[]>
}

const text = (description: string) => ({ type: 'string', description })
const rows = (description: string, properties: object, required: string[]) => ({
  type: 'array',
  description,
  items: { type: 'object', properties, required },
})

const wakes = rows(
  'Triggers.',
  {
    key: text('k1, k2'),
    name: text('Short name with dashes.'),
    sources: { type: 'array', items: { type: 'string' }, description: 'Names of the sources it watches.' },
    filters: { type: 'array', items: { type: 'object' }, description: '{field, op, value}; all must hold.' },
    key_field: text('Label that is the entity; left out: the primary label.'),
    condition: { type: 'object', description: 'One of the forms in the rules.' },
    cooldown: text('Wait before waking again for the same entity, such as 15m.'),
    window: text('How much of the timeline is handed over, such as 1h.'),
  },
  ['key', 'name', 'sources', 'condition'],
)

const agents = rows(
  'Agents of the service; none with who own.',
  {
    key: text('a1, a2'),
    existing: { type: 'boolean', description: 'It is here already.' },
    name: text('Short name with dashes.'),
    trigger: text('Trigger that wakes it; left out: it only takes over.'),
    prompt: text('What it is told.'),
    verdicts: {
      type: 'array',
      items: { type: 'object' },
      description: '{verdict, when}: one lowercase word each.',
    },
    handoffs: {
      type: 'array',
      items: { type: 'object' },
      description: '{verdict, agent, cooldown}: who takes over from it, and when.',
    },
    mcp_servers: { type: 'array', items: { type: 'string' }, description: 'Names of tools of the plan.' },
    optional: { type: 'boolean', description: 'The project works without it.' },
  },
  ['key', 'name'],
)

const watches = rows(
  'Sources.',
  {
    key: text('w1, w2'),
    existing: { type: 'boolean', description: 'It is here already: only its name is looked at.' },
    name: text('Name of the one that is here, or a short new one with dashes.'),
    connector: text('Connector of a new one.'),
    poll: text('Poll interval, such as 1m, for a connector that polls.'),
    config: { type: 'object', description: 'Fields of the connector, and labels. No secrets.' },
    sample: { type: 'object', description: 'For a source events are sent to: one event.' },
  },
  ['key', 'name'],
)

/** @param job whose sources can be looked at */
export function planningTools(job: Pick<PlanningJob, 'facts'>): ToolSpec[] {
  const nothing = { type: 'object', properties: {} }
  const names = job.facts.sources.map(({ name }) => name)
  const looks: ToolSpec[] = names.length
    ? [
        {
          name: 'list_sources',
          description: 'The sources that are here, with their labels.',
          input: nothing,
        },
        {
          name: 'source_fields',
          description: 'What a source sends: the fields and labels of its newest events, and some of them.',
          input: {
            type: 'object',
            properties: { source: { type: 'string', enum: names, description: 'Name of the source.' } },
            required: ['source'],
          },
        },
      ]
    : []
  return [
    {
      name: 'list_connectors',
      description: 'What a new source can be, with the fields of its config.',
      input: nothing,
    },
    ...looks,
    { name: 'list_templates', description: 'Projects that others made, as examples.', input: nothing },
    { name: PROPOSE, description: 'Proposes the whole plan.', input: proposal() },
  ]
}

function proposal(): object {
  return {
    type: 'object',
    properties: {
      name: text('Name of the project, a few words.'),
      watches,
      wakes,
      agents,
      own_agent: {
        type: 'object',
        description: "The person's own agent, with who own.",
        properties: {
          name: text('Short name with dashes.'),
          wake: {
            type: 'string',
            enum: ['webhook', 'poll'],
            description: 'poll, unless the goal says otherwise.',
          },
        },
      },
      tools: rows(
        'MCP servers agents may use.',
        {
          key: text('t1, t2'),
          existing: { type: 'boolean', description: 'It is here already.' },
          name: text('Name.'),
          url: text('Address of a new one; left out where you do not know it.'),
          why: text('What it is for.'),
          can_act: { type: 'boolean', description: 'It changes things.' },
        },
        ['key', 'name', 'why'],
      ),
      skills: rows(
        'Know-how.',
        {
          key: text('s1, s2'),
          existing: { type: 'boolean', description: 'It is here already.' },
          name: text('Short name with dashes.'),
          description: text('When it is needed, one paragraph.'),
          body: text('Markdown.'),
        },
        ['key', 'name'],
      ),
      notes: {
        type: 'array',
        items: { type: 'string' },
        description: 'What the person should know, such as what no connector fits.',
      },
    },
    required: ['name', 'watches', 'wakes'],
  }
}

/** Answers a call that looks; one that fails is told so. @throws SvcError wrong_state when the planning is over */
export async function lookAt(
  { name, arguments: given }: ToolCall,
  job: PlanningJob,
  port: PlanningPort & PlanningReads,
): Promise<{ content: string; isError?: boolean }> {
  if (name === 'list_connectors') return { content: connectorsText(await port.listConnectors()) }
  if (name === 'list_templates') {
    const { templates } = await port.listTemplates()
    return { content: templates.map(({ title, sentence }) => `- ${title}: ${sentence}`).join('\n') || 'none' }
  }
  if (name === 'list_sources') return { content: fence(job.marker, JSON.stringify(job.facts.sources)) }
  if (name !== 'source_fields') return { content: `no tool is named ${name.slice(0, 64)}`, isError: true }
  const source = String(given.source ?? '')
  if (!job.facts.sources.some((known) => known.name === source))
    return { content: `no source is named ${source.slice(0, 64)}`, isError: true }
  await port.planningStep(job, { look: source })
  try {
    return { content: fence(job.marker, await fieldsText(source, port)) }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return { content: error.message, isError: true }
  }
}

/** No default and no choice of a secret is told. */
function connectorsText(connectors: Record<string, Connector>): string {
  return Object.entries(connectors)
    .map(([kind, { label, mode, description, fields, provides }]) => {
      const config = fields
        .filter(({ advanced }) => !advanced)
        .map(({ name, type, required, secret, help }) =>
          secret
            ? `${name}: entered by the person`
            : `${name} (${type}${required ? ', required' : ''}): ${help}`,
        )
      const offered = provides.map(({ name }) => name)
      return [
        `## ${kind} (${label}, ${mode})`,
        description,
        ...config.map((line) => `- ${line}`),
        ...(offered.length ? [`Labels can also read: ${offered.join(', ')}`] : []),
      ].join('\n')
    })
    .join('\n\n')
    .slice(0, RESULT_MAX)
}

async function fieldsText(source: string, port: PlanningReads): Promise<string> {
  const [{ sampled, fields, labels }, events] = await Promise.all([
    port.sourceFields(source, 200),
    port.sourceEvents(source, EVENTS_SHOWN),
  ])
  return JSON.stringify({
    looked_at: sampled,
    fields: fields.slice(0, FIELDS_SHOWN),
    labels,
    newest: events.map(({ event_type, text: line, labels: stamped }) => ({
      event_type,
      text: line.slice(0, TEXT_MAX),
      labels: stamped,
    })),
  }).slice(0, RESULT_MAX)
}

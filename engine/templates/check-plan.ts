/** Rules of what a template plans: its parts and references, for parameters that take every branch. */
import { check } from '../../schemas/index.ts'
import type {
  AgentSpec,
  McpServerSpec,
  TemplateFile,
  TemplateObject,
  TriggerSpec,
} from '../../schemas/types.ts'
import { validateConfig } from '../connectors/config.ts'
import { hasConnector } from '../connectors/index.ts'
import { SvcError } from '../errors.ts'
import { normaliseAgent } from '../parts/agent-spec.ts'
import { normaliseMcpServer } from '../parts/mcp-server-spec.ts'
import { normaliseTrigger } from '../parts/trigger-spec.ts'
import { checkSkillName, normaliseSkill } from '../skills/skill-rules.ts'
import { prefixed } from './check-params.ts'
import { exampleVariants } from './examples.ts'
import type { Params } from './params.ts'
import { type PlannedObject, planObjects, planTemplate } from './plan.ts'

const specSchemas: Record<TemplateObject['kind'], string> = {
  source: 'source-spec.json',
  trigger: 'trigger-spec.json',
  agent: 'agent-spec.json',
  mcp_server: 'mcp-server-spec.json',
  skill: 'skill-spec.json',
}

/** @returns one sentence per fault, each beginning with its path in the file. */
export function planFaults(file: TemplateFile): string[] {
  return [...new Set(exampleVariants(file).flatMap((params) => variantFaults(file, params)))]
}

function variantFaults(file: TemplateFile, params: Params): string[] {
  const faults: string[] = []
  const told = orFault(() => planObjects(file, params))
  if (told.fault !== undefined) return [`objects: ${told.fault}`]
  const planned = told.value
  for (const { from, planned: object } of planned) {
    const at = `objects[${file.objects.indexOf(from)}]`
    faults.push(...nameFaults(object, at), ...specFaults(object, at))
    faults.push(
      ...referenceFaults(
        object,
        at,
        planned.map((one) => one.planned),
        params,
      ),
    )
  }
  return faults.length ? faults : wiringFaults(file, params)
}

function orFault<T>(act: () => T): { value: T; fault?: undefined } | { fault: string } {
  try {
    return { value: act() }
  } catch (error) {
    if (error instanceof SvcError) return { fault: error.message }
    throw error
  }
}

function nameFaults({ kind, name }: PlannedObject, at: string): string[] {
  const isSkill = kind === 'skill'
  const fault = isSkill ? orFault(() => checkSkillName(name)).fault : check('object-ref.json', { kind, name })
  return fault ? prefixed(fault, at).map((sentence) => `${sentence}; it is ${name || 'empty'}`) : []
}

/** The rules of the schema, then those that a write of the part has beside. */
function specFaults({ kind, spec }: PlannedObject, at: string): string[] {
  const schemaFault = check(specSchemas[kind], spec)
  if (schemaFault !== null) return prefixed(schemaFault, `${at}.spec`)
  const { fault } = orFault(() => normalise(kind, spec))
  if (fault === undefined) return []
  return kind === 'skill'
    ? [`${at}.spec: ${fault}`]
    : prefixed(fault, kind === 'source' ? `${at}.spec.config` : `${at}.spec`)
}

/** @throws SvcError invalid */
function normalise(kind: TemplateObject['kind'], spec: unknown): void {
  const { connector, config = {} } = spec as { connector: string; config?: Record<string, unknown> }
  if (kind === 'source' && hasConnector(connector)) validateConfig(connector, config)
  if (kind === 'trigger') normaliseTrigger(spec as TriggerSpec)
  if (kind === 'agent') normaliseAgent(spec as AgentSpec)
  if (kind === 'mcp_server') normaliseMcpServer(spec as McpServerSpec)
  if (kind === 'skill') normaliseSkill(spec as { description: string; body: string })
}

/** A reference is to a planned part, or to one the parameters name. */
function referenceFaults(
  { kind, spec }: PlannedObject,
  at: string,
  planned: readonly PlannedObject[],
  params: Params,
): string[] {
  const given = new Set(Object.values(params).flat())
  const fault = (field: 'sources' | 'mcp_servers', target: PlannedObject['kind']): string[] =>
    ((spec[field] ?? []) as string[])
      .filter((name) => !given.has(name) && !planned.some((one) => one.kind === target && one.name === name))
      .map((name) => `${at}.spec.${field} names ${name}, which this template does not plan`)
  if (kind === 'trigger') return fault('sources', 'source')
  return kind === 'agent' ? fault('mcp_servers', 'mcp_server') : []
}

function wiringFaults(file: TemplateFile, params: Params): string[] {
  return (file.handoffs ?? []).flatMap((rule, i) => {
    const { objects, handoffs } = planTemplate({ ...file, handoffs: [rule] }, params)
    return handoffs.flatMap(({ agent, verdict, to }) => {
      if (agent === to) return [`handoffs[${i}].to must be another agent than ${agent}`]
      const spec = objects.find((one) => one.kind === 'agent' && one.name === agent)!.spec
      const words = ((spec.verdicts ?? []) as { verdict: string }[]).map((entry) => entry.verdict)
      const list = words.join(', ') || 'none'
      return words.includes(verdict)
        ? []
        : [`handoffs[${i}].verdict ${verdict} is not a verdict of ${agent}; it has ${list}`]
    })
  })
}

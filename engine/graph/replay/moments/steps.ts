/** Steps of a run: what it was told, what it asked, what it was answered. */
import type { Database } from '../../../store/handle.ts'
import { edgeIds, nodeId } from '../../ids.ts'
import { counted, type Draft, draft } from '../moment.ts'
import { entityOf } from '../scope.ts'
import type { RunFacts } from './run-facts.ts'

/** What a title tells of a step, without its texts: a tape may hold megabytes. */
interface StepFacts {
  n: number
  kind: string
  round: number
  at: number
  ms: number | null
  tool: string | null
  arguments: string | null
  server: string | null
  is_error: number | null
  answered: number
  fault: string | null
  claims: number | null
  text: string | null
  resumed: number | null
  model: string | null
  input: number | null
  output: number | null
  cost: number | null
  calls: string | null
  error: string | null
  tools: number | null
  shown: number | null
}

export const STEPS = `SELECT n, kind, round, at, ms, json_extract(data, '$.call.name') AS tool,
    json_extract(data, '$.call.arguments') AS arguments, json_extract(data, '$.server') AS server,
    json_extract(data, '$.is_error') AS is_error, json_type(data, '$.result') IS NOT NULL AS answered,
    coalesce(json_extract(data, '$.fault'), json_extract(data, '$.reason')) AS fault,
    json_array_length(data, '$.claims') AS claims,
    json_extract(data, '$.text') AS text, json_extract(data, '$.resumed') AS resumed,
    json_extract(data, '$.reply.model') AS model, json_extract(data, '$.reply.usage.input_tokens') AS input,
    json_extract(data, '$.reply.usage.output_tokens') AS output, json_extract(data, '$.reply.costUsd') AS cost,
    json_extract(data, '$.reply.calls') AS calls, json_extract(data, '$.error.message') AS error,
    json_array_length(data, '$.tools') AS tools, json_array_length(data, '$.shown') AS shown
  FROM run_steps WHERE run_id = ? ORDER BY n`

const ARGUMENTS_MAX = 100

/** Every step of a run, whenever it was; a step that was completed is told when it was. */
export function stepsOf(db: Database, run: RunFacts): Draft[] {
  const steps = db.prepare<[string], StepFacts>(STEPS).all(run.id)
  let resumes = 0
  return steps.map((step, i) => {
    if (step.resumed) return resumedDraft(run, step, ++resumes)
    // What it took was measured by another clock than when the next one began.
    const next = steps[i + 1]?.at ?? run.finished_at ?? Number.POSITIVE_INFINITY
    const at = step.ms === null ? step.at : Math.min(step.at + step.ms, Math.max(step.at, next))
    return { ...base(run, step), at, phase: step.kind, title: `${run.agent}: ${titleOf(step, run)}` }
  })
}

function resumedDraft(run: RunFacts, step: StepFacts, nth: number): Draft {
  return {
    ...base(run, step),
    kind: 'run',
    phase: 'resumed',
    ms: null,
    title: `${run.agent} goes on: the service had stopped in the middle of the run${nth > 1 ? `, for the ${nth}th time` : ''}`,
  }
}

function titleOf(step: StepFacts, run: RunFacts): string {
  const { kind, ms, tool, fault, error } = step
  if (kind === 'prompt')
    return `told what happened: ${counted(step.shown ?? 0, 'event')}, ${counted(step.tools ?? 0, 'tool')} offered`
  if (kind === 'model') return modelTitle(step, run)
  if (kind === 'tool') {
    const call = `${tool}(${argumentsOf(step)})`
    if (ms === null || !step.answered)
      return run.finished_at === null && run.resumed === 0
        ? `asks ${call}`
        : `began to ask ${call}; the service stopped before it was answered, and it is not asked again`
    return `${step.is_error ? 'was refused by' : 'asked'} ${call}${step.server ? ` of ${step.server}` : ''}`
  }
  if (kind === 'refused') return `was not let call ${tool}: ${fault ?? error ?? 'refused'}`
  if (kind === 'conclude')
    return fault === null ? `concluded${claimsOf(step)}` : `concluded, and was sent back: ${fault}`
  return step.text ?? kind
}

function modelTitle(
  { ms, error, model, input, output, cost, calls, round }: StepFacts,
  run: RunFacts,
): string {
  if (error !== null) return `model call ${round} failed: ${error}`
  if (ms === null)
    return run.finished_at === null && run.resumed === 0
      ? `model call ${round} is under way`
      : `model call ${round} began; it was cut off before it was answered`
  const asks = ((JSON.parse(calls ?? '[]') ?? []) as { name: string }[]).map(({ name }) => name)
  const then = asks.length ? `, asks for ${asks.join(', ')}` : ''
  const price = cost === null ? 'not priced' : `$${Number(cost.toPrecision(3))}`
  return `model call ${round} of ${model}: ${counted(input ?? 0, 'token')} in, ${counted(output ?? 0, 'token')} out, ${price}${then}`
}

const claimsOf = ({ claims }: StepFacts): string => (claims ? ` with ${counted(claims, 'claim')}` : '')

function argumentsOf({ arguments: given }: StepFacts): string {
  if (given === null || given === '{}') return ''
  return given.length > ARGUMENTS_MAX ? `${given.slice(0, ARGUMENTS_MAX)}…` : given
}

function base(run: RunFacts, step: StepFacts): Draft {
  const agent = nodeId('agent', run.agent)
  const server = step.server === null ? null : nodeId('mcp_server', step.server)
  const skill = step.tool === 'skill' ? skillOf(step.arguments) : null
  return draft({
    at: step.at,
    depth: run.depth,
    rank: 'step',
    id: `${run.id}/${String(step.n).padStart(6, '0')}`,
    kind: 'step',
    phase: step.kind,
    title: '',
    nodes: [agent, ...(server ? [server] : []), ...(skill ? [nodeId('skill', skill)] : [])],
    edges: step.server === null ? [] : [edgeIds.uses(run.agent, step.server)],
    entity: entityOf(run.label, run.entity),
    practice: run.practice === 1,
    dispatch_id: run.dispatch_id,
    run_id: run.id,
    step: step.n,
    ms: step.ms,
    cost_usd: step.kind === 'model' ? step.cost : null,
  })
}

function skillOf(given: string | null): string | null {
  const { name } = JSON.parse(given ?? '{}') as { name?: unknown }
  return typeof name === 'string' ? name : null
}

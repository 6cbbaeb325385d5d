/**
 * The check of a plan: the plan as applying would take it, and what keeps it from being applied, each
 * at its card. Pure and without a model. Checking a checked plan changes nothing.
 */
import type { Plan, PlanProblem } from '../../../schemas/types.ts'
import { maskAddresses } from '../../address-secrets.ts'
import { isReference } from '../../parts/secret-fields.ts'
import { checkGoal, checkProjectName } from '../../projects/project-spec.ts'
import { freeName, type NamedSection, withFreeNames } from '../plan/names.ts'
import { isFields, readPlan } from '../plan/read-plan.ts'
import { withSentences } from '../plan/sentences.ts'
import { checkAgents } from './agents.ts'
import { checkSkills, checkTools } from './extras.ts'
import { heeding, type Report } from './found.ts'
import { checkWakes } from './wakes.ts'
import { checkWatches } from './watches.ts'
import type { SetupWorld } from './world.ts'

export interface Checked {
  plan: Plan
  problems: PlanProblem[]
}

const KINDS = {
  watches: 'source',
  wakes: 'trigger',
  agents: 'agent',
  tools: 'mcp_server',
  skills: 'skill',
} as const satisfies Record<NamedSection, string>

/**
 * @param given any JSON value.
 * @param goal of the draft, where the plan says none.
 * @param withSecrets whether what cannot be made without its secret is a problem: it is when applying,
 *   and none while a plan is written, for a plan is kept without secrets.
 */
export function checkPlan(
  given: unknown,
  world: SetupWorld,
  { goal = '', withSecrets = true }: { goal?: string; withSecrets?: boolean } = {},
): Checked {
  const problems: PlanProblem[] = []
  const report: Report = (where, message) => {
    problems.push({ where, message })
  }
  const read = readPlan(given, goal)
  const named = withFreeNames(read, (section, name) => world.has(KINDS[section], name))
  let plan: Plan = { ...named, name: named.name && freeName(named.name, world.isProject, ' ') }
  checkWho(given, report)
  if (!plan.goal) report('plan', 'goal is required: what it is for, in one line')
  else heeding(report, 'plan', () => checkGoal(plan.goal))
  if (!plan.name) report('plan', 'name is required: the name of the project')
  else heeding(report, 'plan', () => checkProjectName(plan.name))
  plan = { ...plan, watches: checkWatches(plan, world, withSecrets, report) }
  plan = { ...plan, wakes: checkWakes(plan, world, report) }
  plan = { ...plan, tools: checkTools(plan, world, report), skills: checkSkills(plan, world, report) }
  plan = { ...plan, agents: checkAgents(plan, world, report) }
  return { plan: withSentences(plan, (kind) => world.connectors[kind]), problems }
}

function checkWho(given: unknown, report: Report): void {
  const who = isFields(given) ? given.who : undefined
  if (who !== undefined && who !== 'svc' && who !== 'own') report('plan', 'who must be svc or own')
}

/** A plan as it is kept, and shown to a model: without the fields that hold a secret, those in addresses masked. */
export function withoutSecrets(plan: Plan, connectors: SetupWorld['connectors']): Plan {
  return {
    ...plan,
    watches: plan.watches.map((watch) => {
      const secret = new Set(
        (connectors[watch.connector]?.fields ?? []).filter((field) => field.secret).map(({ name }) => name),
      )
      const config = Object.entries(watch.config).filter(
        ([name, value]) => !secret.has(name) || isReference(value),
      )
      return { ...watch, config: maskAddresses(Object.fromEntries(config)) }
    }),
    tools: plan.tools.map((tool) => ({ ...tool, url: maskAddresses(tool.url) })),
  }
}

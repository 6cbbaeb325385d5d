/** Plans checked against the instance as it is, with what applying them would make. */

import { kindWord } from '../../../schemas/kinds.ts'
import type { ChangePlan, Plan, PlanProblem, SetupChecked } from '../../../schemas/types.ts'
import { normaliseAgent, normaliseHandoffs } from '../../documents/agent.ts'
import { normaliseMcpServer } from '../../documents/mcp-server.ts'
import { normaliseSkill } from '../../documents/skill.ts'
import { normaliseTrigger } from '../../documents/trigger.ts'
import { fail, SvcError } from '../../errors.ts'
import { type Doc, Edit, type PartKind } from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  newProjectId,
  type ProjectDoc,
  projectOf,
  putProject,
  withHandoff,
  withWake,
} from '../../model/project.ts'
import { normaliseSource } from '../../sources/config-secrets.ts'
import type { Declared } from '../declared.ts'
import { checkName, joinProject, stageNew } from '../write.ts'
import {
  agentSpecOf,
  checkPlan,
  STAND_IN_NAME,
  sentenceOfProblems,
  specOf,
  withoutSecrets,
  withStandIns,
  worldOf,
} from './check.ts'

interface OfDraft {
  /** Id of the draft it is of; null: a project that is new. */
  project: string | null
  /** Where the plan says none. */
  goal?: string
  /** Whether what cannot be made without its secret is a problem. */
  withSecrets?: boolean
}

/** The plan as applying would take it, and what keeps it from being applied. */
export function checkNow(
  declared: Declared,
  given: unknown,
  { project, goal = '', withSecrets = true }: OfDraft,
): { plan: Plan; problems: PlanProblem[] } {
  const edit = new Edit(declared.kinds, () => undefined)
  return checkPlan(given, worldOf(edit, project), { goal, withSecrets })
}

/** The same with what would be made; a rule that only applying knows is a problem of the plan. */
export function checkWhole(declared: Declared, given: unknown, of: OfDraft): SetupChecked {
  const { plan, problems } = checkNow(declared, given, of)
  if (problems.length) return { plan, problems, changes: null }
  const changes = planned(declared, withStandIns(plan), of.project)
  return changes instanceof SvcError
    ? { plan, problems: [{ where: 'plan', message: changes.message }], changes: null }
    : { plan, problems, changes: withoutStandIns(changes) }
}

/** What stands in for a secret is not read from anywhere. */
function withoutStandIns(plan: ChangePlan): ChangePlan {
  const changes = plan.changes.map(({ variables, ...change }) => {
    const read = variables?.filter(({ variable }) => variable !== STAND_IN_NAME) ?? []
    return read.length ? { ...change, variables: read } : change
  })
  return { ...plan, changes }
}

function planned(declared: Declared, plan: Plan, project: string | null): ChangePlan | SvcError {
  const nobody = { caller: { id: 'svc', name: 'svc' }, origin: 'api' as const }
  try {
    return declared.changes.commit(nobody, (edit) => stagePlan(edit, project, plan), true).plan
  } catch (error) {
    if (error instanceof SvcError) return error
    throw error
  }
}

/** Stages what a plan makes, for who asks what comes of it. @throws SvcError faulty_plan */
export function stagingOfPlan(
  declared: Declared,
  given: unknown,
  project: string | null,
): (edit: Edit) => void {
  const { plan, problems } = checkNow(declared, given, { project, withSecrets: false })
  if (problems.length) fail('faulty_plan', sentenceOfProblems(problems))
  return (edit) => void stagePlan(edit, project, withStandIns(plan))
}

/** A plan as it is kept: secrets that were typed into it are not. */
export function keptPlan(declared: Declared, plan: Plan): string {
  const { connectors } = worldOf(new Edit(declared.kinds, () => undefined), null)
  return JSON.stringify(withoutSecrets(plan, connectors))
}

/*
 * What applying a plan makes, staged as one edit: the project, its sources, the tools that are on,
 * skills, triggers, agents, and what wakes whom. Nothing is written here.
 */

/**
 * @param draft id of the draft that becomes the project; null: a new one.
 * @returns id of the project. @throws SvcError, naming the object
 */
export function stagePlan(edit: Edit, draft: string | null, plan: Plan): string {
  const id = draft ?? newProjectId(edit)
  const { draft: _draft, ...before } = draft
    ? projectOf(edit, draft)
    : { template: CUSTOM_TEMPLATE, uses: {} }
  putProject(edit, id, { ...before, name: plan.name, goal: plan.goal, setup: true })
  const make = (kind: PartKind, name: string, exists: boolean, doc: () => Doc) =>
    naming(kind, name, () => {
      if (exists) {
        edit.require(kind, name)
        joinProject(edit, kind, name, id, false)
        return
      }
      if (kind !== 'skill') checkName(kind, name)
      stageNew(edit, kind, name, doc(), id)
    })
  for (const { existing, name, connector, poll, config } of plan.watches)
    make('source', name, existing, () =>
      normaliseSource({ connector, config, ...(poll ? { poll } : {}) }, undefined),
    )
  for (const { enabled, existing, name, url } of plan.tools)
    if (enabled) make('mcp_server', name, existing, () => ({ ...normaliseMcpServer({ url }) }))
  for (const { enabled, existing, name, ...skill } of plan.skills)
    if (enabled) make('skill', name, existing, () => ({ ...normaliseSkill(skill) }))
  for (const wake of plan.wakes)
    make('trigger', wake.name, false, () => ({ ...normaliseTrigger(specOf(wake)) }))
  for (const agent of plan.agents)
    if (agent.enabled)
      make('agent', agent.name, agent.existing, () => ({ ...normaliseAgent(agentSpecOf(agent, plan)) }))
  putProject(edit, id, wired(projectOf(edit, id), plan))
  return id
}

/** Who looks first is on; who only takes over is woken by nothing else. */
function wired(project: ProjectDoc, { agents }: Plan): ProjectDoc {
  const on = new Set(agents.filter(({ enabled }) => enabled).map(({ name }) => name))
  let doc = project
  for (const { name, trigger, handoffs } of agents) {
    if (!on.has(name)) continue
    if (trigger) doc = withWake(doc, trigger, name, true)
    for (const { verdict, agent, cooldown } of normaliseHandoffs(name, handoffs))
      if (on.has(agent)) doc = withHandoff(doc, name, verdict, agent, cooldown!)
  }
  return doc
}

/** A refusal says which object it is about. */
function naming(kind: PartKind, name: string, stage: () => void): void {
  try {
    stage()
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    throw new SvcError(error.code, `${kindWord(kind)} ${name}: ${error.message}`, error.extra)
  }
}

/**
 * What applying a plan makes, staged as one edit: the project, its sources, the tools that are on,
 * skills, triggers, agents, and what wakes whom. Nothing is written here.
 */
import type { Plan } from '../../schemas/types.ts'
import { type Doc, kindWord, type PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { checkName, join, stageNew } from '../declared/write.ts'
import { SvcError } from '../errors.ts'
import { normaliseAgent, normaliseHandoffs } from '../parts/agent-spec.ts'
import { normaliseMcpServer } from '../parts/mcp-server-spec.ts'
import { normaliseTrigger } from '../parts/trigger-spec.ts'
import { normaliseSkill } from '../skills/skill-rules.ts'
import { normaliseSource } from '../sources/check-write.ts'
import {
  CUSTOM_TEMPLATE,
  newProjectId,
  type ProjectDoc,
  projectOf,
  putProject,
} from '../wiring/project-doc.ts'
import { withHandoff, withWake } from '../wiring/wires.ts'
import { agentSpecOf } from './check/agents.ts'
import { specOf } from './check/wakes.ts'

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
        join(edit, kind, name, id, false)
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

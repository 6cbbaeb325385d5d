/**
 * The check of a plan: the plan as applying would take it, and what keeps it from being applied, each
 * at its card. Pure and without a model. Checking a checked plan changes nothing.
 * `checkNow` checks one against the instance as it is, with what applying them would make.
 */
import { ownField } from '../../../schemas/fields-of.ts'
import { kindWord } from '../../../schemas/kinds.ts'
import type {
  AgentSpec,
  ChangePlan,
  Connector,
  Label,
  Plan,
  PlanAgent,
  PlanProblem,
  PlanSkill,
  PlanTool,
  PlanWake,
  PlanWatch,
  SetupChecked,
  TriggerSpec,
} from '../../../schemas/types.ts'
import { isSchedule } from '../../../schemas/words.ts'
import { normaliseAgent, normaliseHandoffs } from '../../documents/agent.ts'
import { normaliseMcpServer } from '../../documents/mcp-server.ts'
import { checkSkillName, normaliseSkill } from '../../documents/skill.ts'
import { normaliseTrigger } from '../../documents/trigger.ts'
import { fail, SvcError } from '../../errors.ts'
import { type Doc, documentOf, Edit, type PartKind } from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  newProjectId,
  type ProjectDoc,
  projectOf,
  projectsOf,
  putProject,
  withHandoff,
  withWake,
} from '../../model/project.ts'
import { isReference, maskAddresses } from '../../net/address-secrets.ts'
import { redactCredentials } from '../../net/redact.ts'
import { normaliseSource } from '../../sources/config-secrets.ts'
import { describeConnectors } from '../../sources/connectors/index.ts'
import { checkName, type Declared, joinProject, stageNew } from '../declared.ts'
import { checkGoal, checkProjectName, nameFault } from '../projects/project-spec.ts'
import {
  declaredBeside,
  freeName,
  isFields,
  leftOutOf,
  type NamedSection,
  readPlan,
  turnKnobs,
  withFreeNames,
  withSentences,
} from './plan.ts'

interface Checked {
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
  problems.push(...leftOutOf(given))
  if (!plan.goal) report('plan', 'goal is required: what it is for, in one line')
  else heeding(report, 'plan', () => checkGoal(plan.goal))
  if (!plan.name) report('plan', 'name is required: the name of the project')
  else heeding(report, 'plan', () => checkProjectName(plan.name))
  plan = { ...plan, watches: checkWatches(plan, world, withSecrets, report) }
  plan = { ...plan, wakes: checkWakes(plan, world, report) }
  plan = { ...plan, tools: checkTools(plan, world, report), skills: checkSkills(plan, world, report) }
  plan = { ...plan, agents: checkAgents(plan, world, report) }
  return { plan: withSentences(plan, (kind) => ownField(world.connectors, kind)), problems }
}

function checkWho(given: unknown, report: Report): void {
  const who = isFields(given) ? given.who : undefined
  if (who !== undefined && who !== 'svc' && who !== 'own') report('plan', 'who must be svc or own')
}

/** A plan as it is kept, and shown to a model: without fields that hold a secret, and what looks like one in texts and addresses. */
function withoutSecrets(plan: Plan, connectors: SetupWorld['connectors']): Plan {
  return {
    ...plan,
    watches: plan.watches.map((watch) => {
      const secret = new Set(
        (ownField(connectors, watch.connector)?.fields ?? [])
          .filter((field) => field.secret)
          .map(({ name }) => name),
      )
      const config = Object.entries(watch.config).filter(
        ([name, value]) => !secret.has(name) || isReference(value),
      )
      return { ...watch, config: maskAddresses(Object.fromEntries(config)) }
    }),
    tools: plan.tools.map((tool) => ({ ...tool, url: maskAddresses(tool.url) })),
    agents: plan.agents.map((agent) => ({ ...agent, prompt: redactCredentials(agent.prompt) })),
    skills: plan.skills.map((skill) => ({ ...skill, body: redactCredentials(skill.body) })),
    notes: plan.notes.map(redactCredentials),
  }
}

/* Who looks: the agents of a plan, or the person's own. */

const AGENTS_MAX = 3
const KEY_NAME_MAX = 64

/** @returns the agents in canonical form; none where the person's own agent looks. */
function checkAgents(plan: Plan, world: SetupWorld, report: Report): PlanAgent[] {
  if (plan.who === 'own') {
    checkOwn(plan, world, report)
    return []
  }
  const agents = plan.agents.map(withVerdicts)
  if (agents.length > AGENTS_MAX)
    report('agents', `there are ${agents.length} agents; at most ${AGENTS_MAX} are in a plan`)
  if (!agents.some(({ trigger, enabled }) => trigger && enabled))
    report(
      'agents',
      `no agent looks first: ${agents.length ? 'name the trigger that wakes one' : 'add one, and name the trigger that wakes it'}`,
    )
  tellDuplicates(report, 'agents', agents)
  for (const agent of agents) checkAgent(agent, { ...plan, agents }, world, report)
  return agents
}

function checkOwn({ own_agent: own }: Plan, world: SetupWorld, report: Report): void {
  if (!own?.name) {
    report('own_agent', 'name is required: the findings of your agent carry it')
    return
  }
  if (own.name.length > KEY_NAME_MAX) report('own_agent', `name must have at most ${KEY_NAME_MAX} characters`)
  if (world.has('agent', own.name))
    report('own_agent', `${own.name} is the name of an agent of this service; take another`)
}

/** A verdict that somebody takes over on is one it may give. */
function withVerdicts(agent: PlanAgent): PlanAgent {
  if (agent.existing) return agent
  const known = new Set(agent.verdicts.map(({ verdict }) => verdict))
  const more = [...new Set(agent.handoffs.map(({ verdict }) => verdict))].filter(
    (verdict) => verdict !== '' && !known.has(verdict),
  )
  return { ...agent, verdicts: [...agent.verdicts, ...more.map((verdict) => ({ verdict }))] }
}

function checkAgent(agent: PlanAgent, plan: Plan, world: SetupWorld, report: Report): void {
  const where = `agents.${agent.key}`
  if (agent.existing && !world.has('agent', agent.name))
    report(where, `no agent is named ${agent.name || 'nothing'}; take one that is here`)
  if (agent.trigger && !plan.wakes.some(({ name }) => name === agent.trigger))
    report(where, `trigger ${agent.trigger} is not in the plan; add it under Wakes when`)
  heeding(report, where, () => normaliseHandoffs(agent.name, agent.handoffs))
  for (const { agent: to } of agent.handoffs)
    if (!plan.agents.some(({ name }) => name === to))
      report(
        where,
        to ? `handoffs: agent ${to} is not in the plan` : 'handoffs: name the agent that takes over',
      )
  if (agent.existing) return
  heeding(report, where, () => checkName('agent', agent.name))
  if (!agent.prompt) report(where, 'prompt is required: what the agent is told')
  for (const server of agent.mcp_servers)
    if (!plan.tools.some(({ name }) => name === server))
      report(where, `mcp_servers: ${server} is not among the tools of the plan`)
  heeding(report, where, () => normaliseAgent(agentSpecOf(agent, plan)))
}

/** What an agent of the plan is, as it is declared. Tools that are off are none of it. */
function agentSpecOf(
  { prompt, model, verdicts, mcp_servers }: PlanAgent,
  { tools }: Pick<Plan, 'tools'>,
): AgentSpec {
  const on = new Set(tools.filter(({ enabled }) => enabled).map(({ name }) => name))
  const servers = mcp_servers.filter((name) => on.has(name))
  return {
    prompt: prompt || '-',
    ...(model ? { model } : {}),
    // What it found is shown by its verdict: it always says one.
    concludes: true,
    ...(verdicts.length ? { verdicts } : {}),
    ...(servers.length ? { mcp_servers: servers } : {}),
  }
}

/* Tools and know-how of a plan. */

const SKILLS_MAX = 2

function checkTools(plan: Plan, world: SetupWorld, report: Report): PlanTool[] {
  tellDuplicates(report, 'tools', plan.tools)
  for (const { key, name, url, enabled, existing } of plan.tools) {
    const where = `tools.${key}`
    if (existing) {
      if (!world.has('mcp_server', name)) report(where, `no MCP server is named ${name || 'nothing'}`)
      continue
    }
    heeding(report, where, () => checkName('mcp_server', name))
    if (url) heeding(report, where, () => normaliseMcpServer({ url }))
    else if (enabled) report(where, 'url is required to turn it on')
  }
  return plan.tools
}

function checkSkills(plan: Plan, world: SetupWorld, report: Report): PlanSkill[] {
  tellDuplicates(report, 'skills', plan.skills)
  if (plan.skills.length > SKILLS_MAX)
    report('skills', `there are ${plan.skills.length} skills; at most ${SKILLS_MAX} are in a plan`)
  return plan.skills.map((skill) => {
    const where = `skills.${skill.key}`
    if (skill.existing) {
      if (!world.has('skill', skill.name)) report(where, `no skill is named ${skill.name || 'nothing'}`)
      return skill
    }
    heeding(report, where, () => checkSkillName(skill.name))
    return { ...skill, ...(heeding(report, where, () => normaliseSkill(skill)) ?? {}) }
  })
}

/* Problems as a check finds them. */

type Report = (where: string, message: string) => void

/** The value, or null with the rule that was broken told at its place. */
function heeding<T>(report: Report, where: string, rule: () => T): T | null {
  try {
    return rule()
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    report(where, error.message)
    return null
  }
}

/** Tells of each name that is there twice, at the second. */
function tellDuplicates(
  report: Report,
  section: string,
  rows: readonly { key: string; name: string }[],
): void {
  const seen = new Set<string>()
  for (const { key, name } of rows) {
    if (name !== '' && seen.has(name))
      report(`${section}.${key}`, `name: another one of the plan is named ${name}`)
    seen.add(name)
  }
}

/** One sentence of all problems, as a refusal says them. */
export const sentenceOfProblems = (problems: readonly PlanProblem[]): string =>
  `the plan cannot be applied: ${problems.map(({ where, message }) => `${where}: ${message}`).join('; ')}`

/* The triggers of a plan. */

const COOLDOWN = '5m'
const OF_NUMBERS = ['sum', 'avg', 'max', 'min', 'any']

/** Only what is sent to these carries no label but those its source declares. */
const DECLARES_ALL = ['webhook', 'http_poll']

function checkWakes(plan: Plan, world: SetupWorld, report: Report): PlanWake[] {
  if (plan.wakes.length === 0) report('wakes', 'nothing wakes anybody: add a trigger')
  tellDuplicates(report, 'wakes', plan.wakes)
  return plan.wakes.map((wake) => checkWake(withNumbers(wake), plan, world, report))
}

function withNumbers(wake: PlanWake): PlanWake {
  const { condition, cooldown } = wake
  const isOwnTime = 'every' in condition || 'cron' in condition
  return { ...wake, ...turnKnobs({ condition, cooldown: isOwnTime ? '' : cooldown || COOLDOWN }, wake.knobs) }
}

function checkWake(wake: PlanWake, plan: Plan, world: SetupWorld, report: Report): PlanWake {
  const where = `wakes.${wake.key}`
  heeding(report, where, () => checkName('trigger', wake.name))
  if (Array.from(wake.description ?? '').length > 160)
    report(where, 'description has more than 160 characters')
  if (wake.sources.length === 0) report(where, 'it watches nothing: name a source of the plan')
  for (const source of wake.sources)
    if (!plan.watches.some(({ name }) => name === source))
      report(where, `source ${source} is not in the plan; add it under Watches`)
  const spec = heeding(report, where, () => normaliseTrigger(specOf(wake)))
  if (!spec) return wake
  tellNoNumber(wake, plan, world, report)
  return {
    ...wake,
    condition: { ...spec.condition },
    filters: spec.filters ?? [],
    cooldown: isSchedule(spec.condition) ? '' : wake.cooldown,
  }
}

/** What a trigger of the plan is, as it is declared. */
function specOf(wake: PlanWake): TriggerSpec {
  const { sources, filters, key_field, condition, cooldown, description } = wake
  return {
    ...(description ? { description } : {}),
    // An empty list is told by the plan's own rule, and would hide what else is wrong.
    sources: sources.length ? sources : ['none'],
    condition: documentOf('trigger', { condition }).condition,
    ...(filters.length ? { filters } : {}),
    ...(key_field ? { key_field } : {}),
    ...(cooldown ? { cooldown } : {}),
    ...declaredBeside(wake),
  }
}

/** An aggregate over a label that is no number would never trip. */
function tellNoNumber(
  { key, condition, sources }: PlanWake,
  plan: Plan,
  world: SetupWorld,
  report: Report,
): void {
  const field = condition.field
  if (typeof field !== 'string' || field.startsWith('payload.')) return
  if (!OF_NUMBERS.includes(String(condition.aggregate))) return
  const watched = plan.watches.filter(({ name }) => sources.includes(name))
  const labels = watched.flatMap(({ existing, name, config }) =>
    existing ? (world.source(name)?.labels ?? []) : labelsIn(config),
  )
  const declared = labels.filter(({ name }) => name === field)
  if (declared.some(({ type }) => type === 'number')) return
  if (declared.length === 0 && !watched.every(({ connector }) => DECLARES_ALL.includes(connector))) return
  report(
    `wakes.${key}`,
    `condition.field ${field} must be a label of type number of a source it watches, or payload. and a path`,
  )
}

/** Labels of a config that was not checked yet. Entries that are not objects are left out: the connector's check reports them. */
const labelsIn = ({ labels }: PlanWatch['config']): Partial<Label>[] =>
  Array.isArray(labels) ? labels.filter(isFields) : []

/* The sources of a plan: their connectors, configs and the secrets that are still to be entered. */

/** Named by what stands for a secret that is not entered yet while the rest is checked; no variable of anybody's. */
export const STAND_IN_NAME = 'SVC_SECRET_NOT_ENTERED'
const STAND_IN = `\${${STAND_IN_NAME}}`

/** @param withSecrets whether what cannot be made without its secret is a problem. */
function checkWatches(plan: Plan, world: SetupWorld, withSecrets: boolean, report: Report): PlanWatch[] {
  if (plan.watches.length === 0)
    report('watches', 'nothing is watched: add a source, or use one that is here already')
  tellDuplicates(report, 'watches', plan.watches)
  return plan.watches.map((watch) =>
    watch.existing ? existingWatch(watch, world, report) : newWatch(watch, world, withSecrets, report),
  )
}

function existingWatch(watch: PlanWatch, world: SetupWorld, report: Report): PlanWatch {
  const found = world.source(watch.name)
  if (!found)
    report(`watches.${watch.key}`, `no source is named ${watch.name || 'nothing'}; take one that is here`)
  return { ...watch, connector: found?.connector ?? watch.connector, needs: 'none', secrets: [] }
}

function newWatch(watch: PlanWatch, world: SetupWorld, withSecrets: boolean, report: Report): PlanWatch {
  const where = `watches.${watch.key}`
  const known = ownField(world.connectors, watch.connector)
  if (!known) {
    const fault = watch.connector ? `${watch.connector} is not known` : 'is required'
    report(where, `connector ${fault}; there are ${Object.keys(world.connectors).join(', ')}`)
    return { ...watch, needs: 'none', secrets: [] }
  }
  heeding(report, where, () => checkName('source', watch.name))
  const open = secretsOf(known, watch.config)
  const missing = open.filter(({ required }) => required)
  const doc = heeding(report, where, () => normalise(watch, known, missing))
  if (withSecrets)
    // Forms show its label, files and calls its name.
    for (const { field, label = field, help } of missing) {
      const called = label === field ? field : `${label} (${field})`
      report(where, `${called} is required: ${help.replace(`${label}: `, '').replace(/\.$/, '')}`)
    }
  const isPush = known.mode === 'push'
  return {
    ...watch,
    ...(doc ?? {}),
    // Events come to it without a credential of ours.
    secrets: isPush ? [] : open,
    needs: isPush ? 'send' : missing.length ? 'credential' : 'none',
    sample: isPush ? watch.sample : null,
  }
}

function secretsOf(known: Connector, config: Record<string, unknown>): PlanWatch['secrets'] {
  return known.fields
    .filter(({ name, secret }) => secret && !config[name])
    .map(({ name, label = name, help, required }) => ({ field: name, label, help, required }))
}

/** Poll and config in canonical form, without what stands in. @throws SvcError */
function normalise(
  { connector, poll, config }: PlanWatch,
  known: Connector,
  missing: readonly { field: string }[],
): Pick<PlanWatch, 'poll' | 'config'> {
  const stoodIn = Object.fromEntries(missing.map(({ field }) => [field, STAND_IN]))
  const isPoll = known.mode === 'poll'
  const given = { connector, config: { ...config, ...stoodIn }, ...(isPoll && poll ? { poll } : {}) }
  const { config: canonical } = normaliseSource(given, undefined) as { config?: Record<string, unknown> }
  const kept = Object.entries(canonical ?? {}).filter(([name]) => !(name in stoodIn))
  return { config: Object.fromEntries(kept), poll: isPoll ? poll : null }
}

/** A plan whose sources could be made: what stands in for a secret is never written. */
function withStandIns(plan: Plan): Plan {
  return {
    ...plan,
    watches: plan.watches.map((watch) => {
      const missing = watch.secrets.filter(({ required }) => required)
      const stoodIn = Object.fromEntries(missing.map(({ field }) => [field, STAND_IN]))
      return { ...watch, config: { ...watch.config, ...stoodIn } }
    }),
  }
}

/* What a check knows of the instance: read once, so that the check itself reads nothing. */

export interface SetupWorld {
  connectors: Readonly<Record<string, Connector>>
  /** A source that is there. */
  source(name: string): { connector: string; labels: Label[] } | undefined
  has(kind: PartKind, name: string): boolean
  /** Whether another project has that name. */
  isProject(name: string): boolean
}

/** @param project the draft whose plan is checked; null: a project that is new. */
function worldOf(edit: Edit, project: string | null): SetupWorld {
  const names = new Set([...projectsOf(edit)].filter(([id]) => id !== project).map(([, { name }]) => name))
  return {
    connectors: describeConnectors(),
    source: (name) => {
      const doc = edit.get('source', name)
      if (!doc) return undefined
      const { labels } = (doc.config ?? {}) as { labels?: Label[] }
      return { connector: String(doc.connector), labels: labels ?? [] }
    },
    has: (kind, name) => edit.has(kind, name),
    isProject: (name) => names.has(name) || nameFault(name) !== null,
  }
}

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

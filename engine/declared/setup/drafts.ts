/** Drafts of guided setup: begun from a goal, planned again, edited, stopped (SPEC.md, Project lifecycle). */
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  Connector,
  Label,
  Plan,
  PlanProblem,
  Project,
  SetupDraft,
  SetupReplan,
} from '../../../schemas/types.ts'
import { ModelFault } from '../../agents/models/types.ts'
import { markerOf } from '../../agents/runs/prompt.ts'
import { fail } from '../../errors.ts'
import { acceptedBy, advance } from '../../log/lifecycle.ts'
import { linesOf } from '../../log/timeline/inspect-pages.ts'
import { CUSTOM_TEMPLATE, newProjectId, type ProjectDoc, projectOf, putProject } from '../../model/project.ts'
import type { Declared, WriteBy } from '../declared.ts'
import { moveDraft, PLANNING, type SetupRow, setupQueries, showStep } from '../projects/follow.ts'
import { checkDescription, checkGoal, checkProjectName } from '../projects/project-spec.ts'
import { freeName, projectNamed, unusedName } from '../projects/project-writes.ts'
import { requireProject } from '../skill-writes.ts'
import { checkNow, checkWhole, keptPlan } from './check.ts'
import { isFields } from './plan.ts'

export interface DraftParts {
  declared: Declared
  /** @throws ModelFault when there is no model to plan with */
  requireModel(): Promise<void>
  /** After a commit that left a draft to be planned, or one whose planning is over. */
  onPending(): void
}

/** A project made by guided setup, with its row. */
export interface OfSetup {
  id: string
  doc: ProjectDoc
  row: SetupRow
}

const NAME_MAX = 60

/** @throws SvcError not_found, also for a project that was made in another way */
export function requireSetup(declared: Declared, word: string): OfSetup {
  const id = requireProject(declared, word)
  const doc = declared.kinds.project.find(id)!.doc
  const row =
    setupQueries(declared.store.db).byId(id) ??
    fail('not_found', `project ${doc.name} was not made by guided setup`)
  return { id, doc, row }
}

/** @throws SvcError not_found, also for a project that was made in another way; wrong_state for one that is set up */
export function requireDraft(declared: Declared, word: string): OfSetup {
  const found = requireSetup(declared, word)
  const { doc, row } = found
  if (!doc.draft)
    fail('wrong_state', `project ${doc.name} is set up already; its plan is applied`, {
      ...{ state: row.state, accepts: acceptedBy('draft', row.snapshot) },
    })
  return found
}

/**
 * @param seen version that the caller saw; undefined: any, the last write wins
 * @throws SvcError not_found; wrong_state once it is applied, or while it is being planned; conflict for another version
 */
export function requireDraftAtRest(declared: Declared, word: string, seen?: number): OfSetup {
  const found = requireDraft(declared, word)
  const { doc, row } = found
  if (PLANNING.includes(row.state))
    fail('wrong_state', `draft ${doc.name} is being planned; wait until it is, or stop it`, {
      ...{ state: row.state, accepts: acceptedBy('draft', row.snapshot) },
    })
  requireVersion(found, seen)
  return found
}

/** A plan is of one piece: what two wrote is not put together. @throws SvcError conflict */
export function requireVersion({ doc, row }: OfSetup, seen: number | undefined): void {
  if (seen === undefined || seen === row.version) return
  fail(
    'conflict',
    `the setup of ${doc.name} was changed since you looked: it is version ${row.version} and not ${seen}; read it again`,
    { field: 'If-Match' },
  )
}

/**
 * Begins a draft: its plan is written in the background, or is the one that was written by hand.
 * @throws SvcError invalid; conflict when the name is taken; wrong_state without a model to plan with
 */
export async function startDraft(parts: DraftParts, body: SetupDraft, by: WriteBy): Promise<Project> {
  const { declared, onPending } = parts
  const { store, clock } = declared
  const goal = checkGoal(body.goal) ?? fail('invalid', 'goal is required', { field: 'goal' })
  const description = checkDescription(body.description)
  const given = body.name?.trim() ? checkProjectName(body.name) : null
  if (!body.plan) await heedModel(parts)
  const id = store.tx(() => {
    const { result } = declared.changes.commit(by, (edit) => {
      const made = newProjectId(edit)
      putProject(edit, made, {
        name: given ? freeName(edit, given) : unusedName(edit, shortened(goal)),
        template: CUSTOM_TEMPLATE,
        goal,
        ...(description ? { description } : {}),
        uses: {},
        draft: true,
        setup: true,
      })
      return made
    })
    setupQueries(store.db).insert(result, body.who ?? 'svc', given !== null)
    if (!body.plan) return result
    const { name } = declared.kinds.project.find(result)!
    moveDraft(store.db, { id: result, name }, { type: 'interrupted' }, clock.now())
    keepPlan(declared, requireSetup(declared, result), { who: body.who ?? 'svc', ...body.plan })
    return result
  })
  onPending()
  return projectNamed(declared, id)
}

/**
 * Plans a draft again, from a changed goal or by an instruction.
 * @throws SvcError not_found; wrong_state; invalid; conflict
 */
export async function planAgain(
  parts: DraftParts,
  word: string,
  body: SetupReplan,
  by: WriteBy,
): Promise<void> {
  const { declared, onPending } = parts
  const instruction = body.instruction?.trim() || null
  const goal = instruction ? undefined : checkGoal(body.goal)
  if (!instruction && !goal)
    fail('invalid', 'goal or instruction is required: what to plan, or what to change', { field: 'goal' })
  requireDraftAtRest(declared, word, by.base)
  await heedModel(parts)
  declared.store.tx(() => {
    const { id, doc, row } = requireDraftAtRest(declared, word, by.base)
    const { db } = declared.store
    const queries = setupQueries(db)
    const at = declared.clock.now()
    if (instruction && body.plan) savePlan(declared, { id, doc, row }, body.plan)
    if (instruction && !queries.byId(id)!.plan)
      fail('invalid', 'instruction: there is no plan to change yet; give a goal', { field: 'instruction' })
    if (goal && goal !== doc.goal)
      declared.changes.commit(by, (edit) => putProject(edit, id, { ...projectOf(edit, id), goal }))
    moveDraft(db, { id, name: doc.name }, { type: 'replan', who: body.who ?? row.who, instruction }, at)
    advance(db, { kind: 'project', id, name: doc.name }, 'plan', by.caller, at)
  })
  onPending()
}

/** Keeps an edited plan, checked; without the secrets that were typed into it. @throws SvcError not_found; wrong_state; conflict */
export function editPlan(declared: Declared, word: string, plan: unknown, by: WriteBy): void {
  declared.store.tx(() => {
    const of = requireDraftAtRest(declared, word, by.base)
    if (!keepPlan(declared, of, plan)) return
    const { id, doc } = of
    const { store, clock } = declared
    advance(store.db, { kind: 'project', id, name: doc.name }, 'edit', by.caller, clock.now())
  })
}

/** Stops the planning of a draft; what it had so far stays. @throws SvcError not_found; wrong_state */
export function stopPlanning(parts: DraftParts, word: string, by: WriteBy): void {
  const { declared, onPending } = parts
  const { store, clock } = declared
  store.tx(() => {
    const { id, doc, row } = requireSetup(declared, word)
    if (!PLANNING.includes(row.state))
      fail('wrong_state', `draft ${doc.name} is not being planned`, {
        state: row.state,
        accepts: acceptedBy('draft', row.snapshot),
      })
    // On an open instance nobody has a name.
    const reason = by.caller.id === 'open' ? 'it was stopped' : `${by.caller.name} stopped it`
    moveDraft(store.db, { id, name: doc.name }, { type: 'interrupted', reason }, clock.now())
  })
  onPending()
}

/** @returns whether it is another one than before; inside the caller's transaction. */
function keepPlan(declared: Declared, of: OfSetup, given: unknown): boolean {
  const { id, doc } = of
  const { store, clock } = declared
  const before = of.row.plan
  const problems = savePlan(declared, of, given)
  moveDraft(store.db, { id, name: doc.name }, { type: 'edit', problems }, clock.now())
  return setupQueries(store.db).byId(id)!.plan !== before
}

/** @returns how many problems it has. */
function savePlan(declared: Declared, { id, doc, row }: OfSetup, given: unknown): number {
  const named = isFields(given) && !given.name ? { ...given, name: doc.name } : given
  const { plan, problems } = checkNow(declared, named, {
    project: id,
    goal: doc.goal ?? '',
    withSecrets: false,
  })
  const queries = setupQueries(declared.store.db)
  const kept = keptPlan(declared, plan)
  if (kept !== row.plan) queries.savePlan(id, kept, plan.who)
  return problems.length
}

/** Without a model nothing can be planned; what to set is said: the request is right, and the instance is not ready. @throws SvcError wrong_state */
async function heedModel({ requireModel }: DraftParts): Promise<void> {
  try {
    await requireModel()
  } catch (error) {
    if (!(error instanceof ModelFault)) throw error
    fail('wrong_state', `a plan cannot be written: ${error.message}; or write the plan by hand`)
  }
}

function shortened(goal: string): string {
  if (goal.length <= NAME_MAX) return goal.replace(/[.!?]+$/, '')
  const cut = goal.slice(0, NAME_MAX)
  return `${cut.slice(0, Math.max(20, cut.lastIndexOf(' ')))}…`
}

/*
 * Planning as the store sees it. The planner keeps nothing that rows do not: each of its writes names the
 * planning it is of, and is refused once that one is over, so that one that was stopped, asked for again
 * or deleted meanwhile changes nothing.
 */

/** A planning: of which project, and which time it was asked for. */
export interface PlanningId {
  project: string
  attempt: number
}

export interface PlanningJob extends PlanningId {
  goal: string
  description: string
  who: 'svc' | 'own'
  /** What to change in `plan`; null: it is planned from the goal. */
  instruction: string | null
  plan: Plan | null
  facts: PlanningFacts
  /** Fences what other systems recorded. */
  marker: string
}

/** What a model proposed. */
export interface Proposal {
  plan: object
  /** Why there is none, in a sentence; null: there is one. */
  fault: string | null
}

interface Settled {
  problems: PlanProblem[]
  isOver: boolean
  /** Whether there is something in the plan. */
  isUsable: boolean
}

export interface PlanningPort {
  /**
   * Takes up what waits to be planned, and ends what a stopped daemon left in the middle.
   * @param underWay plannings that somebody follows already.
   * @returns those to begin, and those of `underWay` that are over.
   */
  claimPlannings(underWay: readonly PlanningId[]): Promise<{ begin: PlanningJob[]; over: PlanningId[] }>
  /** Notes a sub-step. @throws SvcError wrong_state when the planning is over */
  planningStep(of: PlanningId, step: { look: string } | 'write'): Promise<void>
  /**
   * Notes that its model is waited for, or no longer: null. One wait is one sub-step, however often it is asked again.
   * @throws SvcError wrong_state when the planning is over
   */
  planningWait(of: PlanningId, words: string | null): Promise<void>
  /**
   * Checks and keeps what a model proposed. @returns what is to be fixed, and whether the planning is over
   * @param best plan that it proposed before, kept where its last one has more problems; null: none
   * @throws SvcError wrong_state when the planning is over
   */
  proposePlan(of: PlanningId, given: Proposal, best: object | null): Promise<Settled>
  /** Ends a planning that cannot go on; one that is over already stays as it is. */
  failPlanning(of: PlanningId, reason: string, noProvider: boolean): Promise<void>
}

const names: Record<keyof PlanningPort, true> = {
  claimPlannings: true,
  planningStep: true,
  planningWait: true,
  proposePlan: true,
  failPlanning: true,
}

/** Names of the calls, for what passes them on to the writer thread. */
export const planningPortNames = Object.keys(names) as (keyof PlanningPort)[]

const WAITS = 'Waiting for the model: '
const WAITED = 'The model was waited for, and answers again'

/** @param secret of the instance, for markers nobody outside can make up */
export function planningPort(declared: Declared, secret: string): PlanningPort {
  const { store, clock, kinds } = declared
  const { db } = store
  const queries = setupQueries(db)

  const docOf = (id: string) => kinds.project.find(id)!.doc
  const move = (row: SetupRow, event: { type: string; [key: string]: unknown }) =>
    moveDraft(db, { id: row.id, name: docOf(row.id).name }, event, clock.now())
  const show = (id: string, text: string) => showStep({ queries, id, at: clock.now() }, text)

  /** @throws SvcError wrong_state */
  function current({ project, attempt }: PlanningId): SetupRow {
    const row = queries.byId(project)
    if (row && row.attempt === attempt && PLANNING.includes(row.state)) return row
    return fail('wrong_state', 'this planning is over', {
      state: row?.state ?? 'discarded',
      accepts: row ? acceptedBy('draft', row.snapshot) : [],
    })
  }

  function jobOf(row: SetupRow): PlanningJob {
    const doc = docOf(row.id)
    const facts = factsOf(declared)
    queries.dropSteps(row.id)
    queries.claim(row.id)
    show(row.id, `Reading what is here: ${countsOf(facts)}`)
    return {
      project: row.id,
      attempt: row.attempt,
      goal: doc.goal ?? '',
      description: doc.description ?? '',
      who: row.who,
      instruction: row.instruction,
      plan: row.plan ? (JSON.parse(row.plan) as Plan) : null,
      facts,
      marker: markerOf(secret, `setup ${row.id} ${row.attempt}`),
    }
  }

  return {
    claimPlannings: async (underWay) =>
      store.tx(() => {
        const rows = queries.planning()
        const isSame = (row: SetupRow) => (of: PlanningId) =>
          of.project === row.id && of.attempt === row.attempt
        const begin: PlanningJob[] = []
        for (const row of rows) {
          if (underWay.some(isSame(row))) continue
          // One that was taken up and is followed by nobody was cut off with the daemon.
          if (row.claimed === row.attempt) move(row, { type: 'interrupted' })
          else begin.push(jobOf(row))
        }
        return { begin, over: underWay.filter((of) => !rows.some((row) => isSame(row)(of))) }
      }),

    planningStep: async (of, given) =>
      store.tx(() => {
        move(current(of), given === 'write' ? { type: 'write' } : { type: 'look', source: given.look })
      }),

    planningWait: async (of, words) =>
      store.tx(() => {
        const row = current(of)
        const isWaiting = queries.running(row.id)?.startsWith(WAITS)
        const text = words === null ? WAITED : `${WAITS}${words}`
        if (isWaiting) queries.retell(row.id, text)
        else if (words !== null) show(row.id, text)
      }),

    proposePlan: async (of, given, best) =>
      store.tx(() => {
        const row = current(of)
        // It proposed at once, without having looked at anything.
        if (!acceptedBy('draft', row.snapshot).includes('check')) move(row, { type: 'write' })
        move(row, { type: 'check' })
        return settle(row, given, best)
      }),

    failPlanning: async (of, reason, noProvider) =>
      store.tx(() => {
        const row = queries.byId(of.project)
        if (!row || row.attempt !== of.attempt || !PLANNING.includes(row.state)) return
        move(row, { type: 'fail', reason, no_provider: noProvider })
      }),
  }

  function settle(row: SetupRow, given: Proposal, best: object | null): Settled {
    const isLast = fixRounds(row) >= FIX_ROUNDS
    const now = checked(row, given, isLast)
    const before =
      isLast && best !== null && now.faults.length > 0
        ? checked(row, { plan: best, fault: null }, isLast)
        : null
    const isBetter = before !== null && (!now.isUsable || before.faults.length < now.faults.length)
    const { plan, problems, faults, isUsable } = isBetter ? before : now
    if (isUsable) queries.savePlan(row.id, keptPlan(declared, plan), row.who)
    const over = { problems, isOver: true, isUsable }
    if (faults.length === 0) {
      move(row, { type: 'pass' })
      return over
    }
    if (!isUsable && isLast) {
      move(row, { type: 'fail', reason: EMPTY })
      return over
    }
    move(row, { type: 'problems', problems: faults.length })
    return queries.byId(row.id)!.state === 'fixing' ? { problems: faults, isOver: false, isUsable } : over
  }

  function checked(row: SetupRow, { plan: given, fault }: Proposal, isLast: boolean) {
    const doc = docOf(row.id)
    const { plan, problems, changes } = checkWhole(declared, asProposed(given, row, doc.name), {
      project: row.id,
      goal: doc.goal ?? '',
      withSecrets: false,
    })
    // A trigger that cannot fire could be applied: the model is told once more, a person beside the plan.
    const warnings = isLast ? [] : (changes?.warnings ?? [])
    const found = [...problems, ...warnings.map((message) => ({ where: 'plan', message }))]
    const faults = fault === null ? found : [{ where: 'plan', message: fault }]
    return { plan, problems, faults, isUsable: fault === null && !isEmpty(plan) }
  }
}

/** Who looks, and a name that the person gave, are not the model's to choose; its numbers are in the text. */
function asProposed(given: object, { who, named }: SetupRow, name: string): object {
  const plan = isFields(given) ? given : {}
  const wakes = Array.isArray(plan.wakes) ? plan.wakes.filter(isFields) : []
  return {
    ...plan,
    who,
    ...(named ? { name } : {}),
    wakes: wakes.map((wake) => ({ ...wake, knobs: [] })),
  }
}

/** As the machine counts them (machines/draft.ts). */
const FIX_ROUNDS = 3
const EMPTY = 'the model wrote no plan that can be used; say the goal in other words, or choose another model'

const fixRounds = ({ snapshot }: SetupRow): number =>
  (JSON.parse(snapshot) as { context: { fix_rounds?: number } }).context.fix_rounds ?? 0

/** A plan that watches nothing and wakes nobody. One that only leaves out who is to look is a person's to complete. */
const isEmpty = ({ watches, wakes }: Plan): boolean => watches.length === 0 && wakes.length === 0

/* What a model is told of the instance before it plans: names and shapes, never a value of a config. */

interface PlanningFacts {
  sources: { name: string; connector: string; labels: string[]; primary: string | null; events: number }[]
  agents: string[]
  tools: { name: string; host: string }[]
  skills: { name: string; description: string }[]
  triggers: string[]
  /** How many more of each there are than are named. */
  left: Record<'agents' | 'tools' | 'skills' | 'triggers', number>
}

const LISTED_MAX = 100

function factsOf({ sources, kinds }: Declared): PlanningFacts {
  return {
    sources: sources
      .live()
      .filter(({ connector }) => !connector.internal)
      .map(({ name, connector, config }) => {
        const labels = (config.labels ?? []) as Label[]
        return {
          name,
          connector: connector.kind,
          labels: labels.map((label) => label.name),
          primary: labels.find((label) => label.primary)?.name ?? null,
          events: sources.store.queries.byName(name)?.events ?? 0,
        }
      }),
    agents: namesOf(kinds.agent.list()),
    tools: kinds.mcp_server
      .list()
      .slice(0, LISTED_MAX)
      .map(({ name, doc }) => ({ name, host: hostOf(String(doc.url)) })),
    skills: kinds.skill
      .list()
      .slice(0, LISTED_MAX)
      .map(({ name, doc }) => ({ name, description: String(doc.description ?? '').slice(0, 200) })),
    triggers: namesOf(kinds.trigger.list()),
    left: {
      agents: leftOf(kinds.agent.list()),
      tools: leftOf(kinds.mcp_server.list()),
      skills: leftOf(kinds.skill.list()),
      triggers: leftOf(kinds.trigger.list()),
    },
  }
}

const leftOf = (all: readonly unknown[]): number => Math.max(0, all.length - LISTED_MAX)

const namesOf = (all: readonly { name: string }[]): string[] =>
  all.slice(0, LISTED_MAX).map(({ name }) => name)

/** An address may hold a credential in its path. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** "3 sources, 1 agent". */
function countsOf({ sources, agents, tools, skills, triggers }: PlanningFacts): string {
  const parts = [
    count(sources.length, 'source'),
    count(triggers.length, 'trigger'),
    count(agents.length, 'agent'),
    count(tools.length, 'MCP server'),
    count(skills.length, 'skill'),
  ].filter((part) => part !== '')
  return parts.length ? parts.join(', ') : 'nothing yet'
}

const count = (n: number, word: string): string => (n === 0 ? '' : countWords(n, word))

/** No default and no choice of a secret is told. */
export function connectorsText(connectors: Record<string, Connector>): string {
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
}

/** What to say of those that are left out of a list. */
export const moreOf = (left: number, noun: string, how = ', which are not named here'): string[] =>
  left > 0 ? [`and ${countWords(left, `more ${noun}`)}${how}`] : []

const SOURCES_TOKENS = 5_000

/** As many as an answer holds; how to find the others is said. */
export function sourcesText(
  { facts }: Pick<PlanningJob, 'facts'>,
  { contains }: Record<string, unknown>,
): string {
  const wanted = typeof contains === 'string' ? contains.trim().toLowerCase() : ''
  const all = facts.sources.filter(({ name }) => name.toLowerCase().includes(wanted))
  const told = all.map((source) => JSON.stringify(source))
  const { lines } = linesOf(told, 0, SOURCES_TOKENS)
  const left = moreOf(all.length - lines.length, 'source', ': call again with contains, a part of the name')
  return [...lines, ...left].join('\n') || 'none'
}

/** A run of the past as a scenario, of what the run could read: shown first, and given away when somebody asks. */
import { grouped } from '../../schemas/grouped.ts'
import type { RunDetail, ScenarioAsk, ScenarioFile, ScenarioPreview } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { RunReads } from '../runs/run-reads.ts'
import type { ReadContext } from '../timeline/context.ts'
import { projectScope } from '../timeline/project-scope.ts'
import type { TriggerReads } from '../triggers/reads.ts'
import { guessedFaults, statedFaults } from './fitness.ts'
import { type Frozen, type FrozenRow, freezeRun, proposedCauses } from './freeze.ts'
import type { Incident } from './incident.ts'
import type { ScenarioReads } from './scenario-reads.ts'
import type { OpenEngine } from './world.ts'

/** Of the past of a firing so much is taken, ms; of events at most so many, the newest of them. */
const BACK_MS = 36 * 3_600_000
const EVENTS_MAX = 100_000
const PAGE = 2_000
const SOURCES_MAX = 100
/** Bytes. */
const FILE_MAX = 20_000_000
/** Characters of an event's text in what is shown. */
const TEXT = 200
/** Events up to which scripted agents run over a scenario here: some seconds of one processor, and 100 MB. */
const RUN_MAX = 20_000

type Reads = Pick<RunReads, 'getRun' | 'readFor'> & Pick<TriggerReads, 'getFiring'>

/** @param open gives an engine of its own in memory, in which a scenario is checked */
export function createScenarioReads(
  ctx: ReadContext,
  reads: Reads,
  open: () => Promise<OpenEngine>,
): ScenarioReads {
  async function make(id: string, asked: ScenarioAsk) {
    const run = await reads.getRun(id)
    const asOf = run.as_of ?? fail('conflict', `run ${id} was not started: it read nothing`)
    const firedAt = Date.parse(
      (run.dispatch_id === null ? null : (await reads.getFiring(run.dispatch_id)).fired_at) ?? asOf,
    )
    const rows = await readAll(run, asOf, firedAt)
    const { causes, from } =
      asked.causes === undefined ? proposedCauses(run) : { causes: asked.causes, from: 'asked' as const }
    const frozen = freezeRun({
      ...{ id, entity: run.key, firedAt, rows, causes, effects: asked.effects ?? [], keep: asked.keep ?? [] },
      cited: run.claims.flatMap(({ events }) => events),
    })
    return { frozen, from, rows }
  }

  /** Oldest first; without findings, which would tell the answer. */
  async function readAll(run: RunDetail, as_of: string, firedAt: number): Promise<FrozenRow[]> {
    const sources = namesOf(run.projects)
    const rows: FrozenRow[] = []
    let cursor: string | null = null
    while (sources.length > 0) {
      const page = await reads.readFor(run.projects, {
        ...{ sources, order: 'desc', limit: PAGE, points: 'all', as_of },
        from: new Date(firedAt - BACK_MS).toISOString(),
        to: new Date(firedAt).toISOString(),
        ...(cursor === null ? {} : { cursor }),
      } as Parameters<RunReads['readFor']>[1])
      for (const row of page.rows) if (!row.reference && row.event_type !== 'finding') rows.push(row)
      cursor = page.next_cursor
      if (cursor === null || rows.length >= EVENTS_MAX) break
    }
    return rows.reverse()
  }

  function namesOf(projects: readonly string[]): string[] {
    ctx.names.refresh()
    const members = projects.length ? new Set(projectScope(ctx.db, ctx.names, projects).members) : null
    const names = [...ctx.names.all()]
      .filter(({ deleted, sourceType, id }) =>
        members ? members.has(id) : !deleted && sourceType !== 'finding',
      )
      .map(({ name }) => name)
    if (names.length > SOURCES_MAX)
      fail('invalid', `the run reads ${names.length} sources; a scenario is made of ${SOURCES_MAX} at most`)
    return names
  }

  return {
    previewScenario: async (id, asked) => {
      const { frozen, from, rows } = await make(id, asked)
      const fitness = from === 'none' ? NOT_CHECKED : await fitnessOf(frozen, open)
      return { ...previewOf(frozen, { from, events: rows.length }), ...fitness }
    },
    scenarioOfRun: async (id, asked) => {
      const { frozen, from } = await make(id, asked)
      if (from === 'none')
        fail('invalid', 'causes: no cause is known of this run; say which events show it', {
          field: 'causes',
        })
      const bytes = bytesOf(frozen)
      if (bytes > FILE_MAX)
        fail('invalid', `the scenario has ${bytes} bytes; at most ${FILE_MAX} are allowed`)
      return fileOf(frozen)
    },
  }
}

const fileOf = ({ truth, events }: Frozen): ScenarioFile => ({ version: 1, truth, events }) as ScenarioFile

const bytesOf = (frozen: Frozen): number => Buffer.byteLength(JSON.stringify(fileOf(frozen)))

type Fitness = Pick<ScenarioPreview, 'checked' | 'unfit'>

const NOT_CHECKED: Fitness = { checked: 'none', unfit: [] }

/** What svc evals check says of it; of one too large to be run over here, what is seen without that. */
async function fitnessOf({ truth, events }: Frozen, open: () => Promise<OpenEngine>): Promise<Fitness> {
  const incident: Incident = { truth, events }
  if (events.reduce((sum, { count = 1 }) => sum + count, 0) > RUN_MAX)
    return { checked: 'first_message', unfit: [...statedFaults(incident, {}, 0), ...guessedFaults(incident)] }
  const { checkPack } = await import('./check.ts')
  const pack = { incidents: [{ id: truth.id, load: () => incident }], noise: {} }
  const unfit = await checkPack(await open(), pack, { noise: 0 })
  return { checked: 'runs', unfit: unfit.map(({ why }) => why) }
}

function previewOf(
  frozen: Frozen,
  { from, events }: { from: CauseFrom; events: number },
): Omit<ScenarioPreview, keyof Fitness> {
  const { truth, causes, replaced } = frozen
  return {
    ...{ id: truth.id, entity: truth.entity, fired_at: truth.fired_at, cause_from: from, events },
    causes: causes.map((some) => some.map(({ id, text }) => ({ id, text: text.slice(0, TEXT) }))),
    kept: frozen.events.length,
    bytes: bytesOf(frozen),
    sources: [...grouped(frozen.events, ({ source }) => source)].map(([source, some]) => ({
      source,
      events: some.reduce((sum, { count = 1 }) => sum + count, 0),
    })),
    replaced: Object.entries(replaced).map(([kind, names]) => ({ kind, names })),
  }
}

type CauseFrom = ScenarioPreview['cause_from']

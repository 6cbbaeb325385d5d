/** What a change would have done, as doors ask for it: of a catalog file, operations, a proposal or a plan of guided setup. */
import type { ExportedEvents, PlanBacktest, PlanBacktestRequest } from '../../schemas/types.ts'
import type { Tell } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { stagingOfFile } from '../declared/catalog/apply.ts'
import type { Declared } from '../declared/declared.ts'
import { stageOperations } from '../declared/operations.ts'
import { stagingOfProposal } from '../declared/proposals.ts'
import { stagingOfPlan } from '../declared/setup/checking.ts'
import { requireProject } from '../declared/skill-writes.ts'
import type { WriteBy } from '../declared/write.ts'
import { fail } from '../errors.ts'
import type { Snapshot } from '../log/steps.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { parseInstant } from '../log/timeline/plan.ts'
import type { Edit } from '../model/documents.ts'
import { parseDuration } from '../model/units.ts'
import { forecast } from './forecast.ts'
import { type ExportAsked, exportEvents, type Recorded } from './recorded.ts'
import { worldsOf } from './worlds.ts'

const WINDOW_DEFAULT = '7d'
const NOBODY: WriteBy = { caller: { id: 'backtest', name: 'backtest' }, origin: 'api' }

export interface ForecastCalls {
  /**
   * What a change would have done over stored events; nothing is written.
   * @param compares whether the caller may learn if a secret is the stored one. @param told hears how far it is
   * @param recorded events in place of those that are stored; not for doors
   * @throws SvcError invalid; not_found; conflict; faulty_plan
   */
  backtestChange(
    body: PlanBacktestRequest,
    compares?: boolean,
    told?: Tell,
    recorded?: Recorded,
  ): Promise<PlanBacktest>
  /** A page of stored events, redacted, for a file. @throws SvcError invalid; not_found */
  exportEvents(asked: ExportAsked): Promise<ExportedEvents>
}

interface CallsParts {
  declared: Declared
  ctx: ReadContext
  clock: Clock
  snapshot: Snapshot
}

export function forecastCalls({ declared, ctx, clock, snapshot }: CallsParts): ForecastCalls {
  return {
    exportEvents: (asked) => exportEvents({ ctx, clock, snapshot }, asked),
    backtestChange: async (body, compares = true, told = () => {}, recorded = undefined) => {
      const stage = stagingOf(declared, body, compares)
      const composed = (edit: Edit) => {
        stage(edit)
        return edit
      }
      const { result: edit } = declared.changes.commit(NOBODY, composed, true)
      const worlds = worldsOf(ctx.db, declared.kinds, edit)
      const now = clock.now()
      const to = body.to === undefined ? now : Math.min(now, parseInstant(body.to, 'to'))
      const from = to - parseDuration(body.window ?? WINDOW_DEFAULT, 'window')
      return forecast({ ctx, snapshot, told, recorded }, worlds, { from, to })
    },
  }
}

function stagingOf(declared: Declared, body: PlanBacktestRequest, compares: boolean): (edit: Edit) => void {
  const { yaml, operations, base, proposal, plan, project } = body
  if ([yaml, operations, proposal, plan].filter((given) => given !== undefined).length !== 1)
    fail('invalid', 'give exactly one of yaml, operations, proposal and plan', { field: 'yaml' })
  if (yaml !== undefined) return stagingOfFile(declared, { ...body, yaml }, compares)
  if (operations) return (edit) => stageOperations(declared, edit, operations, base)
  if (proposal !== undefined) return stagingOfProposal(declared, proposal)
  return stagingOfPlan(declared, plan, project === undefined ? null : requireProject(declared, project))
}

/** Plans checked against the instance as it is, with what applying them would make. */
import type { ChangePlan, Plan, PlanProblem, SetupChecked } from '../../schemas/types.ts'
import { Edit } from '../changes/edit.ts'
import type { Declared } from '../declared/declared.ts'
import { SvcError } from '../errors.ts'
import { checkPlan, withoutSecrets } from './check/check-plan.ts'
import { STAND_IN_NAME, withStandIns } from './check/watches.ts'
import { worldOf } from './check/world.ts'
import { stagePlan } from './stage.ts'

export interface OfDraft {
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

/** A plan as it is kept: secrets that were typed into it are not. */
export function keptPlan(declared: Declared, plan: Plan): string {
  const { connectors } = worldOf(new Edit(declared.kinds, () => undefined), null)
  return JSON.stringify(withoutSecrets(plan, connectors))
}

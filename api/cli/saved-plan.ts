/**
 * A plan in a file: what a review read is what is applied, or nothing. It holds the catalog it was made
 * from, how it is applied, and the fingerprint that the daemon knows the plan by; never a secret, since
 * only a catalog without one in plain text is saved.
 */
import type { CatalogChecked, CatalogImport, ChangePlan, PlanBacktest } from '../../schemas/types.ts'
import { version } from '../version.ts'
import { CliError, EXIT } from './exit.ts'

/** Of this form; a later one that reads otherwise counts up. */
const FORM = 1

/** How a plan is made and applied. */
export type PlanOptions = Pick<
  CatalogImport,
  'prune' | 'strict' | 'allow_empty' | 'max_deletions' | 'name' | 'file' | 'others' | 'merge' | 'ours'
>

export interface SavedPlan {
  svc_plan: number
  made_by: string
  options: PlanOptions
  fingerprint: string
  plan: ChangePlan
  /** What it would have done, where that was asked for. */
  backtest?: PlanBacktest
  /** The catalog file. */
  catalog: string
}

/** The plan as text. @throws CliError 65 when the file holds a secret in plain text */
export function savedPlanText(
  file: string,
  catalog: string,
  options: PlanOptions,
  { warnings, plan, fingerprint, backtest }: CatalogChecked,
): string {
  const secrets = warnings.filter(({ code }) => code === 'plain_secret')
  if (secrets.length)
    throw new CliError(
      `a saved plan holds its catalog, and this one has a secret in plain text: ${secrets
        .map(({ file: own = file, line, path }) => `${own}:${line} ${path}`)
        .join(', ')}; refer to a variable instead`,
      EXIT.data,
      { problems: secrets },
    )
  const saved: SavedPlan = {
    svc_plan: FORM,
    made_by: `svc ${version}`,
    options,
    fingerprint: fingerprint!,
    plan: plan!,
    ...(backtest ? { backtest } : {}),
    catalog,
  }
  return `${JSON.stringify(saved, null, 2)}\n`
}

/** A saved plan; null: the text is none, but a catalog. @throws CliError 65 for one that cannot be read */
export function readSavedPlan(file: string, text: string): SavedPlan | null {
  if (!/^\s*\{\s*"svc_plan"/.test(text)) return null
  const saved = parsed(text)
  if (saved === null || typeof saved.catalog !== 'string' || typeof saved.fingerprint !== 'string')
    throw new CliError(`${file} is a saved plan that was cut or edited; make it again`, EXIT.data)
  if (saved.svc_plan !== FORM)
    throw new CliError(`${file} is a plan saved by ${saved.made_by}; make it again with this one`, EXIT.data)
  return saved
}

function parsed(text: string): SavedPlan | null {
  try {
    return JSON.parse(text) as SavedPlan
  } catch {
    // Cut in the middle: the caller says so.
    return null
  }
}

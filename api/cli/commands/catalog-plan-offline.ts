/** `svc catalog plan A B --events FILE`: one file against another, on an engine that is thrown away. */
import type { CatalogChecked } from '../../../schemas/types.ts'
import { problemsError } from '../catalog-text.ts'
import { usageError } from '../exit.ts'
import { readText } from '../files.ts'
import { readEvents } from '../recorded-events.ts'
import type { Io } from '../terminal.ts'

export interface OfflineFlags {
  events?: string
  backtest?: string
  strict?: boolean
}

const BY = { caller: { id: 'plan', name: 'plan' }, origin: 'catalog' as const }

/**
 * What the change from one file to the other would do, and with events what it would have done.
 * @throws CliError 65 with the problems of either file; 66
 */
export async function planBetween(
  io: Io,
  [base, changed]: readonly [base: string, changed: string],
  { events, backtest, strict = false }: OfflineFlags,
): Promise<{ yaml: string; checked: CatalogChecked }> {
  if (backtest !== undefined && events === undefined)
    throw usageError('--backtest of two files needs --events: no instance is asked')
  const { createEngine } = await import('../../../engine/local.ts')
  const recorded = events === undefined ? undefined : await readEvents(io, events)
  const now = recorded?.to ?? Date.now()
  const engine = createEngine({ dataFile: null, clock: { now: () => now }, env: io.env })
  try {
    const before = await readText(io, base)
    const { problems } = await engine.checkCatalog({ yaml: before })
    if (problems.length) throw problemsError(base, problems)
    await engine.importCatalog({ yaml: before }, BY)
    const yaml = await readText(io, changed)
    // What the second file lacks is what the change deletes, as far as there is.
    const whole = { prune: true, allow_empty: true, max_deletions: 1_000_000 }
    const checked = await engine.checkCatalog({ yaml, ...whole, ...(strict ? { strict } : {}) })
    if (!recorded || !checked.plan || checked.problems.length) return { yaml, checked }
    const window = backtest ?? `${Math.max(1, recorded.to - recorded.from) / 1_000}s`
    const answer = await engine.backtestChange({ yaml, prune: true, window }, true, undefined, recorded)
    const notes =
      recorded.sample < 100
        ? [
            `only ${recorded.sample} of a hundred entities are in the file: counts are of these`,
            ...answer.notes,
          ]
        : answer.notes
    return { yaml, checked: { ...checked, backtest: { ...answer, notes } } }
  } finally {
    await engine.close()
  }
}

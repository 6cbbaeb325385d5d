/** `svc catalog plan PATHS --base PATHS --events FILE`: files against files, on an engine that is thrown away. */
import type { CatalogChecked } from '../../../schemas/types.ts'
import { type InputFlags, readInput, withPlaces } from '../catalog-input.ts'
import { problemsError } from '../catalog-text.ts'
import { usageError } from '../exit.ts'
import { readEvents } from '../recorded-events.ts'
import type { Io } from '../terminal.ts'

interface OfflineFlags extends InputFlags {
  events?: string
  backtest?: string
  strict?: boolean
}

const BY = { caller: { id: 'plan', name: 'plan' }, origin: 'catalog' as const }

/**
 * What the change from some files to others would do, and with events what it would have done.
 * @param base files and folders as they are. @param changed as they are to be
 * @throws CliError 65 with the problems of either; 66
 */
export async function planBetween(
  io: Io,
  base: readonly string[],
  changed: readonly string[],
  { events, backtest, strict = false, ...flags }: OfflineFlags,
): Promise<CatalogChecked> {
  if (backtest !== undefined && events === undefined)
    throw usageError('--backtest with --base needs --events: no instance is asked')
  if (backtest !== undefined) requireWindow(backtest)
  const { createEngine } = await import('../../../engine/local.ts')
  const recorded = events === undefined ? undefined : await readEvents(io, events)
  const now = recorded?.to ?? Date.now()
  const engine = createEngine({ dataFile: null, clock: { now: () => now }, env: io.env })
  try {
    // A new catalog has no base files to compare with.
    const before = await readInput(io, base, { ...flags, allowEmpty: true })
    const { problems } = await engine.checkCatalog(before.texts)
    if (problems.length) throw problemsError(before.shown, problems.map(before.placed))
    await engine.importCatalog(before.texts, BY)
    const { texts, composed, placed } = await readInput(io, changed, flags)
    // What the changed files lack is what the change deletes, as far as there is.
    const whole = { prune: true, allow_empty: true, max_deletions: 1_000_000 }
    const answer = await engine.checkCatalog({ ...texts, ...whole, ...(strict ? { strict } : {}) })
    const checked = withPlaces(answer, composed, placed, strict)
    if (!recorded || !checked.plan || checked.problems.length) return checked
    const window = backtest ?? `${Math.max(1, recorded.to - recorded.from) / 1_000}s`
    const told = await engine.backtestChange({ ...texts, prune: true, window }, true, undefined, recorded)
    const notes =
      recorded.sample < 100
        ? [
            `only ${recorded.sample} of a hundred entities are in the file: counts are of these`,
            ...told.notes,
          ]
        : told.notes
    return { ...checked, backtest: { ...told, notes } }
  } finally {
    await engine.close()
  }
}

/** @throws CliError 64 */
export function requireWindow(backtest: string): void {
  if (!/^\d+(\.\d+)?[smhd]$/.test(backtest))
    throw usageError('--backtest must be a duration, such as 7d or 12h')
}

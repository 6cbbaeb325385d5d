/** Lists that come in pages: what is asked for, and how to go on. */
import { parseCount } from './labels.ts'
import { type Io, paint } from './terminal.ts'

/** The query of a list, without filters that are not given. @throws CliError 2 for a limit that is none. */
export function queryOf(
  { limit }: { limit: string },
  filters: Record<string, string | undefined>,
): URLSearchParams {
  const query = new URLSearchParams({ limit: String(parseCount(limit, '--limit')) })
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value)
  return query
}

/** Says on standard error that there is more. */
export function tellMore(io: Io, nextBefore: string | null): void {
  if (nextBefore !== null)
    io.err(paint(io, 'dim', `there are more; --before ${nextBefore} goes on with them\n`))
}

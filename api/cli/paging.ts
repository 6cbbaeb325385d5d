/** Lists that come in pages: what is asked for, and how to go on. */
import { parseCount } from './labels.ts'
import { type Io, paint } from './terminal.ts'

/** The query of a list, from its flags. @throws CliError 64 when --limit is not a positive number. */
export const queryOf = <F extends object>(
  { limit }: { limit: string },
  filters: F,
): F & { limit: number } => ({
  limit: parseCount(limit, '--limit'),
  ...filters,
})

/** Says on standard error that there is more. */
export function tellMore(io: Io, nextBefore: string | null): void {
  if (nextBefore !== null)
    io.err(paint(io, 'dim', `there are more; --before ${nextBefore} goes on with them\n`))
}

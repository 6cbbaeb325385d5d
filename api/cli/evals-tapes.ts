/** Tapes of `svc evals run`: folders of JSON files, one for each scenario, level of noise and agent. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TapeOf, Variant } from '../../engine/local.ts'
import { CliError, EXIT } from './exit.ts'
import { checkWritable } from './files.ts'
import { readTape, writeTape } from './tape-file.ts'

type Local = typeof import('../../engine/local.ts')
type Models = Extract<Variant['by'], { models: unknown }>['models']

/**
 * Who answers the runs of models: the provider, kept on tapes where `--record` says so, or the tapes of `--tapes`.
 * @returns null where only scripted agents can run
 * @throws CliError 66 where the folder of tapes is not there, 74 where none can be written to that of `--record`
 */
export function answersOf(
  { record, tapes }: { record?: string; tapes?: string },
  provider: { models: Models } | null,
  { recorded, replayed, tapeName }: Pick<Local, 'recorded' | 'replayed' | 'tapeName'>,
): Variant['by'] | null {
  if (tapes !== undefined) {
    if (!existsSync(tapes)) throw new CliError(`there is no folder of tapes ${tapes}`, EXIT.input)
    return {
      open: (of: TapeOf) => ({ models: replayed(readTape(join(tapes, tapeName(of))), tapeName(of)) }),
    }
  }
  if (provider === null || record === undefined) return provider && { models: provider.models }
  // Answers are paid for: that they cannot be kept is said before any is asked for.
  checkWritable(join(record, 'tape.json'), true)
  return {
    open: (of: TapeOf) => {
      const { models, tape } = recorded(provider.models, of)
      const file = join(record, tapeName(of))
      return { models, done: () => writeTape(file, tape()) }
    },
  }
}

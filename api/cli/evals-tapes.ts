/** Tapes of `svc evals run`: folders of JSON files, one for each scenario, level of noise and agent. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TapeFile, TapeOf, Variant } from '../../engine/local.ts'
import { CliError, EXIT } from './exit.ts'

type Local = typeof import('../../engine/local.ts')
type Models = Extract<Variant['by'], { models: unknown }>['models']

/**
 * Who answers the runs of models: the provider, kept on tapes where `--record` says so, or the tapes of `--tapes`.
 * @returns null where only scripted agents can run
 * @throws CliError 66 where the folder of tapes is not there
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
  mkdirSync(record, { recursive: true })
  return {
    open: (of: TapeOf) => {
      const { models, tape } = recorded(provider.models, of)
      const file = join(record, tapeName(of))
      return { models, done: () => writeFileSync(file, `${JSON.stringify(tape(), null, 1)}\n`) }
    },
  }
}

/** @returns null where there is none. @throws CliError 65 where it is no tape */
function readTape(file: string): TapeFile | null {
  if (!existsSync(file)) return null
  try {
    const tape = JSON.parse(readFileSync(file, 'utf8')) as TapeFile
    if (tape.version === 1 && Array.isArray(tape.calls)) return tape
  } catch {
    // Said below.
  }
  throw new CliError(`${file} is no tape of svc evals run --record`, EXIT.data)
}

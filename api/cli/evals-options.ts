/** What the commands of `svc evals` share: packs, and numbers in options. */
import type { Pack } from '../../engine/local.ts'
import { CliError, EXIT, usageError } from './exit.ts'

/** Bounds of what can be asked for. */
export const NOISE_MAX = 1_000_000

/** Name of the pack in reports, where no folder is given. */
export const OWN_PACK = 'the pack of svc'

export const NOISE_HELP =
  'how many background events are put around each scenario; several numbers, separated by commas, give several levels'
export const PACK_HELP = 'folder with scenarios. Default: the pack that is part of svc'

/**
 * The scenarios that a command is to work on.
 * @param folder of a pack; absent: the pack of svc
 * @param only ids of scenarios, separated by commas; absent: all
 * @param heldOut only those that are held out: for tuning an agent's prompt on the others
 * @throws CliError 66 where the folder holds no scenario, or none has one of the ids
 */
export async function openPack(folder: string | undefined, only?: string, heldOut?: boolean): Promise<Pack> {
  const { ownPack, readPack } = await import('../../engine/local.ts')
  const pack = folder === undefined ? ownPack() : read(readPack, folder)
  const wanted = only?.split(',').map((id) => id.trim())
  const unknown = wanted?.find((id) => !pack.incidents.some((one) => one.id === id))
  if (unknown !== undefined) throw new CliError(`the pack has no scenario ${unknown}`, EXIT.input)
  return {
    ...pack,
    incidents: pack.incidents.filter(
      (one) => (!wanted || wanted.includes(one.id)) && (!heldOut || one.heldOut === true),
    ),
  }
}

function read(readPack: (folder: string) => Pack, folder: string): Pack {
  try {
    return readPack(folder)
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.input)
  }
}

/**
 * Numbers that an option was given, such as `1000,6000`.
 * @param option its name, for the refusal
 * @throws CliError 64 where one is no whole number from `least` to `most`
 */
export function numbersIn(text: string, option: string, least: number, most: number): number[] {
  return text.split(',').map((word) => {
    const value = Number(word.trim())
    if (!/^\s*\d+\s*$/.test(word) || value < least || value > most)
      throw usageError(`${option} takes whole numbers from ${least} to ${most}, separated by commas`)
    return value
  })
}

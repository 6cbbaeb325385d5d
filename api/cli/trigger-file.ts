/**
 * A trigger from a file: a definition on its own, or one of the triggers of a catalog file. Only what
 * a trigger watches and when it trips is taken; the daemon checks it.
 */
import type { FieldsOf } from '../../schemas/fields-of.ts'
import type { TriggerDefinition } from '../../schemas/types.ts'
import type { Io } from './terminal.ts'
import { readDefinition } from './yaml-file.ts'

export interface FileTrigger {
  /** Null: the file does not say. */
  name: string | null
  definition: TriggerDefinition
}

/** What a trigger has beyond its definition: none of it changes when it trips. */
const BESIDE = new Set([
  ...['name', 'project', 'description', 'emit', 'paused'],
  ...['severity', 'severity_field', 'prevent_destroy', 'sync'],
])

/**
 * Reads JSON or YAML.
 * @param name of the trigger wanted, in a file of several.
 * @param env environment that a catalog is read with
 * @throws CliError 65 for a file without it, 64 where a name is needed
 */
export async function readTrigger(
  io: Io,
  file: string,
  name: string | undefined,
  env?: string,
): Promise<FileTrigger> {
  const trigger = await readDefinition(io, file, 'triggers', 'trigger', name, env)
  const fields = Object.entries(trigger).filter(([field]) => !BESIDE.has(field))
  return {
    name: typeof trigger.name === 'string' ? trigger.name : null,
    definition: Object.fromEntries(fields) as FieldsOf<TriggerDefinition>,
  }
}

/**
 * A trigger from a file: a definition on its own, or one of the triggers of a catalog file. Only what
 * a trigger watches and when it trips is taken; the daemon checks it.
 */
import type { TriggerDefinition } from '../../schemas/types.ts'
import { CliError, usageError } from './exit.ts'
import { readText } from './files.ts'
import { escapeLine } from './terminal.ts'

export interface FileTrigger {
  /** Null: the file does not say. */
  name: string | null
  definition: TriggerDefinition
}

type Fields = Record<string, unknown>

/** What a trigger has beyond its definition: none of it changes when it trips. */
const BESIDE = new Set(['name', 'project', 'description', 'emit', 'paused'])

/**
 * Reads JSON or YAML.
 * @param name of the trigger wanted, in a file of several.
 * @throws CliError 1 for a file without it, 2 where a name is needed
 */
export async function readTrigger(file: string, name: string | undefined): Promise<FileTrigger> {
  const root = await parse(file)
  if (!isFields(root)) throw new CliError(`${file} has no trigger: it is not a list of fields and values`)
  return 'triggers' in root ? ofCatalog(file, root.triggers, name) : alone(root)
}

function ofCatalog(file: string, triggers: unknown, name: string | undefined): FileTrigger {
  const all = Array.isArray(triggers) ? triggers.filter(isFields) : []
  if (name === undefined && all.length === 1) return alone(all[0]!)
  const names = escapeLine(all.map((trigger) => String(trigger.name)).join(', '))
  if (all.length === 0) throw new CliError(`${file} has no triggers`)
  if (name === undefined) throw usageError(`${file} has several triggers; name one of ${names}`)
  const found = all.find((trigger) => trigger.name === name)
  if (!found) throw new CliError(`${file} has no trigger ${name}; it has ${names}`)
  return alone(found)
}

function alone(trigger: Fields): FileTrigger {
  const fields = Object.entries(trigger).filter(([field]) => !BESIDE.has(field))
  return {
    name: typeof trigger.name === 'string' ? trigger.name : null,
    definition: Object.fromEntries(fields) as unknown as TriggerDefinition,
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** FILE:LINE:COLUMN: message, as `svc catalog check` tells it. */
async function parse(file: string): Promise<unknown> {
  const text = readText(file)
  // Only this command reads YAML: the others start without it.
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' })
  const [error] = document.errors
  try {
    if (!error) return document.toJS()
  } catch (fault) {
    // Aliases that grow without end, or that name no anchor.
    throw new CliError(`${file}: ${escapeLine((fault as Error).message)}`)
  }
  const { line, col } = lines.linePos(error.pos[0])
  throw new CliError(`${file}:${line}:${col}: ${escapeLine(error.message)}`)
}

/** Files of fields and values, JSON or YAML, as commands take definitions from them. */
import { CliError, EXIT, usageError } from './exit.ts'
import { readText } from './files.ts'
import { escapeLine, type Io } from './terminal.ts'

export type Fields = Record<string, unknown>

/**
 * One definition: the file itself, or of a catalog file that of a name; without a name the only one.
 * @param list field of a catalog file, such as `triggers`
 * @param what such as `trigger`
 * @throws CliError 65 for a file without it, 64 where a name is needed
 */
export async function readDefinition(
  io: Io,
  file: string,
  list: string,
  what: string,
  name: string | undefined,
): Promise<Fields> {
  const root = await parse(io, file)
  if (!isFields(root))
    throw new CliError(`${file} has no ${what}: it is not a list of fields and values`, EXIT.data)
  if (!(list in root)) return root
  const entries: unknown = root[list]
  const all = Array.isArray(entries) ? entries.filter(isFields) : []
  if (name === undefined && all.length === 1) return all[0]!
  const names = escapeLine(all.map((one) => String(one.name)).join(', '))
  if (all.length === 0) throw new CliError(`${file} has no ${list}`, EXIT.data)
  if (name === undefined) throw usageError(`${file} has several ${list}; name one of ${names}`)
  const found = all.find((one) => one.name === name)
  if (!found) throw new CliError(`${file} has no ${what} ${name}; it has ${names}`, EXIT.data)
  return found
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** FILE:LINE:COLUMN: message, as `svc catalog check` tells it. */
async function parse(io: Io, file: string): Promise<unknown> {
  const text = await readText(io, file)
  // Only this command reads YAML: the others start without it.
  const { LineCounter, parseDocument } = await import('./yaml.ts')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' })
  const [error] = document.errors
  try {
    if (!error) return document.toJS()
  } catch (fault) {
    // Aliases that grow without end, or that name no anchor.
    throw new CliError(`${file}: ${escapeLine((fault as Error).message)}`, EXIT.data)
  }
  const { line, col } = lines.linePos(error.pos[0])
  throw new CliError(`${file}:${line}:${col}: ${escapeLine(error.message)}`, EXIT.data)
}

/** Files of fields and values, JSON or YAML, as commands take definitions from them. */
import { CliError, EXIT, usageError } from './exit.ts'
import { readText } from './files.ts'
import { escapeLine, type Io } from './terminal.ts'

export type Fields = Record<string, unknown>

/**
 * One definition: the file itself, or of a catalog file that of a name; without a name the only one.
 * @param list field of a catalog file, such as `triggers`
 * @param what such as `trigger`
 * @param env environment whose files and values a catalog is read with
 * @throws CliError 65 for a file without it, 64 where a name is needed
 */
export async function readDefinition(
  io: Io,
  file: string,
  list: string,
  what: string,
  name: string | undefined,
  env?: string,
): Promise<Fields> {
  const root = await read(io, file, list, env)
  if (!isFields(root))
    throw new CliError(`${file} has no ${what}: it is not a list of fields and values`, EXIT.data)
  if (!(list in root)) {
    if (SAYS_MORE.test(JSON.stringify(root)))
      throw new CliError(
        `${file} is one ${what} by itself, and values and merge keys are of catalog files: put it under ${list}`,
        EXIT.data,
      )
    return root
  }
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

/** A merge key, or a value of an environment, which are read where a catalog is put together. */
const SAYS_MORE = /"<<":|\(\(\s*values\./
/** Fields at the top of a file of one part, and of one that others go with. */
const PUT_TOGETHER = ['kind', 'include', 'values', 'environment']

/** The file as it is; a catalog that has to be put together as `svc catalog check` does. @throws CliError 65, 66 */
async function read(io: Io, file: string, list: string, env: string | undefined): Promise<unknown> {
  const { isFolder } = await import('../../engine/files.ts')
  if (env === undefined && !isFolder(file)) {
    const root = await parse(io, file)
    const isWhole =
      !isFields(root) ||
      (!PUT_TOGETHER.some((field) => field in root) &&
        !(list in root && SAYS_MORE.test(JSON.stringify(root))))
    if (isWhole) return root
  }
  const { composeInput } = await import('./catalog-input.ts')
  const { catalog, problems } = await composeInput(io, [file], env === undefined ? {} : { env })
  if (catalog) return { [list]: [], ...catalog }
  const { problemsError } = await import('./catalog-text.ts')
  throw problemsError(file, problems)
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

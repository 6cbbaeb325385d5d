/** `svc catalog lint` and `svc catalog fmt`: rules over files, and their layout, without a daemon. */
import { type CatalogText, compose, readPath, UnreadablePath } from '../../../engine/files.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import { composeInput, type InputFlags } from '../catalog-input.ts'
import { problemsError } from '../catalog-text.ts'
import { CliError, EXIT } from '../exit.ts'
import { readText, STANDARD, writeText } from '../files.ts'
import { type Finding, type FindingFormat, findingsText } from '../findings-text.ts'
import { diffLines } from '../line-diff.ts'
import { escapeLine, type Io, paint, printText } from '../terminal.ts'

export interface LintFlags extends InputFlags {
  rules?: string[]
  strict?: boolean
  format?: FindingFormat
  json?: boolean
}

/** Exits with 1 when an error is found, or with --strict anything; 65 when the files have problems. */
export async function lintFiles(io: Io, paths: readonly string[], flags: LintFlags): Promise<void> {
  const [file = '.'] = paths
  const composed = await composeInput(io, paths, flags)
  if (composed.problems.length) throw problemsError(file, composed.problems)
  const { lintCatalog } = await import('../../../engine/local.ts')
  const given = (flags.rules ?? []).flatMap((path) => readable(() => readPath(path)))
  const own = compose({ roots: [{ name: 'rules', files: given }] }).rules
  const { findings, words, problems } = lintCatalog(composed, own)
  if (problems.length) throw problemsError(file, problems)
  const format = flags.json ? 'json' : (flags.format ?? 'text')
  const told: Finding[] = findings
  if (format === 'text') io.out(lintText(io, told))
  else io.out(findingsText(format, told, io.env, words))
  const isBad = told.some(({ severity }) => severity === 'error') || (flags.strict && told.length > 0)
  if (isBad) throw new CliError('', EXIT.failed)
}

const COLOURS = { error: 'red', warning: 'yellow', note: 'dim' } as const

function lintText(io: Io, findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ file, line, column, severity, rule, message }) =>
      `${escapeLine(file)}:${line}:${column}: ${paint(io, COLOURS[severity], severity)}: ${escapeLine(message)} [${rule}]\n`,
  )
  const count = (of: Finding['severity']) =>
    countWords(findings.filter(({ severity }) => severity === of).length, of)
  return `${lines.join('')}${count('error')}, ${count('warning')}, ${count('note')}\n`
}

export interface FormatFlags {
  check?: boolean
  diff?: boolean
}

/** Exits with 1 when --check or --diff finds a file that is laid out otherwise; 65 for one that is no YAML. */
export async function formatFiles(io: Io, paths: readonly string[], flags: FormatFlags): Promise<void> {
  const { formatCatalog } = await import('../../../engine/local.ts')
  const given = paths.length ? paths : ['.']
  const texts: CatalogText[] = []
  for (const path of given)
    texts.push(
      ...(path === STANDARD
        ? [{ path, text: await readText(io, STANDARD) }]
        : readable(() => readPath(path))),
    )
  const laid = texts.map((of) => ({ of, ...formatCatalog(of) }))
  const problems = laid.flatMap((one) => one.problems)
  if (problems.length) throw problemsError(given[0]!, problems)
  const changed = laid.filter(({ of, text }) => of.text !== text)
  const isLooking = flags.check || flags.diff
  for (const { of, text } of isLooking ? changed : laid) {
    if (flags.diff) printText(io, diffText(of, text))
    else if (flags.check) io.out(`${escapeLine(of.path)}\n`)
    else if (of.path === STANDARD) printText(io, text)
    else if (of.text !== text) {
      writeText(io, of.path, text)
      io.out(`${escapeLine(of.path)}\n`)
    }
  }
  if (!isLooking || changed.length === 0) return
  const said = `${changed.length === 1 ? '1 file is' : `${changed.length} files are`} laid out otherwise; "svc catalog fmt" lays ${changed.length === 1 ? 'it' : 'them'} out`
  throw new CliError(flags.check ? said : '', EXIT.failed)
}

function diffText({ path, text: before }: CatalogText, after: string): string {
  const hunks = diffLines(before.split('\n'), after.split('\n'))
  const shown = hunks.map((lines) => `@@\n${lines.map(({ mark, text }) => `${mark}${text}\n`).join('')}`)
  return `--- ${path}\n+++ ${path}\n${shown.join('')}`
}

function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UnreadablePath)) throw error
    throw new CliError(error.message, error.isText ? EXIT.data : EXIT.input)
  }
}

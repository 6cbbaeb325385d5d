/** What is wrong with files, in the forms that other tools read. */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CatalogProblem } from '../../schemas/types.ts'
import { type Environment, readVariable } from '../environment.ts'
import { version } from '../version.ts'
import { STANDARD, shownFile } from './files.ts'

export const FORMATS = ['text', 'json', 'sarif', 'github'] as const
export type FindingFormat = (typeof FORMATS)[number]
export type Severity = 'error' | 'warning' | 'note'

/** One thing that was found, at its place. */
export interface Finding {
  /** Id of the rule. */
  rule: string
  severity: Severity
  /** Empty: it is of no file. */
  file: string
  /** From 1. */
  line: number
  column: number
  end_line?: number
  end_column?: number
  path: string
  message: string
}

/** What a rule is about, by its id. */
export type RuleWords = Readonly<Record<string, string>>

/** A problem of a catalog as a finding. @param given file that it is in, where it names none */
export function findingOf(given: string, problem: CatalogProblem, severity: Severity): Finding {
  const { code, file = given, ...place } = problem
  return { rule: code ?? (severity === 'error' ? 'problem' : 'warning'), severity, ...place, file }
}

/**
 * @param env says where a workflow of GitHub checked the repository out: annotations and SARIF name files from there
 * @param words what rules are about
 * @returns text that ends with a line break, or nothing
 */
export function findingsText(
  format: Exclude<FindingFormat, 'text'>,
  findings: readonly Finding[],
  env: Environment,
  words: RuleWords = {},
): string {
  if (format === 'json') return `${JSON.stringify({ findings }, null, 2)}\n`
  const workspace = readVariable(env, 'GITHUB_WORKSPACE')
  const placed = findings.map((finding) => ({ ...finding, file: fromWorkspace(workspace, finding.file) }))
  if (format === 'github') return placed.map((finding) => `${annotation(finding)}\n`).join('')
  return `${JSON.stringify(sarif(placed, words), null, 2)}\n`
}

/** A file by its path in the repository, also where the command runs in a folder of it; others stay. */
function fromWorkspace(workspace: string | undefined, file: string): string {
  if (!file || workspace === undefined || shownFile(file) === shownFile(STANDARD)) return file
  const path = relative(workspace, resolve(file))
  return path.startsWith('..') || isAbsolute(path) ? file : path.split(sep).join('/')
}

/* SARIF 2.1.0 (OASIS), as code scanning reads it. */

const LEVELS = { error: 'error', warning: 'warning', note: 'note' } as const

function sarif(findings: readonly Finding[], words: RuleWords): object {
  const ids = [...new Set(findings.map(({ rule }) => rule))].sort()
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'svc',
            version,
            rules: ids.map((id) => ({ id, shortDescription: { text: words[id] ?? id } })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => resultOf(finding, ids)),
      },
    ],
  }
}

function resultOf(finding: Finding, ids: readonly string[]): object {
  const { rule, severity, file, line, column, end_line, end_column, path, message } = finding
  return {
    ruleId: rule,
    ruleIndex: ids.indexOf(rule),
    level: LEVELS[severity],
    message: { text: path ? `${path}: ${message}` : message },
    locations: [
      {
        physicalLocation: {
          // Code scanning takes no result without a place: what is of no file is of the folder.
          artifactLocation: { uri: uriOf(file || '.') },
          region: {
            startLine: line,
            startColumn: column,
            ...(end_line === undefined ? {} : { endLine: end_line }),
            ...(end_column === undefined ? {} : { endColumn: end_column }),
          },
        },
      },
    ],
  }
}

/** A path of a file as a reference: relative to where the command runs, where it is (RFC 3986). */
const uriOf = (file: string): string =>
  file.startsWith('/') ? pathToFileURL(file).href : file.split('/').map(encodeURIComponent).join('/')

/* Workflow commands of GitHub Actions: percent signs, line breaks and, in fields, colons and commas are escaped. */

const COMMANDS = { error: 'error', warning: 'warning', note: 'notice' } as const

function annotation({ severity, rule, file, path, message, ...place }: Finding): string {
  const { line, column, end_line = line, end_column } = place
  const at = { file, line, endLine: end_line, col: column }
  const fields = {
    ...(file ? at : {}),
    ...(file && end_column !== undefined && end_line === line ? { endColumn: end_column } : {}),
    title: rule,
  }
  const told = Object.entries(fields).map(([name, value]) => `${name}=${escaped(String(value), true)}`)
  return `::${COMMANDS[severity]} ${told.join(',')}::${escaped(path ? `${path}: ${message}` : message, false)}`
}

function escaped(text: string, isField: boolean): string {
  const plain = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  return isField ? plain.replaceAll(':', '%3A').replaceAll(',', '%2C') : plain
}

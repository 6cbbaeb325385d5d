/**
 * What a catalog may say, but should not: rules over what the files declare together, each switched off or made more
 * severe by `lint` in a file, and switched off by a comment where it is meant.
 */

import { ruleFaults } from '../../schemas/index.ts'
import { isKind, SECTION_OF } from '../../schemas/kinds.ts'
import type { Beside, Composed } from './compose.ts'
import { type LintRule, RULES } from './lint-rules.ts'
import {
  type CatalogText,
  type FileProblem,
  fieldOf,
  placeOf,
  plain,
  problemAt,
  textIn,
  type Value,
} from './nodes.ts'

export const SEVERITIES = ['off', 'note', 'warning', 'error'] as const
export type RuleSeverity = (typeof SEVERITIES)[number]

export interface LintFinding extends FileProblem {
  rule: string
  severity: LintRule['severity']
}

/**
 * @param composed catalog without problems
 * @param rules files of rules of a team's own beside those among the files
 * @returns findings in order of their places, what each rule is about, and problems of rules and of `lint`
 */
export function lintCatalog(
  composed: Composed,
  rules: readonly Beside[] = [],
): { findings: LintFinding[]; words: Record<string, string>; problems: FileProblem[] } {
  const problems: FileProblem[] = []
  const all = [...RULES, ...[...composed.rules, ...rules].flatMap((file) => ownRules(file, problems))]
  const known = new Map(all.map((rule) => [rule.id, rule]))
  const severities = severitiesOf(composed.lint, known, problems)
  const texts = new Map(composed.files.map((file) => [file.path, file]))
  const findings = all.flatMap((rule): LintFinding[] => {
    const severity = severities.get(rule.id) ?? rule.severity
    if (severity === 'off' || !composed.catalog) return []
    return rule.find(composed.catalog).flatMap(({ path, message }) => {
      const place = composed.locate(path)
      const part = composed.locate(path.slice(0, 2))
      const lines = part.file === place.file ? [place.line, part.line] : [place.line]
      if (isSwitchedOff(texts.get(place.file), lines, rule.id)) return []
      return [{ rule: rule.id, severity, ...place, path: '', message }]
    })
  })
  findings.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line)
  return { findings, words: Object.fromEntries(all.map(({ id, about }) => [id, about])), problems }
}

function severitiesOf(
  lint: readonly Beside[],
  known: ReadonlyMap<string, LintRule>,
  problems: FileProblem[],
): Map<string, RuleSeverity> {
  const severities = new Map<string, RuleSeverity>()
  for (const { value } of lint) {
    if (value.kind !== 'map') {
      problems.push(problemAt(value.spot, 'lint must be a map of rules to off, note, warning or error'))
      continue
    }
    for (const [id, field] of value.fields) {
      const severity = SEVERITIES.find((one) => one === plain(field.value))
      if (!known.has(id)) problems.push(problemAt(field.key, `no lint rule is called ${id}`))
      else if (!severity)
        problems.push(problemAt(field.value.spot, `must be one of ${SEVERITIES.join(', ')}`))
      else severities.set(id, severity)
    }
  }
  return severities
}

/** `# lint-off RULE` on a line or the one above it; `# lint-off-file RULE` anywhere in the file. */
function isSwitchedOff(file: CatalogText | undefined, lines: readonly number[], rule: string): boolean {
  if (!file?.text.includes('lint-off')) return false
  const text = file.text.split(/\r?\n/)
  const says = (line: string | undefined, word: string): boolean => {
    const said = new RegExp(`#\\s*${word}\\s+([\\w/.,-]+(?:\\s*,\\s*[\\w/.-]+)*)`).exec(line ?? '')?.[1]
    return said?.split(/\s*,\s*/).includes(rule) ?? false
  }
  if (text.some((line) => says(line, 'lint-off-file'))) return true
  return lines.some(
    (line) => says(text[line - 1], 'lint-off') || isAbove(text, line, (one) => says(one, 'lint-off')),
  )
}

/** Whether a line of the comment right above says it. */
function isAbove(text: readonly string[], line: number, says: (line: string) => boolean): boolean {
  for (let i = line - 2; i >= 0 && /^\s*#/.test(text[i]!); i--) if (says(text[i]!)) return true
  return false
}

/* Rules of a team's own: a JSON Schema that each part of a kind must fit. */

function ownRules({ value }: Beside, problems: FileProblem[]): LintRule[] {
  const rules = fieldOf(value, 'rules')
  if (rules?.kind !== 'list') {
    problems.push(problemAt(value.spot, 'rules must be a list of rules: id, for, message, schema'))
    return []
  }
  return rules.items.flatMap((rule) => ownRule(rule, problems) ?? [])
}

function ownRule(rule: Value, problems: FileProblem[]): LintRule | null {
  const id = textIn(rule, 'id')
  const kind = textIn(rule, 'for')
  const message = textIn(rule, 'message')
  const severity = textIn(rule, 'severity') ?? 'warning'
  const schema = fieldOf(rule, 'schema')
  const fault = !/^[a-z][a-z0-9/-]{1,63}$/.test(id ?? '')
    ? 'a rule has an id: lower-case letters, digits, dashes and slashes'
    : RULES.some((one) => one.id === id)
      ? `${id} is a rule of svc; choose another id`
      : !isKind(kind)
        ? `for must be one of ${Object.keys(SECTION_OF).join(', ')}`
        : !message
          ? 'a rule has a message, which says what is to be done'
          : !['note', 'warning', 'error'].includes(severity)
            ? 'severity must be one of note, warning, error'
            : schema?.kind !== 'map'
              ? 'a rule has a schema, the JSON Schema that each part must fit'
              : null
  if (fault) {
    problems.push(problemAt(rule.spot, fault))
    return null
  }
  const look = compiled(schema!, problems)
  if (!look || !isKind(kind)) return null
  const section = SECTION_OF[kind]
  return {
    ...{ id: id!, about: message!, severity: severity as LintRule['severity'] },
    find: (catalog) =>
      ((catalog[section] ?? []) as { name?: string }[]).flatMap((part, i) =>
        look(part)
          .slice(0, 1)
          .map(({ path, message: why }) => ({
            path: [section, i, ...path],
            message: `${part.name ?? kind}: ${message} (${why})`,
          })),
      ),
  }
}

function compiled(schema: Value, problems: FileProblem[]): ReturnType<typeof ruleFaults> | null {
  try {
    return ruleFaults(plain(schema) as object)
  } catch (error) {
    problems.push({ ...placeOf(schema.spot), path: '', message: `schema: ${(error as Error).message}` })
    return null
  }
}

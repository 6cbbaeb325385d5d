/**
 * What a catalog may say, but should not: rules over what the files declare together, each switched off or made more
 * severe by `lint` in a file, and switched off by a comment where it is meant.
 *
 * `formatText` lays a file out: two spaces, a part's name first, then its fields as the schemas list them. Comments,
 * the order of parts and what the file says stay.
 */

import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { ruleFaults } from '../../../schemas/index.ts'
import { isKind, SECTION_OF } from '../../../schemas/kinds.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import type { Catalog } from '../../../schemas/types.ts'
import type { Beside, Composed } from '../../gitops/compose.ts'
import {
  type CatalogText,
  type FileProblem,
  fieldOf,
  placeOf,
  plain,
  problemAt,
  readValue,
  textIn,
  type Value,
} from '../../gitops/nodes.ts'
import { orderedEntry, SECTIONS, type Section } from '../../gitops/render.ts'
import { asExported } from '../../gitops/values.ts'
import { entityFault, overlapsOf } from '../../log/entity-rules.ts'
import { equal } from '../../model/documents.ts'
import { isObject } from '../../model/merge.ts'
import { secretParts } from '../../net/address-secrets.ts'
import { connectorOf, hasConnector } from '../../sources/connectors/index.ts'
import { isOwnLabel, needsOfTrigger, ownLabelsOf } from '../../sources/health.ts'
import { isPlainAt, pathOfPlace, secretPlaces } from './import-run.ts'

export const SEVERITIES = ['off', 'note', 'warning', 'error'] as const
type RuleSeverity = (typeof SEVERITIES)[number]

interface LintFinding extends FileProblem {
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

/* The rules that svc brings: each says why in its message, and what to do. */

/** A rule over a whole catalog. */
interface LintRule {
  id: string
  severity: 'note' | 'warning' | 'error'
  /** What it is about, in a sentence. */
  about: string
  find(catalog: Catalog): { path: (string | number)[]; message: string }[]
}

type Path = (string | number)[]
interface Said {
  path: Path
  message: string
}
interface LabelSaid {
  name?: string
  type?: string
  primary?: boolean
}

/** Labels as the file lists them. An entry that is not an object counts as an empty label: `svc catalog apply` refuses it. */
const labelsOf = (config: unknown): LabelSaid[] => {
  const labels = (config as { labels?: unknown } | undefined)?.labels
  return Array.isArray(labels) ? labels.map((label) => (isObject(label) ? label : {})) : []
}

export const RULES: readonly LintRule[] = [
  {
    id: 'agent-without-budget',
    severity: 'warning',
    about: 'An agent has a budget, of one run or of its lifetime',
    find: ({ agents = [] }) =>
      agents.flatMap(({ name, budget_usd, run_budget_usd }, i) =>
        budget_usd || run_budget_usd
          ? []
          : [
              {
                path: ['agents', i, 'name'],
                message: `agent ${name} has no budget: give it run_budget_usd or budget_usd`,
              },
            ],
      ),
  },
  {
    id: 'agent-unreachable',
    severity: 'warning',
    about: 'Something wakes an agent, or hands over to it',
    find: (catalog) => {
      const reached = new Set([
        ...(catalog.agents ?? []).flatMap(({ handoffs = [] }) => handoffs.map(({ agent }) => agent)),
        ...(catalog.wiring ?? []).filter(isWired).map((row) => ('wake' in row ? row.agent : row.to)),
      ])
      return (catalog.agents ?? []).flatMap(({ name, trigger }, i) =>
        trigger || reached.has(name)
          ? []
          : [
              {
                path: ['agents', i, 'name'],
                message: `nothing wakes agent ${name}, and nobody hands over to it`,
              },
            ],
      )
    },
  },
  {
    id: 'trigger-unused',
    severity: 'warning',
    about: 'A trigger wakes an agent',
    find: (catalog) => {
      const used = new Set([
        ...(catalog.agents ?? []).flatMap(({ trigger }) => trigger ?? []),
        ...(catalog.wiring ?? []).filter(isWired).flatMap((row) => ('wake' in row ? row.wake : [])),
      ])
      return (catalog.triggers ?? []).flatMap(({ name }, i) =>
        used.has(name)
          ? []
          : [{ path: ['triggers', i, 'name'], message: `trigger ${name} wakes no agent of the catalog` }],
      )
    },
  },
  {
    id: 'source-without-primary-label',
    severity: 'warning',
    about: 'A source has a primary label: without one its events are of no entity',
    find: ({ sources = [] }) =>
      sources.flatMap(({ name, connector, config }, i) =>
        hasEntity(connector, labelsOf(config))
          ? []
          : [
              {
                path: ['sources', i, 'name'],
                message: `source ${name} has no primary label: mark one of its labels with primary: true`,
              },
            ],
      ),
  },
  {
    id: 'source-unused',
    severity: 'note',
    about: 'A trigger reads a source',
    find: ({ sources = [], triggers = [] }) => {
      const read = new Set(triggers.flatMap((trigger) => trigger.sources))
      return sources.flatMap(({ name }, i) =>
        read.has(name) ? [] : [{ path: ['sources', i, 'name'], message: `no trigger reads source ${name}` }],
      )
    },
  },
  {
    id: 'label-drift',
    severity: 'warning',
    about: 'One label has one name and one type in all sources',
    find: labelDrift,
  },
  {
    id: 'label-unknown',
    severity: 'warning',
    about: 'A label that a trigger goes by is one that its sources have',
    find: unknownLabels,
  },
  {
    id: 'verdict-unknown',
    severity: 'warning',
    about: 'A handoff is for a verdict that its agent may conclude with',
    find: unknownVerdicts,
  },
  {
    id: 'handoff-cycle',
    severity: 'warning',
    about: 'Agents do not hand over in a circle',
    find: handoffCycles,
  },
  {
    id: 'entity-overlap',
    severity: 'warning',
    about: 'No name is of two joined entities by their patterns',
    find: ({ entities = [] }) =>
      // What is wrong with one, or said by two, is a problem of the catalog.
      overlapsOf(entities.filter((one) => entityFault(one) === null)).map(({ name, of: [one, other] }) => ({
        path: ['entities', entities.findIndex((entity) => entity.name === other), 'is'],
        message: `a name such as ${name} would be of entity ${one} and of entity ${other}: ${one}, the first by its name, has it`,
      })),
  },
  { id: 'plain-secret', severity: 'error', about: 'A secret is a reference, not text', find: plainSecrets },
]

function hasEntity(connector: string, labels: readonly LabelSaid[]): boolean {
  if (labels.some(({ primary }) => primary === true) || !hasConnector(connector)) return true
  const kind = connectorOf(connector)
  const proposed = kind.mode === 'push' && labels.length === 0 ? (kind.labels ?? []) : []
  return proposed.some(({ primary }) => primary) || kind.provides.some(({ primary }) => primary)
}

/** Labels whose names differ only in how they are written, or that are a number in one source and text in another. */
function labelDrift({ sources = [] }: Catalog): Said[] {
  const first = new Map<string, { name: string; type: string; source: string }>()
  return sources.flatMap(({ name: source, config }, i) =>
    labelsOf(config).flatMap(({ name, type = 'string' }, n): Said[] => {
      if (typeof name !== 'string') return []
      const bare = name.toLowerCase().replaceAll(/[_.-]/g, '')
      const known = first.get(bare)
      if (!known) {
        first.set(bare, { name, type, source })
        return []
      }
      const path: Path = ['sources', i, 'config', 'labels', n]
      if (known.name !== name)
        return [{ path, message: `label ${name} of ${source} is called ${known.name} in ${known.source}` }]
      if (known.type === type) return []
      return [
        { path, message: `label ${name} of ${source} is ${type}, and ${known.type} in ${known.source}` },
      ]
    }),
  )
}

function unknownLabels({ sources = [], triggers = [] }: Catalog): Said[] {
  const byName = new Map(sources.map((source) => [source.name, source]))
  return triggers.flatMap((trigger, i) => {
    const own = trigger.sources.map((name) => ownLabelsOf(byName.get(name) ?? {}))
    if (own.some((labels) => labels === null)) return []
    const known = [...new Set(own.flatMap((labels) => labels ?? []))]
    return needsOfTrigger(trigger)
      .filter(({ label, isHidden }) => !isHidden && !isOwnLabel(label, known))
      .map(({ field, label }) => ({
        path: [
          'triggers',
          i,
          ...field
            .split(/[.[\]]/)
            .filter(Boolean)
            .map(asKey),
        ],
        message: `trigger ${trigger.name} goes by label ${label}, which none of its sources has${didYouMean(label, known)}`,
      }))
  })
}

const asKey = (part: string): string | number => (/^\d+$/.test(part) ? Number(part) : part)

const isWired = ({ wired }: NonNullable<Catalog['wiring']>[number]): boolean => wired !== false

function unknownVerdicts({ agents = [], wiring = [] }: Catalog): Said[] {
  const verdictsOf = new Map(
    agents.map(({ name, verdicts = [] }) => [
      name,
      verdicts.map((one) => (typeof one === 'string' ? one : one.verdict).toLowerCase()),
    ]),
  )
  const look = (agent: string, verdict: string, path: Path): Said[] => {
    const known = verdictsOf.get(agent) ?? []
    if (known.length === 0 || known.includes(verdict.toLowerCase())) return []
    const near = didYouMean(verdict.toLowerCase(), known)
    return [
      {
        path,
        message: `agent ${agent} never concludes with verdict ${verdict}, so it is not handed over${near}`,
      },
    ]
  }
  return [
    ...agents.flatMap(({ name, handoffs = [] }, i) =>
      handoffs.flatMap(({ verdict }, n) => look(name, verdict, ['agents', i, 'handoffs', n, 'verdict'])),
    ),
    ...wiring.flatMap((row, i) =>
      'to' in row && isWired(row) ? look(row.agent, row.verdict, ['wiring', i, 'verdict']) : [],
    ),
  ]
}

function handoffCycles({ agents = [], wiring = [] }: Catalog): Said[] {
  const edges = new Map<string, { to: string; path: Path }[]>()
  const add = (from: string, to: string, path: Path) =>
    edges.set(from, [...(edges.get(from) ?? []), { to, path }])
  for (const [i, { name, handoffs = [] }] of agents.entries())
    for (const [n, { agent }] of handoffs.entries()) add(name, agent, ['agents', i, 'handoffs', n])
  for (const [i, row] of wiring.entries())
    if ('to' in row && isWired(row)) add(row.agent, row.to, ['wiring', i])
  const found: Said[] = []
  const done = new Set<string>()
  const visit = (agent: string, way: readonly string[]): void => {
    if (done.has(agent)) return
    for (const { to, path } of edges.get(agent) ?? []) {
      const at = [...way, agent].indexOf(to)
      if (at >= 0)
        found.push({
          path,
          message: `handoffs go in a circle: ${[...[...way, agent].slice(at), to].join(' → ')}`,
        })
      else visit(to, [...way, agent])
    }
    done.add(agent)
  }
  for (const agent of edges.keys()) visit(agent, [])
  return found
}

/** What templates take as secrets is not known without the templates of an instance: their addresses alone are looked at. */
const NO_TEMPLATES = { secretParams: () => [] }

function plainSecrets(catalog: Catalog): Said[] {
  return secretPlaces(catalog, NO_TEMPLATES)
    .filter(isPlainAt)
    .map((place) => ({
      path: pathOfPlace(place),
      message: place.isAddress
        ? `${place.inner.at(-1)} has a secret in plain text in it: ${secretParts(place.value).join(', ')}`
        : `${place.inner.at(-1)} is a secret in plain text: refer to a variable or to a stored credential`,
    }))
}

const PARSE = {
  version: '1.2',
  schema: 'core',
  merge: false,
  uniqueKeys: false,
  logLevel: 'silent',
  keepSourceTokens: true,
  customTags: asExported,
} as const
const PRINT = { indent: 2, indentSeq: true, lineWidth: 0 } as const
/** Prints until nothing moves any more. */
const ROUNDS = 4

/**
 * @returns the text in the layout; the text as it is, where it cannot be laid out without changing what it says or
 *   losing a comment; problems, where it is no YAML
 */
export function formatCatalog(of: CatalogText): { text: string; problems: FileProblem[] } {
  const { text } = of
  const before = readValue(of)
  if (before.problems.length) return { text, problems: before.problems }
  if (before.value === null) return { text, problems: [] }
  let laid = text
  if (printed(laid) === laid) return { text, problems: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const next = printed(laid)
    if (next === laid) break
    laid = next
  }
  const after = readValue({ ...of, text: laid })
  const isSame =
    after.value !== null &&
    equal(plain(before.value), plain(after.value)) &&
    equal(commentsIn(text), commentsIn(laid)) &&
    printed(laid) === laid
  return { text: isSame ? laid : text, problems: [] }
}

function printed(text: string): string {
  const document = parseDocument(text, PARSE)
  arrange(document)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const out = document.toString(PRINT)
  return eol === '\n' ? out : out.replaceAll(/\r?\n/g, eol)
}

/** Fields in order, where no anchor stands in the way of its aliases; a blank line between sections. */
function arrange(document: Document): void {
  let hasAliases = false
  visit(document, {
    Alias: () => {
      hasAliases = true
    },
  })
  visit(document, { Collection: (_key, node) => pad(node) })
  if (!isMap(document.contents)) return
  const root = document.contents
  const isPart = root.has('kind')
  for (const [i, pair] of root.items.entries()) {
    const { key, value } = pair
    if (!isScalar(key)) continue
    const section = SECTIONS.find((one) => one === key.value)
    // One that says nothing yet is set apart, too: what is put into it need not move it.
    const isApart = section !== undefined || isCollection(value)
    if (i > 0 && isApart && !root.flow && !isPart) key.spaceBefore = true
    if (!section || !isSeq(value) || hasAliases) continue
    for (const item of value.items) if (isMap(item)) order(item, section)
  }
}

/** Maps on one line are { a: 1 }, lists [a, b]. */
function pad(node: YAMLMap | YAMLSeq): void {
  const print = node.toString
  const flowCollectionPadding = isSeq(node) ? '' : ' '
  node.toString = (ctx, ...rest) => print.call(node, ctx && { ...ctx, flowCollectionPadding }, ...rest)
}

function order(map: YAMLMap, section: Section): void {
  const keys = map.items.map((pair) => (isPair(pair) && isScalar(pair.key) ? pair.key.value : null))
  if (!keys.every((key): key is string => typeof key === 'string') || new Set(keys).size !== keys.length)
    return
  if (map.items.some(({ value }) => isAlias(value))) return
  const wanted = Object.keys(orderedEntry(section, Object.fromEntries(keys.map((key) => [key, 0]))))
  const ordered = wanted.map((key) => map.items[keys.indexOf(key)]!)
  if (ordered.length !== map.items.length || ordered.every((pair, i) => pair === map.items[i])) return
  map.items = ordered
}

/** The comments of a text, sorted: none is lost, whatever moves. */
function commentsIn(text: string): string[] {
  const found: string[] = []
  const add = (comment: string | null | undefined) => {
    for (const line of comment?.split('\n') ?? []) if (line.trim()) found.push(line.trim())
  }
  const document = parseDocument(text, PARSE)
  add(document.commentBefore)
  add(document.comment)
  visit(document, {
    Node: (_key, node) => {
      add(node.commentBefore)
      add(node.comment)
    },
  })
  return found.sort()
}

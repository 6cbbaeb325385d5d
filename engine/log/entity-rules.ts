/**
 * Which names are of one thing, by the rules of the catalog's `entities:` (docs/entities.md). Pure: a name is a label
 * and its value; a rule lists the names of one thing, or, with groups, of a thing for each value of the groups.
 *
 * Outside its groups a name is plain text, and every name of a rule has every group. So each name can be made of each
 * other, nothing has to be looked for among what is stored, and being of one thing is the same from whichever name it
 * is asked: a name is of the first rule that has it, and a rule's name counts only where that leads back to it.
 *
 * `EntityNames` has the joined entities of an instance as reads need them: read from their rows, again whenever a change-set changed one,
 * so that a reader thread needs no message from the writer; and as they were, from the record of changes.
 */
import { RE2JS } from 're2js'
import type { EntitySpec } from '../../schemas/types.ts'
import { WORK_MAX } from '../model/pattern.ts'
import type { Database, Statement } from './store/handle.ts'

/** Names of one rule. */
export const NAMES_MAX = 50
/** Rules of an instance. */
export const ENTITIES_MAX = 5_000
/** Rules with groups: each may be tried for a name. */
export const PATTERNS_MAX = 200
const VALUE_MAX = 512
const PATTERN_MAX = 100
const GROUPS_MAX = 4

export interface Name {
  label: string
  value: string
}

/** A rule as it is declared. */
export interface EntityRule extends EntitySpec {
  name: string
}

/** One thing. */
export interface JoinedThing {
  /** Name of its rule. */
  entity: string
  kind?: string
  /** Tells it from all others. */
  id: string
  /** What people call it: the name of the rule, or what its groups are. */
  title: string
  /** In the order of the rule. */
  names: Name[]
  /** What its rule says of its neighbours, label=value. */
  neighbours: { edge: 'owned_by' | 'runs_on' | 'calls'; to: Name }[]
}

const EDGES = ['owned_by', 'runs_on', 'calls'] as const

export const nameText = ({ label, value }: Name): string => `${label}=${value}`

/** What is wrong with a rule, to be told with its field; null: nothing. */
export function entityFault(spec: EntitySpec): { field: string; text: string } | null {
  try {
    compileRule({ ...spec, name: '' })
    return null
  } catch (error) {
    if (error instanceof RuleFault) return { field: error.field, text: error.message }
    throw error
  }
}

/** Groups of a rule, in the order of its names; none: it is one thing. @param spec one without an `entityFault` */
export const groupsOfRule = (spec: EntitySpec): string[] => compileRule({ ...spec, name: '' }).groups

/** Names that two rules have, with both. Of names with groups only those that are the same text are known. */
export function conflictsOf(rules: readonly EntityRule[]): { name: string; of: [string, string] }[] {
  const owner = new Map<string, string>()
  const conflicts: { name: string; of: [string, string] }[] = []
  for (const rule of rules) {
    const { templates } = compileRule(rule)
    for (const { label, source, text } of templates) {
      const key = `${label}=${source}`
      const other = owner.get(key)
      if (other === undefined) owner.set(key, rule.name)
      else if (other !== rule.name) conflicts.push({ name: text, of: [other, rule.name] })
    }
  }
  return conflicts
}

/** Values that groups are tried with: each is of a kind that names have. */
const TRIED = ['a', 'api', 'api-1', 'web-prod', 'Api', 'a.b', 'a/b', 'a_1', '1', '42', '10.0.0.1', 'x1y2']

/**
 * Pairs of rules with groups of which one value would be a name of both, with such a value: the first by its name has it.
 * A value is found by trying, so each pair that is told is one, and one of unusual patterns may be missed.
 * @param rules without faults
 */
export function overlapsOf(rules: readonly EntityRule[]): { name: string; of: [string, string] }[] {
  const byLabel = new Map<string, { rule: CompiledRule; template: Template; values: string[] }[]>()
  for (const rule of [...rules].sort((a, b) => (a.name < b.name ? -1 : 1)).map(compileRule))
    for (const template of rule.groups.length ? rule.templates : []) {
      const values = TRIED.map((tried) =>
        template.fill(Object.fromEntries(rule.groups.map((group) => [group, tried]))),
      ).filter((value) => template.read(value) !== null)
      byLabel.set(template.label, [...(byLabel.get(template.label) ?? []), { rule, template, values }])
    }
  const found = new Map<string, { name: string; of: [string, string] }>()
  for (const [label, all] of byLabel)
    for (const [i, one] of all.entries())
      for (const other of all.slice(i + 1)) {
        const pair = JSON.stringify([one.rule.name, other.rule.name])
        // What two write alike is a conflict, and refused.
        if (one.rule === other.rule || found.has(pair) || one.template.source === other.template.source)
          continue
        const value =
          one.values.find((tried) => other.template.read(tried)) ??
          other.values.find((tried) => one.template.read(tried))
        if (value !== undefined)
          found.set(pair, { name: nameText({ label, value }), of: [one.rule.name, other.rule.name] })
      }
  return [...found.values()]
}

/** All rules of an instance, at one instant. */
export class EntityRules {
  private readonly plain = new Map<string, CompiledRule>()
  private readonly patterns = new Map<string, CompiledRule[]>()
  /** Labels that names have. */
  readonly labels: ReadonlySet<string>
  readonly size: number

  private readonly compiled: CompiledRule[] = []

  /** @param rules without faults and conflicts; of one name that two have the first counts, by their names */
  constructor(rules: readonly EntityRule[]) {
    this.size = rules.length
    const labels = new Set<string>()
    this.labels = labels
    for (const rule of [...rules].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const compiled = compileRule(rule)
      this.compiled.push(compiled)
      for (const { label, fill } of compiled.templates) {
        labels.add(label)
        if (compiled.groups.length === 0) {
          const text = nameText({ label, value: fill({}) })
          if (!this.plain.has(text)) this.plain.set(text, compiled)
        } else {
          const known = this.patterns.get(label)
          if (known === undefined) this.patterns.set(label, [compiled])
          else if (!known.includes(compiled)) known.push(compiled)
        }
      }
    }
  }

  /** What a name is a name of; null: no rule has it. */
  of(label: string, value: string): JoinedThing | null {
    const found = this.find(label, value)
    if (!found) return null
    const { rule, values } = found
    const seen = new Set<string>()
    const names = rule.templates
      .map(({ label: own, fill }) => ({ label: own, value: fill(values) }))
      .filter((name) => {
        const text = nameText(name)
        if (seen.has(text)) return false
        seen.add(text)
        const back = this.find(name.label, name.value)
        return back?.rule === rule && sameValues(rule, back.values, values)
      })
    const said = rule.groups.map((group) => values[group])
    return {
      entity: rule.name,
      ...(rule.kind === undefined ? {} : { kind: rule.kind }),
      id: JSON.stringify([rule.name, ...said]),
      title: said.length ? said.join(' ') : rule.name,
      names,
      neighbours: rule.neighbours.map(({ edge, to }) => ({
        edge,
        to: { label: to.label, value: to.fill(values) },
      })),
    }
  }

  /** One of the rules by itself. */
  only(name: string): EntityRules {
    return new EntityRules(this.compiled.filter((rule) => rule.name === name).map(({ declared }) => declared))
  }

  /** What other rules say of a thing: the first name of each that names it as a neighbour. */
  sayingOf(names: readonly Name[]): { edge: (typeof EDGES)[number]; from: Name }[] {
    return this.compiled.flatMap((rule) =>
      rule.neighbours.flatMap(({ edge, to }) => {
        const values = names.reduce<Values | null>(
          (found, { label, value }) => found ?? (to.label === label ? to.read(value) : null),
          null,
        )
        if (!values || rule.groups.some((group) => values[group] === undefined)) return []
        const [first] = rule.templates
        return first ? [{ edge, from: { label: first.label, value: first.fill(values) } }] : []
      }),
    )
  }

  private find(label: string, value: string): { rule: CompiledRule; values: Values } | null {
    const plain = this.plain.get(nameText({ label, value }))
    if (plain) return { rule: plain, values: {} }
    for (const rule of this.patterns.get(label) ?? [])
      for (const template of rule.templates) {
        if (template.label !== label) continue
        const values = template.read(value)
        if (values) return { rule, values }
      }
    return null
  }
}

/** No rules. */
export const NO_ENTITIES = new EntityRules([])

const sameValues = ({ groups }: CompiledRule, a: Values, b: Values): boolean =>
  groups.every((group) => a[group] === b[group])

/* A rule as it is looked up: its names as templates that are filled and read. */

type Values = Record<string, string>
type Part = string | { group: string }

interface Template {
  label: string
  /** As it was written. */
  text: string
  /** What it matches, whatever its groups are called. */
  source: string
  fill(values: Values): string
  /** The groups of a value; null: it is no such name. */
  read(value: string): Values | null
}

interface CompiledRule {
  declared: EntityRule
  name: string
  kind?: string
  groups: string[]
  templates: Template[]
  neighbours: { edge: (typeof EDGES)[number]; to: Template }[]
}

class RuleFault extends Error {
  constructor(
    readonly field: string,
    text: string,
  ) {
    super(text)
  }
}

function compileRule(rule: EntityRule): CompiledRule {
  if (rule.is.length > NAMES_MAX) throw new RuleFault('is', `is: at most ${NAMES_MAX} names`)
  const patterns = new Map<string, string>()
  const names = rule.is.map((text, i) => parseName(text, `is[${i}]`, patterns))
  const groups = [...patterns.keys()]
  if (groups.length > GROUPS_MAX) throw new RuleFault('is', `is: at most ${GROUPS_MAX} groups`)
  const seen = new Set<string>()
  const templates = names.map(({ label, text, parts }, i) => {
    const field = `is[${i}]`
    for (const part of parts)
      if (typeof part !== 'string' && !patterns.has(part.group))
        throw new RuleFault(field, `${field}: no name has a group ${part.group}`)
    const missing = groups.find(
      (group) => !parts.some((part) => typeof part !== 'string' && part.group === group),
    )
    if (missing !== undefined)
      throw new RuleFault(
        field,
        `${field}: every name must have the group ${missing}, as \${${missing}}, so that each name can be made of each other`,
      )
    const template = templateOf({ label, text, parts }, patterns)
    if (seen.has(`${label}=${template.source}`))
      throw new RuleFault(field, `${field}: ${text} is there twice`)
    seen.add(`${label}=${template.source}`)
    return template
  })
  if (templates.length < 2) throw new RuleFault('is', 'is: a joined entity has two names or more')
  const neighbours = EDGES.flatMap((edge) =>
    (rule[edge] ?? []).map((text, i) => ({ edge, to: neighbourOf(text, `${edge}[${i}]`, patterns) })),
  )
  return {
    declared: rule,
    name: rule.name,
    ...(rule.kind === undefined ? {} : { kind: rule.kind }),
    ...{ groups, templates, neighbours },
  }
}

function neighbourOf(text: string, field: string, patterns: ReadonlyMap<string, string>): Template {
  const own = new Map<string, string>()
  const name = parseName(text, field, own)
  if (own.size) throw new RuleFault(field, `${field}: a group is of names under is; refer to it, as \${n}`)
  for (const part of name.parts)
    if (typeof part !== 'string' && !patterns.has(part.group))
      throw new RuleFault(field, `${field}: no name has a group ${part.group}`)
  return templateOf(name, patterns)
}

const LABEL = /^[A-Za-z0-9_]{1,64}$/
const BEGINS = /^\(\?P?<([A-Za-z][A-Za-z0-9_]{0,31})>/
const REFERS = /^\$\{([A-Za-z][A-Za-z0-9_]{0,31})\}/

/** A name as it is written; the patterns of its groups are added to those known. */
function parseName(
  text: string,
  field: string,
  patterns: Map<string, string>,
): { label: string; text: string; parts: Part[] } {
  const at = text.indexOf('=')
  const [label, value] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 0 || !LABEL.test(label) || label === 'key_value' || value === '')
    throw new RuleFault(field, `${field} must be label=value, the label of letters, digits and underscores`)
  if (value.length > VALUE_MAX)
    throw new RuleFault(field, `${field}: a value has at most ${VALUE_MAX} characters`)
  const parts: Part[] = []
  let plain = ''
  for (let i = 0; i < value.length; ) {
    const rest = value.slice(i)
    const refers = REFERS.exec(rest)
    const begins = BEGINS.exec(rest)
    if (!refers && !begins) {
      plain += value[i]
      i++
      continue
    }
    if (plain) parts.push(plain)
    plain = ''
    const group = (refers ?? begins)![1]!
    parts.push({ group })
    if (refers) i += refers[0].length
    else {
      const end = endOfGroup(rest, begins![0].length)
      const pattern = end < 0 ? '' : rest.slice(begins![0].length, end)
      notePattern(group, pattern, field, patterns)
      i += end + 1
    }
  }
  if (plain) parts.push(plain)
  return { label, text, parts }
}

function notePattern(group: string, pattern: string, field: string, patterns: Map<string, string>): void {
  if (patterns.has(group))
    throw new RuleFault(field, `${field}: the group ${group} is there twice; refer to it as \${${group}}`)
  if (pattern === '' || pattern.length > PATTERN_MAX)
    throw new RuleFault(
      field,
      `${field}: the group ${group} must be closed and hold 1 to ${PATTERN_MAX} characters`,
    )
  if (/\(\?P?</.test(pattern) || /[\^$]|\\[AbBzZ]/.test(pattern.replace(/\[[^\]]*\]|\\[\^$]/g, '')))
    throw new RuleFault(field, `${field}: the group ${group} may have neither named groups nor anchors`)
  try {
    RE2JS.compile(pattern)
  } catch (error) {
    const reason = (error as Error).message.replace('error parsing regexp: ', '')
    throw new RuleFault(field, `${field}: the group ${group} is not supported: ${reason}`)
  }
  patterns.set(group, pattern)
}

/** Place of the bracket that closes a group whose pattern begins at `from`; -1: none does. */
function endOfGroup(text: string, from: number): number {
  let depth = 1
  let inClass = false
  for (let i = from; i < text.length; i++) {
    const char = text[i]
    if (char === '\\') i++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return i
  }
  return -1
}

function templateOf(
  { label, text, parts }: { label: string; text: string; parts: readonly Part[] },
  patterns: ReadonlyMap<string, string>,
): Template {
  const source = parts
    .map((part) => (typeof part === 'string' ? RE2JS.quote(part) : `(${patterns.get(part.group)})`))
    .join('')
  const fill = (values: Values) =>
    parts.map((part) => (typeof part === 'string' ? part : (values[part.group] ?? ''))).join('')
  return { label, text, source, fill, read: readerOf(parts, patterns) }
}

function readerOf(parts: readonly Part[], patterns: ReadonlyMap<string, string>): Template['read'] {
  const groups = parts.filter((part) => typeof part !== 'string')
  if (groups.length === 0) {
    const whole = parts.join('')
    return (value) => (value === whole ? {} : null)
  }
  let n = 0
  const pattern = parts
    .map((part) =>
      typeof part === 'string' ? RE2JS.quote(part) : `(?P<g${n++}>(?:${patterns.get(part.group)}))`,
    )
    .join('')
  // A line break is a character as any other.
  const compiled = RE2JS.compile(pattern, RE2JS.DOTALL)
  const size = compiled.programSize()
  return (value) => {
    if (value.length > VALUE_MAX || size * value.length > WORK_MAX) return null
    const matcher = compiled.matcher(value)
    if (!matcher.matches()) return null
    const values: Values = {}
    for (const [i, { group }] of groups.entries()) {
      const found = matcher.group(`g${i}`)
      // No backreferences in RE2: of a group that is there twice both must say the same.
      if (!found || (values[group] ?? found) !== found) return null
      values[group] = found
    }
    return values
  }
}

/** Earlier rules held in memory: pages and reads of one instant ask for the same again. */
const HELD_MAX = 8

interface ChangeRow {
  change_set: number
  seq: number
  key: string
  after: string | null
}

export class EntityNames {
  private newest = -1
  private changedBy = 0
  private current = NO_ENTITIES
  private readonly held = new Map<number, EntityRules>()
  private readonly selectNewest: Statement<[], number>
  private readonly selectChangedBy: Statement<[number], number | null>
  private readonly selectBy: Statement<[number], number | null>
  private readonly selectRules: Statement<[], { name: string; spec: string }>
  private readonly selectChanges: Statement<[number], ChangeRow>
  private readonly selectInstants: Statement<[number, number], number>
  private readonly selectRenames: Statement<[number], { change_set: number; seq: number; key: string }>

  constructor(db: Database) {
    this.selectNewest = db.prepare('SELECT coalesce(max(id), 0) FROM change_sets').pluck() as Statement<
      [],
      number
    >
    this.selectChangedBy = db
      .prepare("SELECT max(change_set) FROM changes WHERE kind = 'entity' AND change_set <= ?")
      .pluck() as Statement<[number], number | null>
    this.selectBy = db
      .prepare('SELECT id FROM change_sets WHERE at <= ? ORDER BY at DESC, id DESC LIMIT 1')
      .pluck() as Statement<[number], number | null>
    this.selectRules = db.prepare('SELECT name, spec FROM entities')
    this.selectChanges = db.prepare(
      `SELECT change_set, seq, key, after FROM changes WHERE kind = 'entity' AND change_set <= ?
       ORDER BY change_set, seq`,
    )
    this.selectInstants = db
      .prepare(
        `SELECT DISTINCT s.at FROM changes c JOIN change_sets s ON s.id = c.change_set
         WHERE c.kind = 'entity' AND s.at > ? AND s.at < ? ORDER BY s.at`,
      )
      .pluck() as Statement<[number, number], number>
    this.selectRenames = db.prepare(
      "SELECT change_set, seq, name_from AS key FROM renames WHERE kind = 'entity' AND change_set <= ?",
    )
  }

  /** As they are declared. */
  declared(): EntityRule[] {
    return this.selectRules.all().map(({ name, spec }) => ({ ...(JSON.parse(spec) as EntityRule), name }))
  }

  /** The rules of now. */
  rules(): EntityRules {
    this.refresh()
    return this.current
  }

  /** The change-set that last changed a rule; 0: none ever did. */
  version(): number {
    this.refresh()
    return this.changedBy
  }

  /** The version of an instant, epoch ms. */
  versionAsOf(at: number): number {
    if (this.version() === 0) return 0
    return this.selectChangedBy.get(this.selectBy.get(at) ?? 0) ?? 0
  }

  /** When rules were changed between two instants, epoch ms, oldest first. */
  changesBetween(from: number, until: number): number[] {
    return this.selectInstants.all(from, until)
  }

  /** The rules of a version: those of now, or as recorded. */
  of(version: number): EntityRules {
    if (version === this.version()) return this.current
    if (version === 0) return NO_ENTITIES
    let rules = this.held.get(version)
    if (!rules) {
      rules = new EntityRules(this.recorded(version))
      if (this.held.size >= HELD_MAX) this.held.delete(this.held.keys().next().value!)
      this.held.set(version, rules)
    }
    return rules
  }

  private refresh(): void {
    const newest = this.selectNewest.get() ?? 0
    if (newest === this.newest) return
    const changedBy = this.selectChangedBy.get(newest) ?? 0
    if (changedBy !== this.changedBy) {
      this.changedBy = changedBy
      this.current = new EntityRules(this.declared())
      // A transaction that was undone may have given its number to another.
      this.held.clear()
    }
    this.newest = newest
  }

  /** As they were declared as of a change-set. */
  recorded(version: number): EntityRule[] {
    const rules = new Map<string, EntityRule>()
    const renamed = this.selectRenames.all(version)
    for (const { change_set, seq, key, after } of this.selectChanges.all(version)) {
      // What got another name is recorded under the new one alone.
      for (const rename of renamed)
        if (rename.change_set === change_set && rename.seq === seq) rules.delete(rename.key)
      if (after === null) rules.delete(key)
      else rules.set(key, { ...(JSON.parse(after) as EntityRule), name: key })
    }
    return [...rules.values()]
  }
}

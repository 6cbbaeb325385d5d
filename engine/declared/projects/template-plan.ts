/**
 * What a template plans for given parameters: parts and their wiring, as values (SPEC.md, Ownership
 * of template-project objects: planned). Pure: the same file and parameters give the same plan, so
 * that a project can be planned again and compared. Parameters are checked first (SPEC.md, Project: params).
 */
import { createHash } from 'node:crypto'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { patternRule } from '../../../schemas/pattern-rules.ts'
import type { TemplateFile, TemplateObject, TemplateParam, TemplateParams } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { originOf, refuseMoved } from '../../model/credentials.ts'
import { MASK } from '../../model/plan.ts'
import { HANDOFF_COOLDOWN } from '../../model/project.ts'
import { keepAddressSecrets } from '../../net/address-secrets.ts'

export type Params = Record<string, unknown>
type Env = Readonly<Record<string, string | undefined>>

/** The schema of a template's parameters; checked when the file was read. */
export function paramsOf(file: Pick<TemplateFile, 'params'>): TemplateParams {
  return file.params as FieldsOf<TemplateParams>
}

/** Names of the parameters that are kept sealed and never returned. */
export function secretParams(file: TemplateFile): string[] {
  const { properties } = paramsOf(file)
  return Object.keys(properties).filter((name) => properties[name]!['x-secret'])
}

/**
 * The parameters a project is planned with. Empty text, null and empty lists stand for absent ones.
 * An absent one takes, in this order: for a secret what is stored (null clears it; SPEC.md, Project:
 * "a blank secret on update keeps the stored value"), its variable of the environment, its default.
 * @param stored parameters the project has; of these only secrets are kept.
 * @param env where x-env defaults come from.
 * @returns the parameters in the order of the schema.
 * @throws SvcError invalid, naming the parameter and the rule, never a value.
 */
export function checkParams(file: TemplateFile, given: Params, stored: Params = {}, env: Env = {}): Params {
  const { properties, required } = paramsOf(file)
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(properties, name)) continue
    const list = Object.keys(properties).join(', ') || 'none'
    const field = `params.${name}`
    fail('invalid', `${field} is not a parameter of the template ${file.key}; there are ${list}`, { field })
  }
  const params: Params = {}
  for (const [name, rules] of Object.entries(properties)) {
    const told = Object.hasOwn(given, name) ? given[name] : ''
    // An address comes back as it is shown, with masks for the secrets in it.
    const kept = rules['x-secret'] ? told : keepAddressSecrets(told, stored[name], `params.${name}`)
    const value = chosen(rules, kept, stored[name], env)
    if (!isEmpty(value)) params[name] = value
  }
  const isGiven = (name: string) =>
    Object.hasOwn(given, name) && !isEmpty(given[name]) && given[name] !== MASK
  for (const [name, rules] of Object.entries(properties))
    if (rules['x-secret'] && params[name] !== undefined && params[name] === stored[name] && !isGiven(name))
      refuseNewAddress(name, stored, params)
  const [fault] = objectFaults({ properties, required }, params, 'params')
  if (fault !== undefined) fail('invalid', fault, { field: /^[\w.[\]]+/.exec(fault)![0] })
  return params
}

/**
 * A template says nowhere which address a secret goes to, so any new one counts.
 * @throws SvcError invalid where the parameters name an address that was not among the stored ones
 */
function refuseNewAddress(secret: string, stored: Params, params: Params): void {
  const known = addressesIn(Object.values(stored))
  const field = `params.${secret}`
  for (const address of addressesIn(Object.values(params)))
    if (!known.includes(address)) refuseMoved(field, null, address, { field })
}

/** Origins of the addresses in values, at any depth. */
function addressesIn(values: readonly unknown[]): string[] {
  return values.flatMap((value) => {
    if (value !== null && typeof value === 'object') return addressesIn(Object.values(value))
    const origin = typeof value === 'string' && /^https?:/i.test(value) ? originOf(value) : null
    return origin === null ? [] : [origin]
  })
}

function chosen(rules: TemplateParam, given: unknown, stored: unknown, env: Env): unknown {
  // What is shown in place of a secret may come back as it was shown.
  if (rules['x-secret'] && given === MASK) return chosen(rules, '', stored, env)
  if (!isEmpty(given)) return rules.type === 'array' ? entries(rules.items, given) : given
  if (rules['x-secret'] && given !== null && !isEmpty(stored)) return stored
  return rules['x-secret'] && given === null ? undefined : standard(rules, env)
}

/** A form sends every field of an entry, the unused ones empty; those take their default. */
function entries(rules: TemplateParam | undefined, list: unknown): unknown {
  if (!Array.isArray(list)) return list
  const defaults = Object.entries(rules?.properties ?? {}).map(
    ([name, field]) => [name, field.default] as const,
  )
  return list.map((entry: unknown) => {
    if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) return entry
    const given = Object.entries(entry).filter(([, value]) => !isEmpty(value))
    const absent = defaults.filter(
      ([name, value]) => !isEmpty(value) && !given.some(([other]) => other === name),
    )
    return Object.fromEntries([...given, ...absent])
  })
}

/** What a parameter is when nothing is given: its variable of the environment, else its default. */
export function standard(rules: TemplateParam, env: Env): unknown {
  const text = rules['x-env'] === undefined ? undefined : env[rules['x-env']]
  return isEmpty(text) ? rules.default : fromText(rules.type, text!)
}

/** A variable is text; what cannot be read as the type stays text, which the check then refuses. */
function fromText(type: TemplateParam['type'], text: string): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if ((type === 'number' || type === 'integer') && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text)
  return text
}

/*
 * Checks values against the parameters' schema: the part of JSON Schema draft-07 of
 * schemas/template-param.json. Messages name the field and the rule, never the value.
 */

/** An object: the whole of the parameters or arguments, or one parameter of that type. */
type ObjectRules = Pick<TemplateParams, 'required'> & { properties?: TemplateParams['properties'] }

/** @returns one plain sentence per fault. @param at path of the value, such as params.window. */
export function valueFaults(rules: TemplateParam, value: unknown, at: string): string[] {
  const type = types[rules.type]
  if (!type.holds(value)) return [`${at} must be ${type.word}`]
  if (rules.enum && !rules.enum.includes(value as string))
    return [`${at} must be one of ${rules.enum.join(', ')}`]
  if (typeof value === 'string') return textFaults(rules, value, at)
  if (typeof value === 'number') return numberFaults(rules, value, at)
  if (Array.isArray(value)) return listFaults(rules, value, at)
  return typeof value === 'object' ? objectFaults(rules, value as Record<string, unknown>, at) : []
}

/** The same for an object: unknown fields, required ones, and each field. */
export function objectFaults(
  rules: ObjectRules,
  value: Readonly<Record<string, unknown>>,
  at: string,
): string[] {
  const properties = rules.properties ?? {}
  const known = Object.keys(properties)
  const list = known.length ? `it has ${known.join(', ')}` : 'it has none'
  return [
    ...Object.keys(value)
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name) => `${at}.${name} is not a known field; ${list}`),
    ...(rules.required ?? [])
      .filter((name) => value[name] === undefined)
      .map((name) => `${at}.${name} is required`),
    ...known
      .filter((name) => value[name] !== undefined)
      .flatMap((name) => valueFaults(properties[name]!, value[name], `${at}.${name}`)),
  ]
}

const types: Record<TemplateParam['type'], { word: string; holds: (value: unknown) => boolean }> = {
  string: { word: 'text', holds: (value) => typeof value === 'string' },
  number: { word: 'a number', holds: (value) => Number.isFinite(value) },
  integer: { word: 'a whole number', holds: (value) => Number.isSafeInteger(value) },
  boolean: { word: 'true or false', holds: (value) => typeof value === 'boolean' },
  array: { word: 'a list', holds: Array.isArray },
  object: {
    word: 'an object',
    holds: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  },
}

function textFaults(
  { minLength = 0, maxLength, pattern }: TemplateParam,
  value: string,
  at: string,
): string[] {
  const length = [...value].length
  const faults: string[] = []
  if (length < minLength)
    faults.push(
      minLength === 1 ? `${at} must not be empty` : `${at} must have at least ${minLength} characters`,
    )
  if (maxLength !== undefined && length > maxLength)
    faults.push(`${at} must have at most ${maxLength} characters`)
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    faults.push(`${at} ${patternRule(pattern, value)}`)
  return faults
}

function numberFaults({ minimum, maximum }: TemplateParam, value: number, at: string): string[] {
  if (minimum !== undefined && value < minimum) return [`${at} must be at least ${minimum}`]
  return maximum !== undefined && value > maximum ? [`${at} must be at most ${maximum}`] : []
}

function listFaults(
  { minItems = 0, maxItems, items }: TemplateParam,
  value: unknown[],
  at: string,
): string[] {
  if (value.length < minItems)
    return [minItems === 1 ? `${at} must not be empty` : `${at} must have at least ${minItems} entries`]
  if (maxItems !== undefined && value.length > maxItems)
    return [`${at} must have at most ${maxItems} entries`]
  return items ? value.flatMap((entry, i) => valueFaults(items, entry, `${at}[${i}]`)) : []
}

/** Empty values stand for absent ones: no text, no value, no entries. */
export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

export interface PlannedObject {
  kind: TemplateObject['kind']
  /** Stable in the project: the key in the file, with the entry's own part when it is made for a list. */
  key: string
  name: string
  /** As in the catalog, without the name. */
  spec: Record<string, unknown>
}

interface PlannedWiring {
  wakes: { trigger: string; agent: string; enabled: boolean }[]
  /** `cooldown` is a duration such as 30m. */
  handoffs: { agent: string; verdict: string; to: string; cooldown: string }[]
}

export interface TemplatePlan extends PlannedWiring {
  objects: PlannedObject[]
}

/** The name an object of a project keeps, by its kind and key, instead of what the file says. */
export type KeptNames = (kind: PlannedObject['kind'], key: string) => string | undefined

/** Wait before the same entity is handed over again when the file says none. */

/** An object of the file for one entry of its list, before its spec is rendered. */
interface Place {
  object: TemplateObject
  /** What is appended to the key; '' without a list. */
  suffix: string
  name: string
  roots: Scope['roots']
}

/**
 * @param params as checkParams gives them.
 * @param kept names that stay; whatever refers to these objects refers to them by those names.
 * @returns objects in the order of the file, and wiring by real names; what a `when` leaves out is
 *   in neither.
 * @throws SvcError invalid: two entries of a list, or two parameters, give the same key or name.
 */
export function planTemplate(file: TemplateFile, params: Params, kept: KeptNames = noneKept): TemplatePlan {
  return {
    objects: planObjects(file, params, kept).map(({ planned }) => planned),
    ...plannedWiring(file, params, kept),
  }
}

/** The wiring of a plan alone. */
export function plannedWiring(file: TemplateFile, params: Params, kept: KeptNames = noneKept): PlannedWiring {
  const places = allPlaces(file, params, kept)
  return {
    wakes: (file.wakes ?? []).flatMap(({ trigger, agent, enabled = false }) =>
      pairs(places, trigger, agent).map(([from, to]) => ({ trigger: from, agent: to, enabled })),
    ),
    handoffs: (file.handoffs ?? []).flatMap(({ agent, verdict, to, cooldown = HANDOFF_COOLDOWN }) =>
      pairs(places, agent, to).map(([from, next]) => ({ agent: from, verdict, to: next, cooldown })),
    ),
  }
}

/** The objects of a plan, each with what it was made from. @throws SvcError invalid, as planTemplate. */
export function planObjects(
  file: TemplateFile,
  params: Params,
  kept: KeptNames = noneKept,
): { from: TemplateObject; planned: PlannedObject }[] {
  const places = allPlaces(file, params, kept)
  refuseRepeats(places)
  const names = namesIn(places)
  return places.map(({ object, suffix, name, roots }) => ({
    from: object,
    planned: {
      kind: object.kind,
      key: keyOf(object.key, suffix),
      name,
      spec: render(object.spec, { roots, names }) as Record<string, unknown>,
    },
  }))
}

/** Names of the objects of a plan by their key in the file, for what is rendered beside it. */
export function plannedNames(file: TemplateFile, params: Params, kept: KeptNames = noneKept): Scope['names'] {
  return namesIn(allPlaces(file, params, kept))
}

const allPlaces = (file: TemplateFile, params: Params, kept: KeptNames): Place[] =>
  file.objects.flatMap((object) => placesOf(object, params, kept))

function namesIn(places: readonly Place[]): Scope['names'] {
  return (key) => places.filter(({ object }) => object.key === key).map(({ name }) => name)
}

const noNames = (): readonly string[] => []
const noneKept: KeptNames = () => undefined
const keyOf = (key: string, suffix: string): string => (suffix === '' ? key : `${key}_${suffix}`)

function placesOf(object: TemplateObject, params: Params, kept: KeptNames): Place[] {
  const place = (roots: Scope['roots'], suffix: string): Place[] => {
    const scope = { roots, names: noNames }
    if (!holds(object.when, scope)) return []
    const name = kept(object.kind, keyOf(object.key, suffix)) ?? renderPlain(object.name, scope)
    return [{ object, suffix, name, roots }]
  }
  if (object.for_each === undefined) return place(params, '')
  const list = valueAt(params, object.for_each.split('.'))
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown, index) => {
    const roots = { ...params, item, index }
    return place(roots, suffixOf(object, roots))
  })
}

/** By a field of the entry, so that another order or a removed entry leaves the other keys as they are. */
function suffixOf({ key_by: by = 'index' }: TemplateObject, roots: Scope['roots']): string {
  const value = valueAt(roots, by.split('.'))
  return isEmpty(value) ? String(roots.index) : slug(String(value))
}

/** One object is repaired by its key alone, so that no two of a plan share one, of whatever kind. */
function refuseRepeats(places: readonly Place[]): void {
  const seen = new Set<string>()
  for (const { object, suffix, name } of places) {
    const list = object.for_each === undefined ? 'params' : `params.${object.for_each}`
    const own = object.for_each === undefined ? '' : `; entries must differ in ${object.key_by ?? 'index'}`
    const key = keyOf(object.key, suffix)
    if (seen.has(key)) fail('invalid', `${list} gives two objects the key ${key}${own}`, { field: list })
    if (seen.has(`${object.kind} ${name}`))
      fail('invalid', `${list} gives two objects of kind ${object.kind} the name ${name}`, { field: list })
    seen.add(key).add(`${object.kind} ${name}`)
  }
}

/** Objects made for the same list are paired entry by entry; otherwise each with each. */
function pairs(places: readonly Place[], fromKey: string, toKey: string): [string, string][] {
  const to = places.filter(({ object }) => object.key === toKey)
  return places
    .filter(({ object }) => object.key === fromKey)
    .flatMap((one) =>
      to
        .filter((other) => {
          const isPaired = one.object.for_each !== undefined && one.object.for_each === other.object.for_each
          return !isPaired || one.roots.index === other.roots.index
        })
        .map((other): [string, string] => [one.name, other.name]),
    )
}

/* What expressions stand for: texts, whole specs, and whether an object is planned. */

/** What expressions can read. */
export interface Scope {
  /** Parameters by name; `item` and `index` in an object of a list; `args` in an action. */
  roots: Readonly<Record<string, unknown>>
  /** Names of the objects planned under a key of the file. */
  names: (key: string) => readonly string[]
}

/**
 * Renders every text in a value. A text that is one expression becomes its value, of its own type; a
 * field or an entry whose only expression is empty is left out. @returns undefined when nothing is left.
 */
export function render(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') return renderText(value, scope)
  if (Array.isArray(value))
    return value.map((entry) => render(entry, scope)).filter((entry) => entry !== undefined)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]) => [name, render(field, scope)] as const)
      .filter(([, field]) => field !== undefined),
  )
}

function renderText(text: string, scope: Scope): unknown {
  const parts = parseText(text)
  const [only] = parts
  if (parts.length !== 1 || only === undefined || typeof only === 'string') return renderPlain(text, scope)
  const value = evaluate(only, scope)
  return isEmpty(value) ? undefined : value
}

/**
 * Renders a text as text: an empty value is no text, a list its entries with commas between.
 * @param encode applied to each value by the root it came from.
 */
export function renderPlain(
  text: string,
  scope: Scope,
  encode: (value: string, root: string) => string = (value) => value,
): string {
  return parseText(text)
    .map((part) => (typeof part === 'string' ? part : encode(plain(evaluate(part, scope)), rootOf(part))))
    .join('')
}

const rootOf = ({ term }: Expression): string => ('path' in term ? term.path[0]! : '')

function plain(value: unknown): string {
  if (isEmpty(value)) return ''
  if (Array.isArray(value)) return value.map(plain).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function evaluate({ term, fallback }: Expression, scope: Scope): unknown {
  const value = termValue(term, scope)
  return isEmpty(value) && fallback !== undefined ? fallback : value
}

function termValue(term: Expression['term'], { roots, names }: Scope): unknown {
  switch (term.kind) {
    case 'literal':
      return term.value
    case 'path':
      return valueAt(roots, term.path)
    case 'slug':
      return slug(plain(valueAt(roots, term.path)))
    case 'name':
      return names(term.key)[0]
    case 'names':
      return names(term.key)
  }
}

/** The value at a path; through a list, those of all its entries. */
export function valueAt(value: unknown, [head, ...rest]: readonly string[]): unknown {
  if (head === undefined) return value
  if (Array.isArray(value))
    return value.map((entry) => valueAt(entry, [head, ...rest])).filter((entry) => !isEmpty(entry))
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, head)) return undefined
  return valueAt((value as Record<string, unknown>)[head], rest)
}

/**
 * Whether a `when` holds: `name` when the value is neither empty nor false, `name=value` when it is
 * that value, `name=` when it is empty or false.
 */
function holds(when: string | undefined, scope: Scope): boolean {
  if (when === undefined) return true
  const { path, value } = parseWhen(when)
  const actual = valueAt(scope.roots, path)
  const isSet = !isEmpty(actual) && actual !== false
  if (value === undefined) return isSet
  return value === '' ? !isSet : plain(actual) === value
}

/** The path of a `when`, and the value it compares with. */
export function parseWhen(when: string): { path: string[]; value?: string } {
  const at = when.indexOf('=')
  const path = (at < 0 ? when : when.slice(0, at)).trim().split('.')
  return at < 0 ? { path } : { path, value: when.slice(at + 1).trim() }
}

/*
 * The expressions of templates, `{{ … }}` in any text (catalog/README.md). They read values and
 * decide nothing: no code, no loops, no access to anything but the parameters, so that neither a
 * template nor a parameter can reach further. Rendering works on parsed values, never on YAML text:
 * no parameter can add a field.
 */

type Literal = string | number | boolean

type Term =
  | { kind: 'literal'; value: string }
  | { kind: 'path'; path: readonly string[] }
  | { kind: 'slug'; path: readonly string[] }
  | { kind: 'name' | 'names'; key: string }

export interface Expression {
  term: Term
  /** Stands in for an empty value. */
  fallback?: Literal
}

const EXPRESSION = /\{\{((?:"[^"]*"|[^"{}])*)\}\}/g
const PATH = '[a-z][a-z0-9_]*(?:\\.[a-z][a-z0-9_]*)*'
const LITERAL = '"[^"]*"|-?\\d+(?:\\.\\d+)?|true|false'
const TERM = new RegExp(
  `^\\s*(?:"(?<text>[^"]*)"|(?<path>${PATH})|slug\\(\\s*(?<slug>${PATH})\\s*\\)|(?<call>names?)\\(\\s*"(?<key>[^"]*)"\\s*\\))` +
    `\\s*(?:\\|\\s*default\\(\\s*(?<fallback>${LITERAL})\\s*\\)\\s*)?$`,
)

/**
 * Splits a text into its literal parts and its expressions.
 * @throws SvcError invalid: an expression that cannot be read.
 */
export function parseText(text: string): readonly (string | Expression)[] {
  const parts: (string | Expression)[] = []
  let rest = 0
  for (const match of text.matchAll(EXPRESSION)) {
    if (match.index > rest) parts.push(literalPart(text.slice(rest, match.index)))
    parts.push(parseExpression(match[1]!))
    rest = match.index + match[0].length
  }
  if (rest < text.length) parts.push(literalPart(text.slice(rest)))
  return parts
}

function literalPart(text: string): string {
  if (text.includes('{{'))
    fail('invalid', 'has {{ without an expression and its }}; the braces themselves are {{ "{{" }}')
  return text
}

function parseExpression(source: string): Expression {
  const groups = TERM.exec(source)?.groups
  if (!groups)
    fail(
      'invalid',
      `has an expression that is not known, {{ ${source.trim()} }}; there are paths such as item.repo, slug(path), name("key"), names("key"), "text", each with | default("text")`,
    )
  return {
    term: termOf(groups),
    ...(groups.fallback === undefined ? {} : { fallback: JSON.parse(groups.fallback) as Literal }),
  }
}

function termOf({ text, path, slug, call, key }: Record<string, string | undefined>): Term {
  if (text !== undefined) return { kind: 'literal', value: text }
  if (path !== undefined) return { kind: 'path', path: path.split('.') }
  if (slug !== undefined) return { kind: 'slug', path: slug.split('.') }
  return { kind: call as 'name' | 'names', key: key! }
}

/* Parts of names made from what a person typed. */

/** Longest slug: a name of 64 characters has room for two and the words around them. */
const MAX = 24
const HASH = 8

/**
 * Lowercase letters and digits with single dashes, at most 24 characters: fits the name of any part,
 * skills included (SPEC.md, Limits). What would be lost, by cutting or because nothing of it is a
 * letter or digit, is told apart by 8 hex digits of its SHA-256. @returns '' for empty text.
 */
export function slug(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (plain === '' && text.trim() === '') return ''
  if (plain !== '' && plain.length <= MAX) return plain
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH)
  return plain === '' ? hash : `${plain.slice(0, MAX - HASH - 1).replace(/-$/, '')}-${hash}`
}

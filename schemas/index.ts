/**
 * The registry of schemas and the one validator over them. Messages name the field and the rule,
 * never the value, so that no secret is echoed. Used by the HTTP door, the connectors' config
 * check, the catalog import and the MCP tools.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'
import { schemaOf } from './all.ts'
import { isInstant } from './instants.ts'
import { closest, didYouMean } from './near-names.ts'
import { patternRule } from './pattern-rules.ts'
import { meantBy, rivalsIn, type Variant, variantsOf } from './variants.ts'

export { allSchemas, schemaOf } from './all.ts'

/** Keywords of ours that carry no validation: form hints and connector facts. */
export const annotationKeywords = [
  'x-secret',
  'x-order',
  'x-widget',
  'x-unit',
  'x-names',
  'x-advanced',
  'x-connector',
  'x-discover-input',
  'x-credential',
  'x-format',
  'x-env',
  // Read by the compiler of types: a field of any JSON value.
  'tsType',
]

// A module of CommonJS, whose default export the types put one level deeper than Node does.
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void

function newAjv(): Ajv {
  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    allowUnionTypes: true,
    useDefaults: false,
    verbose: true,
    // They are ours and a test checks them; doing so again in every thread cost 50 ms of each start.
    validateSchema: false,
    // Each process compiles what it first needs: ajv's passes over its own code take a third of that (2026-11-26).
    code: { optimize: false },
    // Compiles a schema once, not again in each schema that refers to it.
    inlineRefs: false,
  })
  addFormats(ajv)
  ajv.addFormat('date-time', isInstant)
  for (const keyword of annotationKeywords) ajv.addKeyword(keyword)
  return ajv
}

let ajv: Ajv | undefined

/** $ids of the schemas that ajv was given. Giving it all of them takes a tenth of the time of a short command. */
const added = new Set<string>()

/** Gives ajv a schema and every schema that it refers to. */
function addSchema(to: Ajv, id: string): void {
  if (added.has(id)) return
  added.add(id)
  const schema = schemaOf(id)
  to.addSchema(schema)
  for (const ref of refsIn(schema)) addSchema(to, ref)
}

/** The $ids that a schema refers to, at any depth. */
function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    key === '$ref' && typeof one === 'string' ? [one.replace(/#.*$/, '')] : refsIn(one),
  )
}

/** Compiled when it is first used: no start waits for what it may never need. */
function validatorOf(id: string): ValidateFunction {
  ajv ??= newAjv()
  addSchema(ajv, id)
  const validate = ajv.getSchema(id)
  if (!validate) throw new Error(`no schema has the $id ${id}`)
  return validate
}

/**
 * Checks `value` against the schema `id`.
 * @returns null when it holds, else one plain sentence per fault, joined by "; ".
 */
export function check(id: string, value: unknown): string | null {
  const validate = validatorOf(id)
  if (validate(value)) return null
  return explain(validate.errors ?? [])
}

/**
 * Turns ajv errors into plain sentences. For a choice between variants (a label's const or
 * field) it reports the closest variant instead of ajv's list of all that failed.
 */
export function explain(all: readonly ErrorObject[]): string {
  const errors = withoutEchoes(all)
  const choices = errors.filter((e) => e.keyword === 'anyOf' || e.keyword === 'oneOf')
  const isInChoice = (e: ErrorObject) =>
    choices.some(
      (c) =>
        e !== c &&
        (e.instancePath === c.instancePath || e.instancePath.startsWith(`${c.instancePath}/`)) &&
        e.schemaPath !== c.schemaPath,
    )
  // Of a blank value nothing else is worth saying: that it is blank is why it has not the form it must have.
  const blank = new Set(errors.filter(isBlank).map(({ instancePath }) => instancePath))
  const isSaid = (e: ErrorObject) => e.keyword === 'pattern' && blank.has(e.instancePath)
  const sentences = new Set<string>()
  for (const choice of choices) {
    const inner = errors.filter((e) => e !== choice && e.instancePath.startsWith(choice.instancePath))
    sentences.add(explainChoice(choice, inner))
  }
  for (const error of errors)
    if (!choices.includes(error) && !isInChoice(error) && !isSaid(error)) sentences.add(sentence(error))
  return withListOnce([...sentences].slice(0, 5)).join('; ')
}

/** Without what says less of a fault than another does: a type beside the values there are, a name beside its rule. */
const withoutEchoes = (errors: readonly ErrorObject[]): ErrorObject[] =>
  errors.filter(({ keyword, instancePath, schemaPath, params }) => {
    const beside = (other: string) => schemaPath.replace(/[^/]*$/, other)
    if (keyword === 'type')
      return !errors.some((e) => e.instancePath === instancePath && e.schemaPath === beside('enum'))
    return keyword !== 'propertyNames' || !errors.some((e) => e.propertyName === params.propertyName)
  })

const isBlank = ({ keyword, data }: ErrorObject): boolean => keyword === 'minLength' && data === ''

/** Fields of a label, whichever of its two forms it has. */
const LABEL_FIELDS = ['name', 'const', 'field', 'primary', 'type', 'pattern', 'replace', 'map']

function explainChoice(choice: NamedError, inner: NamedError[]): string {
  const at = subjectOf(choice)
  const missing = inner
    .filter((e) => e.keyword === 'required' && e.instancePath === choice.instancePath)
    .map((e) => e.params.missingProperty as string)
  const extra = inner
    .filter((e) => e.keyword === 'additionalProperties' && e.instancePath === choice.instancePath)
    .map((e) => e.params.additionalProperty as string)
  const variants = variantsOf(choice)
  // Conditions have a field of the same name.
  const isLabel = variants
    ? variants.some((one) => one.$id === 'const-label.json')
    : ['const', 'field'].some((name) => missing.includes(name) || extra.includes(name))
  if (isLabel) {
    const unknown = extra.filter((name) => !['const', 'field', 'pattern', 'replace', 'map'].includes(name))
    if (unknown.length) return `${at}: unknown field ${unknown[0]}${didYouMean(unknown[0], LABEL_FIELDS)}`
    const other = inner.find((e) => e.keyword !== 'required' && e.keyword !== 'additionalProperties')
    if (missing.includes('name')) return `${at}: name is required`
    if (other) return sentence(other)
    return `${at}: give exactly one of const or field`
  }
  if (variants) return explainVariant(choice, variants)
  const takesEmpty = inner.some(isEmptyText)
  // Of an object or a list, what is wrong within it: that it is no text or number is for those who gave one.
  const within = inner.filter((e) => !isOfScalar(e, choice))
  const told = within.length ? within : inner
  const first =
    told.find((e) => e.keyword !== 'type' && !isEmptyText(e)) ??
    told.find((e) => e.keyword === 'type' && !(takesEmpty && e.params.type === 'string')) ??
    told[0]
  if (!first) return `${at}: does not fit any accepted form`
  return sentence(first) + (takesEmpty && first.keyword === 'type' ? ' or empty text' : '')
}

const isOfScalar = ({ keyword, instancePath }: NamedError, choice: NamedError): boolean =>
  typeof choice.data === 'object' &&
  choice.data !== null &&
  instancePath === choice.instancePath &&
  ['type', 'const', 'enum'].includes(keyword)

/** Of a variant that is empty text alone, which takes a setting back to its default. */
const isEmptyText = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'enum' && params.allowedValues.length === 1 && params.allowedValues[0] === ''

/** What is wrong with the variant that was meant. */
function explainVariant(choice: NamedError, variants: readonly Variant[]): string {
  const rivals = rivalsIn(choice, variants)
  if (rivals) return `${subjectOf(choice)}: ${rivals}`
  const meant = meantBy(choice, variants)
  if (!meant) {
    const known = variants.flatMap((one) => one.required!)
    const close = Object.keys(choice.data as object).flatMap((name) => closest(name, known) ?? [])[0]
    const names = variants.map((one) => one.required![0]).join(', ')
    return `${subjectOf(choice)} must have one of ${names}${close ? ` (did you mean ${close}?)` : ''}`
  }
  const validate = validatorOf(meant.$id)
  validate(choice.data)
  const errors = (validate.errors ?? []).map((error) => ({
    ...error,
    instancePath: choice.instancePath + error.instancePath,
  }))
  return explain(errors)
}

function path(pointer: string): string {
  const text = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((all, part) => (/^\d+$/.test(part) ? `${all}[${part}]` : all ? `${all}.${part}` : part), '')
  return text || 'body'
}

/** Types of JSON Schema in the words of those who write YAML, too. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

function sentence(error: NamedError): string {
  const { propertyName, ...of } = error
  if (propertyName !== undefined)
    return `${subjectOf(error)} has a name that is not allowed, ${propertyName}: ${sentence({ ...of, subject: 'it' })}`
  const [at, place] = [subjectOf(error), path(error.instancePath)]
  const join = (name: string) => (place === 'body' ? name : `${place}.${name}`)
  const p = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required':
      return `${join(String(p.missingProperty))} is required`
    case 'additionalProperties':
      return `${join(String(p.additionalProperty))} is not a known field${suggestion(error)}`
    case 'type':
      return `${at} must be ${([p.type].flat() as string[]).map((one) => TYPE_WORDS[one] ?? one).join(' or ')}`
    case 'enum': {
      const allowed = p.allowedValues as unknown[]
      return `${at} ${enumRule(allowed)}${allowed.length > 1 ? didYouMean(error.data, allowed) : ''}`
    }
    case 'const':
      return `${at} must be ${String(p.allowedValue)}`
    case 'pattern': {
      const rule = patternRule(String((error.params as { pattern: string }).pattern), error.data)
      return `${at} ${rule}`
    }
    case 'minLength':
      return p.limit === 1 ? `${at} must not be empty` : `${at} must have at least ${p.limit} characters`
    case 'maxLength':
      return `${at} must have at most ${p.limit} characters`
    case 'minItems':
      return p.limit === 1 ? `${at} must not be empty` : `${at} must have at least ${p.limit} entries`
    case 'maxItems':
      return `${at} must have at most ${p.limit} entries`
    case 'minProperties':
      return `${at} must not be empty`
    case 'maxProperties':
      return `${at} must have at most ${p.limit} entries`
    case 'uniqueItems':
      return `${at} must not repeat an entry`
    case 'propertyNames':
      return `${at} has a name that is not allowed: ${String(p.propertyName)}`
    case 'format':
      return `${at} must be ${p.format === 'date-time' ? 'an ISO 8601 time with time zone, such as 2026-11-20T14:00:00Z' : `a ${String(p.format)}`}`
    case 'minimum':
      return `${at} must be at least ${p.limit}`
    case 'maximum':
      return `${at} must be at most ${p.limit}`
    default:
      return `${at} ${error.message ?? 'is not valid'}`
  }
}

/** A list of values as a rule; empty text and null, which join to nothing, are named. */
function enumRule(allowed: readonly unknown[]): string {
  const names = allowed.map((value) => (value === '' ? 'empty text' : String(value)))
  if (names.length === 0) return 'has no value that is allowed'
  return names.length === 1 ? `must be ${names[0]}` : `must be one of ${names.join(', ')}`
}

export interface Fault {
  /** Where in the value. */
  path: (string | number)[]
  message: string
}

/** Faults listed at most: a file with more is of another kind. */
const FAULTS_MAX = 100

/** Every fault of `value` against the schema `id`, each with its place, for files that people edit. */
export function faults(id: string, value: unknown): Fault[] {
  const validate = validatorOf(id)
  if (validate(value)) return []
  const errors = withoutEchoes(validate.errors ?? [])
  const choices = outermost(errors.filter((e) => e.keyword === 'anyOf' || e.keyword === 'oneOf'))
  const inChoice = (e: ErrorObject) =>
    choices.some((c) => e.instancePath === c.instancePath || e.instancePath.startsWith(`${c.instancePath}/`))
  const found = new Map<string, Fault>()
  const add = (path: (string | number)[], message: string) =>
    found.set(`${path.join('/')} ${message}`, { path, message })
  for (const choice of choices) {
    const inner = errors.filter(
      (e) =>
        e !== choice &&
        (e.instancePath === choice.instancePath || e.instancePath.startsWith(`${choice.instancePath}/`)),
    )
    const named = shortened(choice)
    const base = choice.instancePath.length - named.instancePath.length
    const shown = inner.map((e) => ({
      ...e,
      instancePath: e.instancePath.slice(base),
      // Of the choice itself; what is within it has a path of its own.
      ...(e.instancePath === choice.instancePath && named.subject ? { subject: named.subject } : {}),
    }))
    const variants = variantsOf(choice)
    const rivals = variants && rivalsIn(choice, variants)
    const meant = variants && meantBy(choice, variants)
    if (rivals) add(segments(choice.instancePath), `${subjectOf(named)}: ${rivals}`)
    else if (meant)
      for (const fault of faults(meant.$id, choice.data))
        add([...segments(choice.instancePath), ...fault.path], fault.message)
    else add(segments(choice.instancePath), explainChoice(named, shown))
  }
  for (const error of errors) {
    if (inChoice(error)) continue
    const extra = error.keyword === 'additionalProperties' ? [String(error.params.additionalProperty)] : []
    add([...segments(error.instancePath), ...extra], sentence(shortened(error)))
  }
  const all = [...found.values()].slice(0, FAULTS_MAX)
  const messages = withListOnce(all.map(({ message }) => message))
  return all.map((fault, i) => ({ ...fault, message: messages[i]! }))
}

/**
 * A schema of a team's own, as a check of values. @throws Error that says what is wrong with the schema
 */
export function ruleFaults(schema: object): (value: unknown) => Fault[] {
  const own = new Ajv({ strict: false, allErrors: true, verbose: true, logger: false })
  addFormats(own)
  const validate = own.compile(schema)
  return (value) =>
    validate(value)
      ? []
      : withoutEchoes(validate.errors ?? []).map((error) => ({
          path: segments(error.instancePath),
          message: sentence(shortened(error)),
        }))
}

function outermost(choices: ErrorObject[]): ErrorObject[] {
  return choices.filter(
    (c) => !choices.some((o) => o !== c && c.instancePath.startsWith(`${o.instancePath}/`)),
  )
}

const segments = (pointer: string): (string | number)[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))

/** @property subject what a sentence names in place of its path */
type NamedError = ErrorObject & { subject?: string }

/**
 * An error that names its field by the last part of its path alone: the rest is told beside it. An entry of a list is
 * named by its list and its place: `labels[0]`.
 */
function shortened(error: ErrorObject): NamedError {
  const [name, places] = /([^/]*)((?:\/\d+)*)$/.exec(error.instancePath)!.slice(1)
  if (!places) return { ...error, instancePath: name ? `/${name}` : '' }
  return { ...error, instancePath: '', ...(name ? { subject: path(`/${name}${places}`) } : {}) }
}

const subjectOf = (error: NamedError): string => error.subject ?? path(error.instancePath)

/** With more fields a list of them is no help. */
const LISTED_MAX = 32

/** For an unknown field: the known one that it is close to, else all that there are. */
function suggestion(error: ErrorObject): string {
  const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
  const close = didYouMean(error.params.additionalProperty, known)
  if (close || known.length === 0 || known.length > LISTED_MAX) return close
  return ` (fields: ${known.join(', ')})`
}

/** One list of the fields is enough where several are unknown. */
function withListOnce(sentences: readonly string[]): string[] {
  const listed = new Set<string>()
  return sentences.map((text) => {
    const list = / \(fields: .*\)$/.exec(text)?.[0]
    if (list === undefined) return text
    if (listed.has(list)) return text.slice(0, -list.length)
    listed.add(list)
    return text
  })
}

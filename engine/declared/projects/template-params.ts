/** The parameters of a project made from a template (SPEC.md, Project: params). */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { patternRule } from '../../../schemas/pattern-rules.ts'
import type { TemplateFile, TemplateParam, TemplateParams } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { originOf, refuseMoved } from '../../model/credentials.ts'
import { MASK } from '../../model/plan.ts'
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

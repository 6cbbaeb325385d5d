/** Every rule of a template file; the first kind of fault found hides those that build on it. */
import { ownField } from '../../../schemas/fields-of.ts'
import { check, schemaOf } from '../../../schemas/index.ts'
import type {
  AgentSpec,
  McpServerSpec,
  TemplateAction,
  TemplateFile,
  TemplateObject,
  TemplateParam,
  TemplateParams,
  TemplateStep,
  TriggerSpec,
} from '../../../schemas/types.ts'
import { normaliseAgent } from '../../documents/agent.ts'
import { normaliseMcpServer } from '../../documents/mcp-server.ts'
import { checkSkillName, normaliseSkill } from '../../documents/skill.ts'
import { normaliseTrigger } from '../../documents/trigger.ts'
import { SvcError } from '../../errors.ts'
import { hasConnector, secretFields, validateConfig } from '../../sources/connectors/index.ts'
import {
  type Expression,
  isEmpty,
  type Params,
  type PlannedObject,
  paramsOf,
  parseText,
  parseWhen,
  planObjects,
  planTemplate,
  valueFaults,
} from './template-plan.ts'

/** Words that are templates of their own (SPEC.md, Project: template). */
const RESERVED_KEYS = ['custom', 'default']

/**
 * @param value the file as it was parsed.
 * @param key its name without the ending.
 * @returns one sentence per fault, each beginning with its path in the file.
 */
export function fileFaults(value: unknown, key: string): string[] {
  const fault = check('template-file.json', value)
  if (fault !== null) return fault.split('; ')
  const file = value as TemplateFile
  const stages = [() => headFaults(file, key), () => partFaults(file), () => planFaults(file)]
  for (const stage of stages) {
    const faults = stage()
    if (faults.length) return faults
  }
  return []
}

function headFaults(file: TemplateFile, key: string): string[] {
  const faults: string[] = []
  if (file.key !== key) faults.push(`key must be the file's name, ${key}`)
  if (RESERVED_KEYS.includes(file.key))
    faults.push(`key must not be ${file.key}: it is a template of its own`)
  faults.push(...paramsFaults(file.params, 'params', 'params'))
  file.actions?.forEach((action, i) => {
    if (action.params) faults.push(...paramsFaults(action.params, `actions[${i}].params`, 'args'))
  })
  return faults
}

function partFaults(file: TemplateFile): string[] {
  const { properties } = paramsOf(file)
  const keys = new Set(file.objects.map((object) => object.key))
  return [
    ...file.objects.flatMap((object, i) => objectFaults(object, `objects[${i}]`, properties, keys)),
    ...wiringFaults(file),
    ...(file.detect ?? []).flatMap((probe, i) => probeFaults(probe, `detect[${i}]`, properties)),
    ...(file.actions ?? []).flatMap((action, i) => actionFaults(action, i, file, keys)),
    ...(file.setup ?? []).flatMap((step, i) => stepFaults(step, `setup[${i}]`, file)),
  ]
}

/** Whoever shows a step fills it in without an instance, so that it holds parameters alone, as they are. */
const STEP_EXPRESSION = /\{\{ (\w+) \}\}/g

function stepFaults(
  { text = '', command = '', source }: TemplateStep,
  at: string,
  file: TemplateFile,
): string[] {
  const { properties } = paramsOf(file)
  const faultsIn = (field: string, value: string): string[] => {
    const names = [...value.matchAll(STEP_EXPRESSION)].map(([, name]) => name!)
    return [
      ...names.flatMap((name) => {
        const rules = ownField(properties, name)
        if (!rules) return [`${at}.${field} has {{ ${name} }}, which is not a parameter`]
        return rules['x-secret'] ? [`${at}.${field} has {{ ${name} }}, which is a secret`] : []
      }),
      ...(value.replace(STEP_EXPRESSION, '').includes('{{')
        ? [`${at}.${field}: an expression of a step is {{ name }} of a parameter`]
        : []),
    ]
  }
  const isSource = file.objects.some(({ kind, key }) => kind === 'source' && key === source)
  return [
    ...faultsIn('text', text),
    ...faultsIn('command', command),
    ...(source !== undefined && !isSource ? [`${at}.source is ${source}, but no source has that key`] : []),
    ...(source === undefined && command.includes('$INGEST_KEY')
      ? [`${at}.source is required: it says whose $INGEST_KEY the command has`]
      : []),
  ]
}

type Roots = Readonly<Record<string, TemplateParam>>
const never = () => false

function objectFaults(
  object: TemplateObject,
  at: string,
  params: Roots,
  keys: ReadonlySet<string>,
): string[] {
  const list = object.for_each === undefined ? undefined : pathTarget(object.for_each.split('.'), params)
  if (typeof list === 'string') return [`${at}.for_each is ${object.for_each}, but ${list}`]
  if (list && (list.type !== 'array' || !list.items)) return [`${at}.for_each must name a list`]
  if (object.key_by !== undefined && !list) return [`${at}.key_by is for an object with for_each`]
  const roots: Roots = list ? { ...params, item: list.items!, index: { type: 'integer' } } : params
  const paths = [
    ['when', object.when === undefined ? undefined : parseWhen(object.when).path],
    ['key_by', object.key_by?.split('.')],
  ] as const
  const faults = paths.flatMap(([field, path]) => {
    const target = path && pathTarget(path, roots)
    return typeof target === 'string' ? [`${at}.${field} is ${path!.join('.')}, but ${target}`] : []
  })
  const { connector } = object.spec
  if (object.kind === 'source' && typeof connector === 'string' && connector.includes('{{'))
    faults.push(`${at}.spec.connector must be plain text`)
  return [
    ...faults,
    ...textFaults(object.name, `${at}.name`, { roots, isSecretPlace: never }),
    ...textFaults(object.spec, `${at}.spec`, {
      roots,
      keys,
      isSecretPlace: secretPlaces(object, `${at}.spec`),
    }),
  ]
}

/** A connector that is not installed may take its secrets in any field of its config. */
function secretPlaces({ kind, spec }: TemplateObject, at: string): (path: string) => boolean {
  if (kind === 'source') {
    const connector = String(spec.connector)
    if (!hasConnector(connector)) return (path) => path.startsWith(`${at}.config.`)
    const names = secretFields(connector)
    return (path) => names.some((name) => path === `${at}.config.${name}`)
  }
  const schemas = {
    trigger: 'trigger-spec',
    agent: 'agent-spec',
    mcp_server: 'mcp-server-spec',
    skill: 'skill-spec',
  }
  const properties = schemaOf(`${schemas[kind]}.json`).properties as Roots
  return (path) =>
    Object.keys(properties).some((name) => properties[name]!['x-secret'] && path === `${at}.${name}`)
}

function wiringFaults(file: TemplateFile): string[] {
  const faultOf = (at: string, key: string, kind: 'trigger' | 'agent'): string[] =>
    file.objects.some((object) => object.kind === kind && object.key === key)
      ? []
      : [`${at} is ${key}, but no ${kind} has that key`]
  return [
    ...(file.wakes ?? []).flatMap(({ trigger, agent }, i) => [
      ...faultOf(`wakes[${i}].trigger`, trigger, 'trigger'),
      ...faultOf(`wakes[${i}].agent`, agent, 'agent'),
    ]),
    ...(file.handoffs ?? []).flatMap(({ agent, to }, i) => [
      ...faultOf(`handoffs[${i}].agent`, agent, 'agent'),
      ...faultOf(`handoffs[${i}].to`, to, 'agent'),
    ]),
  ]
}

function probeFaults(probe: NonNullable<TemplateFile['detect']>[number], at: string, roots: Roots): string[] {
  const needed = ({ env: 'env', source: 'connector', http: 'url' } as const)[probe.from]
  const faults = probe[needed] === undefined ? [`${at}.${needed} is required to look in ${probe.from}`] : []
  if (probe.param !== undefined && !Object.hasOwn(roots, probe.param))
    faults.push(`${at}.param is ${probe.param}, which is not a parameter`)
  const texts = { url: probe.url, found: probe.found, missing: probe.missing }
  return [...faults, ...textFaults(texts, at, { roots, isSecretPlace: never })]
}

function actionFaults(
  { name, request, run, params }: TemplateAction,
  i: number,
  file: TemplateFile,
  keys: ReadonlySet<string>,
): string[] {
  const at = `actions[${i}]`
  const args: TemplateParam = { ...(params as object), type: 'object' }
  const roots = { ...paramsOf(file).properties, args }
  const isRepeated = file.actions!.findIndex((action) => action.name === name) !== i
  return [
    ...Object.entries(args.properties ?? {}).flatMap(([field, { 'x-one-of': of }]) => {
      const target = of === undefined ? undefined : pathTarget(of.split('.'), paramsOf(file).properties)
      return typeof target === 'string' ? [`${at}.params.properties.${field}.x-one-of: ${target}`] : []
    }),
    ...(isRepeated ? [`${at}.name ${name} is there twice`] : []),
    ...(Boolean(request) === Boolean(run) ? [`${at} must have either a request or a run`] : []),
    ...textFaults({ request, run }, at, {
      roots,
      keys,
      isSecretPlace: (path) => path.startsWith(`${at}.request.body.`),
    }),
  ]
}

/* Rules of the parameters in a template file, and of an action's arguments. */

/** Roots that expressions have beside the parameters. */
const RESERVED = ['item', 'index', 'args']

/**
 * @param at path in the file: params, or actions[0].params.
 * @returns one sentence per fault, each beginning with its path.
 */
function paramsFaults(schema: unknown, at: string, kind: 'params' | 'args'): string[] {
  const fault = check('template-params.json', schema)
  if (fault !== null) return prefixed(fault, at)
  const { properties, required = [] } = schema as TemplateParams
  const faults = requiredFaults(required, properties, at)
  for (const [name, rules] of Object.entries(properties)) {
    const here = `${at}.properties.${name}`
    if (RESERVED.includes(name))
      faults.push(`${here} must have another name: ${name} means something in expressions`)
    const needsExample = kind === 'params' && required.includes(name)
    if (needsExample && isEmpty(rules.default) && isEmpty(rules.examples?.[0]))
      faults.push(`${here} is required, so it needs a default or examples to check the file with`)
    if (rules['x-secret'] && (kind === 'args' || rules.type !== 'string' || rules.default !== undefined))
      faults.push(`${here}.x-secret is for a text parameter without a default`)
    faults.push(...ruleFaults(rules, here))
  }
  return faults
}

/** Puts a path before each sentence of the validator. */
function prefixed(sentences: string, at: string): string[] {
  return sentences
    .split('; ')
    .map((sentence) => (/^body\b/.test(sentence) ? sentence.replace('body', at) : `${at}.${sentence}`))
}

function requiredFaults(required: readonly string[], properties: object, at: string): string[] {
  return required
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `${at}.required names ${name}, which is not one of the properties`)
}

/** One parameter, or one field or entry of it. */
function ruleFaults(rules: TemplateParam, at: string): string[] {
  const faults: string[] = []
  if (rules.type === 'array' && !rules.items) faults.push(`${at}.items is required for a list`)
  if (rules.type === 'object' && !rules.properties) faults.push(`${at}.properties is required for an object`)
  if (!isPattern(rules.pattern))
    return [`${at}.pattern must be a regular expression of JavaScript with the u flag`]
  if (!isEmpty(rules.default)) faults.push(...valueFaults(rules, rules.default, `${at}.default`))
  rules.examples?.forEach((example, i) => {
    faults.push(...valueFaults(rules, example, `${at}.examples[${i}]`))
  })
  if (rules.items) faults.push(...innerFaults(rules.items, `${at}.items`))
  if (rules.type === 'object') faults.push(...fieldFaults(rules, at))
  return faults
}

function innerFaults(rules: TemplateParam, at: string): string[] {
  const outer = (['x-secret', 'x-env'] as const).filter((word) => rules[word] !== undefined)
  return [
    ...outer.map((word) => `${at}.${word} is for whole parameters, not for what is inside one`),
    ...ruleFaults(rules, at),
    ...(rules.type === 'array' ? [`${at}.type must not be array: a list of lists has no form`] : []),
  ]
}

function fieldFaults({ properties = {}, required = [] }: TemplateParam, at: string): string[] {
  return [
    ...requiredFaults(required, properties, at),
    ...Object.entries(properties).flatMap(([name, field]) => innerFaults(field, `${at}.properties.${name}`)),
  ]
}

function isPattern(pattern: string | undefined): boolean {
  if (pattern === undefined) return true
  try {
    new RegExp(pattern, 'u')
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/* Rules of what a template plans: its parts and references, for parameters that take every branch. */

const specSchemas: Record<TemplateObject['kind'], string> = {
  source: 'source-spec.json',
  trigger: 'trigger-spec.json',
  agent: 'agent-spec.json',
  mcp_server: 'mcp-server-spec.json',
  skill: 'skill-spec.json',
}

/** @returns one sentence per fault, each beginning with its path in the file. */
function planFaults(file: TemplateFile): string[] {
  return [...new Set(exampleVariants(file).flatMap((params) => variantFaults(file, params)))]
}

function variantFaults(file: TemplateFile, params: Params): string[] {
  const faults: string[] = []
  const told = orFault(() => planObjects(file, params))
  if (told.fault !== undefined) return [`objects: ${told.fault}`]
  const planned = told.value
  for (const { from, planned: object } of planned) {
    const at = `objects[${file.objects.indexOf(from)}]`
    faults.push(...nameFaults(object, at), ...specFaults(object, at))
    faults.push(
      ...referenceFaults(
        object,
        at,
        planned.map((one) => one.planned),
        params,
      ),
    )
  }
  return faults.length ? faults : planWiringFaults(file, params)
}

function orFault<T>(act: () => T): { value: T; fault?: undefined } | { fault: string } {
  try {
    return { value: act() }
  } catch (error) {
    if (error instanceof SvcError) return { fault: error.message }
    throw error
  }
}

function nameFaults({ kind, name }: PlannedObject, at: string): string[] {
  const isSkill = kind === 'skill'
  const fault = isSkill ? orFault(() => checkSkillName(name)).fault : check('object-ref.json', { kind, name })
  return fault ? prefixed(fault, at).map((sentence) => `${sentence}; it is ${name || 'empty'}`) : []
}

/** The rules of the schema, then those that a write of the part has beside. */
function specFaults({ kind, spec }: PlannedObject, at: string): string[] {
  const schemaFault = check(specSchemas[kind], spec)
  if (schemaFault !== null) return prefixed(schemaFault, `${at}.spec`)
  const { fault } = orFault(() => normalise(kind, spec))
  if (fault === undefined) return []
  return kind === 'skill'
    ? [`${at}.spec: ${fault}`]
    : prefixed(fault, kind === 'source' ? `${at}.spec.config` : `${at}.spec`)
}

/** @throws SvcError invalid */
function normalise(kind: TemplateObject['kind'], spec: unknown): void {
  const { connector, config = {} } = spec as { connector: string; config?: Record<string, unknown> }
  if (kind === 'source' && hasConnector(connector)) validateConfig(connector, config)
  if (kind === 'trigger') normaliseTrigger(spec as TriggerSpec)
  if (kind === 'agent') normaliseAgent(spec as AgentSpec)
  if (kind === 'mcp_server') normaliseMcpServer(spec as McpServerSpec)
  if (kind === 'skill') normaliseSkill(spec as { description: string; body: string })
}

/** A reference is to a planned part, or to one the parameters name. */
function referenceFaults(
  { kind, spec }: PlannedObject,
  at: string,
  planned: readonly PlannedObject[],
  params: Params,
): string[] {
  const given = new Set(Object.values(params).flat())
  const fault = (field: 'sources' | 'mcp_servers', target: PlannedObject['kind']): string[] =>
    ((spec[field] ?? []) as string[])
      .filter((name) => !given.has(name) && !planned.some((one) => one.kind === target && one.name === name))
      .map((name) => `${at}.spec.${field} names ${name}, which this template does not plan`)
  if (kind === 'trigger') return fault('sources', 'source')
  return kind === 'agent' ? fault('mcp_servers', 'mcp_server') : []
}

function planWiringFaults(file: TemplateFile, params: Params): string[] {
  return (file.handoffs ?? []).flatMap((rule, i) => {
    const { objects, handoffs } = planTemplate({ ...file, handoffs: [rule] }, params)
    return handoffs.flatMap(({ agent, verdict, to }) => {
      if (agent === to) return [`handoffs[${i}].to must be another agent than ${agent}`]
      const spec = objects.find((one) => one.kind === 'agent' && one.name === agent)!.spec
      const words = ((spec.verdicts ?? []) as { verdict: string }[]).map((entry) => entry.verdict)
      const list = words.join(', ') || 'none'
      return words.includes(verdict)
        ? []
        : [`handoffs[${i}].verdict ${verdict} is not a verdict of ${agent}; it has ${list}`]
    })
  })
}

/* Rules of the expressions in a template file, known before anything is planned. */

/** What expressions at a place may read. */
interface Allowed {
  roots: Readonly<Record<string, TemplateParam>>
  /** Keys of objects of the file; absent where objects have no names yet. */
  keys?: ReadonlySet<string>
  /** Whether the field at a path may hold a secret. */
  isSecretPlace: (path: string) => boolean
}

/** @returns one sentence per fault in any text of a value, each beginning with its path. */
function textFaults(value: unknown, at: string, allowed: Allowed): string[] {
  if (typeof value === 'string') return oneText(value, at, allowed)
  if (Array.isArray(value)) return value.flatMap((entry, i) => textFaults(entry, `${at}[${i}]`, allowed))
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, field]) => textFaults(field, `${at}.${name}`, allowed))
}

function oneText(text: string, at: string, allowed: Allowed): string[] {
  const parts = partsOf(text)
  if (typeof parts === 'string') return [`${at} ${parts}`]
  const isWhole = parts.length === 1
  return parts
    .filter((part) => typeof part !== 'string')
    .flatMap((part) => expressionFaults(part as Expression, isWhole, at, allowed))
}

/** The parts, or why there are none. */
function partsOf(text: string): ReturnType<typeof parseText> | string {
  try {
    return parseText(text)
  } catch (error) {
    if (error instanceof SvcError) return error.message
    throw error
  }
}

function expressionFaults({ term }: Expression, isWhole: boolean, at: string, allowed: Allowed): string[] {
  if (term.kind === 'literal') return []
  if ('key' in term) {
    const call = `${term.kind}("${term.key}")`
    if (!allowed.keys) return [`${at} has ${call}, but there no object has a name yet`]
    return allowed.keys.has(term.key) ? [] : [`${at} has ${call}, but no object has the key ${term.key}`]
  }
  const target = pathTarget(term.path, allowed.roots)
  const path = term.path.join('.')
  if (typeof target === 'string') return [`${at} has ${path}, but ${target}`]
  if (target['x-secret'] && !allowed.isSecretPlace(at))
    return [`${at} has ${path}, a secret, but this field is shown to everyone who can read`]
  const isObject = target.type === 'object' || target.items?.type === 'object'
  if (isObject && (!isWhole || term.kind === 'slug'))
    return [`${at} has ${path} inside a text, but it is no text`]
  return []
}

/** The rules of what a path leads to, or why it leads nowhere. */
function pathTarget(
  path: readonly string[],
  roots: Readonly<Record<string, TemplateParam>>,
): TemplateParam | string {
  const [head = '', ...rest] = path
  let target = roots[head]
  if (!target || !Object.hasOwn(roots, head))
    return `there is no ${head}; there are ${Object.keys(roots).join(', ') || 'none'}`
  for (const name of rest) {
    const object: TemplateParam = target.type === 'array' && target.items ? target.items : target
    const next: TemplateParam | undefined = object.properties?.[name]
    if (!next) return `${head} has no field ${name}`
    target = next
  }
  return target
}

/* Parameters as they may be, so that a template can be planned before anyone uses it. */

/** Defaults, and the first example of each required parameter without one. */
export function exampleParams(file: TemplateFile): Params {
  const { properties, required = [] } = paramsOf(file)
  return collect(properties, (rules, name) =>
    isEmpty(rules.default) && required.includes(name) ? rules.examples?.[0] : rules.default,
  )
}

/** Parameters as they are given, with examples for required secrets that are neither given nor stored. */
export function withSecretsAssumed(file: TemplateFile, given: Params = {}, stored: Params = {}): Params {
  const { properties, required = [] } = paramsOf(file)
  const isAssumed = (name: string) =>
    properties[name]?.['x-secret'] === true && isEmpty(given[name]) && isEmpty(stored[name])
  const examples = exampleParams(file)
  return { ...given, ...Object.fromEntries(required.filter(isAssumed).map((name) => [name, examples[name]])) }
}

/**
 * Parameters that together take every branch: the smallest set, every parameter filled, and each
 * value of each choice.
 */
export function exampleVariants(file: TemplateFile): Params[] {
  const { properties } = paramsOf(file)
  const least = exampleParams(file)
  const full = collect(properties, (rules) => rules.examples?.[0] ?? rules.default)
  const choices = Object.entries(properties).flatMap(([name, rules]) =>
    (rules.type === 'boolean' ? [true, false] : (rules.enum ?? [])).map((value) => ({
      ...full,
      [name]: value,
    })),
  )
  const alone = Object.entries(properties)
    .filter(([name]) => isEmpty(least[name]) && !isEmpty(full[name]))
    .map(([name]) => ({ ...least, [name]: full[name] }))
  return [least, full, ...alone, ...choices]
}

function collect(
  properties: Readonly<Record<string, TemplateParam>>,
  pick: (rules: TemplateParam, name: string) => unknown,
): Params {
  const picked = Object.entries(properties).map(([name, rules]) => [name, pick(rules, name)] as const)
  return Object.fromEntries(picked.filter(([, value]) => !isEmpty(value)))
}

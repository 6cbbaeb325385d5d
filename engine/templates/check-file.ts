/** Every rule of a template file; the first kind of fault found hides those that build on it. */
import { check, schemaOf } from '../../schemas/index.ts'
import type { TemplateAction, TemplateFile, TemplateObject, TemplateParam } from '../../schemas/types.ts'
import { secretFields } from '../connectors/config.ts'
import { hasConnector } from '../connectors/index.ts'
import { paramsFaults } from './check-params.ts'
import { planFaults } from './check-plan.ts'
import { pathTarget, textFaults } from './check-text.ts'
import { paramsOf } from './params.ts'
import { parseWhen } from './render.ts'

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
    ...(isRepeated ? [`${at}.name ${name} is there twice`] : []),
    ...(Boolean(request) === Boolean(run) ? [`${at} must have either a request or a run`] : []),
    ...textFaults({ request, run }, at, {
      roots,
      keys,
      isSecretPlace: (path) => path.startsWith(`${at}.request.body.`),
    }),
  ]
}

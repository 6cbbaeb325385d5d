/** Templates of projects: their files read and checked, their parameters, what they plan. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Document, isCollection, isMap, isNode, LineCounter, parseDocument, visit } from 'yaml'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import type {
  DetectResult,
  Template,
  TemplateAction,
  TemplateFile,
  TemplateParams,
} from '../../../schemas/types.ts'
import { fail, StartError } from '../../errors.ts'
import { exampleParams, fileFaults } from './template-check.ts'
import {
  isEmpty,
  type KeptNames,
  objectFaults,
  type Params,
  paramsOf,
  plannedNames,
  planTemplate,
  render,
  renderPlain,
  type Scope,
  standard,
  valueAt,
} from './template-plan.ts'

export { checkParams, type KeptNames, type Params, planTemplate, secretParams } from './template-plan.ts'

/* The templates on offer: catalog/templates/*.yaml. Adding one needs no code. */

/** sysexits EX_CONFIG. */
const BAD_CONFIGURATION = 78
const ENDING = '.yaml'

/**
 * Reads and checks every template; they come in the order that they say, then in that of their files' names.
 * @param folder with the files; those shipped with svc when absent.
 * @throws StartError 78: no such folder, or broken files, one line per fault with file, line, column
 *   and rule.
 */
export function readTemplates(folder: string = shippedFolder()): Map<string, TemplateFile> {
  const templates = new Map<string, TemplateFile>()
  const faults: string[] = []
  for (const key of templateKeys(folder)) {
    const path = join(folder, `${key}${ENDING}`)
    const read = readTemplate(key, readFileSync(path, 'utf8'))
    if (read.faults) faults.push(...read.faults.map((fault) => `${path}:${fault}`))
    else templates.set(key, read.file)
  }
  if (faults.length)
    throw new StartError(`templates of projects cannot be used:\n${faults.join('\n')}`, BAD_CONFIGURATION)
  const placeOf = ({ order = Number.POSITIVE_INFINITY }: TemplateFile) => order
  return new Map(
    [...templates].toSorted(([, a], [, b]) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b))),
  )
}

/**
 * The keys of the templates there are, without reading their files.
 * @param folder with the files; those shipped with svc when absent.
 * @returns in the order of the files' names.
 * @throws StartError 78: no such folder.
 */
export function templateKeys(folder: string = shippedFolder()): string[] {
  if (!existsSync(folder))
    throw new StartError(`the folder of templates ${folder} is not there`, BAD_CONFIGURATION)
  const names = readdirSync(folder).filter((name) => name.endsWith(ENDING))
  return names.sort().map((name) => name.slice(0, -ENDING.length))
}

/** The build copies catalog/ beside the bundle; from source it is at the root of the project. */
function shippedFolder(): string {
  const beside = fileURLToPath(new URL('./catalog/templates/', import.meta.url))
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../../catalog/templates/', import.meta.url))
}

/* One template file: YAML to a checked template, every fault with its line. */

/** Aliases of one file; more is a bomb, not a template. */
const MAX_ALIASES = 50

/** A template, or why there is none: `line:column: sentence` each. */
type ReadFile = { file: TemplateFile; faults?: undefined } | { faults: string[] }

/**
 * @param key the file's name without its ending.
 * @param text of the file, YAML 1.2.
 */
function readTemplate(key: string, text: string): ReadFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: false })
  const placed = (offset: number, sentence: string): string => {
    const { line, col } = lines.linePos(offset)
    return `${line}:${col}: ${sentence}`
  }
  const syntax = [
    ...document.errors.map((error) => placed(error.pos[0], `is not YAML: ${error.message}`)),
    ...unquoted(document).map((offset) =>
      placed(offset, 'an expression must be in quotes, as in "{{ name }}"'),
    ),
  ]
  if (syntax.length) return { faults: syntax }
  const value = toValue(document)
  if (value instanceof Error) return { faults: [placed(0, `is not a template: ${value.message}`)] }
  const faults = fileFaults(value, key)
  if (faults.length === 0) return { file: value as TemplateFile }
  return { faults: faults.map((sentence) => placed(offsetOf(document, sentence), sentence)) }
}

/** Without quotes, `{{ name }}` is a map whose key is a map. @returns where that is. */
function unquoted(document: Document): number[] {
  const offsets: number[] = []
  visit(document, {
    Pair(_, pair) {
      if (isNode(pair.key) && isCollection(pair.key)) offsets.push(pair.key.range?.[0] ?? 0)
    },
  })
  return offsets
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    if (error instanceof ReferenceError) return error
    throw error
  }
}

/** Where the path a sentence begins with is, or the deepest part of it that is there. */
function offsetOf(document: Document, sentence: string): number {
  const path = /^[\w-]+(?:\.[\w-]+|\[\d+\])*/.exec(sentence)?.[0].match(/[\w-]+/g) ?? []
  let offset = 0
  let node: unknown = document.contents
  for (const step of path) {
    if (!isCollection(node)) break
    const pair = isMap(node) ? node.items.find(({ key }) => String(key) === step) : undefined
    const next: unknown = isMap(node) ? pair?.value : node.get(Number(step), true)
    const place = pair?.key ?? next
    if (!isNode(place)) break
    offset = place.range?.[0] ?? offset
    node = next
  }
  return offset
}

/* A template as people see it before they use it (SPEC.md, GET /api/projects/templates). */

/**
 * @param installed connectors of the instance; with them the description says which it lacks.
 */
export function describeTemplate(file: TemplateFile, installed?: readonly string[]): Template {
  const { key, title, description, sentence = '', tags = [], hidden = false, demo = false } = file
  return {
    key,
    title,
    description,
    sentence,
    tags,
    hidden,
    demo,
    params: file.params,
    facts: { you: file.facts?.you ?? [], svc: file.facts?.svc ?? [] },
    guide: file.guide ?? null,
    setup: file.setup ?? [],
    actions: file.actions ?? [],
    objects: file.objects.map(({ kind, key: of, name, about }) => ({
      ...{ kind, key: of, name },
      ...(about === undefined ? {} : { about }),
    })),
    detects:
      (file.detect ?? []).some(({ param }) => param !== undefined) ||
      Object.values(paramsOf(file).properties).some((rules) => rules['x-env'] !== undefined),
    ...(installed ? { missing_connectors: missingConnectors(file, installed) } : {}),
    recipe: key,
  }
}

/**
 * Connectors the template's sources need and the instance does not have, each once.
 * @param params those of a project; without them what the template plans by default.
 */
export function missingConnectors(
  file: TemplateFile,
  installed: readonly string[],
  params: Params = exampleParams(file),
): string[] {
  const needed = planTemplate(file, params)
    .objects.filter((object) => object.kind === 'source')
    .map((object) => String(object.spec.connector))
  return [...new Set(needed)].filter((connector) => !installed.includes(connector)).sort()
}

/* What a template can work out from where svc runs (SPEC.md, POST templates/{key}/detect). */

/** How it looks; the caller bounds the time of each look. */
export interface Look {
  env: Readonly<Record<string, string | undefined>>
  /** Sources there are; secrets of their config masked or left out. */
  sources: () => readonly { name: string; connector: string; config: Readonly<Record<string, unknown>> }[]
  /** Whether an address answers; false, not an error, when it does not. */
  http: (url: string) => Promise<boolean>
}

type Probe = NonNullable<TemplateFile['detect']>[number]

/**
 * Looks at the environment and the sources first, then asks addresses, which may be made of what was
 * found, all at the same time. A secret is never returned, only that it is there.
 * @returns parameters it could fill, and one sentence for each look, in the order of the file.
 */
export async function detectTemplate(file: TemplateFile, look: Look): Promise<DetectResult> {
  const { properties } = paramsOf(file)
  const found: Params = {}
  for (const [name, rules] of Object.entries(properties))
    if (rules['x-env'] !== undefined && look.env[rules['x-env']]) found[name] = standard(rules, look.env)
  const probes = file.detect ?? []
  const seen = probes.map((probe) => (probe.from === 'http' ? undefined : glance(probe, look, found)))
  const defaults = Object.entries(properties).map(
    ([name, rules]) => [name, standard(rules, look.env)] as const,
  )
  const tried: Params = { ...Object.fromEntries(defaults), ...found }
  const scope: Scope = { roots: tried, names: () => [] }
  const answers = await Promise.all(
    probes.map((probe, i) => (probe.from === 'http' ? answersAt(probe, look, scope) : Boolean(seen[i]))),
  )
  const told = { found: [] as string[], missing: [] as string[] }
  probes.forEach((probe, i) => {
    if (answers[i] && probe.from === 'http' && probe.param && !isEmpty(tried[probe.param]))
      found[probe.param] = tried[probe.param]
    const text = answers[i] ? probe.found : probe.missing
    const sentence = renderPlain(text ?? standardText(probe, answers[i]!), scope)
    told[answers[i] ? 'found' : 'missing'].push(sentence)
  })
  const open = Object.entries(found).filter(([name]) => !properties[name]?.['x-secret'])
  return {
    params: Object.fromEntries(open),
    ...told,
    notes: file.demo ? ['This template shows made-up data of a demo.'] : [],
  }
}

/** Looks at a variable or at the sources. @returns whether it is there; puts its value in `found`. */
function glance({ from, param, env = '', connector, field }: Probe, look: Look, found: Params): boolean {
  const source = from === 'source' ? look.sources().find((one) => one.connector === connector) : undefined
  const value = from === 'env' ? look.env[env] : field === undefined ? source?.name : source?.config[field]
  if (isEmpty(value)) return false
  if (param !== undefined) found[param] = value
  return true
}

async function answersAt({ url = '' }: Probe, look: Look, scope: Scope): Promise<boolean> {
  const address = renderPlain(url, scope)
  return URL.canParse(address) && (await look.http(address))
}

function standardText({ from, env, connector, url = '' }: Probe, isThere: boolean): string {
  if (from === 'env') return `${env} is ${isThere ? 'set' : 'not set'}.`
  if (from === 'source')
    return isThere ? `A ${connector} source is there.` : `There is no ${connector} source.`
  return isThere ? `${url} answers.` : `${url} does not answer.`
}

/* Actions of projects (SPEC.md, POST /api/projects/{id}/actions/{name}): what to do, not doing it. */

/** An HTTP call or an agent's run; which of them is in the file. */
interface RenderedAction {
  request?: { method: 'POST' | 'GET' | 'DELETE'; url: string; body?: Record<string, unknown> }
  run?: { agent: string; entity: string }
}

/** @throws SvcError not_found, naming the actions there are. */
export function actionOf(file: TemplateFile, name: string): TemplateAction {
  const actions = file.actions ?? []
  const list = actions.map((action) => action.name).join(', ') || 'none'
  return (
    actions.find((action) => action.name === name) ??
    fail('not_found', `the template ${file.key} has no action ${name}; there are ${list}`)
  )
}

/**
 * @param params of the project, as they are stored.
 * @param kept names of the project's objects, where they are not those of the file.
 * @param args of the call; checked against the action's schema, absent ones take their defaults.
 * @throws SvcError not_found: no such action; invalid: an argument, or an address that is not one.
 */
export function renderAction(
  file: TemplateFile,
  name: string,
  params: Params,
  args: Params,
  kept?: KeptNames,
): RenderedAction {
  const action = actionOf(file, name)
  const scope: Scope = {
    roots: { ...params, args: checkArgs(action, args, params) },
    names: plannedNames(file, params, kept),
  }
  if (action.run) {
    const run = { agent: renderPlain(action.run.agent, scope), entity: renderPlain(action.run.entity, scope) }
    if (run.agent === '') fail('invalid', `action ${name}: its agent is not part of this project`)
    if (run.entity.trim() === '') fail('invalid', `action ${name}: the entity must not be empty`)
    return { run }
  }
  return action.request ? { request: requestOf(action.request, name, scope) } : {}
}

function requestOf(
  { method, url, body }: NonNullable<TemplateAction['request']>,
  name: string,
  scope: Scope,
) {
  // What a caller gives is one part of the address; it cannot lead to another.
  const address = renderPlain(url, scope, (value, root) =>
    root === 'args' ? encodeURIComponent(value) : value,
  )
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    fail(
      'invalid',
      `action ${name}: its address must be an http or https address; check the project's parameters`,
    )
  return {
    method,
    url: address,
    ...(body === undefined ? {} : { body: render(body, scope) as Record<string, unknown> }),
  }
}

function checkArgs(action: TemplateAction, given: Params, params: Params): Params {
  const rules = (action.params ?? { properties: {} }) as FieldsOf<TemplateParams>
  const args: Params = Object.fromEntries(Object.entries(given).filter(([, value]) => !isEmpty(value)))
  for (const [field, { default: standard }] of Object.entries(rules.properties))
    if (args[field] === undefined && !isEmpty(standard)) args[field] = standard
  const [fault] = [...objectFaults(rules, args, 'args'), ...strangeArgs(rules, args, params)]
  if (fault !== undefined) {
    // The body of the call is the arguments, so that its fields are named as they were sent.
    const sentence = fault.replace(/^args\./, '')
    fail('invalid', sentence, { field: /^[\w.[\]]+/.exec(sentence)![0] })
  }
  return args
}

/** An argument that is to be one of what the project has, such as a repository that it watches. */
function strangeArgs({ properties }: FieldsOf<TemplateParams>, args: Params, params: Params): string[] {
  return Object.entries(properties).flatMap(([field, { 'x-one-of': of }]) => {
    if (of === undefined || args[field] === undefined) return []
    const known = [valueAt(params, of.split('.'))].flat().filter((value) => !isEmpty(value))
    if (known.includes(args[field])) return []
    return [`${field} must be one of ${known.join(', ')}${didYouMean(args[field], known)}`]
  })
}

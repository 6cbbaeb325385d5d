/** Rules of the expressions in a template file, known before anything is planned. */
import type { TemplateParam } from '../../schemas/types.ts'
import { SvcError } from '../errors.ts'
import { type Expression, parseText } from './expression.ts'

/** What expressions at a place may read. */
export interface Allowed {
  roots: Readonly<Record<string, TemplateParam>>
  /** Keys of objects of the file; absent where objects have no names yet. */
  keys?: ReadonlySet<string>
  /** Whether the field at a path may hold a secret. */
  isSecretPlace: (path: string) => boolean
}

/** @returns one sentence per fault in any text of a value, each beginning with its path. */
export function textFaults(value: unknown, at: string, allowed: Allowed): string[] {
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
export function pathTarget(
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

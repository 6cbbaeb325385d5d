/**
 * Regular expressions of users: RE2, which takes time linear in the text, so that no pattern can stall
 * ingest. Linear still leaves two ways to be slow, a large counted repeat and many matches that each
 * look far ahead, so the work on one value is bounded as well.
 */
import { RE2JS } from 're2js'

/**
 * Pattern instructions × characters spent on one value. Measured 2026-11: the worst patterns found
 * take 16 ns a unit, so 3 ms; a pattern of 10 instructions may search 20,000 characters. With ten times that, a
 * body of long texts held up the ones behind it for seconds.
 */
export const WORK_MAX = 200_000

type Part = string | { group: number | string }

/**
 * Rules for a label's pattern and replace.
 * @returns a sentence naming the field and the rule, or null.
 */
export function patternFault(pattern: string, replacement: string): string | null {
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(pattern)
  } catch (error) {
    return `pattern is not supported: ${(error as Error).message.replace('error parsing regexp: ', '')}`
  }
  for (const part of parseReplacement(replacement)) {
    if (typeof part === 'string' || hasGroup(compiled, part.group)) continue
    return `replace names group ${part.group}, which the pattern does not have`
  }
  return null
}

/**
 * Replaces every match. A replacement that names a group ($1, \1, ${1}, \g<1>, or the group's name) is
 * an extraction: where the pattern does not match, the result is undefined; it is also where the value
 * is too long for the pattern's size. `$$` is a dollar.
 * @param pattern one without a `patternFault`
 */
export function compileReplace(pattern: string, replacement: string): (value: string) => string | undefined {
  const compiled = RE2JS.compile(pattern)
  const size = compiled.programSize()
  const parts = parseReplacement(replacement)
  const extracts = parts.some((part) => typeof part !== 'string')
  return (value) => {
    const matcher = compiled.matcher(value)
    let out = ''
    let last = 0
    let found = false
    for (let work = size * value.length; work <= WORK_MAX; work += size * (value.length - last)) {
      if (!matcher.find()) return found || !extracts ? out + value.slice(last) : undefined
      found = true
      out += value.slice(last, matcher.start())
      for (const part of parts) out += typeof part === 'string' ? part : (matcher.group(part.group) ?? '')
      last = matcher.end()
    }
    return undefined
  }
}

/**
 * Whether the whole of a value matches; it does not where it is too long for the pattern's size.
 * @param pattern one without a `patternFault`
 */
export function compileWhole(pattern: string): (value: string) => boolean {
  const compiled = RE2JS.compile(pattern)
  const size = compiled.programSize()
  return (value) => size * value.length <= WORK_MAX && compiled.matches(value)
}

/**
 * Whether a pattern occurs in a value, in any case of letters. Of a value too long for the pattern's
 * size only the beginning is searched.
 * @param pattern one without a `patternFault`
 */
export function compileSearch(pattern: string): (value: string) => boolean {
  const compiled = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)
  const most = searchable(compiled)
  return (value) => compiled.matcher(value.slice(0, most)).find()
}

/**
 * The named groups of a pattern's first match; none where it does not match. Of a value too long for the
 * pattern's size only the beginning is searched.
 * @param pattern one without a `patternFault`
 */
export function compileGroups(pattern: string): (value: string) => Record<string, string> {
  const compiled = RE2JS.compile(pattern)
  const names = Object.keys(compiled.namedGroups())
  const most = searchable(compiled)
  return (value) => {
    const matcher = compiled.matcher(value.slice(0, most))
    if (!matcher.find()) return {}
    const found = names.map((name) => [name, matcher.group(name)] as const)
    return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== null))
  }
}

/** The names of a pattern's groups. @param pattern one without a `patternFault` */
export function groupNames(pattern: string): string[] {
  return Object.keys(RE2JS.compile(pattern).namedGroups())
}

const searchable = (compiled: RE2JS): number => Math.floor(WORK_MAX / compiled.programSize())

function hasGroup(compiled: RE2JS, group: number | string): boolean {
  return typeof group === 'number'
    ? group <= compiled.groupCount()
    : Object.hasOwn(compiled.namedGroups(), group)
}

const REFERENCE = /\$\$|\$(\d)|\\(\d)|\$\{(\w+)\}|\\g<(\w+)>/g

function parseReplacement(text: string): Part[] {
  const parts: Part[] = []
  let rest = 0
  for (const match of text.matchAll(REFERENCE)) {
    if (match.index > rest) parts.push(text.slice(rest, match.index))
    const group = match[1] ?? match[2] ?? match[3] ?? match[4]
    if (group === undefined) parts.push('$')
    else parts.push({ group: /^\d+$/.test(group) ? Number(group) : group })
    rest = match.index + match[0].length
  }
  if (rest < text.length) parts.push(text.slice(rest))
  return parts
}

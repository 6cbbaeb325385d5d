/** Regular expressions of users: RE2, linear in the text, so that no pattern can stall ingest. */
import { RE2JS } from 're2js'

/** A sentence on why the pattern cannot be used, or null. */
export function patternFault(pattern: string): string | null {
  try {
    RE2JS.compile(pattern)
    return null
  } catch (error) {
    return `pattern is not supported: ${(error as Error).message}`
  }
}

/**
 * Replaces every match. A replacement that names a group ($1, \1, \g<1>, ${1}) is an extraction:
 * where the pattern does not match, the result is undefined.
 */
export function compileReplace(pattern: string, replacement: string): (value: string) => string | undefined {
  const compiled = RE2JS.compile(pattern)
  const parts = parseReplacement(replacement)
  const extracts = parts.some((part) => typeof part === 'number')
  return (value) => {
    const matcher = compiled.matcher(value)
    let out = ''
    let last = 0
    let found = false
    while (matcher.find()) {
      found = true
      out += value.slice(last, matcher.start())
      for (const part of parts) out += typeof part === 'string' ? part : groupOf(matcher, part)
      last = matcher.end()
    }
    if (!found) return extracts ? undefined : value
    return out + value.slice(last)
  }
}

function groupOf(matcher: ReturnType<RE2JS['matcher']>, group: number): string {
  return group <= matcher.groupCount() ? (matcher.group(group) ?? '') : ''
}

function parseReplacement(text: string): (string | number)[] {
  const parts: (string | number)[] = []
  let rest = 0
  for (const match of text.matchAll(/\$\$|\$(\d)|\$\{(\d+)\}|\\g<(\d+)>|\\(\d)/g)) {
    if (match.index > rest) parts.push(text.slice(rest, match.index))
    const group = match[1] ?? match[2] ?? match[3] ?? match[4]
    parts.push(group === undefined ? '$' : Number(group))
    rest = match.index + match[0].length
  }
  if (rest < text.length) parts.push(text.slice(rest))
  return parts
}

/** Fields of a pasted sample, for suggestions and previews. */

/** Payloads of pasted text: one value, a list, NDJSON, or JSON in a form. @returns null when it is none of them. */
export function parseSample(text: string): unknown[] | null {
  const pasted = text.trim()
  if (pasted === '') return []
  // As GitHub sends it, where its content type is left as it is.
  const trimmed = pasted.startsWith('payload=') ? (new URLSearchParams(pasted).get('payload') ?? '') : pasted
  try {
    const value = JSON.parse(trimmed) as unknown
    return (Array.isArray(value) ? value : [value]).slice(0, 200)
  } catch {
    // Not one document; perhaps one a line.
  }
  try {
    return trimmed
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(0, 200)
      .map((line) => JSON.parse(line) as unknown)
  } catch {
    return null
  }
}

/** Dotted names of the fields of payloads, at most four levels deep. */
export function fieldNames(payloads: readonly unknown[]): string[] {
  const names = new Set<string>()
  const walk = (value: unknown, prefix: string, depth: number): void => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      if (prefix) names.add(prefix)
      return
    }
    for (const [key, inner] of Object.entries(value)) {
      const name = prefix ? `${prefix}.${key}` : key
      if (depth < 4) walk(inner, name, depth + 1)
    }
  }
  for (const payload of payloads.slice(0, 50)) walk(payload, '', 0)
  return [...names].slice(0, 200)
}

/**
 * Payloads as they were received. Reading JSON and writing it again would change large numbers and drop
 * repeated keys, so the text of each `raw` is cut out of the daemon's answer.
 */

/**
 * The values of every key `raw` at a depth, in order, as JSON text.
 * @param depth of the object that holds the key: 1 is the outermost.
 */
export function rawValues(json: string, depth: number): string[] {
  const found: string[] = []
  let level = 0
  let start = -1
  for (let i = 0; i < json.length; i++) {
    const character = json[i]
    if (character === '"') {
      const end = endOfString(json, i)
      if (start < 0 && level === depth && json.slice(i, end + 2) === '"raw":') {
        start = end + 2
        i = end + 1
      } else i = end
    } else if (character === '{' || character === '[') level++
    else if (character === '}' || character === ']') {
      if (start >= 0 && level === depth) {
        found.push(json.slice(start, i))
        start = -1
      }
      level--
    } else if (character === ',' && start >= 0 && level === depth) {
      found.push(json.slice(start, i))
      start = -1
    }
  }
  return found
}

/** @returns where the string ends that begins at `from`. */
function endOfString(json: string, from: number): number {
  let i = from + 1
  while (json[i] !== '"' && i < json.length) i += json[i] === '\\' ? 2 : 1
  return i
}

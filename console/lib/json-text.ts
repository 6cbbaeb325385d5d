/**
 * Indents JSON text without parsing it: digits, key order and repeated keys stay as received.
 */
export function indentJson(text: string): string {
  let out = ''
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (c === '"') {
      const end = endOfString(text, i)
      out += text.slice(i, end + 1)
      i = end
    } else if (c === '{' || c === '[') {
      const next = nextSign(text, i + 1)
      if (next !== -1 && (text[next] === '}' || text[next] === ']')) {
        out += c + text[next]
        i = next
      } else {
        depth++
        out += c + line()
      }
    } else if (c === '}' || c === ']') {
      depth = Math.max(0, depth - 1)
      out += line() + c
    } else if (c === ',') out += c + line()
    else if (c === ':') out += ': '
    else if (!/\s/.test(c)) out += c
  }
  return out
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i
  }
  return text.length - 1
}

function nextSign(text: string, from: number): number {
  for (let i = from; i < text.length; i++) if (!/\s/.test(text[i]!)) return i
  return -1
}

/** SVG as text: elements with escaped attributes and content. */

/** Characters XML 1.0 does not take, also escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

export const escaped = (text: string): string =>
  text
    .replace(NOT_XML, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

type Attributes = Record<string, string | number | undefined>

/** @param content markup, not text */
export function element(name: string, attributes: Attributes, content = ''): string {
  const said = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
    .join('')
  return content ? `<${name}${said}>${content}</${name}>` : `<${name}${said}/>`
}

/** Room a character takes of the size of its letters, on average; nothing can be measured here. */
const ADVANCE = 0.56

export const widthOf = (text: string, size: number): number => text.length * size * ADVANCE

/** The text cut to a width in pixels. */
export function fitted(text: string, width: number, size: number): string {
  const most = Math.max(1, Math.floor(width / (size * ADVANCE)))
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

export function textAt(
  text: string,
  at: { x: number; y: number; size: number; fill: string; weight?: number; anchor?: 'end' | 'middle' },
): string {
  return element(
    'text',
    {
      x: at.x,
      y: at.y,
      'font-size': at.size,
      fill: at.fill,
      'font-weight': at.weight,
      'text-anchor': at.anchor,
    },
    escaped(text),
  )
}

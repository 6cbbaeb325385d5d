/** Where an offset of a JSON text is: problems of catalogs that were put together come back with columns of their JSON. */
import type { CatalogProblem } from '../../schemas/types.ts'
import type { Composed } from './compose.ts'

/** @param json well-formed. @returns the path of the value that begins at an offset, or that the offset is in */
function pathAtOffset(json: string, offset: number): (string | number)[] {
  const stack: { step: string | number | null; isList: boolean; isKey: boolean }[] = []
  for (let at = 0; at < offset; at++) {
    const top = stack.at(-1)
    const character = json[at]
    if (character === '"') {
      const start = at
      for (at++; json[at] !== '"' && at < json.length; at++) if (json[at] === '\\') at++
      if (top?.isKey) top.step = JSON.parse(json.slice(start, at + 1)) as string
    } else if (character === '{') stack.push({ step: null, isList: false, isKey: true })
    else if (character === '[') stack.push({ step: 0, isList: true, isKey: false })
    else if (character === '}' || character === ']') stack.pop()
    else if (character === ':' && top) top.isKey = false
    else if (character === ',' && top?.isList) top.step = Number(top.step) + 1
    else if (character === ',' && top) top.isKey = true
  }
  return stack.flatMap(({ step }) => step ?? [])
}

/** What was told of a text that was put together: by its words, and where in the text. */
type ToldOf = Pick<CatalogProblem, 'path'> & Partial<Pick<CatalogProblem, 'file' | 'line' | 'column'>>

/** The path of a problem in what was put together: as its words say, and as precisely as its column does. */
export function pathOfProblem(
  { owned }: Pick<Composed, 'owned'>,
  { path, file, line, column = 1 }: ToldOf,
): (string | number)[] {
  const at = Math.max(
    0,
    owned.findIndex(({ name }) => name === file),
  )
  const text = owned[at]?.text
  const within = text === undefined || line !== 1 ? [] : pathAtOffset(text, column - 1)
  // A conflict names its field within the part: only its column says where that is.
  if (path === '' || path.startsWith('/')) {
    const [section, index = 0, ...inner] = within
    if (section === undefined) return []
    const before = owned.slice(0, at).map((one) => JSON.parse(one.text) as Record<string, unknown[]>)
    const skipped = before.reduce((sum, one) => sum + (one[section]?.length ?? 0), 0)
    return [section, Number(index) + skipped, ...inner]
  }
  const steps = stepsOf(path)
  return steps.length >= 2 && within.length > steps.length
    ? [...steps.slice(0, 2), ...within.slice(2)]
    : steps
}

/** triggers[2].sources as steps. */
function stepsOf(path: string): (string | number)[] {
  const steps = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g
  return [...path.matchAll(steps)].map(([, index, quoted, word]) =>
    index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(quoted)) : word!,
  )
}

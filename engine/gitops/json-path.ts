/** Where an offset of a JSON text is: problems of catalogs that were put together come back with columns of their JSON. */

/** @param json well-formed. @returns the path of the value that begins at an offset, or that the offset is in */
export function pathAtOffset(json: string, offset: number): (string | number)[] {
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

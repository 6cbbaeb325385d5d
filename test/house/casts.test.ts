/** 18.8: the core is typed; what types cannot say is said in as few places as there are, each with its reason. */
import { expect, it } from 'vitest'
import { projectFiles, textOf } from './project-files.ts'

/** Only ever lowered. */
const CASTS = 10

const casts = projectFiles()
  .filter((file) => /^(schemas|machines|engine|api|console)\/.*\.tsx?$/.test(file))
  .flatMap((file) => {
    const lines = textOf(file).split('\n')
    return lines.flatMap((line, at) => (/\bas unknown as\b/.test(line) ? [{ file, lines, at }] : []))
  })

it(`the product says "as unknown as" in ${CASTS} places`, () => {
  expect(casts.map(({ file, at }) => `${file}:${at + 1}`)).toHaveLength(CASTS)
})

it('each says why, in a comment before the statement', () => {
  const without = casts.filter(({ lines, at }) => {
    // Upwards to where the statement begins, or what it is in.
    let first = at
    while (/^[}\])]|^\s+\S/.test(lines[first]!) && !/^\s*(const|return|for|if|\/\/)\b/.test(lines[first]!))
      first--
    return !/^\s*(\/\/|\*\/|\/\*\*)/.test(lines[first - 1] ?? '') && !/^\s*\*/.test(lines[first - 1] ?? '')
  })
  expect(without.map(({ file, at }) => `${file}:${at + 1}`)).toEqual([])
})

/** Only ever lowered: a document or fields from where nothing is typed, said to be of a kind. */
const NARROWED = 42

it(`documents and fields are said to be of a kind in ${NARROWED} places at most`, () => {
  const product = projectFiles().filter((file) =>
    /^(schemas|machines|engine|api|console)\/.*\.tsx?$/.test(file),
  )
  const said = product.flatMap(
    (file) => textOf(file).match(/(?<!const )\bdocumentOf\(|\bas FieldsOf</g) ?? [],
  )
  expect(said.length).toBeLessThanOrEqual(NARROWED)
})

/** The one list of terms, docs/glossary.md: what it says is not used is in no text that people or models read. */
import { describe, expect, it } from 'vitest'
import { projectFiles, textOf } from './project-files.ts'

const glossary = textOf('docs/glossary.md')
const phrases = [...glossary.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, phrase]) => phrase!)

/** The texts of a file: its strings and what stands between tags, without comments. */
function textsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '')
  const strings = [...code.matchAll(/(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , text]) => text!)
  const between = [...code.matchAll(/>([^<>{}=;]+)</g)].map(([, text]) => text!)
  return [...strings, ...between].map((text) => text.replace(/\s+/g, ' '))
}

/** Those whose strings are read by people and models: pages, commands, tools, the API document. */
const files = projectFiles().filter((file) =>
  /^(console\/.*\.tsx?|api\/.*\.ts|engine\/operations\/.*\.ts|schemas\/.*\.json)$/.test(file),
)
/** Made of the others. */
const GENERATED = ['api/http/openapi.json', 'api/client/calls.ts', 'schemas/catalog.schema.json']

describe('the words of console, command, tools and API', () => {
  it('are read from its files', () => {
    expect(phrases.length).toBeGreaterThan(20)
    expect(files.length).toBeGreaterThan(600)
    const seen = textsOf(
      'const a = \'Leave it\' // Told\nreturn <Text title="It waits">\n  Asks every\n  day\n</Text> /* Took */',
    )
    expect(seen).toEqual(['Leave it', 'It waits', ' Asks every day '])
  })

  it('are those of the glossary', () => {
    const read = files.filter((file) => !GENERATED.includes(file))
    const used = read.flatMap((file) => {
      const texts = textsOf(textOf(file))
      return phrases
        .filter((phrase) => texts.some((text) => new RegExp(`(?<![\\w-])${phrase}(?![\\w-])`).test(text)))
        .map((phrase) => `${file}: ${phrase}`)
    })
    expect(used).toEqual([])
  })
})

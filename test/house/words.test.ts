/** The one list of terms, docs/glossary.md: what it says is not used is not in the console's texts. */
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

const console = projectFiles().filter((file) => /^console\/.*\.tsx?$/.test(file))

describe('the words of the console', () => {
  it('are read from its files', () => {
    expect(phrases.length).toBeGreaterThan(20)
    expect(console.length).toBeGreaterThan(200)
    const seen = textsOf(
      'const a = \'Leave it\' // Told\nreturn <Text title="It waits">\n  Asks every\n  day\n</Text> /* Took */',
    )
    expect(seen).toEqual(['Leave it', 'It waits', ' Asks every day '])
  })

  it('are those of the glossary', () => {
    const used = console.flatMap((file) => {
      const texts = textsOf(textOf(file))
      return phrases
        .filter((phrase) => texts.some((text) => new RegExp(`(?<![\\w-])${phrase}(?![\\w-])`).test(text)))
        .map((phrase) => `${file}: ${phrase}`)
    })
    expect(used).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { projectFiles, textOf } from './project-files.ts'

const text = projectFiles().filter((file) => !/\.(png|ico|woff2?|gz|db)$/.test(file))
const found = (pattern: RegExp, files = text) =>
  files.flatMap((file) => [...textOf(file).matchAll(pattern)].map((match) => `${file}: ${match[0]}`))

describe('what is committed', () => {
  it('names no absolute path of a machine', () => {
    // Split, so that this file does not find itself. An image's own folders are not a machine's.
    const folders = ['ro' + 'ot', 'wo' + 'rk', 'ho' + 'me', 'Use' + 'rs'].join('|')
    expect(found(new RegExp(`(?<![\\w.~}$-])/(${folders})/[\\w.]+`, 'g'))).toEqual([])
  })

  it('names no package registry', () => {
    expect(found(/"resolved"/g, ['package-lock.json'])).toEqual([])
    expect(
      found(/registry\s*=\s*\S*https?:|https?:\/\/[\w.-]*(registry|npmjs|artifactory|nexus)[\w.-]*/g),
    ).toEqual([])
  })

  it('pins every package to an exact version', () => {
    const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<
      string,
      Record<string, string>
    >
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+$/.test(version),
    )
    expect(loose).toEqual([])
  })

  it('leaves nothing for later in the code', () => {
    expect(
      found(
        new RegExp(['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].map((word) => `\\b${word}\\b`).join('|'), 'g'),
      ),
    ).toEqual([])
  })

  it('switches no check of the compiler off', () => {
    expect(
      found(
        // A type that is anything is for the linter, which tells a type from a word.
        new RegExp(`@ts-${'ignore'}|@ts-${'nocheck'}`, 'g'),
        text.filter((file) => /\.tsx?$/.test(file)),
      ),
    ).toEqual([])
  })
})

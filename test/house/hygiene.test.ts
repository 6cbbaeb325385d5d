import { isBuiltin } from 'node:module'
import { describe, expect, it } from 'vitest'
import { namedPackages, projectFiles, textOf } from './project-files.ts'

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
    expect(found(/"resolved": "(?!console")/g, ['package-lock.json'])).toEqual([])
    expect(
      found(/registry\s*=\s*\S*https?:|https?:\/\/[\w.-]*(registry|npmjs|artifactory|nexus)[\w.-]*/g),
    ).toEqual([])
  })

  it('has no two tests that build in one folder: one would remove what the other runs', () => {
    const built = projectFiles()
      .filter((file) => file.startsWith('test/') && file !== 'test/house/hygiene.test.ts')
      .flatMap((file) => [
        ...new Set(
          [...textOf(file).matchAll(/dist\/((?:chaos|test|bench)[\w-]*)/g)].map(([, folder]) => folder),
        ),
      ])
    expect(built).toContain('chaos-power-cut')
    expect(built.filter((folder, at) => built.indexOf(folder) !== at)).toEqual([])
  })

  it('pins every package to an exact version', () => {
    const loose = namedPackages().filter(
      ({ version }) => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(version),
    )
    expect(loose).toEqual([])
  })

  it('names one version of a package that both the project and its console name', () => {
    const named = namedPackages()
    const several = named.filter((one) =>
      named.some((other) => other.name === one.name && other.version !== one.version),
    )
    expect(several).toEqual([])
  })

  it('installs for npm start every package that the daemon, the console and their build import', () => {
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      packages: Record<string, { dev?: boolean; devOptional?: boolean } | undefined>
    }
    const run = projectFiles().filter(
      (file) =>
        file !== 'schemas/generate.ts' &&
        /^((schemas|machines|engine|api|console)\/.*\.tsx?|scripts\/(build|dev|install|run|setup|start)\.mjs)$/.test(
          file,
        ),
    )
    const importing = /(import type [^']*)?(?:\bfrom |\bimport\()'((?:@[\w-]+\/)?[a-z][\w.-]*)(?:\/[^']*)?'/g
    const named = run.flatMap((file) =>
      [...textOf(file).matchAll(importing)].flatMap(([, typeOnly, name]) =>
        typeOnly === undefined ? [{ file, name: name! }] : [],
      ),
    )
    expect(new Set(named.map(({ name }) => name)).size).toBeGreaterThan(30)
    expect(
      named.filter(({ name }) => {
        const found = packages[`node_modules/${name}`]
        return !isBuiltin(name) && (found === undefined || found.dev || found.devOptional)
      }),
    ).toEqual([])
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

  it('waits in tests by one bound, which no machine reaches', () => {
    // Split, so that this file does not find itself.
    const own = ['vi\\.wait' + '(For|Until)\\(', 'AbortSignal\\.time' + 'out\\('].join('|')
    const files = text.filter((file) => /^test\/(?!bench\/)/.test(file) && file !== 'test/eventually.ts')
    expect(found(new RegExp(own, 'g'), files)).toEqual([])
    // A limit of one test under the one of all; those of long chaos runs are above it.
    const limits = files
      .filter((file) => file.endsWith('.test.ts'))
      .flatMap((file) =>
        [...textOf(file).matchAll(/^\s*\}, (\d[\d_]*)\)$/gm)].map(([, ms]) =>
          Number(ms!.replaceAll('_', '')),
        ),
      )
    expect(limits.filter((ms) => ms >= 1_000 && ms < 300_000)).toEqual([])
  })
})

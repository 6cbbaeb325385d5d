/** The project's own files, for the tests of the house. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

const NOT_OURS = new Set([
  'node_modules',
  'dist',
  '.git',
  'test-results',
  'playwright-report',
  'coverage',
  '.svc',
  '.node',
])

/** Every file that is part of the project, by its path under the root. */
export function projectFiles(): string[] {
  const files: string[] = []
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (NOT_OURS.has(entry.name)) continue
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (entry.isDirectory()) walk(path)
      else files.push(path)
    }
  }
  walk('')
  return files.sort()
}

/** The text of a file of the project. */
export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The packages that the project names, with their versions, each with the file that names it. */
export function namedPackages(): { name: string; version: string; file: string }[] {
  return ['package.json', 'console/package.json'].flatMap((file) => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(textOf(file)) as {
      dependencies?: Record<string, string>
      devDependencies?: Record<string, string>
    }
    return Object.entries({ ...dependencies, ...devDependencies }).map(([name, version]) => ({
      name,
      version,
      file,
    }))
  })
}

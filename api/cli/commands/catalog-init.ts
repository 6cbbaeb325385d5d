/** `svc catalog init`: writes a starter catalog repository, a copy of examples/gitops, into a folder. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countWords, systemWords } from '../../../schemas/plain-words.ts'
import { CliError, EXIT } from '../exit.ts'
import { makeFolders } from '../files.ts'
import type { Io } from '../terminal.ts'
import { schemaAlone } from './catalog-check.ts'

/** What a built command has beside it: the texts of the files by their paths. */
const BUILT = './starter.json'
const EXAMPLE = '../../../examples/gitops/'
/** Links to documents that a copy does not have beside it. */
const LINK_OUT = /\[([^\]]+)\]\(\.\.\/\.\.\/[^)]+\)/g
/** Where files of it that git runs lie. */
const HOOKS = '.githooks'
const SCHEMA = '.vscode/catalog.schema.json'

/**
 * Writes all files, or none where one of them is there already.
 * @throws CliError 1 naming what is there; 74 where a file cannot be written
 */
export async function initCatalog(io: Io, folder: string): Promise<void> {
  const files = new Map([...starterFiles(), [SCHEMA, `${await schemaAlone(io)}\n`]])
  const there = [...files.keys()].filter((path) => existsSync(join(folder, path)))
  if (there.length)
    throw new CliError(
      `nothing is written: ${there.slice(0, 3).join(', ')}${there.length > 3 ? ' and more' : ''} ${there.length === 1 ? 'is' : 'are'} in ${folder} already; name a new folder`,
    )
  const isThere = existsSync(folder)
  try {
    for (const [path, text] of files) {
      const target = join(folder, path)
      makeFolders(dirname(target))
      writeFileSync(target, text)
      if (dirname(path) === HOOKS) chmodSync(target, 0o755)
    }
  } catch (error) {
    // None of them was there before. Half a catalog would be in the way of the next try.
    if (isThere) for (const path of files.keys()) rmSync(join(folder, path), { force: true })
    else rmSync(folder, { recursive: true, force: true })
    throw new CliError(`cannot write ${folder}: ${systemWords(error, folder)}; nothing is written`, EXIT.disk)
  }
  const enter = folder === '.' ? '' : `cd ${folder} && `
  io.err(`wrote ${countWords(files.size, 'file')}; README.md says what each is\n`)
  io.out(
    [
      `${enter}git init && git config core.hooksPath ${HOOKS}`,
      'svc catalog check --offline --env staging',
      'svc catalog test --env staging',
      'svc catalog plan --env staging',
      '',
    ].join('\n'),
  )
}

/** The texts of the files by their paths, with slashes. */
function starterFiles(): Map<string, string> {
  const built = fileURLToPath(new URL(BUILT, import.meta.url))
  const texts = existsSync(built)
    ? (JSON.parse(readFileSync(built, 'utf8')) as Record<string, string>)
    : textsIn(fileURLToPath(new URL(EXAMPLE, import.meta.url)))
  return new Map(Object.entries(texts).map(([path, text]) => [path, text.replaceAll(LINK_OUT, '$1')]))
}

function textsIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && join(entry.parentPath, entry.name) !== join(folder, SCHEMA))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path).split(sep).join('/'), readFileSync(path, 'utf8')]),
  )
}

/** The templates on offer: catalog/templates/*.yaml. Adding one needs no code. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TemplateFile } from '../../schemas/types.ts'
import { StartError } from '../errors.ts'
import { readTemplate } from './read-file.ts'

/** sysexits EX_CONFIG. */
const BAD_CONFIGURATION = 78
const ENDING = '.yaml'

/**
 * Reads and checks every template; their order is that of their files' names.
 * @param folder with the files; those shipped with svc when absent.
 * @throws StartError 78: no such folder, or broken files, one line per fault with file, line, column
 *   and rule.
 */
export function readTemplates(folder: string = shippedFolder()): Map<string, TemplateFile> {
  if (!existsSync(folder))
    throw new StartError(`the folder of templates ${folder} is not there`, BAD_CONFIGURATION)
  const templates = new Map<string, TemplateFile>()
  const faults: string[] = []
  const names = readdirSync(folder).filter((name) => name.endsWith(ENDING))
  for (const name of names.sort()) {
    const path = join(folder, name)
    const key = name.slice(0, -ENDING.length)
    const read = readTemplate(key, readFileSync(path, 'utf8'))
    if (read.faults) faults.push(...read.faults.map((fault) => `${path}:${fault}`))
    else templates.set(key, read.file)
  }
  if (faults.length)
    throw new StartError(`templates of projects cannot be used:\n${faults.join('\n')}`, BAD_CONFIGURATION)
  return templates
}

/** The build copies catalog/ beside the bundle; from source it is at the root of the project. */
function shippedFolder(): string {
  const beside = fileURLToPath(new URL('./catalog/templates/', import.meta.url))
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../catalog/templates/', import.meta.url))
}

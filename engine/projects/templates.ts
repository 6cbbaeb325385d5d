/** The templates of this program, by key (SPEC.md, Projects: templates). */
import type { TemplateFile } from '../../schemas/types.ts'
import { readTemplates, secretParams } from '../templates/index.ts'

export interface Templates {
  /** In the order of their keys. */
  all(): TemplateFile[]
  get(key: string): TemplateFile | undefined
  /** Names of the secret parameters; none for a template that is gone or has no file. */
  secretParams(key: string): readonly string[]
}

/** @throws StartError for a template file that is broken. */
export function openTemplates(): Templates {
  const files = readTemplates()
  return {
    all: () => [...files.values()],
    get: (key) => files.get(key),
    secretParams: (key) => {
      const file = files.get(key)
      return file ? secretParams(file) : []
    },
  }
}

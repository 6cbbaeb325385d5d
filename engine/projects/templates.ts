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

/** Those shipped with svc do not change while it runs: all engines of a process share them, and change none. */
let shipped: Map<string, TemplateFile> | undefined

/**
 * They are read when one is first asked for, because reading and checking them takes longer than
 * opening the store; that those shipped can be read is for the tests to say.
 */
export function openTemplates(): Templates {
  const files = (): Map<string, TemplateFile> => {
    shipped ??= readTemplates()
    return shipped
  }
  return {
    all: () => [...files().values()],
    get: (key) => files().get(key),
    secretParams: (key) => {
      const file = files().get(key)
      return file ? secretParams(file) : []
    },
  }
}

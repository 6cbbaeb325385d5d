/** What the pause of a project stopped, and nothing starts again once it left the project or the project is gone. */
import { KIND_WORDS } from './fields.ts'

/** A part in words: "trigger errs". */
export const partWords = ({ kind, name }: { kind: string; name: string }): string =>
  `${KIND_WORDS[kind]?.one} ${name}`

/** @param parts as `left_paused` of the API: kind:name of each @returns their names; nothing where there are none */
export const leftPausedWords = (parts: readonly string[] = []): string =>
  parts
    .map((part) => {
      const at = part.indexOf(':')
      return partWords({ kind: part.slice(0, at), name: part.slice(at + 1) })
    })
    .join(', ')

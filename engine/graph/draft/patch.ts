/** The catalog file before and after a draft, and the patch between the two. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { DraftPreview } from '../../../schemas/types.ts'

/** Lines around a change, as git has them. */
const CONTEXT = 3

/** @param path name of the file. @returns with a patch for `git apply`, empty when nothing differs */
export function patchOf(path: string, before: string, after: string): NonNullable<DraftPreview['yaml']> {
  const patch =
    before === after
      ? ''
      : createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
          context: CONTEXT,
          headerOptions: FILE_HEADERS_ONLY,
        })
  return { path, before, after, patch }
}

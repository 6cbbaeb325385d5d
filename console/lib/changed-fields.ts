/** Changed fields of all kinds of objects, projects among them, as people read them. */
import { placeWords } from '../../schemas/field-words.ts'
import { fieldName } from './fields.ts'

/** A field where its values stand beside it. @param kind of the object that it is a field of */
export const placeName = (pointer: string, kind: string): string =>
  placeWords(kind, pointer) ?? fieldName(pointer)

/** JSON parsed so that no number loses a digit: those a double may not hold come back as their text. */
import { isUtf8 } from 'node:buffer'
import { fail } from '../../errors.ts'
import { faultAt } from '../json-fault.ts'
import { isDeeper } from '../json-scan.ts'

/** So deep that a record which nests too deep is told by itself: a list in a list takes three levels. */
const DEPTH_MAX = 2_000

/** Past it, parsing would take many times the memory of the body. */
const OPENINGS_MAX = 4_000_000

/** A number of 16 digits and more that is no part of a text, or may be: a cheap look at the whole. */
const MAYBE_LONG = /[:[,]\s*-?\d[\d.]{15}/
/** Texts, so that they are passed over, and numbers of 16 characters and more. */
const TEXT_OR_LONG = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}/g

/** @throws SvcError invalid: not UTF-8, no JSON, or nested too deep; too_large: too many values in it */
export function parseExact(body: Uint8Array): unknown {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (!isUtf8(bytes)) fail('invalid', 'the body is not valid UTF-8')
  if (isDeeper(bytes, [0, bytes.length], DEPTH_MAX)) fail('invalid', 'the body nests too deep')
  if (openings(bytes) > OPENINGS_MAX) fail('too_large', 'the body has too many objects and lists')
  const text = bytes.toString()
  try {
    const value: unknown = JSON.parse(text)
    if (!MAYBE_LONG.test(text)) return value
    return JSON.parse(text.replace(TEXT_OR_LONG, (found) => (found[0] === '"' ? found : `"${found}"`)))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return fail('invalid', `the body is not valid JSON at byte ${faultAt(bytes.toString('latin1'))}`)
  }
}

/** Brackets that open, those in texts as well. */
function openings(bytes: Buffer): number {
  let count = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0x7b || bytes[i] === 0x5b) count++
  return count
}

/** What a poll brought as bodies that the way in takes. */

import { SvcError } from '../errors.ts'
import type { Prepare } from '../ingest/prepare.ts'
import { type PreparedBody, type PrepareParts, prepareBody } from '../ingest/prepare-body.ts'

/** A transaction of this size holds the others up for some 40 ms. */
const BODY_BYTES = 4 * 1024 * 1024
const BODY_ITEMS = 5_000

/** Cuts items into runs that are stored together; at least one, which may be empty. */
export function runsOf(items: readonly string[]): string[][] {
  const runs: string[][] = [[]]
  let bytes = 0
  for (const item of items) {
    const run = runs.at(-1)!
    // UTF-16 units are near enough: the bound is a matter of pace.
    if (run.length > 0 && (run.length >= BODY_ITEMS || bytes + item.length > BODY_BYTES)) {
      runs.push([item])
      bytes = item.length
    } else {
      run.push(item)
      bytes += item.length
    }
  }
  return runs
}

/**
 * Items mapped and labelled as pushed ones are. One that is no JSON costs itself alone.
 * @param nowMs epoch ms.
 */
export function prepareItems(
  source: { id: number; prepare: Prepare },
  items: readonly string[],
  nowMs: number,
  parts: PrepareParts,
): { body: Uint8Array; result: PreparedBody } {
  const body = listOf(items)
  const prepare = (list: Uint8Array) => prepareBody(source, list, {}, nowMs, parts)
  const read = attempt(() => prepare(body))
  // A list with one broken item is one broken document: refused whole, or as one item that is too long.
  const isDoubtful = read instanceof SvcError || (read.events.n === 0 && read.rejected.length > 0)
  const whole = isDoubtful ? items.filter(isJson) : items
  if (whole.length === items.length) {
    if (read instanceof SvcError) throw read
    return { body, result: read }
  }
  const rest = listOf(whole)
  const result = prepare(rest)
  const broken = items.flatMap((item, index) => (isJson(item) ? [] : [{ index, error: 'is not valid JSON' }]))
  return { body: rest, result: { ...result, rejected: [...result.rejected, ...broken] } }
}

function attempt<T>(run: () => T): T | SvcError {
  try {
    return run()
  } catch (error) {
    if (error instanceof SvcError) return error
    throw error
  }
}

/** In JSON a line break is space, so it may be one; a list of one line is never taken for lines. */
const listOf = (items: readonly string[]): Buffer =>
  Buffer.from(`[${items.map((item) => (item.includes('\n') ? item.replaceAll('\n', ' ') : item)).join(',')}]`)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

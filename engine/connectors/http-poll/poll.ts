/**
 * One poll: the entries of an answer that were not read before. The cursor holds what was read last by
 * the hash of its id: all of the last answer, and some of those before.
 */
import { createHash } from 'node:crypto'
import type { HttpPollConfig } from '../../../schemas/types.ts'
import { compileField } from '../../ingest/field.ts'
import { parseDigits } from '../../ingest/json-digits.ts'
import { parseEventTime } from '../../ingest/time.ts'
import { type Polled, type Reach, UpstreamError } from '../connector.ts'
import { scalar } from '../scalar.ts'
import { jsonOf } from './ask.ts'
import { type Entries, entriesAt } from './entries.ts'
import { compileTime, contextOf } from './mapping.ts'
import { API, request } from './request.ts'

/** More than an answer can have, so that what it still shows is never forgotten. */
const IDS_KEPT = 2_000
const ID_LENGTH = 16
const FIELDS_NAMED = 10

/** @throws UpstreamError */
export async function pollOnce(config: HttpPollConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const answer = await request(config, reach)
  const value = jsonOf(answer, API)
  const path = config.payload_key ?? ''
  const entries = entriesAt(answer.bytes, path) ?? missing(path, value)
  const notices = entries.count > entries.texts.length ? [tooMany(entries)] : []
  if (config.id_field === undefined) {
    if (entries.isList) notices.push('Without an id field each poll stores every entry again.')
    return { items: inOrder(entries.texts, config, reach), cursor: null, ...noticeOf(notices) }
  }
  const { fresh, ids, skipped } = unread(entries, config.id_field, idsOf(cursor))
  if (skipped > 0)
    notices.push(
      `${skipped} of ${entries.texts.length} entries have no ${config.id_field} and were left out.`,
    )
  return {
    items: inOrder(fresh, config, reach),
    cursor: JSON.stringify({ ids }),
    ...noticeOf(notices),
  }
}

function unread({ texts }: Entries, field: string, known: readonly string[]) {
  const idOf = compileField(field)
  const before = new Set(known)
  const now = new Set<string>()
  const fresh: string[] = []
  let skipped = 0
  for (const text of texts) {
    const key = scalar(idOf(contextOf(parseDigits(text))))
    if (key === undefined) {
      skipped++
      continue
    }
    const id = createHash('sha256').update(key).digest('hex').slice(0, ID_LENGTH)
    if (!before.has(id) && !now.has(id)) fresh.push(text)
    now.add(id)
  }
  const ids = [...known.filter((id) => !now.has(id)), ...now].slice(-IDS_KEPT)
  return { fresh, ids, skipped }
}

/** By time, oldest first, where every entry has one; else as the API gives them. */
function inOrder(texts: string[], { event_time_field: field }: HttpPollConfig, { clock }: Reach): string[] {
  if (field === undefined || texts.length < 2) return texts
  const timeOf = compileTime(field)
  const timed = texts.map((text) => ({
    text,
    at: parseEventTime(timeOf(contextOf(parseDigits(text))), clock.now()).ts,
  }))
  if (timed.some(({ at }) => at === null)) return texts
  return timed.sort((a, b) => a.at! - b.at!).map(({ text }) => text)
}

function idsOf(cursor: string | null): string[] {
  return cursor === null ? [] : (JSON.parse(cursor) as { ids: string[] }).ids
}

const noticeOf = (notices: readonly string[]) => (notices.length ? { notice: notices.join(' ') } : {})

const tooMany = ({ count, texts }: Entries): string =>
  `The answer has ${count} entries, of which the first ${texts.length} are read.`

/** @throws UpstreamError */
export function missing(path: string, value: unknown): never {
  const names = Object.keys(contextOf(value)).slice(0, FIELDS_NAMED)
  const there = Array.isArray(value) ? 'a list' : `an object with ${names.join(', ') || 'no fields'}`
  throw new UpstreamError(`the answer has nothing at payload key ${path}; it is ${there}`)
}

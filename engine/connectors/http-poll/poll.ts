/**
 * One poll: the entries of an answer that were not read before. The cursor holds what was read last by
 * the hash of its id: all of the last answer, and some of those before.
 */
import { createHash } from 'node:crypto'
import type { HttpPollConfig } from '../../../schemas/types.ts'
import type { Entries } from '../../ingest/entries.ts'
import { compileField } from '../../ingest/field.ts'
import { parseDigits } from '../../ingest/json-digits.ts'
import { parseEventTime } from '../../ingest/time.ts'
import type { Polled, Reach } from '../connector.ts'
import { scalar } from '../scalar.ts'
import { contextOf } from './mapping.ts'
import { readPages } from './pages.ts'

/** Ids kept at least; what the last answer shows is never forgotten. */
const IDS_KEPT = 2_000
const ID_LENGTH = 16

/** @throws UpstreamError */
export async function pollOnce(config: HttpPollConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const { id_field: idField } = config
  const known = idsOf(cursor)
  const isKnown = (page: Entries) =>
    cursor !== null &&
    idField !== undefined &&
    unread(page, idField, known).fresh.length === 0 &&
    !isOldestFirst(page.texts, config, reach)
  const { entries, notices } = await readPages(config, reach, isKnown)
  if (idField === undefined) {
    if (entries.isList) notices.push('Without an id field each poll stores every entry again.')
    return { items: inOrder(entries.texts, config, reach), cursor: null, ...noticeOf(notices) }
  }
  const { fresh, ids, skipped } = unread(entries, idField, known)
  if (skipped > 0)
    notices.push(`${skipped} of ${entries.texts.length} entries have no ${idField} and were left out.`)
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
  const ids = [...known.filter((id) => !now.has(id)), ...now].slice(-Math.max(IDS_KEPT, now.size))
  return { fresh, ids, skipped }
}

/** Whether its times rise: then what is new lies on later pages. */
function isOldestFirst(texts: readonly string[], config: HttpPollConfig, { clock }: Reach): boolean {
  if (config.event_time_field === undefined) return false
  const timeOf = compileField(config.event_time_field)
  const [first, last] = [texts[0], texts.at(-1)].map((text) =>
    text === undefined ? null : parseEventTime(timeOf(contextOf(parseDigits(text))), clock.now()).ts,
  )
  return first != null && last != null && first < last
}

/** By time, oldest first, where every entry has one; else as the API gives them. */
function inOrder(texts: string[], { event_time_field: field }: HttpPollConfig, { clock }: Reach): string[] {
  if (field === undefined || texts.length < 2) return texts
  const timeOf = compileField(field)
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

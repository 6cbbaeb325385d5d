/**
 * Lists within a budget: the daemon gives some lists whole, and an agent's context is small. A page ends
 * where the budget or the limit is reached; the cursor is the place of the next entry.
 */
import { DaemonError } from './daemon.ts'
import { ToolError } from './tool.ts'

/** Tokens of 4 bytes that a page of a list holds at most, unless one entry is larger. */
export const PAGE_TOKENS = 6_000

export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

export interface Page<T> {
  entries: T[]
  next_cursor: string | null
}

/** @param cursor of the page before. @throws ToolError for one that is none of ours. */
export function pageOf<T>(
  all: readonly T[],
  cursor: string | undefined,
  limit = Number.MAX_SAFE_INTEGER,
): Page<T> {
  const start = offsetOf(cursor)
  const entries: T[] = []
  let tokens = 0
  for (const entry of all.slice(start, start + limit)) {
    tokens += tokensOf(JSON.stringify(entry))
    if (tokens > PAGE_TOKENS && entries.length > 0) break
    entries.push(entry)
  }
  const end = start + entries.length
  return { entries, next_cursor: end < all.length ? cursorOf(end) : null }
}

export const cursorOf = (offset: number): string => Buffer.from(`at:${offset}`).toString('base64url')

/** @throws ToolError */
export function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const offset = /^at:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]
  if (offset === undefined) throw new ToolError(NO_CURSOR, 'cursor')
  return Number(offset)
}

const NO_CURSOR = 'cursor must be next_cursor of an earlier answer of this tool'

/** The daemon's refusal of a cursor, in the words of the tool. @param cursor that was given, if any */
export const ofCursor =
  (cursor: string | undefined) =>
  (error: unknown): never => {
    if (cursor !== undefined && error instanceof DaemonError && /^before /.test(error.message))
      throw new ToolError(NO_CURSOR, 'cursor')
    throw error
  }

/** Text within a budget, with what follows it where it was cut. */
export function cutTo(text: string, tokens: number): { text: string; cut: boolean } {
  const bytes = Buffer.from(text)
  if (bytes.length <= tokens * 4) return { text, cut: false }
  return {
    text: bytes
      .subarray(0, tokens * 4)
      .toString()
      .replace(/\uFFFD+$/, ''),
    cut: true,
  }
}

/** A line that tells an agent of the next page; empty where there is none. */
export const more = (next: string | null): string =>
  next === null ? '' : `\nmore: call again with cursor ${next}`

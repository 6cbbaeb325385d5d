/**
 * The channels of the workspace, read through Slack and kept for a minute: every public one, and private
 * ones the bot is in. One read is under way at a time, however many ask; a list that could not be read
 * again is shown as stale.
 */
import type { SlackChannel, SlackChannelsResult } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import type { SlackApi, SlackRefusal } from './api.ts'
import type { SlackAccess } from './settings.ts'

export interface SlackChannels {
  /** Never rejects for a refusal of Slack's: that is a reason. */
  list(): Promise<SlackChannelsResult>
  /** The next list is read anew; a read under way does not fill the cache. */
  drop(): void
}

const KEPT_MS = 60_000
const REFUSED_MS = 5_000
const PAGE = 200
/** Slack lets some 20 pages a minute be read. */
const PAGES = 20

interface Known {
  result: SlackChannelsResult
  /** Epoch ms. */
  until: number
}

/** @param access what to ask with, as it is set now */
export function createSlackChannels(parts: {
  api: SlackApi
  clock: Clock
  access(): Promise<SlackAccess>
}): SlackChannels {
  const { api, clock, access } = parts
  let known: Known | null = null
  /** The last list that was whole. */
  let last: SlackChannel[] | null = null
  let reading: Promise<SlackChannelsResult> | null = null
  let generation = 0

  async function read(began: number): Promise<SlackChannelsResult> {
    const found = await pages(await access(), api)
    const isFresh = began === generation
    if (Array.isArray(found)) {
      const result: SlackChannelsResult = { channels: found, reason: null }
      if (isFresh) {
        last = found
        known = { result, until: clock.now() + KEPT_MS }
      }
      return result
    }
    if (found.code === 'no_token') last = null
    const result = refusedWith(found, last)
    if (isFresh) known = { result, until: clock.now() + Math.max(REFUSED_MS, found.retryAfterMs ?? 0) }
    return result
  }

  return {
    list() {
      if (known && clock.now() < known.until) return Promise.resolve(known.result)
      if (reading) return reading
      const mine = read(generation).finally(() => {
        if (reading === mine) reading = null
      })
      reading = mine
      return mine
    },
    drop() {
      generation++
      known = null
      reading = null
    },
  }
}

async function pages(access: SlackAccess, api: SlackApi): Promise<SlackChannel[] | SlackRefusal> {
  const found: SlackChannel[] = []
  let cursor = ''
  for (let n = 0; n < PAGES; n++) {
    const said = await api(
      'conversations.list',
      {
        types: 'public_channel,private_channel',
        exclude_archived: true,
        limit: PAGE,
        ...(cursor ? { cursor } : {}),
      },
      access,
    )
    if (!said.ok) return said
    const { channels, response_metadata: more } = said.body as Page
    found.push(...(channels ?? []).flatMap(channelOf))
    cursor = more?.next_cursor ?? ''
    if (cursor === '') break
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

interface Page {
  channels?: { id?: unknown; name?: unknown; is_private?: unknown; is_member?: unknown }[]
  response_metadata?: { next_cursor?: string }
}

function channelOf({
  id,
  name,
  is_private,
  is_member,
}: NonNullable<Page['channels']>[number]): SlackChannel[] {
  if (typeof id !== 'string' || typeof name !== 'string') return []
  return [{ id, name, is_private: is_private === true, is_member: is_member === true }]
}

function refusedWith({ code, error }: SlackRefusal, last: SlackChannel[] | null): SlackChannelsResult {
  const reason = code === 'no_token' || code === 'missing_scope' ? code : 'error'
  return { channels: last ?? [], reason, detail: error, ...(last ? { stale: true } : {}) }
}

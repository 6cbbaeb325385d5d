/**
 * What connected clients want to be told of. The daemon is asked every two seconds, once for all clients
 * with the same credential and address; while it is away nothing is told, and what came meanwhile is told
 * after.
 */
import type { Firing } from '../../schemas/types.ts'
import * as calls from '../client/calls.ts'
import { projectOf } from './project.ts'
import { firingsOf } from './resources/read.ts'
import type { Address } from './resources/uri.ts'
import { type Context, ToolError } from './tool.ts'

export const WATCH_EVERY_MS = 2_000
/** Checks that are under way at once. */
const AT_ONCE = 8
/** Events looked at: one that arrives behind this many newer ones by time is not noticed. */
const EVENTS = 50
const WINDOW = '24h'
/** Firings looked at; where none of them is known, more: of a burst that is larger still the newest are told. */
const FIRINGS = 20
const BURST = 200
/** Incidents looked at: those behind so many worse ones are not watched. */
const INCIDENTS = 100

/** Who asks. */
export type Asker = Pick<Context, 'daemon' | 'signal' | 'identity'>

/** What a client is told: that a resource changed, and of firings which. */
export type Told = (uri: string, firings: readonly Firing[]) => void | Promise<void>

interface Watch {
  uri: string
  address: Address
  asker: Asker
  told: Set<Told>
  /** Newest that has been told. */
  seen: Seen
  busy: boolean
}

interface Seen {
  mark: string
  firings: readonly Firing[]
}

export class Watches {
  private readonly watches = new Map<string, Watch>()

  /**
   * Begins to watch. @param credential stands for who asks.
   * @returns ends it. @throws ToolError for what cannot be watched; DaemonError where it may not be read
   */
  async add(
    credential: string,
    uri: string,
    address: Address,
    asker: Asker,
    told: Told,
  ): Promise<() => void> {
    const key = `${credential} ${uri}`
    // Looked at first: what cannot be read is refused, and what is there already is no news.
    const seen = this.watches.has(key) ? null : await look(address, asker)
    let watch = this.watches.get(key)
    if (!watch) {
      watch = { uri, address, asker, told: new Set(), seen: seen!, busy: false }
      this.watches.set(key, watch)
    }
    const { told: listeners } = watch
    listeners.add(told)
    return () => {
      listeners.delete(told)
      if (listeners.size === 0) this.watches.delete(key)
    }
  }

  /** Asks for every watch once. @param failed is told of faults that are not the daemon's. */
  async tick(): Promise<void> {
    const waiting = [...this.watches.values()].filter((watch) => !watch.busy)
    const next = async (): Promise<void> => {
      for (let watch = waiting.shift(); watch; watch = waiting.shift()) await this.check(watch)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, next))
  }

  private async check(watch: Watch): Promise<void> {
    watch.busy = true
    try {
      const { seen } = watch
      const now = await look(watch.address, watch.asker, seen)
      watch.seen = now
      if (now.mark === seen.mark) return
      const known = new Set(seen.firings.map((one) => one.dispatch_id))
      // Newest first: what is behind a known one was told before.
      const at = now.firings.findIndex((one) => known.has(one.dispatch_id))
      const fresh = now.firings.slice(0, at < 0 ? undefined : at).reverse()
      for (const told of [...watch.told]) void told(watch.uri, fresh)
    } catch {
      // The daemon is away, or the credential is no longer known: access.ts ends its sessions.
    } finally {
      watch.busy = false
    }
  }
}

/** @param seen at the look before */
async function look(address: Address, asker: Asker, seen?: Seen): Promise<Seen> {
  switch (address.kind) {
    case 'entity':
      return { mark: await newestEvent(address.label, address.value, asker), firings: [] }
    case 'findings':
      return { mark: await newestFinding(address.project, asker), firings: [] }
    case 'firings': {
      const newest = await firingsOf(address.project, FIRINGS, asker)
      const known = new Set(seen?.firings.map((one) => one.dispatch_id))
      const isBurst = seen && newest.length === FIRINGS && !newest.some((one) => known.has(one.dispatch_id))
      const firings = isBurst ? await firingsOf(address.project, BURST, asker) : newest
      return { mark: newest.map((one) => `${one.dispatch_id} ${one.state}`).join(), firings }
    }
    case 'incidents':
      return { mark: await standingOfAll(asker), firings: [] }
    case 'incident':
      return { mark: await standingOf(address.id, asker), firings: [] }
    default:
      throw new ToolError(
        'only incidents, the timeline of an entity, and findings and firings of a project, are watched',
        'uri',
      )
  }
}

async function newestEvent(label: string, value: string, { daemon, signal }: Asker): Promise<string> {
  const { rows } = await daemon.ask(
    calls.read,
    { body: { selector: { [label]: value }, window: WINDOW, limit: EVENTS, order: 'desc', client: 'mcp' } },
    signal,
  )
  // Ids grow in order of arrival, whatever time an event says of itself.
  return String(Math.max(0, ...rows.map(({ id }) => Number(id.slice('evt_'.length)))))
}

async function newestFinding(word: string, asker: Asker): Promise<string> {
  const { id } = await projectOf(word, asker)
  const { findings } = await asker.daemon.ask(calls.listFindings, { id, limit: 1 }, asker.signal)
  return findings[0]?.run_id ?? ''
}

/** The incidents that are not handled: one that opens, moves, fires again or gets a finding is news. */
async function standingOfAll({ daemon, signal }: Asker): Promise<string> {
  const { incidents } = await daemon.ask(calls.listIncidents, { limit: INCIDENTS }, signal)
  return incidents
    .map(({ id, version, firings, result }) => `${id} ${version} ${firings} ${result?.run_id}`)
    .join()
}

async function standingOf(incident: string, { daemon, signal }: Asker): Promise<string> {
  const one = await daemon.ask(calls.getIncident, { incident }, signal)
  return `${one.version} ${one.firings_total} ${one.result?.run_id} ${one.run?.status} ${one.activity[0]?.n}`
}

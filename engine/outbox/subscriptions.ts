/**
 * Addresses that firings are posted to: of one trigger, or of every trigger of a project, those made
 * later included. An address is sealed at rest and masked wherever it is shown, since it may hold a
 * credential. It goes with its trigger, its project, and the key it was made with.
 */

import { createHash, randomBytes } from 'node:crypto'
import type { Subscription, SubscriptionCreated, SubscriptionsResult } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import { maskedUrl, slackChannelOf } from '../model/credentials.ts'
import { isoOrNull } from '../model/units.ts'
import type { Audience } from '../net/fetch.ts'
import { addressFault, type Secrets } from '../net/secrets.ts'
import { deliveryRows, findingRecipient, moveDelivery } from './rows.ts'
import {
  formatOf,
  formatOfNew,
  lacksRoutingKey,
  newSecret,
  type PostFormat,
  type Target,
} from './send-webhook.ts'

interface SubscriptionRow {
  id: string
  trigger_name: string | null
  project: string | null
  kind: 'webhook' | 'slack' | 'mcp'
  url: string
  audience: Audience
  url_hash: string
  masked: string
  secret: string | null
  name: string
  created_by: string
  caller: string
  key_id: string | null
  created_at: number
  disabled_at: number | null
  /** Null: as the address says. */
  format: PostFormat | null
}

interface LastDelivery {
  seq: number
  made_at: number
  delivered_at: number | null
  state: string
  reason: string | null
  dispatch_id: string
}

export interface Subscribe {
  trigger: string | null
  project: string | null
  /** Null: firings are fetched, see fetching.ts. */
  url: string | null
  name?: string | undefined
  audience: Audience
  /** Absent: as the address says. */
  format?: PostFormat | undefined
}

export type Subscriptions = ReturnType<typeof createSubscriptions>

/** Of a credential without scope admin: each firing writes a delivery for each of them, in the transaction of its events. */
const OF_CREDENTIAL = 100

export function createSubscriptions({
  store,
  clock,
  secrets,
}: {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
}) {
  const { db } = store
  const same = db.prepare<[string | null, string | null, string, string], { id: string }>(
    `SELECT id FROM subscriptions WHERE trigger_name IS ? AND project IS ? AND url_hash = ? AND caller = ?
       AND removed_at IS NULL AND disabled_at IS NULL`,
  )
  const insert = db.prepare(
    `INSERT INTO subscriptions (id, trigger_name, project, kind, url, audience, url_hash, masked, secret, name, created_by, caller, key_id, created_at, format)
     VALUES (@id, @trigger_name, @project, @kind, @url, @audience, @url_hash, @masked, @secret, @name, @created_by, @caller, @key_id, @created_at, @format)`,
  )
  const setFormat = db.prepare<[PostFormat, string]>('UPDATE subscriptions SET format = ? WHERE id = ?')
  const byId = db.prepare<[string], SubscriptionRow>(
    'SELECT * FROM subscriptions WHERE id = ? AND removed_at IS NULL',
  )
  const countOf = db
    .prepare<[string], number>('SELECT count(*) FROM subscriptions WHERE caller = ? AND removed_at IS NULL')
    .pluck()
  const removedById = db
    .prepare<[string], string>('SELECT caller FROM subscriptions WHERE id = ? AND removed_at IS NOT NULL')
    .pluck()
  return {
    /**
     * Subscribes an address that may be reached; the same again is the one there is.
     * @throws SvcError too_many: a credential without scope admin has as many as it may
     */
    add: ({ trigger, project, url, name, audience, format }: Subscribe, by: Caller): SubscriptionCreated =>
      store.tx(() => {
        const hash = createHash('sha256')
          .update(url ?? `fetched by ${by.id} as ${name?.trim() ?? ''}`)
          .digest('hex')
        const known = same.get(trigger, project, hash, by.id)
        const where = project === null ? {} : { project }
        if (known && format) setFormat.run(format, known.id)
        if (known) return { subscription_id: known.id, ...where, existing: true }
        if (audience === 'caller' && countOf.get(by.id)! >= OF_CREDENTIAL)
          fail(
            'too_many',
            `this credential has ${OF_CREDENTIAL} subscriptions; end one that nobody needs any more first`,
          )
        const id = `sub_${randomBytes(8).toString('hex')}`
        const kind = url === null ? 'mcp' : url.startsWith('slack:') ? 'slack' : 'webhook'
        const form = kind === 'webhook' ? (format ?? formatOfNew(url!)) : null
        // A form of others has no place for a signature.
        const secret = form === 'svc' ? newSecret() : null
        insert.run({
          id,
          trigger_name: trigger,
          project,
          kind,
          url: secrets.seal(url ?? '', `subscriptions/${id}/url`),
          audience,
          url_hash: hash,
          // The name of a channel is no secret, and gives no access.
          masked: url === null ? '' : kind === 'slack' ? url : maskedUrl(url),
          secret: secret && secrets.seal(secret, `subscriptions/${id}/secret`),
          name: name?.trim() || defaultName(kind, url ?? '', hash, by),
          created_by: by.name,
          caller: by.id,
          key_id: by.id.startsWith('key:') ? by.id.slice(4) : null,
          created_at: clock.now(),
          format: form,
        })
        return { subscription_id: id, ...(secret === null ? {} : { secret }), ...where }
      }),

    /** Address and secret of a subscription, to send to; null when it is gone. */
    target: (id: string): Target | null => {
      const row = byId.get(id)
      if (!row || row.disabled_at !== null || row.kind === 'mcp') return null
      return {
        url: secrets.open(row.url, `subscriptions/${id}/url`),
        secret: row.secret && secrets.open(row.secret, `subscriptions/${id}/secret`),
        audience: row.audience,
        format: row.format,
      }
    },

    /** Whether somebody may be told by it. */
    isThere: (id: string): boolean => byId.get(id)?.disabled_at === null,

    /** The row of one, for who may see it. @throws SvcError not_found */
    require: (id: string): SubscriptionRow =>
      byId.get(id) ??
      fail(
        'not_found',
        `no subscription has the id ${id}: it was ended, or its trigger, project or key was deleted; a finding about a firing it had can still be recorded by itself`,
      ),

    find: (id: string): SubscriptionRow | undefined => byId.get(id),

    /** Who made one that was removed; undefined when none of this id was. */
    callerOfRemoved: (id: string): string | undefined => removedById.get(id),

    /** Takes one away for good, also one that went with its trigger or project. */
    remove: (id: string): void => {
      store.tx(() => removeForGood(db, 'id', id, clock.now()))
    },
  }
}

/** Whether somebody is told of a trigger's firings who subscribed to it, or to a project that uses it. */
export function isSubscribed(db: Database, trigger: string): boolean {
  const found = db.prepare<{ trigger: string }>(
    `SELECT 1 FROM subscriptions WHERE removed_at IS NULL AND disabled_at IS NULL
       AND (trigger_name = @trigger OR (trigger_name IS NULL
         AND project IN (SELECT project FROM project_uses WHERE kind = 'trigger' AND name = @trigger))) LIMIT 1`,
  )
  return found.get({ trigger }) !== undefined
}

/** What a list of subscriptions is narrowed to: a credential's own, or a project's; and which page of it. */
export interface SubscriptionsFilter {
  caller?: string | undefined
  project?: string | undefined
  /** Absent: all there are. */
  limit?: number | undefined
  /** next_before of the page before; it may have been removed since. */
  before?: string | undefined
}

/** Subscriptions as they are listed, newest first. @throws SvcError invalid */
export function listSubscriptions(
  db: Database,
  { caller, project, limit = -1, before }: SubscriptionsFilter,
): SubscriptionsResult {
  const from =
    before === undefined
      ? null
      : db.prepare<[string], number>('SELECT created_at FROM subscriptions WHERE id = ?').pluck().get(before)
  if (from === undefined)
    fail('invalid', 'before must be next_before of an earlier answer of the same list', { field: 'before' })
  const rows = db
    .prepare<object, SubscriptionRow>(
      `SELECT * FROM subscriptions WHERE removed_at IS NULL AND (@caller IS NULL OR caller = @caller)
         AND (@project IS NULL OR project = @project)
         AND (@from IS NULL OR created_at < @from OR (created_at = @from AND id > @before))
       ORDER BY created_at DESC, id LIMIT @rows`,
    )
    .all({
      ...{ caller: caller ?? null, project: project ?? null },
      ...{ from, before: before ?? null, rows: limit < 0 ? -1 : limit + 1 },
    })
  const lastOf = lastDeliveries(db)
  const shown = limit < 0 ? rows : rows.slice(0, limit)
  return {
    subscriptions: shown.map((row) => present(row, lastOf(row))),
    next_before: rows.length > shown.length ? shown.at(-1)!.id : null,
  }
}

/**
 * The last delivery of a subscription. An address that is subscribed to a project and to one of its triggers, or to
 * another project that uses it, is told once of a firing: that is the project's own, too.
 */
function lastDeliveries(db: Database): (row: SubscriptionRow) => LastDelivery | undefined {
  const COLUMNS = 'd.seq, d.made_at, d.delivered_at, d.state, d.reason, f.dispatch_id'
  const FROM = 'FROM deliveries d JOIN firings f ON f.id = d.firing_id WHERE d.recipient ='
  const NEWEST = 'ORDER BY d.seq DESC LIMIT 1'
  const own = db.prepare<[string], LastDelivery>(`SELECT ${COLUMNS} ${FROM} ? ${NEWEST}`)
  const others = db
    .prepare<SubscriptionRow, string>(
      `SELECT id FROM subscriptions WHERE id <> @id AND removed_at IS NULL AND kind = @kind AND url_hash = @url_hash
         AND (kind <> 'webhook' OR caller = @caller)`,
    )
    .pluck()
  const through = db.prepare<{ other: string; project: string | null; since: number }, LastDelivery>(
    `SELECT ${COLUMNS} ${FROM} @other AND d.made_at >= @since AND f.practice = 0 AND f.trigger_name IN (
       SELECT name FROM project_uses WHERE kind = 'trigger' AND project = @project) ${NEWEST}`,
  )
  return (row) => {
    const told = own.get(row.id)
    // Of its own trigger such an address is told by this subscription.
    if (row.trigger_name !== null) return told
    const { project, created_at: since } = row
    const found = others.all(row).map((other) => through.get({ other, project, since }))
    return [told, ...found].reduce((last, one) => ((one?.seq ?? 0) > (last?.seq ?? 0) ? one : last), told)
  }
}

/** What an address is subscribed to. `row`: the trigger's own, since another may get its name once it is deleted. */
export type SubscribedTo = { trigger: string; row: number } | { project: string }

/** What a subscription went with. */
const goneWith = (of: SubscribedTo): string =>
  'trigger' in of ? `trigger:${of.row}` : `project:${of.project}`

/** Of a deleted trigger, a deleted project or a revoked key; inside the caller's transaction. */
export function removeSubscriptions(db: Database, of: SubscribedTo | { key: string }, at: number): void {
  if ('key' in of) {
    removeForGood(db, 'key_id', of.key, at)
    return
  }
  const ids =
    'trigger' in of
      ? removeWhere(db, 'trigger_name', of.trigger, at)
      : removeWhere(db, 'project', of.project, at)
  const note = db.prepare('UPDATE subscriptions SET removed_with = ? WHERE id = ?')
  for (const id of ids) note.run(goneWith(of), id)
}

/**
 * The delete of a trigger or a project is undone: the subscriptions that went with it are there again, with their
 * addresses and secrets. What waited to be sent to them stays withdrawn. Inside the caller's transaction.
 */
export function restoreSubscriptions(db: Database, of: SubscribedTo): void {
  db.prepare(
    `UPDATE subscriptions SET removed_at = NULL, removed_with = NULL, trigger_name = coalesce(?, trigger_name)
     WHERE removed_with = ?`,
  ).run('trigger' in of ? of.trigger : null, goneWith(of))
}

/** No undo brings them back. */
function removeForGood(db: Database, column: 'id' | 'key_id', value: string, at: number): void {
  removeWhere(db, column, value, at)
  db.prepare(`UPDATE subscriptions SET removed_with = NULL WHERE ${column} = ?`).run(value)
}

/** Addresses that are told of a trigger, and what is sent to an agent or of its findings, go along when it gets another name. */
export function renameInOutbox(
  db: Database,
  { kind, from, to }: { kind: 'agent' | 'trigger'; from: string; to: string },
): void {
  if (kind === 'trigger') {
    db.prepare('UPDATE subscriptions SET trigger_name = ? WHERE trigger_name = ?').run(to, from)
    return
  }
  const move = db.prepare<[string, string, string]>(
    'UPDATE deliveries SET recipient = ? WHERE recipient = ? AND recipient_kind = ?',
  )
  move.run(to, from, 'agent')
  for (const of of ['write_back', 'slack', 'github'] as const)
    move.run(findingRecipient(of, to), findingRecipient(of, from), of)
}

/** What waits to be sent to it is withdrawn; what is being sent ends as it ends. @returns their ids */
function removeWhere(
  db: Database,
  column: 'id' | 'trigger_name' | 'project' | 'key_id',
  value: string,
  at: number,
): string[] {
  const ids = db
    .prepare<[string], string>(`SELECT id FROM subscriptions WHERE ${column} = ? AND removed_at IS NULL`)
    .pluck()
    .all(value)
  for (const id of ids) {
    db.prepare('UPDATE subscriptions SET removed_at = ? WHERE id = ?').run(at, id)
    for (const delivery of deliveryRows(db).pendingFor.all(id))
      moveDelivery(db, delivery, { type: 'withdraw', at })
  }
  return ids
}

function present(row: SubscriptionRow, last: LastDelivery | undefined): Subscription {
  return {
    subscription_id: row.id,
    trigger: row.trigger_name,
    project: row.project,
    kind: row.kind,
    url: row.masked,
    format: row.format ?? (row.kind === 'slack' ? 'slack' : formatOf(row.masked)),
    name: row.name,
    created_by: row.created_by,
    key_id: row.key_id,
    created_at: new Date(row.created_at).toISOString(),
    disabled_at: isoOrNull(row.disabled_at),
    last_delivery: last
      ? {
          at: new Date(last.delivered_at ?? last.made_at).toISOString(),
          status: last.state === 'pending' ? 'running' : (last.state as 'running' | 'delivered' | 'failed'),
          reason: last.reason,
          dispatch_id: last.dispatch_id,
        }
      : null,
  }
}

const ADJECTIVES = [
  'amber',
  'brisk',
  'calm',
  'clear',
  'early',
  'fair',
  'glad',
  'keen',
  'late',
  'mild',
  'plain',
  'quiet',
  'rapid',
  'sharp',
  'still',
  'warm',
]
const NOUNS = [
  'anchor',
  'beacon',
  'bridge',
  'brook',
  'cedar',
  'harbor',
  'heron',
  'lantern',
  'meadow',
  'otter',
  'pine',
  'raven',
  'reef',
  'ridge',
  'sail',
  'tower',
]

/**
 * What a subscription is called that was given no name: a channel of Slack by its own, what is fetched by who
 * fetches it, and an address, which may hold a secret, by two words that are the same for the same address.
 */
function defaultName(kind: string, url: string, hash: string, by: Caller): string {
  if (kind === 'slack') return slackChannelOf(url) ?? url
  return kind === 'mcp' ? by.name : nameOf(hash)
}

/** The same two words for the same address, to tell addresses apart by. */
function nameOf(hash: string): string {
  const at = Number.parseInt(hash.slice(0, 2), 16)
  return `${ADJECTIVES[at >> 4]} ${NOUNS[at & 15]}`
}

/* Subscriptions as callers make and remove them. */

export interface SubscriptionCalls {
  /**
   * @param body a trigger by name, or a project by id or name.
   * @param to `url` null: firings are fetched instead of posted.
   * @throws SvcError not_found; invalid for an address that may not be reached
   */
  subscribe(
    body: { trigger: string } | { project: string },
    to: Pick<Subscribe, 'url' | 'name' | 'audience' | 'format'>,
    by: Caller,
  ): Promise<SubscriptionCreated>
  /**
   * One that this caller may remove and that is removed already is no error, unless `strict`.
   * @param own only one that this caller made.
   * @throws SvcError forbidden; not_found, naming the id
   */
  unsubscribe(
    id: string,
    by: Caller,
    how: { own: boolean; project?: string | undefined; strict: boolean },
  ): Promise<{ ok: true }>
}

/** What says whether an address may be subscribed. */
interface AddressRules {
  /** Whether Slack has a bot token. */
  hasSlack(): Promise<boolean>
  /** @returns why an address may not be posted to; null when it may */
  checkTarget(url: string, audience: Audience): Promise<string | null>
}

export function subscriptionCalls(
  parts: AddressRules & {
    subscriptions: Subscriptions
    /** @throws SvcError not_found */
    requireTrigger(name: string): void
    /** @returns its id. @throws SvcError not_found */
    requireProject(word: string): string
  },
): SubscriptionCalls {
  const { subscriptions } = parts
  return {
    subscribe: async (body, to, by) => {
      if ('trigger' in body) parts.requireTrigger(body.trigger)
      const project = 'project' in body ? parts.requireProject(body.project) : null
      if (to.url !== null) await requireAddress(parts, to.url, to.audience, 'url')
      return subscriptions.add({ trigger: 'trigger' in body ? body.trigger : null, project, ...to }, by)
    },
    unsubscribe: async (id, by, { own, project, strict }) => {
      const found = subscriptions.find(id)
      const isThere = found && (project === undefined || found.project === parts.requireProject(project))
      if (!isThere) {
        const madeBy = strict ? undefined : subscriptions.callerOfRemoved(id)
        // A call that is repeated because its answer was lost succeeds again.
        if (madeBy !== undefined && (!own || madeBy === by.id)) {
          subscriptions.remove(id)
          return { ok: true }
        }
        return fail('not_found', `no subscription has the id ${id}`)
      }
      if (own && found.caller !== by.id)
        fail('forbidden', 'another credential made this subscription; one with scope admin removes it')
      subscriptions.remove(id)
      return { ok: true }
    },
  }
}

/**
 * The bot of Slack speaks for the instance: who it speaks to is an operator's to say.
 * @param field what the sentence begins with
 * @throws SvcError forbidden; invalid for an address that may not be reached
 */
export async function requireAddress(
  { hasSlack, checkTarget }: AddressRules,
  url: string,
  audience: Audience,
  field: string,
): Promise<void> {
  const refuse = (fault: string) => fail('invalid', `${field}: ${fault}`, { field })
  if (!url.startsWith('slack:')) {
    const fault = addressFault(url) ?? lacksRoutingKey(url) ?? (await checkTarget(url, audience))
    if (fault) refuse(fault)
    return
  }
  if (audience !== 'operator')
    fail('forbidden', `${field}: a channel of Slack is subscribed with a credential of scope admin`, {
      field,
    })
  if (slackChannelOf(url) === null)
    fail('invalid', `${field} must be slack://channel/ and the id or the name of a channel`, { field })
  if (!(await hasSlack())) refuse('no bot token of Slack is set; add one under Settings, Slack')
}

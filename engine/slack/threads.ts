/**
 * Threads in Slack of incidents and proposals, on the connection that writes: what is posted of a subject is one
 * message in a channel, kept with its subject, and what happens to it is said in its thread. What happens only marks
 * the thread as due, in the same transaction; the follower posts what it lacks, and writes down that it is there.
 */
import type { Clock } from '../clock.ts'
import { type ActivityRow, actsTaken, type IncidentRow, idOf, incidentQueries } from '../incidents/steps.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import { slackChannelOf } from '../model/credentials.ts'
import { severityOfRank } from '../model/units.ts'
import type { SlackPlace, SlackPlaced } from '../outbox/send-slack.ts'
import {
  digestOf,
  fitted,
  type IncidentCard,
  proposalMessage,
  type SlackMessage,
  withIncident,
} from '../outbox/slack-messages.ts'
import type { SlackPeopleSettings } from './answers.ts'

interface ThreadRow {
  id: number
  incident_id: number | null
  proposal_id: string | null
  channel: string
  address: string
  ts: string
  permalink: string | null
  made_at: number
  root: string
  run_id: string | null
  told: number
  telling: number | null
  shown: string | null
  shown_at: number | null
  touched: number
  due_at: number | null
  tries: number
  problem: string | null
}

/** What a thread lacks. */
export interface SlackWork {
  thread: number
  /** Counts what happened to its subject until now. */
  touched: number
  subject: string
  channel: string
  /** Empty: its message is to be posted. */
  ts: string
  hasLink: boolean
  /** The message as it should be; null: it is. */
  message: (SlackMessage & { digest: string }) | null
  /** What is to be said in the thread; null: nothing. */
  reply: (SlackMessage & { upTo: number }) | null
  /** A try before was cut off: what it posted may be there. */
  isUnsure: boolean
  /** Epoch ms since when it may be there. */
  since: number
}

/** What came of it. */
export interface SlackWorkDone {
  thread: number
  touched: number
  channel?: string
  ts?: string
  permalink?: string
  /** The reply that is there. */
  told?: { upTo: number; ts: string; permalink: string | null }
  shown?: string
  /** Why something is missing yet; null: nothing is. */
  problem: string | null
  /** Epoch ms to try again at; null: never, or nothing is missing. */
  retryAt: number | null
}

export interface SlackThreadPort {
  /** The next thread that lacks something; null: none does. */
  claimSlackWork(): Promise<SlackWork | null>
  settleSlackWork(done: SlackWorkDone): Promise<void>
  /** Epoch ms; null: none waits. */
  nextSlackWork(): Promise<number | null>
  /** The incident whose thread this is; null: none. */
  slackThreadOf(channel: string, ts: string): Promise<string | null>
}

/** A message is changed this often at most, ms: of a burst of firings the last state is shown. */
const SHOWN_EVERY_MS = 3_000
/** Tries of one step; then it is left, with the reason. */
const TRIES = 10

/** @param publicUrl address of the console; null: without links */
export function openSlackThreads(parts: {
  store: StoreHandle
  clock: Clock
  people: Pick<SlackPeopleSettings, 'get'>
  publicUrl: string | null
  onPending(): void
}) {
  const { store, clock, people, publicUrl, onPending } = parts
  const { db } = store
  const sql = statements(db)
  const incidents = incidentQueries(db)

  function touched(changed: number): void {
    if (changed > 0) store.afterCommit(onPending)
  }

  /** The first incident that is not over and that a run was woken by. */
  const incidentOfRun = (run: string): number | null => sql.incidentOfRun.get(run) ?? null

  function upsert(incident: number, at: SlackPlaced, run: string | null): void {
    sql.upsert.run({
      ...{ incident, channel: at.channel, address: at.address, ts: at.ts, now: clock.now() },
      ...{
        root: JSON.stringify(at.base),
        run,
        shown: at.shown,
        told: incidents.lastActivity.get(incident)?.n ?? 0,
      },
    })
    touched(1)
  }

  function workOf(row: ThreadRow): SlackWork | null {
    const lacks = row.incident_id === null ? ofProposal(row) : ofIncident(row)
    if (lacks === null || (lacks.message === null && lacks.reply === null && row.permalink !== null)) {
      sql.rest.run(row.id, row.touched)
      return null
    }
    if (lacks.reply !== null) sql.tell.run(lacks.reply.upTo, row.id)
    const isNew = row.ts === ''
    if (isNew) sql.tell.run(0, row.id)
    return {
      thread: row.id,
      touched: row.touched,
      subject: row.proposal_id ?? idOf(row.incident_id!),
      channel: row.channel,
      ts: row.ts,
      hasLink: row.permalink !== null,
      isUnsure: row.telling !== null,
      since: row.made_at,
      ...lacks,
    }
  }

  function ofIncident(row: ThreadRow): Pick<SlackWork, 'message' | 'reply'> | null {
    const incident = incidents.byId.get(row.incident_id!)
    if (!incident) return null
    const root = messageIn(row.root)
    // It would be due again at once, ahead of all other threads, for ever.
    if (root === null) {
      sql.leave.run('its message is not stored as one', row.id)
      return null
    }
    const message = withIncident(root, cardOf(db, incident))
    const rows = sql.activity.all(incident.id, row.told)
    const lines = activityLines(rows)
    const upTo = rows.at(-1)?.n ?? row.told
    if (lines.length === 0 && upTo > row.told) sql.skip.run(upTo, row.id)
    return { message: unshown(row, message), reply: lines.length === 0 ? null : { ...replyOf(lines), upTo } }
  }

  function ofProposal(row: ThreadRow): Pick<SlackWork, 'message' | 'reply'> | null {
    const found = sql.proposal.get(row.proposal_id!)
    if (!found) return null
    const { made_at: madeAt, decided_by: decidedBy, ...of } = found
    return { message: unshown(row, proposalMessage({ ...of, madeAt, decidedBy }, publicUrl)), reply: null }
  }

  return {
    /** Something happened to an incident, in the caller's transaction. */
    touch: (incident: number): void => touched(sql.touch.run(clock.now(), SHOWN_EVERY_MS, incident).changes),

    /** A proposal was made or decided, in the caller's transaction. */
    touchProposal: (id: string): void => {
      const channel = people.get().proposals_channel
      if (channel !== '') sql.propose.run({ id, channel, now: clock.now() })
      touched(sql.touchProposal.run(clock.now(), id).changes)
    },

    /** Where a firing is posted, with what its message has of its incident. */
    placeOf: (deliveryId: string, url: string): SlackPlace => {
      const of = sql.delivery.get(deliveryId)
      const incident = of?.incident_id ?? null
      const row = incident === null ? undefined : sql.byAddress.get(incident, slackChannelOf(url) ?? '')
      return {
        thread: row ? { channel: row.channel, ts: row.ts } : null,
        card: incident === null ? null : cardOf(db, incidents.byId.get(incident)!),
        isUnsure: of?.was_cut === 1 || (of?.tries ?? 0) > 0,
        since: of?.made_at ?? 0,
      }
    },

    /** A firing is there: the first message of its incident in the channel heads a thread. */
    placed: (deliveryId: string, at: SlackPlaced): void => {
      const incident = sql.delivery.get(deliveryId)?.incident_id ?? null
      if (incident === null) return
      if (at.thread === null) upsert(incident, at, null)
      sql.addPost.run({
        ...postOf(at, incident),
        kind: at.thread === null ? 'opened' : 'firing',
        ref: deliveryId,
        at: clock.now(),
      })
    },

    /** The thread that a finding goes to, and what it shows; null: there is none in the channel. */
    rootFor: (run: string, channel: string): { channel: string; ts: string; run: string | null } | null => {
      const incident = incidentOfRun(run)
      const row = incident === null ? undefined : sql.byAddress.get(incident, channel)
      return row && row.ts !== '' ? { channel: row.channel, ts: row.ts, run: row.run_id } : null
    },

    /** What a message of a finding has of its incident; null: it has none. */
    cardFor: (run: string): IncidentCard | null => {
      const incident = incidentOfRun(run)
      return incident === null ? null : cardOf(db, incidents.byId.get(incident)!)
    },

    /** A part of a finding is there: its message heads the thread of its incident, or is in it. @param last of that part */
    found: (run: string, at: SlackPlaced, last: string | null): void => {
      const incident = incidentOfRun(run)
      if (incident === null) return
      const head = sql.byAddress.get(incident, at.channel)
      const isOlder = head?.ts === at.ts && head.run_id !== null && sql.isAfter.get(head.run_id, run) === 1
      if (!isOlder) upsert(incident, at, run)
      const posted = last === null ? at : { ...at, ts: last, thread: at.ts }
      sql.addPost.run({ ...postOf(posted, incident), kind: 'finding', ref: run, at: clock.now() })
    },

    port: {
      claimSlackWork: async () =>
        store.tx(() => {
          for (let row = sql.due.get(clock.now()); row; row = sql.due.get(clock.now())) {
            const work = workOf(row)
            if (work) return work
          }
          return null
        }),
      settleSlackWork: async (done) => store.tx(() => settle(sql, done, clock.now())),
      nextSlackWork: async () => sql.next.get() ?? null,
      slackThreadOf: async (channel, ts) => {
        const id = sql.byMessage.get(channel, ts)
        return id === undefined || id === null ? null : idOf(id)
      },
    } satisfies SlackThreadPort,
  }
}

/** @returns null for what is no message: nothing can be made of it */
function messageIn(stored: string): SlackMessage | null {
  const { text, blocks } = fieldsOf(stored)
  const isMessage = typeof text === 'string' && Array.isArray(blocks) && blocks.every(isFields)
  return isMessage ? { text, blocks } : null
}

/** Fields of a JSON object; none where it is none. @param stored JSON, which its column is checked to be */
function fieldsOf(stored: string): Record<string, unknown> {
  const value: unknown = JSON.parse(stored)
  return isFields(value) ? value : {}
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const postOf = ({ channel, ts }: SlackPlaced, incident: number) => ({ incident, channel, ts })

function unshown(row: ThreadRow, message: SlackMessage): SlackWork['message'] {
  const digest = digestOf(message)
  return digest === row.shown ? null : { ...message, digest }
}

function settle(sql: Statements, done: SlackWorkDone, now: number): void {
  const row = sql.byId.get(done.thread)
  if (!row) return
  const isMissing = done.problem !== null
  const tries = isMissing ? row.tries + 1 : 0
  const retryAt = isMissing && tries < TRIES ? done.retryAt : null
  sql.settle.run({
    id: row.id,
    channel: done.channel ?? row.channel,
    ts: done.ts ?? row.ts,
    permalink: done.permalink ?? row.permalink,
    told: done.told?.upTo ?? row.told,
    telling: done.told || done.ts || !isMissing ? null : row.telling,
    shown: done.shown ?? row.shown,
    shown_at: done.shown === undefined ? row.shown_at : now,
    due_at: isMissing ? retryAt : row.touched === done.touched ? null : now,
    tries,
    problem: done.problem,
  })
  if (done.permalink) sql.linkRoot.run(done.permalink, row.id, done.ts ?? row.ts)
  if (done.told && done.told.ts !== '') sql.addReply.run(row.id, done.told.ts, done.told.permalink, now)
}

/** Where an incident stands, for its message. */
function cardOf(db: Database, row: IncidentRow): IncidentCard {
  return {
    id: idOf(row.id),
    version: row.version,
    severity: severityOfRank(row.rank),
    state: stateWords(row),
    firings: row.firings,
    openedAt: row.opened_at,
    accepts: actsTaken(row),
    run: statements(db).lastRun.get(row.id) ?? null,
  }
}

type Statements = ReturnType<typeof prepare>
const prepared = new WeakMap<Database, Statements>()

/** Prepared once for a connection. */
function statements(db: Database): Statements {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

interface ProposalSeen {
  id: string
  summary: string
  why: string
  proposer: string
  state: 'open' | 'approved' | 'declined' | 'withdrawn'
  made_at: number
  decided_by: string | null
  reason: string | null
}

function prepare(db: Database) {
  return { ...reading(db), ...writing(db) }
}

function reading(db: Database) {
  return {
    byId: db.prepare<[number], ThreadRow>('SELECT * FROM slack_threads WHERE id = ?'),
    byAddress: db.prepare<[number, string], ThreadRow>(
      'SELECT * FROM slack_threads WHERE incident_id = ? AND ? IN (channel, address)',
    ),
    byMessage: db
      .prepare<[string, string], number | null>(
        'SELECT incident_id FROM slack_threads WHERE channel = ? AND ts = ?',
      )
      .pluck(),
    due: db.prepare<[number], ThreadRow>(
      'SELECT * FROM slack_threads WHERE due_at <= ? ORDER BY due_at, id LIMIT 1',
    ),
    next: db
      .prepare<[], number | null>('SELECT min(due_at) FROM slack_threads WHERE due_at IS NOT NULL')
      .pluck(),
    activity: db.prepare<[number, number], ActivityRow>(
      'SELECT * FROM incident_activity WHERE incident_id = ? AND n > ? ORDER BY n',
    ),
    incidentOfRun: db
      .prepare<[string], number>(
        `SELECT ir.incident_id FROM incident_runs ir JOIN incidents i ON i.id = ir.incident_id
         WHERE ir.run_id = ? ORDER BY i.state = 'handled', ir.incident_id LIMIT 1`,
      )
      .pluck(),
    isAfter: db
      .prepare<[string, string], number>(
        'SELECT (SELECT seq FROM runs WHERE id = ?) > (SELECT seq FROM runs WHERE id = ?)',
      )
      .pluck(),
    lastRun: db
      .prepare<[number], string>(
        `SELECT r.id FROM incident_runs ir JOIN runs r ON r.id = ir.run_id
         WHERE ir.incident_id = ? AND r.finished_at IS NOT NULL AND r.practice = 0 ORDER BY r.seq DESC LIMIT 1`,
      )
      .pluck(),
    delivery: db.prepare<
      [string],
      { incident_id: number | null; was_cut: 0 | 1; tries: number; made_at: number }
    >(
      `SELECT f.incident_id, d.was_cut, d.made_at,
         (SELECT count(*) FROM delivery_tries t WHERE t.delivery_id = d.id) AS tries
       FROM deliveries d LEFT JOIN firings f ON f.id = d.firing_id WHERE d.id = ?`,
    ),
    proposal: db.prepare<[string], ProposalSeen>(
      'SELECT id, summary, why, proposer, state, made_at, decided_by, reason FROM proposals WHERE id = ?',
    ),
  }
}

function writing(db: Database) {
  return {
    touch: db.prepare<[number, number, number]>(
      `UPDATE slack_threads SET touched = touched + 1,
         due_at = min(coalesce(due_at, 9e15), max(?, coalesce(shown_at, 0) + ?)) WHERE incident_id = ?`,
    ),
    leave: db.prepare<[string, number]>('UPDATE slack_threads SET due_at = NULL, problem = ? WHERE id = ?'),
    touchProposal: db.prepare<[number, string]>(
      'UPDATE slack_threads SET touched = touched + 1, due_at = ? WHERE proposal_id = ?',
    ),
    propose: db.prepare<{ id: string; channel: string; now: number }>(
      `INSERT OR IGNORE INTO slack_threads (proposal_id, channel, address, ts, made_at, root, told)
       SELECT @id, @channel, @channel, '', @now, '{}', 0
       WHERE NOT EXISTS (SELECT 1 FROM slack_threads WHERE proposal_id = @id)
         AND EXISTS (SELECT 1 FROM proposals WHERE id = @id AND state = 'open')`,
    ),
    upsert: db.prepare<{
      incident: number
      channel: string
      address: string
      ts: string
      now: number
      root: string
      run: string | null
      shown: string | null
      told: number
    }>(
      `INSERT INTO slack_threads (incident_id, channel, address, ts, made_at, root, run_id, told, shown, shown_at, due_at)
       VALUES (@incident, @channel, @address, @ts, @now, @root, @run, @told, @shown, @now, @now)
       ON CONFLICT (incident_id, channel) WHERE incident_id IS NOT NULL DO UPDATE SET
         permalink = CASE WHEN ts = excluded.ts THEN permalink END, ts = excluded.ts,
         root = excluded.root, run_id = coalesce(excluded.run_id, run_id),
         shown = excluded.shown, shown_at = @now,
         touched = touched + 1, due_at = @now, tries = 0, problem = NULL`,
    ),
    addPost: db.prepare<{
      incident: number
      channel: string
      ts: string
      kind: string
      ref: string
      at: number
    }>(
      `INSERT OR IGNORE INTO slack_posts (thread_id, ts, kind, ref, at)
       SELECT id, @ts, @kind, @ref, @at FROM slack_threads WHERE incident_id = @incident AND channel = @channel`,
    ),
    addReply: db.prepare<[number, string, string | null, number]>(
      "INSERT OR IGNORE INTO slack_posts (thread_id, ts, kind, permalink, at) VALUES (?, ?, 'activity', ?, ?)",
    ),
    linkRoot: db.prepare<[string, number, string]>(
      'UPDATE slack_posts SET permalink = ? WHERE thread_id = ? AND ts = ?',
    ),
    tell: db.prepare<[number, number]>('UPDATE slack_threads SET telling = ? WHERE id = ?'),
    skip: db.prepare<[number, number]>('UPDATE slack_threads SET told = ? WHERE id = ?'),
    rest: db.prepare<[number, number]>('UPDATE slack_threads SET due_at = NULL WHERE id = ? AND touched = ?'),
    settle: db.prepare<
      Omit<ThreadRow, 'incident_id' | 'proposal_id' | 'address' | 'made_at' | 'root' | 'run_id' | 'touched'>
    >(
      `UPDATE slack_threads SET channel = @channel, ts = @ts, permalink = @permalink, told = @told,
         telling = @telling, shown = @shown, shown_at = @shown_at, due_at = @due_at, tries = @tries,
         problem = @problem WHERE id = @id`,
    ),
  }
}

/* What happened to an incident, in words for its thread. */

/** Slack takes 2,000 characters there. */
const LINE_MAX = 1_500
/** Of a thread that was long not brought up to date the newest are said. */
const LINES_MAX = 20

/** "acknowledged by mara". */
function stateWords(row: IncidentRow): string {
  switch (row.state) {
    case 'acknowledged':
      return `acknowledged by ${row.acknowledged_by ?? ''}${row.assignee && row.assignee !== row.acknowledged_by ? `, assigned to ${row.assignee}` : ''}`
    case 'snoozed':
      return `snoozed by ${row.snoozed_by ?? ''} ${untilWords(row.snoozed_until)}`
    case 'handled':
      return handledWords(row.handled_how ?? 'person', row.handled_by ?? '').toLowerCase()
    default:
      return row.assignee ? `open, assigned to ${row.assignee}` : 'open, nobody has it yet'
  }
}

const untilWords = (until: number | null): string =>
  until === null
    ? 'until it changes'
    : `until ${new Date(until).toISOString().slice(0, 16).replace('T', ' ')} UTC`

function handledWords(how: string, by: string): string {
  if (how === 'person') return `Handled by ${by}`
  if (how === 'verdict') return `Handled by the verdict of ${by}`
  if (how === 'deleted') return 'Over: its trigger was deleted'
  return how === 'resolved' ? 'Over: what set it off has ended' : 'Over: nothing fired for 24 hours'
}

/** Each as a line, those left out that the message itself shows. */
function activityLines(rows: readonly ActivityRow[]): string[] {
  return rows
    .flatMap((row) => lineOf(row) ?? [])
    .slice(-LINES_MAX)
    .map((line) => fitted(line, LINE_MAX))
}

function lineOf({ action, by_name: by, detail: stored }: ActivityRow): string | null {
  const detail = fieldsOf(stored)
  const who = by === 'svc' ? '' : ` by ${by}`
  switch (action) {
    case 'acknowledged':
      return `Acknowledged by ${by}`
    case 'assigned':
      return `Assigned to ${wordIn(detail.assignee) || 'nobody'}${who}`
    case 'snoozed':
      return `Snoozed by ${by} ${untilWords(typeof detail.until === 'number' ? detail.until : null)}`
    case 'unsnoozed':
      return `The snooze was ended${who}`
    case 'woken':
      return 'The snooze is over'
    case 'handled':
      return handledWords(wordIn(detail.how) || 'person', by)
    case 'reopened':
      return `Opened again${who}`
    case 'severity':
      return `Its severity is ${wordIn(detail.severity)} now${who}`
    case 'note':
      return `${by}: ${wordIn(detail.text)}`
    default:
      return null
  }
}

const wordIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/** One message of them all. */
const replyOf = (lines: readonly string[]): SlackMessage => ({
  text: lines.at(-1) ?? '',
  blocks: lines.map((text) => ({ type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] })),
})

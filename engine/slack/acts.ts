/**
 * Buttons of messages: what was pressed is done as the person, by the calls that the doors make, and recorded with who.
 * Whoever may not is told so alone; so is who comes too late, with who was first and the buttons of now.
 */
import type { Incident } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { ProposalCalls } from '../declared/proposals.ts'
import { SvcError } from '../errors.ts'
import type { IncidentWrites } from '../incidents/types.ts'
import { ACT_ID, escaped, incidentActs, type SlackAct } from '../outbox/slack-messages.ts'
import type { Mapped, SlackRight } from './people.ts'

/** The calls that buttons make. */
export interface ActCalls
  extends Pick<IncidentWrites, 'actOnIncident'>,
    Pick<ProposalCalls, 'approveProposal' | 'declineProposal'> {
  rerun(run: string, how: { asOf: 'same' | 'now'; practice: boolean }): Promise<{ run_id: string }>
}

/** A button that was pressed. */
export interface Pressed {
  act: SlackAct
  user: { id: string; name: string }
}

/** What is told to whoever pressed; null: the message itself shows it. */
export interface Told {
  text: string
  blocks?: object[]
  outcome: 'done' | 'refused' | 'late' | 'failed'
}

/** What each takes, as the routes of the API do. */
const NEEDS: Readonly<Record<SlackAct['do'], SlackRight>> = {
  acknowledge: 'respond',
  handle: 'respond',
  reopen: 'respond',
  snooze: 'respond',
  rerun: 'admin',
  approve: 'admin',
  decline: 'admin',
}
const WORDS: Readonly<Record<SlackAct['do'], string>> = {
  acknowledge: 'acknowledge incidents',
  handle: 'mark incidents handled',
  reopen: 'open incidents again',
  snooze: 'snooze incidents',
  rerun: 'run agents again',
  approve: 'approve proposals',
  decline: 'decline proposals',
}
const HOUR_MS = 3_600_000

/** What of a payload of Slack's is a button that acts; null: none of it is. */
export function pressedIn(payload: Record<string, unknown>): Pressed | null {
  const { type, user, actions } = payload as {
    type?: unknown
    user?: { id?: unknown; username?: unknown; name?: unknown }
    actions?: { action_id?: unknown; value?: unknown; selected_option?: { value?: unknown } }[]
  }
  const action = Array.isArray(actions) ? actions[0] : undefined
  if (type !== 'block_actions' || typeof action?.action_id !== 'string') return null
  if (!action.action_id.startsWith(ACT_ID)) return null
  const value = action.selected_option?.value ?? action.value
  const act = typeof value === 'string' ? actIn(value) : null
  if (act === null || typeof user?.id !== 'string') return null
  const name = [user.name, user.username, user.id].find((one) => typeof one === 'string' && one !== '')
  return { act, user: { id: user.id, name: String(name) } }
}

function actIn(value: string): SlackAct | null {
  try {
    const act = JSON.parse(value) as SlackAct
    return Object.hasOwn(NEEDS, act.do) && typeof act.of === 'string' ? act : null
  } catch {
    // A button of another app's making.
    return null
  }
}

/** @param now epoch ms. @throws what is a fault of ours */
export async function carryOutAct(act: SlackAct, who: Mapped, calls: ActCalls, now: number): Promise<Told> {
  const needs = NEEDS[act.do]
  if (!who.scopes.includes(needs)) return refusedTo(act, who, needs)
  try {
    return { outcome: 'done', text: await done(act, who, calls, now) }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const isLate = error.code === 'wrong_state' || error.code === 'conflict'
    const incident = error.extra.incident as Incident | undefined
    return {
      outcome: isLate ? 'late' : 'failed',
      text: escaped(`Not done: ${incident ? firstWords(incident) : error.message}.`),
      ...(incident ? { blocks: fresh(incident) } : {}),
    }
  }
}

function refusedTo(act: SlackAct, { id }: Mapped, needs: SlackRight): Told {
  const user = id.split(':').at(-1)!
  return {
    outcome: 'refused',
    text: escaped(
      `You may not ${WORDS[act.do]} from Slack. An admin of svc can give you (${user}) the right “${needs}” under Settings, Slack.`,
    ),
  }
}

/** @returns what is told; empty: the message shows it */
async function done(act: SlackAct, who: Mapped, calls: ActCalls, now: number): Promise<string> {
  const by = { by: who.name, via: 'slack' } as const
  const caller: Caller = { id: who.id, name: `${who.name} in Slack` }
  const version = act.v === undefined ? {} : { version: act.v }
  switch (act.do) {
    case 'snooze': {
      const until = act.h ? new Date(now + act.h * HOUR_MS).toISOString() : null
      await calls.actOnIncident(act.of, { action: 'snooze', until, ...version }, by)
      return ''
    }
    case 'rerun': {
      const { run_id } = await calls.rerun(act.of, { asOf: 'now', practice: false })
      if (act.i) {
        const text = `Had run ${act.of} repeated, as ${run_id}`
        await calls.actOnIncident(act.i, { action: 'notes', text }, by)
      }
      return `Run ${run_id} has begun; what it finds is posted where its agent posts.`
    }
    case 'approve':
      await calls.approveProposal(act.of, { caller, origin: 'api' })
      return ''
    case 'decline':
      await calls.declineProposal(act.of, '', { caller, origin: 'api' })
      return ''
    default:
      await calls.actOnIncident(act.of, { action: act.do, ...version }, by)
      return ''
  }
}

/** "incident inc_3 was acknowledged by mara at 12:04 UTC". */
function firstWords({ id, state, acknowledged, snoozed, handled, severity }: Incident): string {
  const first = { acknowledged, snoozed, handled, open: null }[state]
  return first
    ? `incident ${id} was ${state} by ${first.by} at ${first.at.slice(11, 16)} UTC`
    : `incident ${id} was changed since this message: it is ${state}, ${severity}`
}

/** The buttons of now, for who pressed one of before. */
function fresh(incident: Incident): object[] {
  const elements = incidentActs({
    ...{ id: incident.id, version: incident.version, accepts: incident.accepts },
    run: null,
  })
  return [
    {
      type: 'section',
      text: { type: 'mrkdwn', text: escaped(`Not done: ${firstWords(incident)}.`), verbatim: true },
    },
    ...(elements.length ? [{ type: 'actions', elements }] : []),
  ]
}

/**
 * What each lifecycle takes, written down apart from the machines: kind, then situation (a state and
 * the context that matters), then event and where it leads. What is not here is refused.
 */
import type { Kind } from '../../machines/index.ts'
import type { Snapshot } from '../../machines/step.ts'
import { runningTurns } from './ask-turn-table.ts'
import { catalogSync } from './catalog-sync-table.ts'
import { draft } from './draft-table.ts'
import { incident } from './incident-table.ts'
import type { Situation, Taken } from './situation.ts'

const pausable: Situation[] = [
  { state: 'active', takes: { pause: 'paused', delete: 'deleted' } },
  { state: 'paused', takes: { resume: 'active', delete: 'deleted' } },
  { state: 'deleted', takes: { restore: 'active' } },
]
const thereOrNot: Situation[] = [
  { state: 'active', takes: { delete: 'deleted' } },
  { state: 'deleted', takes: { restore: 'active' } },
]
const finals = (states: string[], context?: Record<string, unknown>): Situation[] =>
  states.map((state) => ({ state, ...(context ? { context } : {}), isFinal: true, takes: {} }))

const nobody = { held_by: null, left: null }
const leftTo = (left: string) => ({ held_by: null, left })
/** Who may take a project, and hand it back, in a state in which it is there. */
const holds = (state: string) => ({
  hold: { to: state, context: { held_by: 'crew', left: null } },
  takeover: { to: state, context: { held_by: 'person', left: null } },
})
const steps = { connect: 'connect', try: 'try', done: 'done', unapply: 'draft' }
const setUp = (state: string): Situation => ({
  state,
  context: nobody,
  takes: {
    ...steps,
    update: state,
    pause: { to: 'paused', context: leftTo(state) },
    ...holds(state),
    delete: { to: 'deleted', context: leftTo(state) },
  },
})
const held = (by: 'crew' | 'person'): Situation[] =>
  ['draft', 'connect', 'try', 'done', 'running', 'paused'].map((state) => {
    const isSetUp = ['connect', 'try', 'done'].includes(state)
    const context = { held_by: by, left: null }
    const gone = { to: 'deleted', context: leftTo(state === 'paused' ? 'running' : state) }
    return {
      state,
      context: state === 'paused' ? { ...context, left: 'running' } : context,
      takes: {
        ...(state === 'draft' ? { plan: 'draft', edit: 'draft', apply: 'connect' } : { update: state }),
        ...(isSetUp ? steps : {}),
        ...(isSetUp || state === 'running'
          ? { pause: { to: 'paused', context: { ...context, left: state } } }
          : {}),
        ...(state === 'paused' ? { resume: 'running' } : {}),
        ...(by === 'crew'
          ? {
              takeover: {
                to: state,
                context: { held_by: 'person', left: state === 'paused' ? 'running' : null },
              },
            }
          : {}),
        release: { to: state, context: { held_by: null, left: state === 'paused' ? 'running' : null } },
        delete: gone,
      },
    }
  })

const project: Situation[] = [
  { state: 'none', context: nobody, takes: { draft: 'draft', create: 'running', apply: 'connect' } },
  {
    state: 'draft',
    context: nobody,
    takes: {
      plan: 'draft',
      edit: 'draft',
      apply: 'connect',
      ...holds('draft'),
      delete: { to: 'deleted', context: leftTo('draft') },
    },
  },
  setUp('connect'),
  setUp('try'),
  setUp('done'),
  {
    state: 'running',
    context: nobody,
    takes: {
      update: 'running',
      pause: { to: 'paused', context: leftTo('running') },
      ...holds('running'),
      delete: { to: 'deleted', context: leftTo('running') },
    },
  },
  ...['connect', 'try', 'done', 'running'].map((left) => ({
    state: 'paused',
    context: leftTo(left),
    takes: {
      update: 'paused',
      resume: left,
      hold: { to: 'paused', context: { held_by: 'crew', left } },
      takeover: { to: 'paused', context: { held_by: 'person', left } },
      delete: { to: 'deleted', context: leftTo(left) },
    },
  })),
  ...held('crew'),
  ...held('person'),
  ...['draft', 'connect', 'try', 'done', 'running'].map((left) => ({
    state: 'deleted',
    context: leftTo(left),
    takes: { restore: left },
  })),
]

const adopted = { adopted: true }
const own = { adopted: false }
const ownership: Situation[] = [
  { state: 'none', context: own, takes: { plan: 'planned', adopt: { to: 'adopted', context: adopted } } },
  {
    state: 'planned',
    context: own,
    takes: { plan: 'planned', edit: 'customized', match: 'planned', delete: 'missing' },
  },
  {
    state: 'customized',
    context: own,
    takes: { plan: 'customized', edit: 'customized', match: 'planned', delete: 'missing', repair: 'planned' },
  },
  {
    state: 'adopted',
    context: adopted,
    takes: { plan: 'adopted', edit: 'adopted', match: 'adopted', delete: 'missing' },
  },
  { state: 'missing', context: own, takes: { plan: 'missing', restore: 'customized', repair: 'planned' } },
  {
    state: 'missing',
    context: adopted,
    takes: { plan: 'missing', restore: 'adopted', repair: { to: 'planned', context: own } },
  },
]

const skill: Situation[] = [
  {
    state: 'exists',
    context: { users: 1 },
    takes: {
      use: { to: 'exists', context: { users: 2 } },
      edit: 'exists',
      remove: { to: 'deleted', context: { users: 0 } },
    },
  },
  {
    state: 'exists',
    context: { users: 2 },
    takes: {
      use: { to: 'exists', context: { users: 3 } },
      edit: 'exists',
      remove: { to: 'exists', context: { users: 1 } },
    },
  },
  {
    state: 'deleted',
    context: { users: 0 },
    takes: { restore: { to: 'exists', context: { users: 1 } } },
  },
]

const at = (rounds: number, resumes = 0) => ({ rounds, max_rounds: 2, resumes })
const ended = (status: string, reason: string | null = null, brings?: Record<string, unknown>): Taken => ({
  to: status,
  ...(brings ? { brings } : {}),
  effects: [{ type: 'end_run', params: { status, reason } }],
})
const capped = ended('capped', 'budget reached', { reason: 'budget reached' })
const failed = ended('failed', 'no model provider', { reason: 'no model provider' })
const cancelled = ended('cancelled', 'cancelled by maria', { reason: 'cancelled by maria' })
const wait = { since: 1, until: 2, why: 'Overloaded' }
const going = {
  succeed: ended('succeeded'),
  empty: ended('empty'),
  cap: capped,
  fail: failed,
  deadline: ended('failed', 'deadline'),
  cancel: cancelled,
  park: { to: 'parked', brings: wait, effects: [{ type: 'park_run', params: wait }] },
}
const resumed = (rounds: number, resume: number): Taken => ({
  to: 'running',
  context: at(rounds, resume),
  effects: [{ type: 'resume_run', params: { after: 'stop' } }],
})
const run: Situation[] = [
  {
    state: 'queued',
    context: at(0),
    takes: {
      start: { to: 'running', context: at(1), effects: [{ type: 'begin_run' }] },
      cap: capped,
      fail: failed,
      cancel: cancelled,
    },
  },
  {
    state: 'running',
    context: at(1),
    takes: { round: { to: 'running', context: at(2) }, ...going, interrupted: resumed(1, 1) },
  },
  {
    state: 'running',
    context: at(2, 2),
    takes: { exhaust: ended('exhausted'), ...going, interrupted: resumed(2, 3) },
  },
  {
    state: 'running',
    context: at(2, 3),
    takes: {
      exhaust: ended('exhausted'),
      ...going,
      interrupted: ended('failed', 'it was interrupted again and again'),
    },
  },
  {
    state: 'parked',
    context: at(1),
    takes: {
      go_on: { to: 'running', effects: [{ type: 'resume_run', params: { after: 'wait' } }] },
      cancel: cancelled,
    },
  },
  ...finals(['succeeded', 'exhausted', 'failed', 'cancelled', 'capped', 'empty'], at(1)),
]

const tried = (tries: number, due_at: number | null = null) => ({ tries, max_tries: 3, due_at })
const noted = (reason: string, is_final: boolean) => ({ type: 'note_failure', params: { reason, is_final } })
const claimed = (n: number): Taken => ({
  to: 'running',
  context: tried(n),
  effects: [{ type: 'send', params: { try: n } }],
})
const withdraw: Taken = { to: 'failed', effects: [noted('its subscription was removed', true)] }
const answered = {
  acknowledge: {
    to: 'delivered',
    effects: [{ type: 'note_delivered', params: { at: 7 } }],
    brings: { at: 7 },
  },
  refuse: { to: 'failed', brings: { reason: 'HTTP 403' }, effects: [noted('HTTP 403', true)] },
  gone: {
    to: 'failed',
    brings: { reason: 'HTTP 410' },
    effects: [noted('HTTP 410', true), { type: 'disable_recipient' }],
  },
}
const cutOff = (n: number): Taken => ({ to: 'pending', context: tried(n - 1) })
const redeliver = (keeps_progress: boolean) => ({
  ...{ to: 'pending', context: tried(0) },
  effects: [{ type: 'begin_again', params: { keeps_progress } }],
})
const hold = { to: 'held', effects: [{ type: 'note_held' }] }
const drop = { to: 'dropped', effects: [{ type: 'note_dropped' }] }
const firing: Situation[] = [
  {
    state: 'tripped',
    takes: {
      release: { to: 'fired', effects: [{ type: 'deliver' }] },
      gather: 'gathering',
      hold,
    },
  },
  {
    state: 'gathering',
    takes: { release: { to: 'fired', effects: [{ type: 'deliver' }] }, hold, drop },
  },
  { state: 'held', takes: { release: { to: 'fired', effects: [{ type: 'deliver' }] }, drop } },
  ...finals(['fired', 'dropped']),
]
const delivery: Situation[] = [
  { state: 'pending', context: tried(0), takes: { claim: claimed(1), withdraw } },
  {
    state: 'pending',
    context: tried(1, 1000),
    takes: {
      claim: { ...claimed(2), brings: { at: 1000 } },
      withdraw: { ...withdraw, context: tried(1), brings: { at: 1000 } },
    },
  },
  { state: 'pending', context: tried(2, 1001), takes: { withdraw: { ...withdraw, context: tried(2) } } },
  {
    state: 'running',
    context: tried(2),
    takes: {
      ...answered,
      interrupted: cutOff(2),
      retry: {
        to: 'pending',
        context: tried(2, 5000),
        brings: { due_at: 5000, reason: 'HTTP 503' },
        effects: [noted('HTTP 503', false)],
      },
    },
  },
  {
    state: 'running',
    context: tried(3),
    takes: {
      ...answered,
      interrupted: cutOff(3),
      retry: {
        to: 'failed',
        brings: { due_at: 5000, reason: 'HTTP 503' },
        effects: [noted('HTTP 503', true)],
      },
    },
  },
  { state: 'delivered', context: tried(1), takes: { redeliver: redeliver(false) } },
  { state: 'failed', context: tried(3), takes: { redeliver: redeliver(true) } },
]

const refused = (reason: string, brings: Record<string, unknown> = {}) => ({
  decide: { to: `refused_${reason}`, brings },
})
const begun = (depth: number, brings: Record<string, unknown>) => ({
  decide: { to: 'started', brings, effects: [{ type: 'start_run', params: { depth } }] },
})
const handoff: Situation[] = [
  {
    state: 'proposed',
    context: { depth: 0 },
    takes: begun(1, { at: 10, cooldown_until: null, is_target_busy: false }),
  },
  { state: 'proposed', context: { depth: 2 }, takes: begun(3, { at: 10, cooldown_until: 10 }) },
  { state: 'proposed', context: { depth: 3 }, takes: refused('chain_limit', { at: 10, cooldown_until: 20 }) },
  {
    state: 'proposed',
    context: { depth: 1 },
    takes: refused('cooldown', { at: 10, cooldown_until: 11, is_target_busy: true }),
  },
  {
    state: 'proposed',
    context: { depth: 1 },
    takes: refused('target_busy', { at: 10, is_target_busy: true }),
  },
  { state: 'started', context: { depth: 1 }, takes: { finish: 'done' } },
  ...finals(['refused_chain_limit', 'refused_cooldown', 'refused_target_busy', 'done'], { depth: 1 }),
]

export const tables: Record<Kind, Situation[]> = {
  source: pausable,
  key: [{ state: 'active', takes: { revoke: 'revoked' } }, ...finals(['revoked'])],
  trigger: pausable,
  agent: thereOrNot,
  mcp_server: thereOrNot,
  skill,
  project,
  ownership,
  draft,
  run,
  firing,
  delivery,
  incident,
  handoff,
  proposal: [
    { state: 'open', takes: { approve: 'approved', decline: 'declined', withdraw: 'withdrawn' } },
    ...finals(['approved', 'declined', 'withdrawn']),
  ],
  catalog_sync: catalogSync,
  ask_turn: [...runningTurns, ...finals(['answered', 'exhausted', 'cancelled', 'failed'], { resumes: 1 })],
}

/** The stored form of a situation. */
export function snapshotOf({ state, context, isFinal }: Situation, version: number): Snapshot {
  return { value: state, context: context ?? {}, status: isFinal ? 'done' : 'active', v: version }
}

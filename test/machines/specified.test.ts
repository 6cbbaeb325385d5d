/** Each row of SPEC.md, States and transitions, that a machine decides is a test here. */
import { describe, expect, it } from 'vitest'
import { maxTries, RETRY_SECONDS } from '../../machines/delivery.ts'
import { newOf, walk } from './walk.ts'

describe('Skill lifecycle', () => {
  const made = newOf('skill')

  it('absent, created or uploaded: exists, used by the calling project', () => {
    expect(made).toMatchObject({ state: 'exists', snapshot: { context: { users: 1 } } })
  })

  it('exists, used from another project: used by one more project', () => {
    expect(walk('skill', made, 'use')).toMatchObject({ state: 'exists', snapshot: { context: { users: 2 } } })
  })

  it('exists, edited or uploaded again: exists, its users as they were', () => {
    const shared = walk('skill', made, 'use')
    expect(walk('skill', shared, 'edit').snapshot).toEqual(shared.snapshot)
  })

  it('removed from a project while others use it: kept', () => {
    expect(walk('skill', made, 'use', 'remove')).toMatchObject({
      state: 'exists',
      snapshot: { context: { users: 1 } },
    })
  })

  it('removed from its last project: deleted', () => {
    expect(walk('skill', made, 'remove').state).toBe('deleted')
  })

  it('its project deleted: deleted where no other uses it, kept where one does', () => {
    expect(walk('skill', made, 'remove').state).toBe('deleted')
    expect(walk('skill', made, 'use', 'use', 'remove').state).toBe('exists')
  })
})

describe('Project lifecycle', () => {
  const none = newOf('project')
  const draft = walk('project', none, 'draft')
  const running = walk('project', none, 'create')

  it('none, a goal given to guided setup: draft', () => {
    expect(none.state).toBe('none')
    expect(draft.state).toBe('draft')
  })

  it('draft, a changed goal or an instruction: draft', () => {
    expect(walk('project', draft, 'plan').state).toBe('draft')
  })

  it('draft, an edited plan: draft', () => {
    expect(walk('project', draft, 'edit').state).toBe('draft')
  })

  it('draft, applied: set up, at its first step', () => {
    expect(walk('project', draft, 'apply').state).toBe('connect')
  })

  it('none, a plan applied without a draft: set up', () => {
    expect(walk('project', none, 'apply').state).toBe('connect')
  })

  it('draft, deleted: deleted', () => {
    expect(walk('project', draft, 'delete').state).toBe('deleted')
  })

  it('none, created from a template or from listed objects: running', () => {
    expect(running.state).toBe('running')
  })

  it.each(['connect', 'try', 'done'])('set up, put to step %s from any step: that step', (to) => {
    for (const from of ['connect', 'try', 'done'])
      expect(walk('project', draft, 'apply', from, to).state).toBe(to)
  })

  it('running, paused: paused', () => {
    expect(walk('project', running, 'pause').state).toBe('paused')
  })

  it('paused, resumed: running', () => {
    expect(walk('project', running, 'pause', 'resume').state).toBe('running')
  })

  it.each(['connect', 'try', 'done'])('set up at step %s, paused and resumed: at that step again', (at) => {
    expect(walk('project', draft, 'apply', at, 'pause', 'resume').state).toBe(at)
  })

  it('running, changed: running', () => {
    expect(walk('project', running, 'update').state).toBe('running')
  })

  it.each([
    ['draft', draft],
    ['set up', walk('project', draft, 'apply')],
    ['running', running],
    ['paused', walk('project', running, 'pause')],
  ])('%s, deleted: deleted, and held by nobody', (_state, place) => {
    expect(walk('project', place, 'hold', 'delete')).toMatchObject({
      state: 'deleted',
      snapshot: { context: { held_by: null } },
    })
  })

  it('none or deleted: there is nothing to pause, change or delete', () => {
    expect(none.accepts).toEqual(['draft', 'create', 'apply'])
    expect(walk('project', running, 'delete').accepts).toEqual(['restore'])
  })

  it('undoing a delete brings it back to where it was', () => {
    expect(walk('project', draft, 'delete', 'restore').state).toBe('draft')
    expect(walk('project', draft, 'apply', 'try', 'delete', 'restore').state).toBe('try')
    expect(walk('project', running, 'delete', 'restore').state).toBe('running')
  })

  it('held by a crew, taken over: held by the person, whom no crew can take it from', () => {
    const taken = walk('project', running, 'hold', 'takeover')
    expect(taken.snapshot.context.held_by).toBe('person')
    expect(taken.accepts).not.toContain('hold')
    expect(taken.accepts).not.toContain('takeover')
  })

  it('held by a crew or a person, released: held by nobody', () => {
    for (const how of ['hold', 'takeover'])
      expect(walk('project', running, how, 'release').snapshot.context.held_by).toBeNull()
    expect(running.accepts).not.toContain('release')
  })
})

describe('Planning sub-steps of guided setup', () => {
  const planned = walk('draft', newOf('draft'), 'look', 'write', 'check')

  it('reads what is on the instance, looks at what sources send, writes the plan and checks it', () => {
    const reading = newOf('draft')
    expect(reading.state).toBe('reading')
    expect(walk('draft', reading, 'look', 'look').state).toBe('looking')
    expect(walk('draft', reading, 'look', 'write').state).toBe('writing')
    expect(planned.state).toBe('checking')
    expect(walk('draft', planned, 'pass').state).toBe('ready')
  })

  it('fixes what the check found up to three times, then opens with its problems', () => {
    const thrice = walk('draft', planned, ...['problems', 'check', 'problems', 'check', 'problems', 'check'])
    expect(walk('draft', thrice, 'pass').state).toBe('ready')
    expect(walk('draft', thrice, 'problems').state).toBe('faulty')
  })

  it('applies a valid plan only, and once', () => {
    const ready = walk('draft', planned, 'pass')
    const faulty = walk('draft', ready, { type: 'edit', problems: 1 })
    expect(faulty.accepts).not.toContain('apply')
    expect(walk('draft', faulty, { type: 'edit', problems: 0 }, 'apply')).toMatchObject({
      state: 'applied',
      accepts: ['unapply'],
    })
  })

  it('is neither edited nor planned again while it is being planned', () => {
    for (const place of [newOf('draft'), planned, walk('draft', planned, 'problems')])
      expect(place.accepts.filter((event) => ['edit', 'replan', 'apply'].includes(event))).toEqual([])
  })

  it('interrupted, waits to be asked to plan again', () => {
    const interrupted = walk('draft', planned, 'interrupted')
    expect(interrupted).toMatchObject({ state: 'interrupted', effects: ['end_steps', 'note_fault'] })
    expect(walk('draft', interrupted, 'replan')).toMatchObject({
      state: 'reading',
      effects: ['begin_again'],
    })
  })
})

describe('Ownership of template-project objects', () => {
  const none = newOf('ownership')
  const planned = walk('ownership', none, 'plan')
  const customized = walk('ownership', planned, 'edit')
  const missing = walk('ownership', planned, 'delete')

  it('planned, edited by hand: customized, which the next plan keeps', () => {
    expect(customized.state).toBe('customized')
    expect(walk('ownership', customized, 'plan').state).toBe('customized')
  })

  it('planned or customized, deleted by hand: missing, which the next plan keeps', () => {
    expect(missing.state).toBe('missing')
    expect(walk('ownership', customized, 'delete').state).toBe('missing')
    expect(walk('ownership', missing, 'plan').state).toBe('missing')
  })

  it('missing or customized, repaired: planned', () => {
    expect(walk('ownership', missing, 'repair').state).toBe('planned')
    expect(walk('ownership', customized, 'repair').state).toBe('planned')
  })

  it('an existing object of that name with no project, the project created: adopted', () => {
    expect(walk('ownership', none, 'adopt').state).toBe('adopted')
  })

  it('adopted, deleted by hand and undone: still adopted', () => {
    expect(walk('ownership', none, 'adopt', 'delete', 'restore').state).toBe('adopted')
  })

  it('planned, and as the plan says: there is nothing to repair', () => {
    expect(planned.accepts).not.toContain('repair')
  })
})

describe('Run and delivery statuses', () => {
  const started = walk('run', newOf('run', { max_rounds: 2 }), 'start')

  it('a run is running from its first round on', () => {
    expect(newOf('run').state).toBe('queued')
    expect(started.state).toBe('running')
  })

  it('a run is exhausted at its round cap, and not before', () => {
    expect(started.accepts).not.toContain('exhaust')
    const atCap = walk('run', started, 'round')
    expect(atCap.accepts).not.toContain('round')
    expect(walk('run', atCap, 'exhaust').state).toBe('exhausted')
  })

  it('a run has six rounds unless it is given another cap', () => {
    const sixth = walk('run', newOf('run'), 'start', 'round', 'round', 'round', 'round', 'round')
    expect(sixth.accepts).not.toContain('round')
    expect(newOf('run', { max_rounds: 12 }).snapshot.context.max_rounds).toBe(12)
  })

  it('a run fails when it cannot go on, in the queue or under way', () => {
    expect(walk('run', newOf('run'), 'fail').state).toBe('failed')
    expect(walk('run', started, 'fail').state).toBe('failed')
  })

  it('a run is capped before any model call, and before a later one', () => {
    expect(walk('run', newOf('run'), 'cap')).toMatchObject({ state: 'capped', effects: ['end_run'] })
    expect(walk('run', started, 'cap').state).toBe('capped')
  })

  it('a run is empty when it ends without a text', () => {
    expect(walk('run', started, 'empty').state).toBe('empty')
  })

  it('a run that was interrupted is resumed three times, then fails', () => {
    const thrice = walk('run', started, 'interrupted', 'interrupted', 'interrupted')
    expect(thrice).toMatchObject({ state: 'running', effects: ['resume_run'] })
    expect(walk('run', thrice, 'interrupted').state).toBe('failed')
  })

  it.each(['succeed', 'empty', 'cap', 'fail', 'cancel', 'deadline'])(
    'a run that ended by %s takes nothing more; a rerun is a new run',
    (how) => {
      const ended = walk('run', started, how)
      expect(ended).toMatchObject({ accepts: [], snapshot: { status: 'done' } })
      expect(newOf('run', { max_rounds: 2 }).snapshot).toMatchObject({
        value: 'queued',
        context: { rounds: 0, resumes: 0 },
      })
    },
  )

  const sending = walk('delivery', newOf('delivery'), 'claim')

  it('a delivery is running while it is sent, then delivered or failed', () => {
    expect(sending.state).toBe('running')
    expect(walk('delivery', sending, 'acknowledge').state).toBe('delivered')
    expect(walk('delivery', sending, 'refuse').state).toBe('failed')
  })

  it('a delivery that may pass later waits until it is due', () => {
    const waiting = walk('delivery', sending, { type: 'retry', due_at: 500 })
    expect(waiting.state).toBe('pending')
    expect(() => walk('delivery', waiting, { type: 'claim', at: 499 })).toThrow('refuses claim')
    expect(walk('delivery', waiting, { type: 'claim', at: 500 }).state).toBe('running')
  })

  it('a delivery fails after its last try, one more than there are waits', () => {
    let place = sending
    for (const seconds of RETRY_SECONDS.webhook)
      place = walk('delivery', place, { type: 'retry', due_at: seconds }, { type: 'claim', at: seconds })
    expect(place.snapshot.context.tries).toBe(maxTries('webhook'))
    expect(walk('delivery', place, { type: 'retry', due_at: 1 }).state).toBe('failed')
  })

  it('a delivery that was interrupted goes back to pending, due at once', () => {
    const back = walk('delivery', sending, 'interrupted')
    expect(back).toMatchObject({ state: 'pending', snapshot: { context: { due_at: null } } })
    expect(back.accepts).toContain('claim')
  })

  it('a delivery is sent again by hand once it is delivered or failed, with all its tries', () => {
    for (const how of ['acknowledge', 'refuse', 'gone'])
      expect(walk('delivery', sending, how, 'redeliver').snapshot).toEqual(newOf('delivery').snapshot)
    expect(sending.accepts).not.toContain('redeliver')
  })

  it('a handoff chain stops after three handoffs', () => {
    for (const depth of [0, 1, 2])
      expect(walk('handoff', newOf('handoff', { depth }), 'decide').state).toBe('started')
    expect(walk('handoff', newOf('handoff', { depth: 3 }), 'decide').state).toBe('refused_chain_limit')
  })

  it('a handoff is refused while its cooldown lasts, and while its target is at work', () => {
    const decide = { type: 'decide', at: 9 }
    expect(walk('handoff', newOf('handoff'), { ...decide, cooldown_until: 10 }).state).toBe(
      'refused_cooldown',
    )
    expect(walk('handoff', newOf('handoff'), { ...decide, is_target_busy: true }).state).toBe(
      'refused_target_busy',
    )
    expect(walk('handoff', newOf('handoff'), { ...decide, cooldown_until: 9 }, 'finish').state).toBe('done')
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connect } from '../../../console/graph/draft/connect.ts'
import {
  canRedo,
  type Draft,
  moveBack,
  movedTo,
  movesAfter,
  newDraft,
  operationsOf,
  placesOf,
  redone,
  type Step,
  stepOf,
  stepsOf,
  tidyStep,
  undone,
  withMoves,
  withoutStep,
  withStep,
} from '../../../console/graph/draft/draft.ts'
import { switchWake } from '../../../console/graph/draft/edges.ts'
import { changesBetween, editedBy, foreseen, withGone } from '../../../console/graph/draft/foresee.ts'
import { draftOfText, keptText, missingSecrets } from '../../../console/graph/draft/keep.ts'
import { addNew, deleteParts, editPart, leaveProject } from '../../../console/graph/draft/parts.ts'
import { patchBetween, patched } from '../../../console/graph/draft/patch.ts'
import { conflictKey, followed, rebased } from '../../../console/graph/draft/rebase.ts'
import { nullsRemoved } from '../../../console/graph/draft/values.ts'
import type { MergeConflict } from '../../../schemas/types.ts'
import { edgeOf, shop } from './graphs.ts'

const step = (n: number, operations = 1): Step => ({
  label: `step ${n}`,
  said: `Step ${n}.`,
  operations: Array.from({ length: operations }, () => ({
    op: 'patch' as const,
    kind: 'agent' as const,
    name: `a${n}`,
    spec: { prompt: `p${n}` },
  })),
})

describe('a draft', () => {
  it('is undone and redone step by step; a new step drops what was undone', () => {
    let draft = [1, 2, 3].map((n) => step(n)).reduce(withStep, newDraft(7))
    draft = undone(undone(draft))
    expect(operationsOf(draft).map(({ name }) => name)).toEqual(['a1'])
    draft = redone(draft)
    expect(operationsOf(draft).map(({ name }) => name)).toEqual(['a1', 'a2'])
    draft = withStep(draft, step(4))
    expect([canRedo(draft), operationsOf(draft).map(({ name }) => name)]).toEqual([false, ['a1', 'a2', 'a4']])
    expect(operationsOf(withoutStep(draft, 1)).map(({ name }) => name)).toEqual(['a1', 'a4'])
    expect(operationsOf(movedTo(draft, 1)).map(({ name }) => name)).toEqual(['a1'])
  })

  it('tells which step an operation came from', () => {
    const draft = [step(1, 2), step(2, 1), step(3, 3)].reduce(withStep, newDraft(0))
    expect([0, 1, 2, 3, 5, 6].map((at) => stepOf(draft, at))).toEqual([0, 0, 1, 2, 2, null])
  })

  it('whatever is done to it, undoing all leaves nothing, and redoing all brings everything back', () => {
    const move = fc.constantFrom('step', 'undo', 'redo', 'drop')
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let draft: Draft = newDraft(1)
        moves.forEach((what, n) => {
          if (what === 'step') draft = withStep(draft, step(n))
          else if (what === 'undo') draft = undone(draft)
          else if (what === 'redo') draft = redone(draft)
          else if (draft.steps.length) draft = withoutStep(draft, n % draft.steps.length)
          expect(draft.cursor).toBeGreaterThanOrEqual(0)
          expect(draft.cursor).toBeLessThanOrEqual(draft.steps.length)
        })
        const count = draft.steps.length
        for (let n = 0; n < count; n++) draft = undone(draft)
        expect(operationsOf(draft)).toEqual([])
        for (let n = 0; n < count; n++) draft = redone(draft)
        expect(operationsOf(draft)).toHaveLength(count)
      }),
    )
  })

  it('knows where new nodes were dropped', () => {
    const put = (x: number) =>
      addNew(shop(), { kind: 'agent', name: 'new' }, { prompt: 'p' }, { at: { x, y: 1 } })
    const draft = [put(1), put(2)].reduce(withStep, newDraft(0))
    expect(placesOf(draft)).toEqual([{ node: 'agent:new', x: 2, y: 1 }])
    expect(placesOf(undone(undone(draft)))).toEqual([])
  })
})

describe('a patch between two documents', () => {
  const json = fc.letrec<{ doc: Record<string, unknown>; value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.integer(), { maxLength: 3 }),
      tie('doc'),
    ),
    doc: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  })).doc

  it('leads from the one to the other, a null standing for nothing', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const patch = patchBetween(before, after)
        const from = nullsRemoved(before)
        expect(patch === null ? from : patched(from, patch)).toEqual(nullsRemoved(after))
      }),
    )
  })
})

describe('a draft that is kept over a reload', () => {
  const made = addNew(
    shop(),
    { kind: 'mcp_server', name: 'wiki' },
    { url: 'https://wiki.example', auth_value: 'Bearer hush' },
    { secretFields: ['/auth_value'] },
  )

  it('leaves out what is secret, and says what has to be typed again', () => {
    const draft = withStep(newDraft(7), made)
    expect(missingSecrets(draft)).toEqual([])
    expect(keptText(draft)).not.toContain('hush')
    const back = draftOfText(keptText(draft))!
    expect(operationsOf(back)[0]!.spec).toEqual({ url: 'https://wiki.example' })
    expect(missingSecrets(back)).toEqual([{ node: 'mcp_server:wiki', path: '/auth_value' }])
    const typed = editPart(
      { kind: 'mcp_server', name: 'wiki' },
      { url: 'https://wiki.example' },
      { url: 'https://wiki.example', auth_value: 'Bearer hush' },
      ['/auth_value'],
    )!
    expect(missingSecrets(withStep(back, typed))).toEqual([])
    expect(missingSecrets(undone(back))).toEqual([])
  })

  it('is not read from other text', () => {
    expect(['', 'x', '{}', '{"version":9,"base":1,"steps":[],"cursor":0}', null].map(draftOfText)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ])
  })
})

describe('the graph as a draft would leave it', () => {
  it('has what is made, changed and taken away, and marks it', () => {
    const graph = shop()
    const operations = [
      addNew(graph, { kind: 'trigger', name: 'new' }, { sources: ['gw'], condition: { event: 'any' } }),
      connect(graph, { from: 'trigger:slow', to: 'agent:triage', verdict: null }),
      switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), false),
      leaveProject(graph, ['skill:roll-back'], new Set()),
      editPart({ kind: 'agent', name: 'digger' }, { prompt: 'a' }, { prompt: 'b' })!,
    ].flatMap((one) => one.operations)
    const after = foreseen(graph, operations)
    expect(Object.fromEntries(changesBetween(graph, after, editedBy(operations)))).toEqual({
      'trigger:new': 'created',
      'feeds:gw>new': 'created',
      'wakes:slow>triage': 'created',
      'wakes:errs>triage': 'changed',
      'agent:digger': 'changed',
      'skill:roll-back': 'deleted',
    })
    expect(withGone(after, graph).nodes.map(({ id }) => id)).toContain('skill:roll-back')
    expect(foreseen(graph, [])).toEqual(graph)
  })
})

describe('a draft that meets what others changed', () => {
  const conflict: MergeConflict = {
    kind: 'trigger',
    name: 'errs',
    path: '/cooldown',
    base: '5m',
    mine: '1h',
    theirs: '2h',
  }
  const mine = editPart(
    { kind: 'trigger', name: 'errs' },
    { cooldown: '5m', description: '' },
    { cooldown: '1h', description: 'it breaks' },
  )!
  const only = editPart({ kind: 'trigger', name: 'errs' }, { cooldown: '5m' }, { cooldown: '1h' })!
  const draft = [mine, only, step(1)].reduce(withStep, newDraft(7))

  it('keeps mine: the same steps on their version', () => {
    expect(rebased(draft, 9, [conflict], new Map([[conflictKey(conflict), 'mine']]))).toEqual({
      ...draft,
      base: 9,
    })
  })

  it('takes theirs: the field leaves the steps, and a step that then says nothing goes', () => {
    const back = rebased(draft, 9, [conflict], new Map([[conflictKey(conflict), 'theirs']]))
    expect(back.base).toBe(9)
    expect(operationsOf(back).map(({ spec }) => spec)).toEqual([
      { description: 'it breaks' },
      { prompt: 'p1' },
    ])
    expect(back.cursor).toBe(2)
  })

  it('takes theirs of a part that it would delete: the part stays', () => {
    const gone = { ...step(1), operations: [{ op: 'delete' as const, kind: 'agent' as const, name: 'a1' }] }
    const theirs: MergeConflict = { ...conflict, kind: 'agent', name: 'a1', path: '/prompt', mine: null }
    const back = (side: 'mine' | 'theirs') =>
      operationsOf(
        rebased(
          [gone, step(2)].reduce(withStep, newDraft(7)),
          9,
          [theirs],
          new Map([[conflictKey(theirs), side]]),
        ),
      ).map(({ op, name }) => `${op} ${name}`)
    expect([back('mine'), back('theirs')]).toEqual([['delete a1', 'patch a2'], ['patch a2']])
  })

  it('takes theirs of one of several that it would delete: that one stays with its wires, the others go', () => {
    const graph = shop()
    const both = deleteParts(graph, ['agent:triage', 'agent:digger', 'trigger:slow'])
    const theirs: MergeConflict = { ...conflict, kind: 'agent', name: 'triage', path: '/prompt', mine: null }
    const back = rebased(withStep(newDraft(7), both), 9, [theirs], new Map([[conflictKey(theirs), 'theirs']]))
    expect(back.steps.map(({ label }) => label)).toEqual(['Delete 2 parts'])
    const [project, ...deleted] = operationsOf(back)
    // Its wire to what goes is cut, the one to what stays is not.
    expect(project!.spec).toEqual({
      handoffs: { triage: { investigate: { digger: null } } },
      uses: { agent: { digger: null }, trigger: { slow: null } },
    })
    expect(deleted.map(({ op, name }) => `${op} ${name}`)).toEqual(['delete digger', 'delete slow'])
  })

  it('finds a wire of the project by its entry', () => {
    const graph = shop()
    const wire = switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), false)
    const theirs: MergeConflict = {
      kind: 'project',
      name: 'Shop',
      path: '/wakes/errs/triage',
      base: { enabled: true },
      mine: { enabled: false },
      theirs: null,
    }
    const back = rebased(withStep(newDraft(7), wire), 9, [theirs], new Map([[conflictKey(theirs), 'theirs']]))
    expect(back).toEqual({ base: 9, steps: [], cursor: 0 })
  })
})

describe('a draft on parts that others gave another name', () => {
  const renames = [
    { change_set: 6, kind: 'agent', from: 'digger', to: 'of-before' },
    { change_set: 8, kind: 'agent', from: 'triage', to: 'first.look' },
    { change_set: 9, kind: 'source', from: 'gw', to: 'gateway' },
  ]
  const graph = shop()
  const draft = [
    editPart({ kind: 'agent', name: 'triage' }, { prompt: 'a' }, { prompt: 'b' })!,
    connect(graph, { from: 'agent:triage', to: 'agent:digger', verdict: 'page' }),
    switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), false),
    connect(graph, { from: 'source:db', to: 'trigger:errs', verdict: null }),
    {
      ...addNew(graph, { kind: 'agent', name: 'triage-2' }, { prompt: 'p' }),
      places: [{ node: 'agent:triage-2', x: 0, y: 0 }],
    },
    tidyStep([{ node: 'source:gw', x: 1, y: 2 }], ['source:gw']),
  ].reduce(withStep, newDraft(7))

  it('goes along with them, once, and leaves what only has a similar name', () => {
    const now = followed(draft, renames)
    expect(operationsOf(now).map(({ name, spec }) => [name, spec])).toEqual([
      ['first.look', { prompt: 'b' }],
      ['uc_1', { handoffs: { 'first.look': { page: { digger: { cooldown: '30m' } } } } }],
      ['uc_1', { wakes: { errs: { 'first.look': { enabled: false } } } }],
      ['errs', { sources: ['gateway', 'db'] }],
      ['triage-2', { prompt: 'p' }],
    ])
    expect(now.steps.map(({ label }) => label)).toEqual([
      'first.look: prompt',
      'digger takes over from first.look on page',
      expect.stringMatching(/^errs.* first\.look/),
      'errs watches db',
      'New agent triage-2',
      '1 laid out again',
    ])
    expect(now.steps[5]!.tidied).toEqual({
      nodes: ['source:gateway'],
      before: [{ node: 'source:gateway', x: 1, y: 2 }],
    })
    expect([now.base, now.renamed]).toEqual([7, 9])
    // A part that is made under the name that is free since is another.
    const again = withStep(now, addNew(graph, { kind: 'agent', name: 'triage' }, { prompt: 'new' }))
    expect(followed(again, renames)).toBe(again)
    expect(followed(draftOfText(keptText(again))!, renames)).toEqual(again)
    expect(followed(withoutStep(again, 0), renames).renamed).toBe(9)
  })
})

describe('what is laid out again in a draft', () => {
  const at = (node: string, x: number) => ({ node, x, y: 0 })
  const stored = [at('agent:a', 1), at('agent:b', 2)]
  const go = (positions: typeof stored, from: Draft, to: Draft) =>
    withMoves(positions, movesAfter(positions, stepsOf(from), stepsOf(to)) ?? {})

  it('is a step: undone it stands where it stood, done again it is forgotten again', () => {
    const before = withStep(newDraft(1), step(1))
    const tidied = withStep(before, tidyStep(stored))
    expect(go(stored, before, tidied)).toEqual([])
    expect(go([], tidied, undone(tidied))).toEqual(stored)
    expect(go(stored, undone(tidied), redone(undone(tidied)))).toEqual([])
    // An edit before or after it leaves what is stored alone.
    expect(movesAfter(stored, [], stepsOf(before))).toBeNull()
    expect(operationsOf(tidied)).toHaveLength(1)
  })

  it('is put back by a jump over several and by dropping the step, but what was moved since stays', () => {
    const one = withStep(newDraft(1), tidyStep(stored, ['agent:a']))
    const both = withStep(one, tidyStep([at('agent:b', 2)]))
    expect(go([at('agent:b', 9)], both, movedTo(both, 0))).toEqual([at('agent:b', 9), at('agent:a', 1)])
    expect(go([], both, withoutStep(both, 0))).toEqual([at('agent:a', 1)])
  })

  it('is told apart from a drag, which is taken back by itself', () => {
    const put = [at('agent:a', 7), at('agent:c', 8)]
    const back = moveBack(stored, put)
    expect(back).toEqual({ put: [at('agent:a', 1)], forget: ['agent:c'] })
    expect(withMoves(withMoves(stored, { put }), back)).toEqual([at('agent:b', 2), at('agent:a', 1)])
  })

  it('forgets where parts that the draft makes were dropped, and is kept over a reload and a merge', () => {
    const made = withStep(newDraft(1), { ...step(1), places: [at('agent:a1', 5)] })
    const tidied = withStep(made, tidyStep([]))
    expect([placesOf(made), placesOf(tidied)]).toEqual([[at('agent:a1', 5)], []])
    expect(placesOf(undone(tidied))).toEqual([at('agent:a1', 5)])
    expect(draftOfText(keptText(tidied))!.steps[1]!.tidied).toEqual({ nodes: null, before: [] })
    expect(rebased(tidied, 2, [], new Map()).steps).toHaveLength(2)
  })
})

import { describe, expect, it } from 'vitest'
import { copied, pasteShared } from '../../../console/graph/draft/clipboard.ts'
import { connect, refusal, verdictsFor } from '../../../console/graph/draft/connect.ts'
import { changeHandoff, disconnect, switchWake } from '../../../console/graph/draft/edges.ts'
import { foreseen } from '../../../console/graph/draft/foresee.ts'
import {
  addExisting,
  addNew,
  deleteParts,
  editPart,
  joinsOf,
  leaveProject,
  nameRefusal,
  pausePart,
} from '../../../console/graph/draft/parts.ts'
import { connectionOf } from '../../../console/graph/hands/wiring.ts'
import { edgeOf, shop } from './graphs.ts'

const NO_TOOLS = () => []
const none = new Set<string>()
const link = (from: string, to: string, verdict: string | null = null) => ({ from, to, verdict })

describe('a connection', () => {
  it('of two agents can be on each verdict that is free, where it says none', () => {
    const graph = shop()
    graph.edges = graph.edges.filter(({ kind }) => kind !== 'hands_off')
    expect(verdictsFor(graph, link('agent:triage', 'agent:digger'))).toEqual(['investigate', 'page'])
    expect(verdictsFor(shop(), link('agent:triage', 'agent:digger'))).toEqual(['page'])
    expect(verdictsFor(graph, link('agent:triage', 'agent:digger', 'page'))).toEqual([])
    expect(verdictsFor(graph, link('trigger:slow', 'agent:triage'))).toEqual([])
    expect(verdictsFor(graph, link('agent:triage', 'mcp_server:tickets'))).toEqual([])
  })

  it.each([
    [
      'a source feeds a trigger',
      link('source:db', 'trigger:errs'),
      { op: 'patch', kind: 'trigger', name: 'errs', spec: { sources: ['gw', 'db'] } },
    ],
    [
      'a trigger wakes an agent',
      link('trigger:slow', 'agent:triage'),
      {
        op: 'patch',
        kind: 'project',
        name: 'uc_1',
        spec: { wakes: { slow: { triage: { enabled: true } } } },
      },
    ],
    [
      'an agent hands over on a verdict',
      link('agent:triage', 'agent:digger', 'page'),
      {
        op: 'patch',
        kind: 'project',
        name: 'uc_1',
        spec: { handoffs: { triage: { page: { digger: { cooldown: '30m' } } } } },
      },
    ],
    [
      'an agent without a chosen verdict hands over on the first that is free',
      link('agent:triage', 'agent:digger'),
      {
        op: 'patch',
        kind: 'project',
        name: 'uc_1',
        spec: { handoffs: { triage: { page: { digger: { cooldown: '30m' } } } } },
      },
    ],
    [
      'an agent works with an MCP server',
      link('agent:triage', 'mcp_server:tickets'),
      { op: 'patch', kind: 'agent', name: 'triage', spec: { mcp_servers: ['tickets'] } },
    ],
  ])('%s', (_what, connection, operation) => {
    expect(refusal(shop(), connection)).toBeNull()
    expect(connect(shop(), connection).operations).toEqual([operation])
  })

  it.each([
    [link('source:gw', 'agent:triage'), 'A source feeds a trigger; a trigger wakes an agent.'],
    [link('source:gw', 'trigger:errs'), 'errs watches gw already.'],
    [link('source:gw', 'source:gw'), 'A part is not connected with itself.'],
    [link('trigger:errs', 'source:gw'), 'A source feeds a trigger: start at the source.'],
    [link('trigger:errs', 'mcp_server:tickets'), 'A trigger wakes an agent.'],
    [link('trigger:errs', 'agent:triage'), 'errs wakes triage already; it can be switched on and off.'],
    [link('agent:triage', 'agent:triage', 'page'), 'triage cannot hand over to itself.'],
    [link('agent:triage', 'agent:digger', 'dig'), 'dig is not among the verdicts of triage.'],
    [
      link('agent:triage', 'agent:digger', 'investigate'),
      'digger takes over from triage on investigate already.',
    ],
    [
      link('agent:digger', 'agent:triage'),
      'digger has no verdicts to hand over on; give it one in its fields first.',
    ],
    [link('agent:digger', 'mcp_server:tickets'), 'digger works with tickets already.'],
    [
      link('agent:triage', 'mcp_server:tickets', 'page'),
      'A verdict leads to an agent; draw from the agent itself to an MCP server.',
    ],
    [link('mcp_server:tickets', 'agent:triage'), 'An agent works with an MCP server: begin at the agent.'],
    [
      link('skill:roll-back', 'agent:triage'),
      'Every agent of the project sees its skills; they are not connected.',
    ],
    [link('source:gone', 'trigger:errs'), 'Both ends have to be in the project.'],
  ])('is refused, and says why: %j', (connection, why) => {
    expect(refusal(shop(), connection)).toBe(why)
    expect(() => connect(shop(), connection)).toThrow(why)
  })
})

describe('the same connection drawn and listed', () => {
  it.each([
    ['source:db', 'trigger:errs', 'out', null],
    ['trigger:slow', 'agent:triage', 'out', null],
    ['agent:triage', 'agent:digger', 'verdict:page', 'page'],
    ['agent:triage', 'mcp_server:tickets', 'uses', null],
  ])('%s to %s', (source, target, sourceHandle, verdict) => {
    const drawn = connect(shop(), connectionOf({ source, target, sourceHandle }))
    expect(drawn).toEqual(connect(shop(), link(source, target, verdict)))
  })
})

describe('what connects', () => {
  it('is switched, and a handoff gets another verdict or wait', () => {
    const graph = shop()
    expect(switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), false).operations[0]!.spec).toEqual({
      wakes: { errs: { triage: { enabled: false } } },
    })
    const handoff = edgeOf(graph, 'hands_off:triage/investigate>digger')
    expect(changeHandoff(graph, handoff, { cooldown: '2h' })!.operations[0]!.spec).toEqual({
      handoffs: { triage: { investigate: { digger: { cooldown: '2h' } } } },
    })
    expect(changeHandoff(graph, handoff, { verdict: 'page' })!.operations[0]!.spec).toEqual({
      handoffs: { triage: { investigate: { digger: null }, page: { digger: { cooldown: '30m' } } } },
    })
    expect(changeHandoff(graph, handoff, { cooldown: '30m' })).toBeNull()
  })

  it('is taken away together, each in its document', () => {
    const graph = shop()
    const edges = ['feeds:db>slow', 'wakes:errs>triage', 'hands_off:triage/investigate>digger'].map((id) =>
      edgeOf(graph, id),
    )
    expect(disconnect(graph, edges, NO_TOOLS).operations).toEqual([
      { op: 'patch', kind: 'trigger', name: 'slow', spec: { sources: ['gw'] } },
      {
        op: 'patch',
        kind: 'project',
        name: 'uc_1',
        spec: {
          wakes: { errs: { triage: null } },
          handoffs: { triage: { investigate: { digger: null } } },
        },
      },
    ])
  })

  it('takes what an agent may call of a server along with the server', () => {
    const graph = shop()
    const tools = [
      { server: 'tickets', tool: 'search' },
      { server: 'wiki', tool: '*' },
    ]
    const step = disconnect(graph, [edgeOf(graph, 'uses:digger>tickets')], () => tools)
    expect(step.operations[0]!.spec).toEqual({
      mcp_servers: null,
      tools: [{ server: 'wiki', tool: '*' }],
    })
  })

  it('leaves a trigger at least one source', () => {
    const graph = shop()
    expect(() => disconnect(graph, [edgeOf(graph, 'feeds:gw>errs')], NO_TOOLS)).toThrow(
      'A trigger watches at least one source: connect errs with another first.',
    )
    const both = ['feeds:db>slow', 'feeds:gw>slow'].map((id) => edgeOf(graph, id))
    expect(() => disconnect(graph, both, NO_TOOLS)).toThrow('leave slow with one of them')
  })
})

describe('a part', () => {
  it('joins: shared with those that use it, or moved out of Default', () => {
    expect(
      addExisting(shop(), [
        { kind: 'agent', name: 'scout' },
        { kind: 'source', name: 'logs', movesFrom: 'uc_0' },
      ]).operations,
    ).toEqual([
      {
        op: 'patch',
        kind: 'project',
        name: 'uc_1',
        spec: { uses: { agent: { scout: {} }, source: { logs: { owned: true } } } },
      },
      { op: 'patch', kind: 'project', name: 'uc_0', spec: { uses: { source: { logs: null } } } },
    ])
    expect(() => addExisting(shop(), [{ kind: 'agent', name: 'triage' }])).toThrow('already')
  })

  it('that joins hands over on its verdicts before the daemon has answered, added or pasted', () => {
    const scout = { kind: 'agent', name: 'scout', verdicts: ['dig'] } as const
    const added = addExisting(shop(), [scout])
    const theirs = foreseen(shop(), added.operations)
    const pasted = pasteShared(shop(), copied(theirs, ['agent:scout'])!, joinsOf([scout]))
    for (const { operations, joins } of [added, pasted]) {
      const graph = foreseen(shop(), operations, joins)
      expect(refusal(graph, link('agent:scout', 'agent:triage'))).toBeNull()
      expect(refusal(graph, link('agent:scout', 'agent:triage', 'page'))).toMatch('page is not among')
    }
  })

  it('is made where it was dropped, its secrets noted', () => {
    const step = addNew(
      shop(),
      { kind: 'mcp_server', name: 'wiki' },
      { url: 'https://wiki.example', auth_header: null, auth_value: 'Bearer x' },
      { secretFields: ['/auth_value'], at: { x: 10, y: 20 } },
    )
    expect(step.operations).toEqual([
      {
        op: 'put',
        kind: 'mcp_server',
        name: 'wiki',
        spec: { url: 'https://wiki.example', auth_value: 'Bearer x' },
        project: 'uc_1',
      },
    ])
    expect(step.secrets).toEqual([{ operation: 0, path: '/auth_value' }])
    expect(step.places).toEqual([{ node: 'mcp_server:wiki', x: 10, y: 20 }])
  })

  it('is edited by what differs alone', () => {
    const before = { prompt: 'Look.', max_rounds: 6, verdicts: [{ verdict: 'page' }], model: 'm', tools: [] }
    const after = {
      prompt: 'Look twice.',
      max_rounds: null,
      verdicts: [{ verdict: 'page' }],
      model: 'm',
      tools: [],
    }
    expect(editPart({ kind: 'agent', name: 'triage' }, before, after)!.operations).toEqual([
      { op: 'patch', kind: 'agent', name: 'triage', spec: { prompt: 'Look twice.', max_rounds: null } },
    ])
    expect(editPart({ kind: 'agent', name: 'triage' }, before, { ...before })).toBeNull()
  })

  it('is paused if it can be', () => {
    expect(pausePart({ kind: 'trigger', name: 'errs' }, 'pause').operations).toEqual([
      { op: 'move', kind: 'trigger', name: 'errs', event: 'pause' },
    ])
    expect(() => pausePart({ kind: 'agent', name: 'triage' }, 'pause')).toThrow('cannot be paused')
  })

  it('leaves the project with its wiring, and is deleted altogether only when told so', () => {
    const out = {
      op: 'patch',
      kind: 'project',
      name: 'uc_1',
      spec: {
        uses: { agent: { triage: null } },
        wakes: { errs: { triage: null } },
        handoffs: { triage: { investigate: { digger: null } } },
      },
    }
    expect(leaveProject(shop(), ['agent:triage'], none).operations).toEqual([out])
    expect(deleteParts(shop(), ['agent:triage']).operations).toEqual([
      out,
      { op: 'delete', kind: 'agent', name: 'triage' },
    ])
  })

  it('that this draft makes is not made when it is taken out', () => {
    const { operations } = leaveProject(shop(), ['agent:triage'], new Set(['agent:triage']))
    expect(operations.at(-1)).toEqual({ op: 'delete', kind: 'agent', name: 'triage' })
  })

  it('stays while another part of the project needs it', () => {
    expect(() => leaveProject(shop(), ['source:db'], none)).toThrow('db is needed by slow')
    expect(() => deleteParts(shop(), ['mcp_server:tickets'])).toThrow('tickets is needed by digger')
    // All of them are told, not one after another.
    expect(() => leaveProject(shop(), ['source:gw'], none)).toThrow(
      'gw is needed by errs and slow: disconnect it first, or take out errs and slow, too.',
    )
    expect(() => leaveProject(shop(), ['source:db', 'trigger:slow'], none)).not.toThrow()
  })

  it('has a name that is allowed and free', () => {
    const taken = new Set(['agent:triage'])
    expect(nameRefusal({ kind: 'agent', name: 'triage' }, taken)).toContain('there already')
    expect(nameRefusal({ kind: 'agent', name: 'a b' }, taken)).toContain('letters')
    expect(nameRefusal({ kind: 'skill', name: 'Roll' }, taken)).toContain('Lowercase'.toLowerCase())
    expect(nameRefusal({ kind: 'trigger', name: 'triage' }, taken)).toBeNull()
  })
})

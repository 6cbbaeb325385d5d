/** What the console makes of an answer: its pieces, its links and its cards. */
import { describe, expect, it } from 'vitest'
import { draftOfProposed, toConfig } from '../../console/forms/source-draft.ts'
import { NEW_AGENT, proposedAgent, writeOf } from '../../console/lib/agent-form.ts'
import { answerOf, linked, readCards, viewOf, waitWords } from '../../console/lib/ask.ts'
import { askPath } from '../../console/lib/paths.ts'
import { editorOf, withTyped } from '../../console/lib/proposed.ts'
import type { AskFrame, AskProposal } from '../../schemas/types.ts'

const tool = (id: string): AskFrame => ({ type: 'tool', id, name: 'read', input: {} })
const toolDone = (id: string, ok: boolean): AskFrame => ({ type: 'tool_done', id, ms: 5, ok, preview: 'x' })
const text = (of: string): AskFrame => ({ type: 'text', text: of })
const start: AskFrame = { type: 'start', turn: 't', session: null, mode: 'ask', provider: 'p', model: 'm' }

describe('a view of an answer', () => {
  it('puts pieces of text together, and answers the newest call of an id', () => {
    const view = viewOf([start, text('a'), text('b'), tool('1'), toolDone('1', true), tool('1'), text('c')])
    expect(view.blocks).toMatchObject([
      { kind: 'text', text: 'ab' },
      { kind: 'tool', ok: true },
      { kind: 'tool', ok: null },
      { kind: 'text', text: 'c' },
    ])
    expect(viewOf([start, tool('1'), tool('1'), toolDone('1', false)]).blocks).toMatchObject([
      { ok: null },
      { ok: false },
    ])
    expect(answerOf(view)).toBe('ab\n\nc')
  })

  it('tells that it waits for its model until something comes of it', () => {
    const until = '2026-01-02T03:14:00.000Z'
    const wait: AskFrame = { type: 'wait', detail: 'd', reason: 'p: Overloaded.', until }
    const view = viewOf([start, text('a'), wait])
    expect(waitWords(view.waiting!, (at) => at.slice(11, 16))).toBe(
      'The model is unavailable; next try at 03:14. p: Overloaded.',
    )
    expect(viewOf([start, text('a'), wait, text('b')])).toMatchObject({
      waiting: null,
      blocks: [{ text: 'ab' }],
    })
  })

  it('begins anew where the turn is told from its start', () => {
    const end: AskFrame = { type: 'error', detail: 'no' }
    expect(viewOf([start, text('half'), start, text('whole'), end])).toMatchObject({
      turn: 't',
      blocks: [{ text: 'whole' }],
      end,
    })
  })
})

describe('words of an answer', () => {
  it.each([
    ['see evt_12 and run_0a1b2c', 'see [evt_12](/events/evt_12) and [run_0a1b2c](/runs/run_0a1b2c)'],
    ['`evt_12`', '[`evt_12`](/events/evt_12)'],
    ['of `service=check out`', 'of [`service=check out`](/explore?l=service%3Dcheck%20out&window=24h)'],
    ['`trigger:errors`', '[`trigger:errors`](/triggers/errors)'],
    ['[evt_1](https://x.test) `a < b` `x: y`', '[evt_1](https://x.test) `a < b` `x: y`'],
    ['```\nevt_1 `a=b`\n```', '```\nevt_1 `a=b`\n```'],
    ['```\nstill coming evt_1', '```\nstill coming evt_1'],
  ])('%s', (given, shown) => {
    expect(linked(given)).toBe(shown)
  })

  it('a question travels in the address', () => {
    expect(askPath('why & how?')).toBe('/ask?q=why%20%26%20how%3F')
  })
})

describe('a card', () => {
  const proposal = (more: Partial<AskProposal>): AskProposal => ({
    kind: 'trigger',
    name: 'errors',
    reasoning: '',
    needs: [],
    body: { operations: [{ op: 'put', kind: 'trigger', name: 'errors', spec: { sources: ['app'] } }] },
    plan: {
      changes: [{ action: 'create', kind: 'trigger', key: 'errors', name: 'errors', fields: [] } as never],
      creates: 1,
      updates: 0,
      deletes: 0,
      unchanged: 0,
    },
    base: 1,
    sentence: null,
    ...more,
  })

  it('puts what was typed where its kind keeps it', () => {
    expect(
      withTyped({ kind: 'source', body: { name: 'db', config: { table: 't' } } }, { dsn: 'x', b: ' ' }),
    ).toEqual({
      name: 'db',
      config: { table: 't', dsn: 'x' },
    })
    expect(withTyped({ kind: 'project', body: { name: 'p' } }, { token: 'x' })).toEqual({
      name: 'p',
      params: { token: 'x' },
    })
    expect(withTyped({ kind: 'agent', body: { name: 'a' } }, { webhook_url: 'u' })).toEqual({
      name: 'a',
      webhook_url: 'u',
    })
  })

  it('opens in the editor of what is new', () => {
    expect(editorOf(proposal({}))).toEqual({
      to: '/triggers/new',
      state: { proposed: { sources: ['app'], name: 'errors' } },
    })
    expect(editorOf(proposal({ kind: 'labels' }))).toBeNull()
    expect(editorOf(proposal({ name: 'other' }))).toBeNull()
    const source = proposal({ kind: 'source', plan: null, body: { connector: 'postgres' } })
    expect(editorOf(source)?.to).toBe('/sources/new?connector=postgres')
  })

  it('fills in the form of its kind, with all it said', () => {
    const agent = { name: 'a', trigger: 't', prompt: 'p', verdicts: [{ verdict: 'bad' }], project: 'Shop' }
    const given = editorOf(proposal({ kind: 'agent', name: 'a', plan: null, body: agent }))!
    expect(given.to).toBe('/agents/new?project=Shop')
    const draft = { ...NEW_AGENT, ...proposedAgent(given.state) }
    expect(writeOf(draft, NEW_AGENT)).toMatchObject({
      name: 'a',
      trigger: 't',
      prompt: 'p',
      verdicts: [{ verdict: 'bad' }],
    })
    const config = { table: 'orders', labels: [{ name: 'id', field: 'id', primary: true }] }
    expect(toConfig(draftOfProposed({ config })!)).toEqual(config)
    expect(draftOfProposed(null)).toBeNull()
  })

  it('is known by what a conversation keeps, whatever else is in there', () => {
    expect(readCards('{"applied":{"t/p":"12"}}').applied).toEqual({ 't/p': '12' })
    expect(readCards('of another client').applied).toEqual({})
  })
})

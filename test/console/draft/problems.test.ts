/** What is told of a draft that the daemon refuses: at its node, at its field, and in words. */
import { describe, expect, it } from 'vitest'
import { newDraft, withStep } from '../../../console/graph/draft/draft.ts'
import { addNew, pausePart } from '../../../console/graph/draft/parts.ts'
import { faultsOf, inWords, problemsOf, refusalsOf } from '../../../console/graph/editor/state/problems.ts'
import type { DraftPreview } from '../../../schemas/types.ts'
import { shop } from './graphs.ts'

const agent = { kind: 'agent' as const, name: 'new' }
const draft = [
  pausePart({ kind: 'source', name: 'gw' }, 'pause'),
  addNew(shop(), agent, { prompt: 'Look.', verdicts: [{ verdict: 'dig deeper' }] }),
].reduce(withStep, newDraft(1))
const message = 'verdicts[0].verdict must be one lowercase word; prompt is too long'
const asked = (problems: DraftPreview['problems']) => {
  const answer: DraftPreview = {
    version: 1,
    plan: null,
    problems,
    conflicts: [],
    renamed: [],
    graph: null,
    yaml: null,
  }
  return { draft, preview: { answer, isPending: false, error: null } }
}
const refused = asked([{ operation: 1, field: 'verdicts[0].verdict', message }])

describe('a draft that is refused', () => {
  it('is marked at the node, in the words of its form and not in paths', () => {
    const words = 'verdict 1 must be one lowercase word; prompt is too long'
    expect(problemsOf(refused)).toMatchObject([{ step: 1, node: 'agent:new', message: words }])
    expect([...refusalsOf(refused)]).toEqual([['agent:new', { text: words, tone: 'bad' }]])
    expect([...refusalsOf(asked([]))]).toEqual([])
  })

  it('says at each field what is wrong with it', () => {
    expect(faultsOf(refused, agent)).toEqual({
      'verdicts[0].verdict': 'verdict 1 must be one lowercase word',
      prompt: 'prompt is too long',
    })
    expect(faultsOf(refused, { kind: 'agent', name: 'triage' })).toEqual({})
  })

  it.each([
    ['verdicts[1].when must be text', 'when of verdict 2 must be text'],
    ['config.labels[0].field is required', 'field of label 1 is required'],
    ['condition.window must be a number', 'window must be a number'],
    ['notify.addresses[2] must be an address', 'address 3 must be an address'],
    ['base_url must be an address', 'base_url must be an address'],
    ['No agent is named x', 'No agent is named x'],
  ])('says %s as %s', (sentence, words) => {
    expect(inWords(sentence)).toBe(words)
  })
})

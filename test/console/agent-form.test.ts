import { expect, it } from 'vitest'
import { draftOf, NEW_AGENT, writeOf } from '../../console/lib/agent-form.ts'
import type { Agent } from '../../schemas/types.ts'

it('the form of an agent keeps which verdicts close an incident', () => {
  const verdicts = [{ verdict: 'mended', when: 'it is over', closes: true }, { verdict: 'investigate' }]
  const draft = draftOf({ ...NEW_AGENT, name: 'a', prompt: 'look', verdicts } as unknown as Agent)
  expect(writeOf(draft, draft).verdicts).toEqual(verdicts)
})

it('an agent that a draft of the graph only names is filled in as a new one', () => {
  expect(draftOf({ name: 'triage', prompt: 'Look at it.' })).toEqual({
    ...NEW_AGENT,
    name: 'triage',
    prompt: 'Look at it.',
  })
})

/** Questions to begin with. */
import { describe, expect, it } from 'vitest'
import { startersOf } from '../../../../engine/agents/ask/queries.ts'

describe('questions to begin with', () => {
  const nothing = { sources: [], entities: [], triggers: [], agents: [], isAdmin: true }
  const questions = (known: object) => startersOf({ ...nothing, ...known }).map(({ question }) => question)

  it('are about what is there', () => {
    const health = { status: 'push', events_total: 5 }
    const known = {
      sources: [{ name: 'app', state: 'active', health }] as never,
      entities: [{ label: 'service', primary: true, values: [{ value: 'pay' }] }] as never,
      triggers: [{ name: 'errors', sources: ['app'], last_fired: '2026-11-20T12:00:00Z' }] as never,
    }
    expect(questions(known)).toEqual([
      'What happened to service=pay in the last hour?',
      'What changed most in the last 24 hours?',
      'Why did the trigger errors fire last, and what came of it?',
      'Set up an agent that looks into errors when it fires.',
    ])
    expect(questions({ ...known, isAdmin: false })).toHaveLength(3)
  })

  it('help to begin where there is nothing yet', () => {
    expect(questions({})).toHaveLength(2)
    expect(startersOf(nothing)[0]).toMatchObject({ mode: 'build', step: 'sources' })
  })
})

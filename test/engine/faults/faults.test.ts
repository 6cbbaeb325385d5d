/**
 * Provider faults as a table: both wire formats, each fault at each place where it can be, for a run, a
 * question to Ask, and a plan (issue 17, part 3, "It is done when" 4).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Place, ScriptedReply } from '../../models/scripted-server.ts'
import { proposal } from '../declared/setup/setup-world.ts'
import { type FaultWorld, openFaultWorld, type Wire } from './fault-world.ts'
import { FAULTS, type Fault } from './faults.ts'

const CASES: [name: string, fault: Fault, place: Place | null][] = FAULTS.flatMap((fault) =>
  (fault.places ?? [null]).map((place): [string, Fault, Place | null] => [
    place ? `${fault.name}, at its ${place}` : fault.name,
    fault,
    place,
  ]),
)

describe.each<Wire>(['providera', 'compatible'])('%s', (wire) => {
  // Chat completions tell a filter of their provider's from a model that refuses.
  const refusal =
    wire === 'providera'
      ? 'providera: the model refused to answer (m1'
      : 'a content filter ended the reply of m1'
  let world: FaultWorld
  beforeAll(async () => {
    world = await openFaultWorld({ wire })
  })
  afterAll(() => world.close())

  /** The fault once, then what is well; a reply with everything in it to be cut at. */
  function script(fault: Fault, place: Place | null, tool: string, well: ScriptedReply): void {
    const whole = { thinking: 'hm', text: 'void it is', calls: [{ name: tool, arguments: { a: 1 } }] }
    const first = fault.reply(world.stalled)
    world.models.reply('m1', (_request, n) =>
      n === 0 ? { ...(place ? { ...whole, place } : {}), ...first } : well,
    )
  }

  it.each(CASES)('a run after %s', async (_name, fault, place) => {
    const summary = fault.comes === 'length' ? ' and the second.' : 'Found.'
    script(fault, place, 'read', { text: summary })
    const { run } = await world.ran()
    if (fault.comes === 'final' || fault.comes === 'refusal') {
      expect(run).toMatchObject({
        status: 'failed',
        error: expect.stringContaining(fault.says ?? refusal),
      })
      return
    }
    expect([run.status, run.error]).toEqual(['succeeded', null])
    // Nothing of what was cut off is in it, but for a note, which was gone on with.
    expect(run.finding).toBe(
      fault.name.includes('in its text') ? 'The first half and the second.' : summary.trim(),
    )
    expect(run.steps.filter(({ kind }) => kind === 'tool')).toEqual([])
  })

  it.each(CASES)('Ask after %s', async (_name, fault, place) => {
    script(fault, place, 'stats', { text: 'It is well.' })
    const frames = await world.asked()
    const end = frames.at(-1)!
    if (fault.comes === 'final' || fault.comes === 'refusal') {
      expect(end).toMatchObject({
        type: 'error',
        detail: expect.stringContaining(fault.says ?? refusal),
      })
      return
    }
    // What the call itself does not wait for is waited for by the turn, and told to who reads.
    expect(frames.some(({ type }) => type === 'wait')).toBe(fault.name === '429 that asks for 10 minutes')
    const since = frames.slice(frames.findLastIndex(({ type }) => type === 'again') + 1)
    const said = since.flatMap((frame) => (frame.type === 'text' ? [frame.text] : [])).join('')
    if (fault.comes === 'length') {
      const isText = fault.name.includes('in its text')
      expect(end).toMatchObject({ type: 'done', state: isText ? 'exhausted' : 'answered' })
      expect(said).toContain(isText ? 'The answer was cut off' : 'It is well.')
      return
    }
    expect([end.type, said]).toEqual(['done', 'It is well.'])
    // What was told of the reply that broke off is void, and the reader is told so.
    const wasTold = place === 'text' || place === 'tool'
    expect(frames.some(({ type }) => type === 'again')).toBe(wasTold)
  })

  it.each(CASES)('a plan after %s', async (_name, fault, place) => {
    script(fault, place, 'list_connectors', { calls: [{ name: 'propose_plan', arguments: proposal() }] })
    const { planning, plan } = await world.planned()
    if (fault.comes === 'final' || fault.comes === 'refusal') {
      expect(planning).toMatchObject({
        state: 'failed',
        error: expect.stringContaining(fault.says ?? refusal),
      })
      return
    }
    expect([planning?.state ?? 'over', plan?.name]).not.toContain('failed')
    expect(plan?.name).toBe('Gateway watch')
  })
})

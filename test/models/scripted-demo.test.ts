/** The scripted model of the demo answers the demo's agents, and nobody else. */
import { describe, expect, it } from 'vitest'
import { linesIn, SCRIPTED_MODEL, SCRIPTED_PROMPT, scripted } from '../../engine/agents/models/scripted.ts'
import { demoWorld, ME } from '../engine/declared/demo/demo-world.ts'

const ask = (system: string) =>
  scripted.send(
    { id: 'svc-demo' } as never,
    { model: SCRIPTED_MODEL, system, messages: [], tools: [], choice: 'auto', maxTokens: 100 },
    {} as never,
  )

describe('the scripted model', () => {
  it('refuses the agents of anybody else, with what to do', async () => {
    await expect(ask('You are somebody else.')).rejects.toThrow('choose another model provider')
    expect((await ask(SCRIPTED_PROMPT)).calls.map(({ name }) => name)).toEqual(['read', 'read'])
  })

  it('goes on with an agent of the demo whose prompt was edited, and tells an agent of anybody else why it refuses', async () => {
    const { engine, rest, pass, incidents } = demoWorld()
    await engine.startDemo(ME)
    await rest()
    await engine.updateAgent('demo-first-look', { prompt: 'Say what broke.' }, ME)
    const other = { name: 'other', prompt: 'Look.', provider: 'svc-demo', trigger: 'every' }
    await engine.createTrigger({ name: 'every', sources: ['demo-deploys'], condition: { event: 'any' } }, ME)
    await engine.createAgent(other, ME)
    await engine.switchAgent('other', true, undefined, ME)
    await pass(2 * 60_000)
    await engine.breakDemo('payments')
    await pass(10_000)
    const opened = (await incidents()).find(({ key }) => key === 'payments')
    // Its time is one that people read.
    const summary = expect.stringMatching(/^payments has failed since \d\d:\d\d:\d\d UTC: /)
    expect(opened).toMatchObject({ result: { verdict: 'take_back', summary } })
    const { runs } = await engine.listRuns({ agent: 'other', limit: 1, offset: 0 })
    expect(runs[0]).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(await engine.getRun(runs[0]!.id))).toContain(
      'the scripted model answers the agents of the demo alone',
    )
  })

  it('is in no list of providers, and never the default', async () => {
    const { engine, rest } = demoWorld()
    await engine.startDemo(ME)
    await rest()
    const { providers, default: chosen } = await engine.listModelProviders()
    expect(providers.map(({ id }) => id)).not.toContain('svc-demo')
    expect(chosen).toBe(null)
    expect((await engine.modelConfig()).defaultProvider).toBe(null)
    const { key_configured, providers: offered } = await engine.listAgents()
    expect([key_configured, offered]).toEqual([false, []])
    // An instance with the demo alone is well: its agent needs no provider.
    expect((await engine.status()).detail).toBe(null)
  })

  it('is gone with the demo', async () => {
    const { engine, rest } = demoWorld()
    await engine.startDemo(ME)
    await rest()
    expect((await engine.modelConfig()).providers.map(({ id }) => id)).toEqual(['svc-demo'])
    await engine.removeDemo(ME)
    expect((await engine.modelConfig()).providers).toEqual([])
  })

  it('reads lines as runs are shown them, folded ones from their first', () => {
    const text = [
      'evt_9 2026-11-20T12:00:05.000Z logs error (×3 evt_7..evt_9 since 2026-11-20T12:00:01.000Z, ms 1 to 2): a: b {service=x}',
      'evt_4 2026-11-20T12:00:00.000Z demo-deploys deploy: Deploy of x v2, before v1 {service=x}',
      'no event',
    ].join('\n')
    expect(
      linesIn(text).map(({ id, at, source, text: said, count }) => [id, at % 60_000, source, said, count]),
    ).toEqual([
      ['evt_4', 0, 'demo-deploys', 'Deploy of x v2, before v1', 1],
      ['evt_9', 1_000, 'logs', 'a: b', 3],
    ])
  })
})

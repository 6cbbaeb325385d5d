/** A trigger and whom it notifies are saved in one transaction: all of it, or nothing. */
import { beforeEach, describe, expect, it } from 'vitest'
import { BY, openWorld, type World } from './trigger-world.ts'

const write = { name: 'errs', sources: ['app'], condition: { event: 'any' as const } }
const HOOK = 'http://127.0.0.1:9/hook'

let world: World
beforeEach(async () => {
  world = await openWorld()
  for (const name of ['first-look', 'digger']) await world.engine.createAgent({ name, prompt: 'Look.' }, BY)
})

const woken = async () =>
  (await world.engine.listAgents()).agents
    .filter(({ triggers }) => triggers.includes('errs'))
    .map(({ name }) => name)
const subscribed = async () =>
  (await world.engine.listSubscriptions({})).subscriptions.map(({ trigger, kind }) => [trigger, kind])

describe('a trigger with whom it notifies', () => {
  it('is made with its agents and addresses, and says the secret of each once', async () => {
    const made = await world.engine.createTrigger(
      { ...write, notify: { agents: ['first-look'], addresses: [HOOK] } },
      BY,
    )
    expect(made.subscriptions).toEqual([
      { subscription_id: expect.stringMatching(/^sub_/), secret: expect.stringMatching(/^whsec_/) },
    ])
    expect(await woken()).toEqual(['first-look'])
    expect(await subscribed()).toEqual([['errs', 'webhook']])
    // One entry of the history has the trigger and its wiring.
    const [newest] = (await world.engine.listChangeSets({ limit: 1 })).change_sets
    expect(newest!.id).toBe(made.change_set)
    expect(newest!.changes.map(({ kind }) => kind).sort()).toEqual(['project', 'trigger'])
  })

  it('is edited to wake these agents and no others; absent leaves them, an address subscribed twice is one', async () => {
    await world.engine.createTrigger({ ...write, notify: { agents: ['first-look'], addresses: [HOOK] } }, BY)
    await world.engine.updateTrigger('errs', { ...write, cooldown: '1h' }, BY)
    expect(await woken()).toEqual(['first-look'])
    const again = await world.engine.updateTrigger(
      'errs',
      { ...write, notify: { agents: ['digger'], addresses: [HOOK] } },
      BY,
    )
    expect(again.subscriptions).toEqual([{ subscription_id: expect.any(String), existing: true }])
    expect(await woken()).toEqual(['digger'])
    expect(await subscribed()).toHaveLength(1)
    await world.engine.updateTrigger('errs', { ...write, notify: { agents: [] } }, BY)
    expect(await woken()).toEqual([])
  })

  it.each([
    [{ addresses: [HOOK, 'mailto:a@b', 'ftp://x'] }, /notify\.addresses\[1\].*; notify\.addresses\[2\]/],
    [{ addresses: ['#shop-ops'] }, /notify\.addresses\[0\]: no bot token of Slack is set/],
    [
      { agents: ['first-look', 'nobody'], addresses: [HOOK] },
      /notify\.agents\[1\]: no agent is named nobody/,
    ],
    [{ agents: ['fist-look'] }, /no agent is named fist-look \(did you mean first-look\?\)/],
  ])('is refused whole, naming each field: %j', async (notify, message) => {
    await expect(world.engine.createTrigger({ ...write, notify }, BY)).rejects.toThrow(message)
    expect(await world.engine.listTriggers()).toEqual([])
    expect(await subscribed()).toEqual([])
    await world.engine.createTrigger(write, BY)
    await expect(
      world.engine.updateTrigger('errs', { ...write, cooldown: '3h', notify }, BY),
    ).rejects.toThrow(message)
    expect((await world.engine.getTrigger('errs')).cooldown).toBe('5m')
    expect([await woken(), await subscribed()]).toEqual([[], []])
  })

  it('subscribes nobody where the trigger itself is refused', async () => {
    await world.engine.createTrigger(write, BY)
    const notify = { agents: ['digger'], addresses: [HOOK] }
    await expect(world.engine.createTrigger({ ...write, notify }, BY)).rejects.toThrow(/exists/)
    expect([await woken(), await subscribed()]).toEqual([[], []])
  })
})

describe('a delete that is undone', () => {
  const at = (n: number) => ({ url: `http://127.0.0.1:9/${n}`, audience: 'operator' as const })
  const undone = async (changeSet: number | null) => world.engine.undoChangeSet(changeSet!, false, BY)
  const ids = async () =>
    (await world.engine.listSubscriptions({})).subscriptions.map((one) => one.subscription_id).sort()
  const of = { own: false, strict: false }

  it('of a trigger brings back the subscriptions that went with it, with their secrets, and no others', async () => {
    await world.engine.createTrigger(write, BY)
    const subscribe = (n: number) => world.engine.subscribe({ trigger: 'errs' }, at(n), BY.caller)
    const [kept, before, whileGone] = [await subscribe(1), await subscribe(2), await subscribe(3)]
    await world.engine.unsubscribe(before.subscription_id, BY.caller, of)
    const { change_set } = await world.engine.deleteTrigger('errs', BY)
    expect(await ids()).toEqual([])
    await world.engine.unsubscribe(whileGone.subscription_id, BY.caller, of)
    await undone(change_set)
    expect(await ids()).toEqual([kept.subscription_id])
    await world.post({ service: 'checkout' })
    expect(await world.engine.claimDeliveries(9, [])).toMatchObject([{ url: at(1).url, secret: kept.secret }])
  })

  it('of a trigger whose name another had meanwhile brings back its own', async () => {
    await world.engine.createTrigger(write, BY)
    const first = await world.engine.subscribe({ trigger: 'errs' }, at(1), BY.caller)
    const deleted = await world.engine.deleteTrigger('errs', BY)
    await world.engine.createTrigger(write, BY)
    await world.engine.subscribe({ trigger: 'errs' }, at(2), BY.caller)
    await world.engine.deleteTrigger('errs', BY)
    await undone(deleted.change_set)
    expect(await ids()).toEqual([first.subscription_id])
  })

  it('of a project brings back those of all its triggers, but for those of its keys, which are revoked', async () => {
    const { id } = await world.engine.createProject({ template: 'custom', name: 'shop', objects: [] }, BY)
    const own = await world.engine.subscribe({ project: id }, at(1), BY.caller)
    const key = await world.engine.createKey({ name: 'k', project: id }, BY.caller)
    const caller = { id: `key:${key.id}`, name: 'k' }
    await world.engine.subscribe({ project: id }, at(2), caller)
    expect(await ids()).toHaveLength(2)
    const { change_set } = await world.engine.deleteProject(id, { purgeEvents: false, picked: undefined }, BY)
    expect(await ids()).toEqual([])
    await undone(change_set)
    expect(await ids()).toEqual([own.subscription_id])
  })
})

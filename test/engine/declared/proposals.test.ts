/** Changes that are proposed: planned, kept, and written exactly as planned when a person approves. */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'
import type { Operation } from '../../../schemas/types.ts'

const ADMIN = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
const AGENT = { caller: { id: 'key:2', name: 'helper' }, origin: 'mcp' as const }
const condition = { aggregate: 'count' as const, predicate: '> 5', window: '5m' }

async function open() {
  const clock = { at: 1_800_000_000_000, now: () => clock.at }
  const engine = createEngine({ dataFile: null, clock })
  await engine.createSource({ name: 's', connector: 'webhook' }, ADMIN, false)
  await engine.createTrigger({ name: 't', sources: ['s'], condition }, ADMIN)
  const version = async () => (await engine.listChangeSets({ limit: 1 })).version
  return { engine, clock, version }
}

const slower: Operation = { op: 'patch', kind: 'trigger', name: 't', spec: { cooldown: '1h' } }
const another: Operation = { op: 'put', kind: 'trigger', name: 'u', spec: { sources: ['s'], condition } }

describe('a proposal', () => {
  it('writes nothing until it is approved, and then what was planned, in one change-set', async () => {
    const { engine, version } = await open()
    const before = [await version(), await engine.exportCatalog()]
    const made = await engine.propose({ operations: [slower, another], why: 'too noisy' }, AGENT)
    expect([await version(), await engine.exportCatalog()]).toEqual(before)
    expect(made).toMatchObject({
      state: 'open',
      accepts: ['approve', 'decline', 'withdraw'],
      proposer: 'helper',
      why: 'too noisy',
      summary: 'changes trigger t; creates trigger u and 1 more',
      plan: { creates: 1, updates: 2 },
      triggers: [{ name: 't', definition: { cooldown: '1h' } }, { name: 'u' }],
    })
    const approved = await engine.approveProposal(made.id, ADMIN)
    expect(approved).toMatchObject({ state: 'approved', decided_by: 'maria', accepts: [] })
    expect((await engine.getTrigger('t')).cooldown).toBe('1h')
    const { changes, ...written } = await engine.getChangeSet(approved.change_set!)
    expect(changes).toEqual(made.plan.changes)
    expect(written).toMatchObject({ actor: 'maria', origin: 'mcp', why: 'too noisy; proposed by helper' })
    await expect(engine.approveProposal(made.id, ADMIN)).rejects.toMatchObject({ code: 'wrong_state' })
  })

  it.each([
    ['the same field was changed since', { cooldown: '2h' }, 'was changed since'],
    ['it was made so already', { cooldown: '1h' }, 'no longer what was planned'],
  ])('is not approved when %s, and stays open', async (_, spec, message) => {
    const { engine, version } = await open()
    const { id } = await engine.propose({ operations: [slower] }, AGENT)
    await engine.applyChangeSet({ operations: [{ ...slower, spec }] }, ADMIN)
    const before = await version()
    await expect(engine.approveProposal(id, ADMIN)).rejects.toThrow(message)
    expect([await version(), (await engine.getProposal(id)).state]).toEqual([before, 'open'])
  })

  it('is approved when something else changed since, which is kept', async () => {
    const { engine } = await open()
    const { id } = await engine.propose({ operations: [slower] }, AGENT)
    await engine.applyChangeSet({ operations: [{ ...slower, spec: { description: 'Orders fail' } }] }, ADMIN)
    await engine.approveProposal(id, ADMIN)
    expect(await engine.getTrigger('t')).toMatchObject({ cooldown: '1h', description: 'Orders fail' })
  })

  it('is refused as applying it would be, and when it changes nothing', async () => {
    const { engine } = await open()
    const propose = (operation: Operation) => engine.propose({ operations: [operation] }, AGENT)
    await expect(propose({ ...another, spec: { sources: ['none'], condition } })).rejects.toThrow('none')
    await expect(propose({ ...slower, spec: { cooldown: '5m' } })).rejects.toThrow('they change nothing')
    expect((await engine.listProposals({ limit: 10 })).proposals).toEqual([])
  })

  it('is declined with a reason, or withdrawn by who proposed it alone', async () => {
    const { engine } = await open()
    const [first, second] = [
      await engine.propose({ operations: [slower] }, AGENT),
      await engine.propose({ operations: [another] }, AGENT),
    ]
    expect((await engine.listProposals({ limit: 1 })).open).toBe(2)
    const declined = await engine.declineProposal(first.id, 'We want to know at once.', ADMIN)
    expect(declined).toMatchObject({
      state: 'declined',
      reason: 'We want to know at once.',
      change_set: null,
    })
    const stranger = { caller: { id: 'key:3', name: 'other' }, origin: 'mcp' as const }
    await expect(engine.withdrawProposal(second.id, true, stranger)).rejects.toMatchObject({
      code: 'forbidden',
    })
    expect((await engine.withdrawProposal(second.id, true, AGENT)).state).toBe('withdrawn')
    expect((await engine.getTrigger('t')).cooldown).toBe('5m')
  })

  it('keeps secrets sealed and shows none', async () => {
    const { engine } = await open()
    const spec = {
      url: 'https://mcp.example/',
      auth_header: 'authorization',
      auth_value: 'very-secret-value',
    }
    const operation: Operation = { op: 'put', kind: 'mcp_server', name: 'desk', spec }
    const made = await engine.propose({ operations: [operation] }, AGENT)
    const listed = await engine.listProposals({ limit: 10 })
    expect(JSON.stringify([made, listed])).not.toContain('very-secret-value')
    await engine.approveProposal(made.id, ADMIN)
    expect(await engine.getMcpServer('desk')).toMatchObject({ url: 'https://mcp.example/' })
  })

  it('of one credential does not fill the instance', async () => {
    const { engine } = await open()
    for (let n = 0; n < 50; n++) await engine.propose({ operations: [slower] }, AGENT)
    await expect(engine.propose({ operations: [slower] }, AGENT)).rejects.toMatchObject({ code: 'too_many' })
    expect((await engine.propose({ operations: [slower] }, ADMIN)).state).toBe('open')
    const first = await engine.listProposals({ limit: 20 })
    const next = await engine.listProposals({ limit: 50, before: first.next_before! })
    const ids = [...first.proposals, ...next.proposals].map(({ id }) => id)
    expect([new Set(ids).size, next.next_before]).toEqual([51, null])
  })
})

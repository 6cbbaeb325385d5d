/** Two agents in a chain, at work on a scripted model server: what the tests of replays replay. */
import type { Replay, ReplayMoment, TriggerWrite } from '../../../schemas/types.ts'
import type { ScriptedReply } from '../../models/scripted-server.ts'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import { BY, T0 } from '../triggers/trigger-world.ts'

export const at = (ms: number): string => new Date(ms).toISOString()

export const conclude = (more: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Found.', ...more } }],
})
export const look: ScriptedReply = {
  calls: [{ name: 'read', arguments: { selector: { service: 'checkout' } } }],
}

/** A model that answers by how far the conversation is, as a real one does. Each answer takes a second. */
export const taking =
  (world: RunWorld, replies: ScriptedReply[]) =>
  ({ body }: { body: Record<string, unknown> }): ScriptedReply => {
    world.clock.at += 1_000
    const said = (body.messages as { role: string }[]).filter(({ role }) => role === 'assistant').length
    return replies[said] ?? { status: 400, error: 'the script is over' }
  }

/** `first-look` is woken by 3 errors within 10 minutes, and hands over to `digger` on the verdict `go`. */
export async function openChain(options: Parameters<typeof openRunWorld>[0] = {}): Promise<RunWorld> {
  const world = await openRunWorld(options)
  await declareChain(world)
  return world
}

export async function declareChain(world: RunWorld): Promise<void> {
  await world.trigger({
    condition: { aggregate: 'count', window: '10m', predicate: '>= 3' },
    filters: [{ field: 'event_type', op: 'eq', value: 'error' }],
    cooldown: '30m',
  })
  await world.agent({ name: 'digger', model: 'm2' })
  await world.agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    verdicts: [{ verdict: 'go' }],
    handoffs: [{ verdict: 'go', agent: 'digger', cooldown: '1h' }],
  })
}

export function script(world: RunWorld): void {
  world.models.reply('m1', taking(world, [look, conclude({ verdict: 'go', headline: 'Odd' })]))
  world.models.reply('m2', taking(world, [conclude({ headline: 'The certificate ended' })]))
}

/** Posts errors a second apart. */
export async function errors(world: RunWorld, n: number, more: object = {}): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < n; i++) {
    world.clock.at += 1_000
    ids.push(...(await world.post({ service: 'checkout', type: 'error', msg: `error ${i + 1}`, ...more })))
  }
  return ids
}

/** Everything since the world began. */
export const whole = (world: RunWorld, more: Partial<Parameters<RunWorld['engine']['replay']>[1]> = {}) =>
  world.engine.replay(world.project, { from: at(T0), to: at(world.clock.at), limit: 5_000, ...more })

/** `kind phase` of each moment. */
export const story = ({ moments }: Replay, kinds?: ReplayMoment['kind'][]): string[] =>
  moments.filter(({ kind }) => !kinds || kinds.includes(kind)).map(({ kind, phase }) => `${kind} ${phase}`)

/** A source whose events name places on GitHub, and the trigger `pulls` over it. @returns posts an event */
export async function hubOf({ engine }: RunWorld): Promise<(item: object) => Promise<unknown>> {
  const labels = ['repo', 'number'].map((name) => ({ name, field: name, primary: name === 'repo' }))
  const { ingest_key } = await engine.createSource(
    { name: 'hub', connector: 'webhook', config: { labels } },
    BY,
    false,
  )
  await engine.createTrigger(
    { name: 'pulls', sources: ['hub'], condition: { event: 'any' } } as TriggerWrite,
    BY,
  )
  return (item) =>
    engine.ingest({
      ...{
        ingestKey: ingest_key!,
        body: Buffer.from(JSON.stringify(item)),
        bypassCooldown: false,
        caller: 'open',
      },
    })
}

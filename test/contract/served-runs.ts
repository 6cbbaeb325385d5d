/**
 * A daemon's server over real HTTP whose agents are at work: the real run loop, and a scripted server in
 * place of the model. Every answer is checked against the API document.
 */
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { buildServer } from '../../api/http/server.ts'
import { openRunWorld } from '../engine/agents/runs/run-world.ts'
import type { ScriptedReply } from '../models/scripted-server.ts'
import { clientOf, ROOT } from './instance.ts'

export const MINUTE = 60_000

/** A reply that ends a run with a finding, unless `more` says otherwise. */
export const conclude = (more: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [
    { name: 'conclude', arguments: { outcome: 'finding', summary: 'The certificate ended.', ...more } },
  ],
})

/** Ends with the test. Its trigger `t` fires on every event of the source `app`. */
export async function serveRuns({ secured = false }: { secured?: boolean } = {}) {
  const world = await openRunWorld()
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  const app = await buildServer({
    engine: world.engine,
    clock: world.clock,
    log: pino({ level: 'silent' }),
    config: {
      host: '127.0.0.1',
      port: 0,
      rootToken: secured ? ROOT : null,
      publicUrl: null,
      allowedHosts: [],
      version: '1.0.0',
      hostedUrls: {},
      consoleDir: null,
    },
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await app.close()
    await world.close()
  })
  return { world, url, svc: clientOf(url, secured ? ROOT : null) }
}

/** Models over the real adapters and the real way out, answered by a scripted server on loopback. */
import { onTestFinished } from 'vitest'
import type { Provider, ProviderConfig } from '../../engine/agents/models/adapter.ts'
import { modelFetch } from '../../engine/agents/models/calls.ts'
import { createModels } from '../../engine/agents/models/models.ts'
import type { ModelReply, ModelRequest, ProviderKind } from '../../engine/agents/models/types.ts'
import { withOwnPrices } from '../../engine/agents/models/usage.ts'
import { createEgress } from '../../engine/net/fetch.ts'
import { type ManualTime, manualTime } from '../engine/net/egress/manual-time.ts'
import { type ScriptedModels, startScriptedModels } from './scripted-server.ts'

export const KEY = 'sk-canary-0123456789'
export const KINDS: ProviderKind[] = ['providera', 'providerb', 'compatible']

export const hello = {
  provider: '',
  model: 'm1',
  system: 'Be short.',
  messages: [{ role: 'user', text: 'hello' }] as ModelRequest['messages'],
  tools: [] as ModelRequest['tools'],
  choice: 'auto' as ModelRequest['choice'],
  maxTokens: 100,
  timeoutMs: 60_000,
} satisfies ModelRequest

export const readTool = {
  name: 'read',
  description: 'Reads.',
  input: { type: 'object', properties: { entity: { type: 'string' } } },
}

export function providerAt(server: Pick<ScriptedModels, 'url'>, kind: ProviderKind): Provider {
  return {
    id: kind === 'compatible' ? 'gateway' : kind,
    kind,
    name: kind,
    baseUrl: kind === 'providera' ? server.url : `${server.url}/v1`,
    credential: { as: 'key', value: KEY },
    keySource: 'console',
    models: [],
    defaultModel: null,
  }
}

export async function scripted(): Promise<ScriptedModels> {
  const server = await startScriptedModels()
  onTestFinished(() => server.close())
  return server
}

/** @param change of the one provider there is. */
export async function world(kind: ProviderKind, change: Partial<Provider> = {}) {
  const server = await scripted()
  return { server, ...modelsOf({ providers: [{ ...providerAt(server, kind), ...change }] }) }
}

export function modelsOf(config: Partial<ProviderConfig>, http?: typeof fetch) {
  const time = manualTime()
  const egress = createEgress({ allowPrivate: false, timers: time })
  onTestFinished(() => egress.close())
  const known = { defaultProvider: config.providers?.[0]?.id ?? null, prices: withOwnPrices([]) }
  const models = createModels({
    config: async () => ({ providers: [], ...known, ...config }),
    keepModels: async () => {},
    http: http ?? modelFetch(egress),
    clock: time,
    timers: time,
    random: () => 0,
  })
  const ask = (more: Partial<ModelRequest> = {}): Promise<ModelReply> => models.call({ ...hello, ...more })
  return { models, time, ask }
}

/** As models.ts has it; time stands still within a try. */
export const IDLE_MS = 120_000

/** Waits until a call sleeps between two tries. @returns for how long, ms. */
export async function sleeping(time: ManualTime): Promise<number> {
  for (;;) {
    const waits = time.waits()
    // The deadline of the call is a timer too, and within a try how long nothing may come.
    if (waits.length > 1 && !waits.includes(IDLE_MS)) return waits[0]!
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Clients and servers that end with their test. */
import { onTestFinished } from 'vitest'
import {
  createEgress,
  type Egress,
  type EgressOptions,
  type EgressRequest,
} from '../../../../engine/net/fetch.ts'
import { type ManualTime, manualTime } from './manual-time.ts'
import { type RawServer, startRaw } from './raw-server.ts'
import { type Answer, type Receiver, say, startReceiver } from './receiver.ts'

export async function receiver(answer: Answer = say(204), host?: string): Promise<Receiver> {
  const started = await startReceiver(answer, host)
  onTestFinished(() => started.close())
  return started
}

export async function raw(onRequest: Parameters<typeof startRaw>[0]): Promise<RawServer> {
  const started = await startRaw(onRequest)
  onTestFinished(() => started.close())
  return started
}

export function client(options: Partial<EgressOptions> = {}): Egress & { time: ManualTime } {
  const time = manualTime()
  const egress = createEgress({ allowPrivate: false, timers: time, ...options })
  onTestFinished(() => egress.close())
  return { ...egress, time }
}

/** A request of an operator, who may reach loopback. */
export function ask(url: string, more: Partial<EgressRequest> = {}): EgressRequest {
  return { url, method: 'GET', timeoutMs: 10_000, audience: 'operator', maxResponseBytes: 1_000, ...more }
}

/** Lets the event loop turn, so that a finished connection is kept. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

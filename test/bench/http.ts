/** Load over HTTP on kept connections. */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { Worker } from 'node:worker_threads'

/** Posts once. @throws Error unless the answer is 202. */
export function post(agent: Agent, url: string, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/x-ndjson', 'content-length': body.length },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('end', () =>
          answer.statusCode === 202
            ? resolve()
            : reject(new Error(`ingest answered ${answer.statusCode}: ${text}`)),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Sends the bodies over `connections`. @returns seconds it took. */
export async function sendAll(url: string, bodies: readonly Buffer[], connections: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let next = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < bodies.length) await post(agent, url, bodies[next++]!)
    }),
  )
  agent.destroy()
  return (performance.now() - started) / 1_000
}

/**
 * Posts one event after the other, on a thread of its own: what else is asked and read here takes milliseconds at a time,
 * which no post may be charged with.
 * @param forMs until it has posted for so long; null: until the signal
 * @returns what each took, in milliseconds, ascending
 */
export async function posting(url: string, forMs: number | null, signal?: AbortSignal): Promise<number[]> {
  const poster = new Worker(new URL('./poster.ts', import.meta.url), { workerData: { url, forMs } })
  const stop = () => poster.postMessage('stop')
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  const [[took]] = await Promise.all([once(poster, 'message'), once(poster, 'exit')])
  signal?.removeEventListener('abort', stop)
  return took as number[]
}

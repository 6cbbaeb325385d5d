/** Load over HTTP on kept connections. */
import { Agent, request } from 'node:http'

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

/** Between two posts, in milliseconds. */
const POST_EVERY = 20

/** Posts one event after the other. @returns what each took, in milliseconds, ascending */
export async function posting(url: string, forMs: number | null, signal?: AbortSignal): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const took: number[] = []
  const until = performance.now() + (forMs ?? Number.POSITIVE_INFINITY)
  while (performance.now() < until && !signal?.aborted) {
    const body = Buffer.from(
      JSON.stringify({ at: new Date().toISOString(), level: 'info', entity: 'beside' }),
    )
    const begun = performance.now()
    await post(agent, url, body)
    took.push(performance.now() - begun)
    await new Promise((resolve) => setTimeout(resolve, POST_EVERY))
  }
  agent.destroy()
  return took.sort((a, b) => a - b)
}

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

/** The thread of `posting`: one post after the other, each timed. */
import { Agent } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { post } from './http.ts'

/** Between two posts, in milliseconds. */
const POST_EVERY = 20

const { url, forMs } = workerData as { url: string; forMs: number | null }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const took: number[] = []
const until = performance.now() + (forMs ?? Number.POSITIVE_INFINITY)
let stopped = false
parentPort!.once('message', () => {
  stopped = true
})
while (performance.now() < until && !stopped) {
  const body = Buffer.from(JSON.stringify({ at: new Date().toISOString(), level: 'info', entity: 'beside' }))
  const begun = performance.now()
  await post(agent, url, body)
  took.push(performance.now() - begun)
  await new Promise((resolve) => setTimeout(resolve, POST_EVERY))
}
agent.destroy()
parentPort!.postMessage(took.sort((a, b) => a - b))
parentPort!.close()

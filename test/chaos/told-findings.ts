/** Who is told of findings, for tests that kill the daemon: a receiver of write-backs, and a stand-in for Slack. */
import { startReceiver } from '../engine/net/egress/receiver.ts'

export interface ToldFindings {
  /** Where write-backs go. */
  url: string
  /** Of a daemon that posts to the stand-in. */
  env: Record<string, string>
  /** How often each run's finding came, by id of the run. */
  writtenBack: ReadonlyMap<string, number>
  posted: ReadonlyMap<string, number>
  /** Resolves when the next finding comes, before it is answered. */
  next(): Promise<void>
  close(): Promise<void>
}

/** @param pause before each answer, so that kills fall into it */
export async function startToldFindings(pause: () => Promise<void>): Promise<ToldFindings> {
  const [writtenBack, posted] = [new Map<string, number>(), new Map<string, number>()]
  const count = (told: Map<string, number>, run: string) => told.set(run, (told.get(run) ?? 0) + 1)
  // What a channel or a thread shows, so that a message whose answer was lost is found there.
  const messages: { ts: string; metadata: { event_payload: { run_id: string; part?: string } } }[] = []
  // A finding that joins an earlier one of its incident is several messages: each of them counts by itself.
  const parts = new Map<string, number>()
  const receiver = await startReceiver(async ({ path, headers, body }, response) => {
    const answer: Record<string, unknown> = { ok: true, channel: 'C0ALERTS' }
    if (path === '/back') count(writtenBack, headers['idempotency-key']!)
    else if (path.startsWith('/conversations.')) answer.messages = [...messages]
    else if (path === '/chat.postMessage') {
      const metadata = JSON.parse(new URLSearchParams(body).get('metadata')!)
      const { run_id, part } = (metadata as (typeof messages)[number]['metadata']).event_payload
      count(parts, `${run_id} ${part}`)
      posted.set(run_id, Math.max(posted.get(run_id) ?? 0, parts.get(`${run_id} ${part}`)!))
      answer.ts = `1700000000.${messages.length + 1}`
      messages.push({ ts: String(answer.ts), metadata })
    }
    await pause()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  return {
    url: `${receiver.url}back`,
    env: { SVC_SLACK_BOT_TOKEN: 'xoxb-stand-in', SVC_SLACK_API_URL: receiver.url },
    next: () => receiver.arrived(receiver.received.length + 1),
    ...{ writtenBack, posted, close: receiver.close },
  }
}

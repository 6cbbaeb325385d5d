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
  const receiver = await startReceiver(async ({ path, headers, body }, response) => {
    if (path === '/back') count(writtenBack, headers['idempotency-key']!)
    else {
      const { event_payload } = JSON.parse(new URLSearchParams(body).get('metadata')!)
      count(posted, (event_payload as { run_id: string }).run_id)
    }
    await pause()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ok: true, channel: 'C0ALERTS', ts: `1700000000.${posted.size}` }))
  })
  return {
    url: `${receiver.url}back`,
    env: { SVC_SLACK_BOT_TOKEN: 'xoxb-stand-in', SVC_SLACK_API_URL: receiver.url },
    next: () => receiver.arrived(receiver.received.length + 1),
    ...{ writtenBack, posted, close: receiver.close },
  }
}

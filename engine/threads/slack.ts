/** Slack beside the store: it is called on the main thread, settings and what waits for it are the writer's. */
import type { AskTurnCalls } from '../ask/calls.ts'
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import type { SlackAccounts } from '../outbox/senders/slack.ts'
import { createSlackApi } from '../slack/api.ts'
import { type SlackCalls, type SlackPort, type SlackWrites, slackCalls } from '../slack/calls.ts'

export type { SlackEnvironment } from '../slack/environment.ts'

/** @param port calls of the threads of the store: the token passes between them. */
export function startSlack(parts: {
  port: SlackPort & SlackWrites
  egress: Egress
  clock: Clock
  timers: Timers
  publicUrl: string | null
  onError(error: Error): void
}) {
  const { port, egress, clock, publicUrl } = parts
  const api = createSlackApi({ egress, clock })
  return {
    /** What the outbox posts with. */
    accounts: { api, access: () => port.slackAccess(), publicUrl } satisfies SlackAccounts,
    calls: (ask: AskTurnCalls): SlackCalls => slackCalls({ ...parts, api, ask }),
  }
}

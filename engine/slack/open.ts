/** Slack put together: what is with the store, and what calls Slack where there is one thread for both. */
import type { AgentSpec } from '../../schemas/types.ts'
import type { AskTurnCalls } from '../ask/calls.ts'
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import type { Secrets } from '../secrets.ts'
import type { StoreHandle } from '../store/handle.ts'
import { createSlackApi } from './api.ts'
import { type SlackCalls, type SlackPort, slackCalls, slackWrites } from './calls.ts'
import { emptySlackEnvironment, type SlackEnvironment } from './environment.ts'
import { slackPosts } from './finding-post.ts'
import { openSlackSettings } from './settings.ts'

/**
 * @param env none when absent. @param agent as it is, secrets in the clear
 * @returns `post`: a finding as it is posted
 */
export function openSlack(parts: {
  store: StoreHandle
  secrets: Secrets
  clock: Clock
  egress: Egress
  env: SlackEnvironment | undefined
  agent(name: string): AgentSpec | null
  /** What `${NAME}` refers to. */
  variables: Readonly<Record<string, string | undefined>>
  ask: AskTurnCalls
  timers: Timers
  onError(error: Error): void
}): { calls: SlackCalls & SlackPort; post: ReturnType<typeof slackPosts> } {
  const { store, secrets, clock, egress, env = emptySlackEnvironment, ask, timers, onError } = parts
  const { agent, variables } = parts
  const settings = openSlackSettings({ store, secrets, clock, env })
  const writes = slackWrites(settings)
  return {
    calls: {
      ...writes,
      ...slackCalls({
        ...{ port: writes, api: createSlackApi({ egress, clock }) },
        ...{ ask, egress, clock, timers, onError },
      }),
    },
    post: slackPosts({ db: store.db, settings, publicUrl: env.publicUrl, agent, env: variables }),
  }
}

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
import { type SlackPostPort, slackPosts } from './posts.ts'
import { openSlackSettings } from './settings.ts'

/** What the threads around the store need of it beyond Engine: the bot token is in it. */
export interface SlackPorts extends SlackPort, SlackPostPort {}

/** @param env none when absent. @param agent as it is, secrets in the clear */
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
}): SlackCalls & SlackPorts {
  const { store, secrets, clock, egress, env = emptySlackEnvironment, ask, timers, onError } = parts
  const { agent, variables } = parts
  const settings = openSlackSettings({ store, secrets, clock, env })
  const writes = slackWrites(settings)
  return {
    ...writes,
    ...slackPosts({ store, clock, settings, publicUrl: env.publicUrl, agent, env: variables }),
    ...slackCalls({
      ...{ port: writes, api: createSlackApi({ egress, clock }) },
      ...{ ask, egress, clock, timers, onError },
    }),
  }
}

/**
 * The roles of the network: what asks other systems, or waits for somebody. One table says what each needs; where
 * the store's roles answer, in this process or in threads of their own, none of them can tell.
 *
 * | role        | offers                                             | works by itself            |
 * | ----------- | -------------------------------------------------- | -------------------------- |
 * | models      | calls of model providers                           |                            |
 * | tracing     | traces of runs and turns that have ended           |                            |
 * | ask         | questions to models, over reads                    |                            |
 * | slack       | Slack's requests, tests and channels               |                            |
 * | credentials | what GitHub says of a token                        |                            |
 * | mcpTests    | tests of MCP servers                               |                            |
 * | environment | what runs on this machine                          |                            |
 * | fetching    | firings for whoever waits for one                  |                            |
 * | workspaces  | what the platform lists                            |                            |
 * | clients     | documents of OAuth clients                         |                            |
 * | trials      | tests, discoveries and confirmations of upstreams  |                            |
 * | outbox      |                                                    | sends what is due          |
 * | threads     |                                                    | follows incidents in Slack |
 * | agents      | a run cut off                                      | runs what firings woke     |
 * | polling     |                                                    | asks upstreams when due    |
 * | planning    |                                                    | plans drafts               |
 * | reconcile   | a look at the repository of the catalog            | looks when it is due       |
 */
import { createAsk } from '../agents/ask/ask.ts'
import type { AskTurnCalls } from '../agents/ask/calls.ts'
import { mcpFetch, mcpToolTests } from '../agents/mcp-client.ts'
import { openModels } from '../agents/models/calls.ts'
import type { Models } from '../agents/models/types.ts'
import { connector, startRunner } from '../agents/runs/runner.ts'
import { createTracing, type Tracing } from '../agents/telemetry/tracing.ts'
import type { Clock, Timers } from '../clock.ts'
import { askingGithub } from '../declared/credential-calls.ts'
import { clientDocumentCalls } from '../declared/oauth.ts'
import { startPlanner } from '../declared/setup/planner.ts'
import { outboundProxy } from '../net/address.ts'
import type { Egress } from '../net/fetch.ts'
import type { GithubTokens } from '../net/github-app.ts'
import { fetchFiringBy, type Waiting } from '../outbox/fetching.ts'
import { outboxPort, startOutboxWorker } from '../outbox/queue.ts'
import type { SlackAccounts } from '../outbox/send-slack.ts'
import { createSlackApi } from '../outbox/slack-api.ts'
import type { Repository, RepositoryHome } from '../reconcile/git.ts'
import { slackCalls } from '../slack/calls.ts'
import { startFollower } from '../slack/follower.ts'
import { snsCalls } from '../sources/connectors/preset.ts'
import { createTrials, startPoller } from '../sources/poller.ts'
import { upstreamFetch } from '../sources/polls.ts'
import { environmentCalls } from '../sources/upstreams/docker-environment.ts'
import { createFollower, workspaceCalls } from './follow-repository.ts'
import type { callsOver } from './who-answers.ts'

/** What there is for a role to need: what the store's roles answer, this process, and what other roles offer. */
export interface World extends ReturnType<typeof callsOver> {
  egress: Egress
  /** Tokens of GitHub Apps, which all roles share. */
  tokens: GithubTokens
  clock: Clock
  timers: Timers
  /** Between 0 and 1: spreads what is tried again. */
  random(): number
  /** Read for `${NAME}` references, where Docker is, and for proxies. */
  env: Readonly<Record<string, string | undefined>>
  /** Address of the console, for links; null: not known. */
  publicUrl: string | null
  /** A role has failed at something that nobody asked for. */
  onFault(role: string, error: Error): void
  /** Who waits in this process for a firing. */
  waiting: Waiting
  models: Models
  tracing: Pick<Tracing, 'finished' | 'asked'>
  accounts: SlackAccounts
  ask: AskTurnCalls
  /** The repository that the catalog is synced with; null: none. */
  repository: Repository | null
  /** What a stored one is followed with; null: none may be. */
  repositoryHome: RepositoryHome | null
}

/** A role: what it needs of the world, and how it is opened with that alone. */
interface Role<N extends keyof World, O> {
  readonly needs: readonly N[]
  open(world: Pick<World, N>): O
}

const role = <const N extends keyof World, O>(
  needs: readonly N[],
  open: (world: Pick<World, N>) => O,
): Role<N, O> => ({ needs, open })

/** Opens a role with what it needs, and with nothing else of the world. */
export function openRole<N extends keyof World, O>({ needs, open }: Role<N, O>, world: Pick<World, N>): O {
  const needed = Object.fromEntries(needs.map((name) => [name, world[name]])) as Pick<World, N>
  return open(needed)
}

/** Calls by name go into the engine; what has `nudge` works by itself; `stop` waits for what is under way. */
export const networkRoles = {
  models: role(['calls', 'ports', 'clock', 'env'], ({ calls, ports, clock, env }) =>
    openModels({ ...ports, listModelProviders: calls.listModelProviders }, clock, outboundProxy(env)),
  ),

  tracing: role(
    ['calls', 'ports', 'egress', 'clock', 'timers', 'onFault'],
    ({ calls, ports, onFault, ...world }) =>
      createTracing({
        ...world,
        port: { ...calls, ...ports },
        onError: (error) => onFault('tracing', error),
      }),
  ),

  ask: role(
    ['calls', 'ports', 'models', 'tracing', 'clock', 'timers', 'onFault'],
    ({ calls, ports, tracing, onFault, ...world }) =>
      createAsk({
        ...world,
        port: ports,
        reads: calls,
        onError: (error) => onFault('ask', error),
        finished: tracing.asked,
      }),
  ),

  slack: role(
    ['calls', 'ports', 'ask', 'egress', 'clock', 'timers', 'publicUrl', 'onFault'],
    ({ calls, ports, publicUrl, onFault, ...world }) => {
      const api = createSlackApi(world)
      return {
        /** What the outbox posts with. */
        accounts: { api, access: () => ports.slackAccess(), publicUrl } satisfies SlackAccounts,
        ...slackCalls({
          ...world,
          calls,
          port: ports,
          api,
          publicUrl,
          onError: (error) => onFault('slack', error),
        }),
      }
    },
  ),

  credentials: role(['ports', 'egress', 'tokens', 'clock', 'timers'], ({ ports, ...world }) => ({
    calls: askingGithub({ ...world, port: ports }),
  })),

  mcpTests: role(['calls', 'egress', 'tokens', 'clock', 'timers'], (world) => ({
    calls: mcpToolTests(world),
  })),

  environment: role(['calls', 'env', 'clock', 'timers'], ({ calls, ...world }) => ({
    calls: environmentCalls({ ...world, sources: () => calls.listSources() }),
  })),

  fetching: role(['calls', 'waiting'], ({ calls, waiting }) => ({
    calls: { fetchFiring: fetchFiringBy(calls, waiting) },
  })),

  clients: role(['egress'], (world) => ({ calls: clientDocumentCalls(world) })),

  workspaces: role(['egress', 'env'], (world) => ({ calls: workspaceCalls(world) })),

  trials: role(['ports', 'egress', 'tokens', 'env', 'clock', 'timers'], ({ ports, egress, ...world }) => ({
    calls: {
      ...createTrials({ ...world, port: ports, fetch: upstreamFetch(egress) }),
      ...snsCalls({ egress }),
    },
  })),

  outbox: role(
    ['calls', 'ports', 'accounts', 'egress', 'tokens', 'clock', 'timers', 'random', 'onFault'],
    ({ calls, ports, accounts, onFault, ...world }) =>
      startOutboxWorker({
        ...world,
        slack: accounts,
        port: outboxPort({ ...calls, ...ports }),
        onError: (error) => onFault('deliveries', error),
      }),
  ),

  threads: role(['ports', 'accounts', 'clock', 'timers', 'onFault'], ({ ports, onFault, ...world }) =>
    startFollower({ ...world, port: ports, onError: (error) => onFault('slack', error) }),
  ),

  agents: role(
    ['calls', 'models', 'tracing', 'egress', 'tokens', 'clock', 'timers', 'onFault'],
    ({ calls, models, tracing, egress, tokens, clock, timers, onFault }) =>
      startRunner({
        ...{ port: calls, models, clock, timers },
        connect: connector({ calls, http: mcpFetch(egress), tokens, clock, timers }),
        onError: (error) => onFault('agents', error),
        finished: tracing.finished,
      }),
  ),

  polling: role(
    ['ports', 'egress', 'tokens', 'env', 'clock', 'timers', 'random', 'onFault'],
    ({ ports, egress, onFault, ...world }) =>
      startPoller({
        ...world,
        port: ports,
        fetch: upstreamFetch(egress),
        onError: (error) => onFault('polls', error),
      }),
  ),

  planning: role(
    ['calls', 'ports', 'models', 'clock', 'timers', 'onFault'],
    ({ calls, ports, onFault, ...world }) => {
      const { listConnectors, listTemplates, sourceFields, sourceEvents, recordModelUsage } = calls
      return startPlanner({
        ...world,
        port: { ...ports, listConnectors, listTemplates, sourceFields, sourceEvents, recordModelUsage },
        onError: (error) => onFault('setup', error),
      })
    },
  ),

  reconcile: role(
    [
      'calls',
      'ports',
      'repository',
      'repositoryHome',
      'publicUrl',
      'egress',
      'tokens',
      'env',
      'clock',
      'timers',
      'onFault',
    ],
    ({ calls, ports, onFault, ...world }) => {
      const { catalogSync, adoptionState, planCommit, adoptCommit } = calls
      return createFollower({
        ...world,
        port: { ...ports, catalogSync, adoptionState, planCommit, adoptCommit },
        onError: (error) => onFault('catalog', error),
      })
    },
  ),
}

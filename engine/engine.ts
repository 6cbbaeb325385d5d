/**
 * The one composition of the engine. Its roles are the writer, the readers and the preparer, which have the store,
 * and those of the network (roles/network.ts), which ask other systems. Where the former run is the caller's to say:
 *
 *     createEngine({ roles: rolesHere(options), … })           all on this thread: tests, tools (roles/here.ts)
 *     createEngine({ roles: await rolesInThreads(options), … }) a thread each: the daemon (threads/start.ts)
 *
 * What is asked passes by name (roles/who-answers.ts), as a direct call or as a message; an operation says itself
 * which role runs it (operations/).
 */
import type { IngestResult } from '../schemas/types.ts'
import { FindingRate, ToldEvents } from './agents/findings.ts'
import type { IngestPost, ReadAnswer, TailFilter, TailMessage } from './calls.ts'
import { type Clock, systemTimers } from './clock.ts'
import { fail, SvcError } from './errors.ts'
import type { Tally } from './log/figures.ts'
import { follow } from './log/live.ts'
import type { Backlog } from './log/timeline/reads.ts'
import { outboundProxy } from './net/address.ts'
import { connectionsPerTarget, createEgress, handleLimit } from './net/fetch.ts'
import { createGithubTokens } from './net/github-app.ts'
import { isRepeatable, operationOf, roleOf } from './operations/index.ts'
import type { NetworkInput, OperationInput } from './operations/input.ts'
import type { NetworkCalls, Operation, Role, ServedEngine } from './operations/operation.ts'
import { createWaiting } from './outbox/fetching.ts'
import type { ClaimedCall, KeyedCall } from './roles/calls.ts'
import { networkRoles, openRole, type World } from './roles/network.ts'
import { type Answering, callsOver } from './roles/who-answers.ts'

/** What a commit left for others to do. */
export interface Signals {
  /** Deliveries, runs or drafts wait. */
  pending(): void
  /** Sources were made, changed or deleted. */
  sourcesChanged(): void
}

/** The roles that have the store, wherever they run. */
export interface StoreRoles extends Answering {
  ingest(post: IngestPost): Promise<IngestResult>
  /** Registers a live listener; it has begun when this resolves. @returns how to stop it */
  listen(filter: TailFilter, send: (message: TailMessage) => void): Promise<() => void>
  /** Promises that what is stored later has a later time of ingest than `instant` (epoch ms). */
  closeInstant(instant: number): Promise<void>
  /** For how long the writer has been at work without getting anything written, ms; 0: it is not at work. */
  writerSilence(): number
  /** What was done since the process started. */
  tallies(): Tally[]
  /** Who is told from now on; until then nobody is. */
  signal(signals: Signals): void
  /** Ends them, the writer last: the data file is complete then. */
  close(): Promise<void>
}

interface EngineParts
  extends Pick<World, 'env' | 'publicUrl' | 'onFault'>,
    Partial<Pick<World, 'repository' | 'repositoryHome'>> {
  roles: StoreRoles
  clock: Clock
  /** Addresses subscribed by a key without scope admin may be private too. */
  webhookAllowPrivate: boolean
  /**
   * Deliveries are sent, runs made, upstreams polled and drafts planned as they are due. Without it, whoever holds
   * the engine does that by its calls: tests and tools.
   */
  works: boolean
}

/** Opens the roles of the network beside those of the store. @returns the engine as doors have it */
export function createEngine({ roles, works, webhookAllowPrivate, ...options }: EngineParts): ServedEngine {
  const { clock, onFault } = options
  const timers = systemTimers
  const connections = connectionsPerTarget(handleLimit())
  const proxy = outboundProxy(options.env)
  const egress = createEgress({ allowPrivate: webhookAllowPrivate, timers, connections, proxy })
  const waiting = createWaiting(timers, (error) => onFault('deliveries', error))
  const { calls, ports } = callsOver(roles)
  const { repository = null, repositoryHome = null } = options
  const base = {
    ...options,
    repository,
    repositoryHome,
    calls,
    ports,
    egress,
    tokens: createGithubTokens({ egress, clock }),
    timers,
    waiting,
    random: Math.random,
  }
  const { models, close: closeModels, calls: modelCalls } = openRole(networkRoles.models, base)
  const tracing = openRole(networkRoles.tracing, base)
  const ask = openRole(networkRoles.ask, { ...base, models, tracing })
  const slack = openRole(networkRoles.slack, { ...base, ask: ask.calls })
  const reconcile = openRole(networkRoles.reconcile, base)
  const work = works ? startWork({ ...base, models, tracing, accounts: slack.accounts }) : null
  roles.signal({
    pending: () => {
      waiting.nudge()
      work?.pending()
    },
    sourcesChanged: () => work?.polling.nudge(),
  })
  const engine: ServedEngine = {
    ...calls,
    ...modelCalls,
    ...tracing.calls,
    ...ask.calls,
    ...slack.calls,
    ...openRole(networkRoles.credentials, base).calls,
    ...openRole(networkRoles.mcpTests, base).calls,
    ...openRole(networkRoles.environment, base).calls,
    ...openRole(networkRoles.fetching, base).calls,
    ...openRole(networkRoles.trials, base).calls,
    ...openRole(networkRoles.workspaces, base).calls,
    ...openRole(networkRoles.clients, base).calls,
    ...reconcile.calls,
    ...readsOver(roles, clock, calls),
    perform: performOver(roles, () => engine),
    status: async () => ({ ...(await calls.status()), tallies: roles.tallies() }),
    writerSilence: () => roles.writerSilence(),
    cancelRun: async (run, by) => {
      const ended = await calls.cancelRun(run, by)
      work?.agents.cut(run)
      return ended
    },
    ingest: (post) => roles.ingest(post),
    close: async () => {
      waiting.stop()
      // What is answered there is left as it is, not told that it ended.
      await slack.answers.stop()
      await Promise.all([work?.stop(), ask.stop(), reconcile.stop()])
      // Runs and turns that have just ended are read for it yet.
      await tracing.stop()
      egress.close()
      closeModels()
      await roles.close()
    },
  }
  work?.pending()
  work?.polling.nudge()
  if (works) {
    ask.takeUp()
    slack.answers.takeUp().catch((error: Error) => onFault('slack', error))
  }
  if (works) reconcile.start()
  return engine
}

/** Starts the roles that work by themselves; each begins with its first nudge. */
function startWork(world: Omit<World, 'ask'>) {
  const outbox = openRole(networkRoles.outbox, world)
  const agents = openRole(networkRoles.agents, world)
  const polling = openRole(networkRoles.polling, world)
  const planning = openRole(networkRoles.planning, world)
  const threads = openRole(networkRoles.threads, world)
  return {
    agents,
    polling,
    /** A commit left something to be sent, run or planned. */
    pending: () => {
      outbox.nudge()
      agents.nudge()
      planning.nudge()
      threads.nudge()
    },
    stop: async () => {
      await Promise.all([outbox.stop(), agents.stop(), polling.stop(), planning.stop(), threads.stop()])
    },
  }
}

/** Reads that speak for an instant, reads that may be wide and findings that cite what they told, and tails. */
function readsOver(
  roles: StoreRoles,
  clock: Clock,
  calls: ReturnType<typeof callsOver>['calls'],
): Pick<ServedEngine, 'read' | 'inspect' | 'recordFinding' | 'tail'> {
  const told = new ToldEvents()
  const rate = new FindingRate(clock)
  const closed = async (asOf: string | undefined): Promise<void> => {
    if (asOf === undefined) return
    const instant = Date.parse(asOf)
    if (instant > clock.now()) fail('invalid', 'as_of must not be in the future', { field: 'as_of' })
    await roles.closeInstant(instant)
  }
  return {
    read: async (request, asked) => {
      if (request.cursor === undefined) await closed(request.as_of)
      const answer =
        request.text === undefined
          ? roles.short('read', [request])
          : roles.wide('read', [request], asked ? { asked } : {})
      return (await answer) as ReadAnswer
    },
    inspect: async (request, asked) => {
      await closed(request.as_of)
      const answer = await calls.inspect(request, asked)
      if (asked) told.keep(asked.by, answer.events)
      return answer
    },
    recordFinding: async (project, body, writer, fetcher) => {
      rate.admit(fetcher.by.id)
      return calls.recordFinding(project, body, writer, fetcher, told.of(fetcher.by.id, body.claims))
    },
    tail: (filter, listener) =>
      follow(
        (send) => roles.listen(filter, send),
        async () => (await roles.short('backlog', [filter])) as Backlog,
        filter.afterId,
        listener,
      ),
  }
}

/* Which role runs an operation, and what is told to it. */

/**
 * @param network what operations of that role call; it is asked for with each
 * @returns each operation run where its role is
 */
export function performOver({ writer, short, wide }: Answering, network: () => NetworkCalls) {
  const once = onceEach(writer)
  return async (id: string, input: NetworkInput): Promise<unknown> => {
    const operation = operationOf(id)
    const role = roleOf(operation, input)
    const { repeat } = input
    if (repeat !== undefined && isRepeatable(operation) && (role === 'writer' || role === 'network'))
      return once(operation, { ...input, repeat }, () => run(operation, role, input))
    return run(operation, role, input)
  }

  async function run(operation: Operation, role: Role, input: NetworkInput): Promise<unknown> {
    const { id } = operation
    if (role === 'network') return operation.run(network(), input)
    // What the writer answers is short, and it has events to store.
    const args = [id, { ...sent(input), ...(role === 'writer' ? {} : { asText: input.asText }) }]
    if (role === 'wide') return wide('perform', args, { asked: input.asked, advice: operation.advice })
    return role === 'writer' ? writer('perform', args) : short('perform', args)
  }
}

/**
 * Calls with an Idempotency-Key. The key is on disk before the call is done, and the answer after it: one that was cut
 * off in between is never done a second time, and told so.
 */
function onceEach(writer: Answering['writer']) {
  const underWay = new Set<string>()
  return async (
    { id }: Operation,
    { caller, params, query, body, repeat }: NetworkInput & { repeat: string },
    run: () => Promise<unknown>,
  ): Promise<unknown> => {
    const said = [params, query, body instanceof Uint8Array ? [...body] : body]
    const call: KeyedCall = { caller: caller.id, operation: id, key: repeat, said }
    const { claim, first } = (await writer('claimCall', [call])) as ClaimedCall
    if (first?.answer) return first.answer.value
    if (underWay.has(claim))
      throw new SvcError('in_flight', 'the first call with this Idempotency-Key is still under way', {
        retryAfter: 1,
      })
    if (first)
      fail(
        'conflict',
        'the first call with this Idempotency-Key was cut off, and may have been done: look for what it would have made, and use a new key where that is not there',
        { field: 'Idempotency-Key' },
      )
    underWay.add(claim)
    try {
      const value = await run().catch(async (error: unknown) => {
        // A refused call changed nothing, and may be sent again with its key.
        if (error instanceof SvcError && error.code !== 'unknown_outcome')
          await writer('endCall', [claim, null])
        throw error
      })
      // Where the answer cannot be kept, the key stays claimed: the call was done, and must not be done again.
      await writer('endCall', [claim, { value }])
      return value
    } finally {
      underWay.delete(claim)
    }
  }
}

/** Without who waits, which is looked at on this side alone. */
const sent = ({ params, query, body, by, caller, user, project, secured }: OperationInput): OperationInput =>
  ({ params, query, body, by, caller, user, project, secured }) satisfies Record<
    Exclude<keyof OperationInput, 'told' | 'asText' | 'repeat'>,
    unknown
  >

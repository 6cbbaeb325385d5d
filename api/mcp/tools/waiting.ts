/**
 * The tools of agents that no address leads to: wait for a firing, hold it by a lease, conclude it. The
 * queue, the leases and their order are the daemon's (docs/triggers.md, Fetching).
 */
import { entityWord } from '../../../schemas/entity-word.ts'
import { escapeLine } from '../../../schemas/plain-text.ts'
import type {
  FiringFetched,
  SubscriptionCreated,
  ToolAckFiring,
  ToolAckFiringResult,
  ToolExtendLease,
  ToolExtendLeaseResult,
  ToolWaitForFiring,
  ToolWaitForFiringResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { DaemonError } from '../daemon.ts'
import { cutTo, PAGE_TOKENS } from '../paging.ts'
import { projectOf } from '../project.ts'
import { adds, type Context, defineTool, ToolError } from '../tool.ts'

const TIMEOUT_S = 45
/** Longer than the daemon's own: a model reads and thinks before it concludes. */
const LEASE_S = 300

export const waitForFiring = defineTool<ToolWaitForFiring, ToolWaitForFiringResult>({
  name: 'wait_for_firing',
  title: 'Wait for a firing',
  description:
    'Waits until a trigger, or any of a project, fires, and hands you that firing with the timeline of its entity. You hold it until lease_until: conclude ends it, extend_lease holds it longer. The first call begins a queue that goes on while you are away; leave_project ends it.',
  scope: 'read',
  ofProject: true,
  hints: adds(),
  awaits: 'a firing',
  async run(args, context) {
    const { lease_seconds = LEASE_S, timeout_seconds = TIMEOUT_S } = args
    const { subscription_id, existing = false } = await queueOf(args, context)
    const fetched = await fetchFiring(subscription_id, { timeout_seconds, lease_seconds }, context)
    const firing = fetched && shown(fetched)
    return {
      text: firing ? textOf(firing, subscription_id) : noneCame(subscription_id, existing),
      content: { subscription_id, existing, firing },
    }
  },
})

/** The caller's queue, begun where it is not there. @throws ToolError; DaemonError */
async function queueOf(
  { trigger, project, name }: ToolWaitForFiring,
  context: Context,
): Promise<SubscriptionCreated> {
  const { daemon, identity, signal } = context
  const named = { fetch: true, name } as const
  if (trigger === undefined) {
    const { id } = await projectOf(project, context)
    return daemon.ask(calls.subscribeProject, { id, body: named }, signal)
  }
  if (project !== undefined)
    throw new ToolError('give trigger or project, not both: a trigger is named alone', 'trigger')
  if (identity.project !== undefined)
    throw new ToolError(
      'a project key waits for every trigger of its project; leave trigger out and look at the trigger of each firing',
      'trigger',
    )
  return daemon.ask(calls.subscribe, { body: { trigger, ...named } }, signal)
}

type Fetched = NonNullable<FiringFetched['delivery']>
type Firing = NonNullable<ToolWaitForFiringResult['firing']>

/**
 * @returns null: none came, or nobody waits any more. What nobody is told of is given back.
 * @throws DaemonError, also one that ended the wait: its credential is no longer known
 */
async function fetchFiring(
  sid: string,
  how: { timeout_seconds: number; lease_seconds: number },
  { daemon, waits }: Context,
): Promise<Fetched | null> {
  const gone = waits()
  try {
    const { delivery } = await daemon.ask(calls.fetchFiring, { sid, body: how }, gone)
    if (delivery === null || !gone.aborted) return delivery
    const { delivery_id, lease } = delivery
    await daemon.ask(calls.releaseFiring, { sid, body: { delivery_id, lease } })
    return null
  } catch (error) {
    if (gone.reason instanceof DaemonError) throw gone.reason
    if (error instanceof DaemonError && gone.aborted) return null
    throw error
  }
}

function shown({ message, ...held }: Fetched): Firing {
  const { text: timeline, cut } = cutTo(message.payload, PAGE_TOKENS)
  const { dispatch_id, trigger, project, entity, key, fired_at, reason, events, event_ids, run_ids } = message
  return {
    ...held,
    dispatch_id,
    trigger,
    project,
    entity,
    key,
    fired_at,
    reason,
    events,
    event_ids,
    run_ids,
    ...(message.resolves === undefined ? {} : { resolves: message.resolves }),
    practice: message.practice ?? false,
    timeline,
    cut,
  }
}

function textOf(firing: Firing, subscription: string): string {
  const { trigger, key, entity, reason, fired_at, project, tries } = firing
  const { delivery_id, lease, lease_until } = firing
  const about = entity ? entityWord(entity.label, entity.value) : escapeLine(key)
  return [
    `${trigger} fired for ${about} at ${fired_at}: ${escapeLine(reason)}${firing.practice ? ' (practice: look, and act on nothing)' : ''}${firing.resolves ? ` (${firing.resolves} is over)` : ''}`,
    `project ${project ?? 'none'}; ${tries === 1 ? '' : `try ${tries} of 5, others had it before you; `}yours until ${lease_until}`,
    `conclude it with subscription_id ${subscription}, delivery_id ${delivery_id}, lease ${lease}`,
    `\n${firing.timeline}${firing.cut ? '\n[cut: read has the rest]' : ''}`,
  ].join('\n')
}

const noneCame = (subscription: string, existing: boolean): string =>
  `none came${existing ? '' : '; the queue begins now, so what fired before is not in it'}. Call again to go on waiting (${subscription})`

export const ackFiring = defineTool<ToolAckFiring, ToolAckFiringResult>({
  name: 'ack_firing',
  title: 'Acknowledge a firing',
  description: 'Ends a firing that you hold, as conclude does with verdict no_op.',
  scope: 'read',
  ofProject: true,
  hints: adds(),
  async run(holding, context) {
    await acknowledge(holding, context)
    return {
      text: `${holding.delivery_id} is acknowledged`,
      content: { delivery_id: holding.delivery_id, acknowledged: true },
    }
  },
})

export const extendLease = defineTool<ToolExtendLease, ToolExtendLeaseResult>({
  name: 'extend_lease',
  title: 'Hold a firing longer',
  description: 'Holds a firing that wait_for_firing gave you for longer, from now.',
  scope: 'read',
  ofProject: true,
  hints: adds({ idempotentHint: true }),
  async run({ lease_seconds = LEASE_S, ...holding }, context) {
    const until = await extend(holding, lease_seconds, context)
    return {
      text: `yours until ${until}`,
      content: { delivery_id: holding.delivery_id, lease_until: until },
    }
  },
})

/** A firing in the caller's hands. */
export type Holding = Pick<ToolAckFiring, 'subscription_id' | 'delivery_id' | 'lease'>

/** @throws DaemonError: the lease has ended, or it is another's */
export async function acknowledge(holding: Holding, { daemon, signal }: Context): Promise<void> {
  const { subscription_id, delivery_id, lease } = holding
  await daemon.ask(calls.acknowledgeFiring, { sid: subscription_id, body: { delivery_id, lease } }, signal)
}

/** @returns until when it is held. @throws DaemonError: the lease has ended, or it is another's */
export async function extend(
  { subscription_id, delivery_id, lease }: Holding,
  lease_seconds: number,
  { daemon, signal }: Context,
): Promise<string> {
  const { lease_until } = await daemon.ask(
    calls.extendLease,
    { sid: subscription_id, body: { delivery_id, lease, lease_seconds } },
    signal,
  )
  return lease_until
}

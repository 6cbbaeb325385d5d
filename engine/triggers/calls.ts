/** Triggers at work as callers see them; here what is written: subscriptions. */
import type { SubscriptionCreated } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import { fail } from '../errors.ts'
import { slackChannelOf } from '../model/addresses.ts'
import type { Audience } from '../net/fetch.ts'
import { addressFault } from '../net/secrets.ts'
import type { Subscriptions } from '../outbox/subscriptions.ts'
import type { TriggerReads } from './reads.ts'

export interface TriggerWrites {
  /**
   * @param body a trigger by name, or a project by id or name.
   * @param to `url` null: firings are fetched instead of posted.
   * @throws SvcError not_found; invalid for an address that may not be reached
   */
  subscribe(
    body: { trigger: string } | { project: string },
    to: { url: string | null; name?: string | undefined; audience: Audience },
    by: Caller,
  ): Promise<SubscriptionCreated>
  /**
   * One that this caller may remove and that is removed already is no error, unless `strict`.
   * @param own only one that this caller made.
   * @throws SvcError forbidden; not_found, naming the id
   */
  unsubscribe(
    id: string,
    by: Caller,
    how: { own: boolean; project?: string | undefined; strict: boolean },
  ): Promise<{ ok: true }>
}

export type TriggerCalls = TriggerWrites & TriggerReads

/** What says whether an address may be subscribed. */
export interface AddressRules {
  /** Whether Slack has a bot token. */
  hasSlack(): Promise<boolean>
  /** @returns why an address may not be posted to; null when it may */
  checkTarget(url: string, audience: Audience): Promise<string | null>
}

export function triggerWrites(
  parts: AddressRules & {
    subscriptions: Subscriptions
    /** @throws SvcError not_found */
    requireTrigger(name: string): void
    /** @returns its id. @throws SvcError not_found */
    requireProject(word: string): string
  },
): TriggerWrites {
  const { subscriptions } = parts
  return {
    subscribe: async (body, to, by) => {
      if ('trigger' in body) parts.requireTrigger(body.trigger)
      const project = 'project' in body ? parts.requireProject(body.project) : null
      if (to.url !== null) await requireAddress(parts, to.url, to.audience, 'url')
      return subscriptions.add({ trigger: 'trigger' in body ? body.trigger : null, project, ...to }, by)
    },
    unsubscribe: async (id, by, { own, project, strict }) => {
      const found = subscriptions.find(id)
      const isThere = found && (project === undefined || found.project === parts.requireProject(project))
      if (!isThere) {
        const madeBy = strict ? undefined : subscriptions.callerOfRemoved(id)
        // A call that is repeated because its answer was lost succeeds again.
        if (madeBy !== undefined && (!own || madeBy === by.id)) return { ok: true }
        return fail('not_found', `no subscription has the id ${id}`)
      }
      if (own && found.caller !== by.id)
        fail('forbidden', 'another credential made this subscription; one with scope admin removes it')
      subscriptions.remove(id)
      return { ok: true }
    },
  }
}

/**
 * The bot of Slack speaks for the instance: who it speaks to is an operator's to say.
 * @param field what the sentence begins with
 * @throws SvcError forbidden; invalid for an address that may not be reached
 */
export async function requireAddress(
  { hasSlack, checkTarget }: AddressRules,
  url: string,
  audience: Audience,
  field: string,
): Promise<void> {
  const refuse = (fault: string) => fail('invalid', `${field}: ${fault}`, { field })
  if (!url.startsWith('slack:')) {
    const fault = addressFault(url) ?? (await checkTarget(url, audience))
    if (fault) refuse(fault)
    return
  }
  if (audience !== 'operator')
    fail('forbidden', `${field}: a channel of Slack is subscribed with a credential of scope admin`, {
      field,
    })
  if (slackChannelOf(url) === null)
    fail('invalid', `${field} must be slack://channel/ and the id or the name of a channel`, { field })
  if (!(await hasSlack())) refuse('no bot token of Slack is set; add one under Settings, Slack')
}

/** Whom a trigger tells, in its sentence: agents it wakes, and addresses its firings are posted to. */
import { Anchor, MultiSelect, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Agent, Trigger } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { faultAt } from '../../lib/field-errors.ts'
import { triggerPath } from '../../lib/paths.ts'
import { isAddress, tells } from '../../lib/subscriptions.ts'
import { useChoices } from '../../parts/choices.tsx'
import { wkeys, work } from '../../trigger-client.ts'
import { Line, Slot, Words } from './line.tsx'
import type { Part } from './part.ts'

/** Agents that a stored trigger wakes. @param stored undefined: none is stored yet */
export const wokenBy = (agents: readonly Agent[], stored: Trigger | undefined): string[] =>
  stored ? agents.filter(({ triggers }) => triggers.includes(stored.name)).map(({ name }) => name) : []

export function NotifyFields({
  draft,
  set,
  errors,
  stored,
}: Pick<Part, 'draft' | 'set' | 'errors'> & { stored: Trigger | undefined }) {
  const agents = useChoices(
    'agents',
    { queryKey: dkeys.agents, queryFn: () => declared.agents() },
    stored !== undefined,
  )
  const all = agents.data?.agents ?? []
  const subscribed = useQuery({
    queryKey: wkeys.subscriptions,
    queryFn: work.subscriptions,
    enabled: stored !== undefined && stored.subscribers > 0,
  })
  const told = stored ? (subscribed.data ?? []).filter((one) => tells(one, stored)).length : 0
  const woken = draft.wakes ?? wokenBy(all, stored)
  return (
    <Line>
      <Words>and notify</Words>
      <Slot path="notify.agents" width={210}>
        <MultiSelect
          aria-label="Agents to notify"
          placeholder={woken.length ? '' : 'no agent'}
          data={[...new Set([...woken, ...all.map(({ name }) => name)])]}
          value={woken}
          onChange={(names) => set('wakes', names)}
          error={faultAt(errors, 'notify.agents')}
          searchable
          nothingFoundMessage="No agents yet"
          {...agents.field}
        />
      </Slot>
      <Slot path="notify.addresses" width={230}>
        <TagsInput
          aria-label="Addresses to notify"
          placeholder={draft.addresses.length ? '' : 'https://… or #channel'}
          value={draft.addresses}
          onChange={(addresses) => set('addresses', addresses)}
          error={faultAt(errors, 'notify.addresses')}
          maxTags={10}
          acceptValueOnBlur
        />
      </Slot>
      {stored && told > 0 && (
        <Words>
          besides{' '}
          <Anchor component={Link} to={triggerPath(stored.name, 'subscriptions')} size="sm">
            {told} {told === 1 ? 'subscription' : 'subscriptions'}
          </Anchor>
        </Words>
      )}
    </Line>
  )
}

/** A fault of what is typed there, by its field. */
export function notifyFaults({ addresses }: Part['draft']): Record<string, string> {
  const wrong = addresses.find((typed) => !isAddress(typed))
  return wrong === undefined
    ? {}
    : { 'notify.addresses': `${wrong} is no address: an http or https URL, or #channel of Slack` }
}

/** Whom a trigger tells, in its sentence: agents it wakes, and addresses its firings are posted to. */
import { Anchor, MultiSelect, TagsInput } from '@mantine/core'
import { Link } from 'react-router'
import type { Trigger } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { faultAt } from '../../lib/field-errors.ts'
import { triggerPath } from '../../lib/paths.ts'
import { isAddress } from '../../lib/subscriptions.ts'
import { useChoices } from '../../parts/choices.tsx'
import { Line, Slot, Words } from './line.tsx'
import type { Part } from './part.ts'

export function NotifyFields({
  draft,
  set,
  errors,
  stored,
}: Pick<Part, 'draft' | 'set' | 'errors'> & { stored: Trigger | undefined }) {
  const agents = useChoices('agents', { queryKey: dkeys.agents, queryFn: () => declared.agents() })
  const all = agents.data?.agents ?? []
  const told = stored?.subscriptions ?? 0
  const woken = draft.wakes ?? stored?.wakes ?? []
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

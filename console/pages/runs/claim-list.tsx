/** Claims with whether the events hold them, and each event cited as a link into the timeline. */
import { Badge, List, Text } from '@mantine/core'
import { Check, CircleHelp, X } from 'lucide-react'
import type { CheckedClaim } from '../../../schemas/types.ts'
import { claimFault } from '../../lib/claim-fault.ts'
import { countEvents } from '../../lib/time.ts'
import { EventLinks } from '../../parts/event-links.tsx'

interface Props {
  claims: readonly CheckedClaim[]
  entity: { label: string; value: string }
}

type State = 'holds' | 'unproved' | 'fails'

const stateOf = ({ ok, unproved }: CheckedClaim): State => (ok ? 'holds' : unproved ? 'unproved' : 'fails')
const WORDS: Record<State, string> = { holds: 'Holds', unproved: 'Unproved', fails: 'Does not hold' }
const COLOURS: Record<State, string> = {
  holds: 'var(--mantine-color-teal-8)',
  unproved: 'var(--mantine-color-yellow-9)',
  fails: 'var(--mantine-color-red-8)',
}
const ROLES: Record<CheckedClaim['role'], string> = {
  cause: 'Cause',
  effect: 'Effect',
  ruled_out: 'Ruled out',
  context: 'Context',
}

function Sign({ claim }: { claim: CheckedClaim }) {
  const state = stateOf(claim)
  if (state === 'holds') return <Check size={13} aria-hidden />
  return state === 'unproved' ? <CircleHelp size={13} aria-hidden /> : <X size={13} aria-hidden />
}

export function ClaimList({ claims, entity }: Props) {
  return (
    <List spacing="xs" aria-label="Claims" listStyleType="none" withPadding={false}>
      {claims.map((claim, i) => (
        <List.Item
          // biome-ignore lint/suspicious/noArrayIndexKey: two claims may say the same.
          key={i}
          icon={
            <span
              className="claim-sign"
              style={{ background: COLOURS[stateOf(claim)] }}
              role="img"
              aria-label={WORDS[stateOf(claim)]}
            >
              <Sign claim={claim} />
            </span>
          }
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Badge size="sm" variant="default" mr="xs">
              {ROLES[claim.role]}
            </Badge>
            {claim.text}
            {claim.quote !== null && <> “{claim.quote}”</>}
            {claim.number !== null && <> ({claim.number})</>}
            {claim.count !== null && <> ({countEvents(claim.count)})</>}
            {claim.was !== null && claim.now !== null && (
              <>
                {' '}
                ({claim.was} → {claim.now})
              </>
            )}
          </Text>
          <Text size="xs" component="div">
            <EventLinks ids={claim.events} entity={entity} />
          </Text>
          {!claim.ok && (
            <Text size="sm" fw={600}>
              {claimFault(claim)}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  )
}

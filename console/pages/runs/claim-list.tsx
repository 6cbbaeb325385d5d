/** Claims with whether the events hold them, and each event cited as a link into the timeline. */
import { List, Text, ThemeIcon } from '@mantine/core'
import { Check, X } from 'lucide-react'
import type { CheckedClaim } from '../../../schemas/types.ts'
import { EventLinks } from '../../parts/event-links.tsx'

interface Props {
  claims: readonly CheckedClaim[]
  entity: { label: string; value: string }
}

export function ClaimList({ claims, entity }: Props) {
  return (
    <List spacing="xs" aria-label="Claims" listStyleType="none" withPadding={false}>
      {claims.map((claim, i) => (
        <List.Item
          // biome-ignore lint/suspicious/noArrayIndexKey: two claims may say the same.
          key={i}
          icon={
            <ThemeIcon
              size={20}
              radius="xl"
              color={claim.ok ? 'teal.8' : 'red.8'}
              role="img"
              aria-label={claim.ok ? 'Holds' : 'Does not hold'}
            >
              {claim.ok ? <Check size={13} aria-hidden /> : <X size={13} aria-hidden />}
            </ThemeIcon>
          }
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {claim.text}
            {claim.quote !== null && <> “{claim.quote}”</>}
            {claim.number !== null && <> ({claim.number})</>}
          </Text>
          <Text size="xs" component="div">
            <EventLinks ids={claim.events} entity={entity} />
          </Text>
          {!claim.ok && (
            <Text size="sm" fw={600}>
              Does not hold: {claim.why ?? 'the events do not have it'}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  )
}

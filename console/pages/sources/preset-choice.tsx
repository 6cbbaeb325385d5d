/** The known senders of webhooks: searched, one of them chosen; what was chosen, and where its address and secret go. */
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Group,
  Paper,
  Stack,
  Text,
  TextInput,
  Title,
  UnstyledButton,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PresetFit, SenderPreset } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'

const usePresets = () =>
  useQuery({ queryKey: keys.presets, queryFn: api.presets, staleTime: Number.POSITIVE_INFINITY })

/** A name that a source of a preset may begin with. */
export const nameOfPreset = (preset: string): string => preset.replaceAll('_', '-')

/** What a preset's letter stands in, whatever the sender. */
function Letter({ of }: { of: string }) {
  return (
    <span className="preset-letter" aria-hidden>
      {of.slice(0, 1)}
    </span>
  )
}

/** Senders to choose from, above the form of a webhook that has none. */
export function PresetChoice({ onChoose }: { onChoose: (preset: SenderPreset) => void }) {
  const { data } = usePresets()
  const [filter, setFilter] = useState('')
  if (!data) return null
  const words = filter.trim().toLowerCase()
  const shown = data.filter(({ name, label, about }) =>
    `${name} ${label} ${about}`.toLowerCase().includes(words),
  )
  const first = words === '' ? undefined : shown[0]
  return (
    <Stack component="section" aria-label="Known senders" gap="xs">
      <Title order={3} size="h5">
        Known senders
      </Title>
      <Text size="sm" c="dimmed">
        A preset reads what the sender documents: type, sentence, time, entity, labels. Any other sender needs
        none.
      </Text>
      <TextInput
        aria-label="Search senders"
        placeholder="Search senders"
        description={first ? `Enter chooses ${first.label}` : undefined}
        inputWrapperOrder={['input', 'description']}
        value={filter}
        onChange={(event) => setFilter(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          // The form around it is not submitted by a search.
          event.preventDefault()
          if (first) onChoose(first)
        }}
        maw={340}
      />
      {shown.length === 0 && <Text size="sm">No senders match</Text>}
      <ul className="preset-list" aria-label="Senders">
        {shown.map((preset) => (
          <li key={preset.name}>
            <UnstyledButton className="preset" title={preset.about} onClick={() => onChoose(preset)}>
              <Letter of={preset.label} />
              <span className="ellipsis">{preset.label}</span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </Stack>
  )
}

/** What a source of a preset needs of its sender's pages; nothing for a source without one. */
export function PresetSetup({ name, onDrop }: { name: unknown; onDrop?: () => void }) {
  const { data } = usePresets()
  const preset = data?.find((one) => one.name === name)
  if (!preset) return null
  const { label, about, setup, signature, entity, docs } = preset
  return (
    <Paper withBorder p="md" radius="md" role="region" aria-label={`Preset ${label}`} maw={820}>
      <Stack gap={6}>
        <Group gap={8} wrap="nowrap">
          <Letter of={label} />
          <Text fw={600}>{label}</Text>
          {onDrop && (
            <Button size="compact-sm" variant="default" ml="auto" onClick={onDrop}>
              Use no preset
            </Button>
          )}
        </Group>
        <Text size="sm">{about}</Text>
        <Text size="sm">
          <b>Address:</b> {setup}
        </Text>
        <Text size="sm">
          <b>Secret:</b>{' '}
          {signature
            ? `${signature.where} It goes into Signing secret.`
            : 'The sender signs nothing: it sends the ingest key.'}
        </Text>
        <Group gap={6}>
          <Text size="sm">
            <b>Entity:</b>
          </Text>
          {entity.map((one) => (
            <Badge key={one} size="sm" variant="light" tt="none">
              {one}
            </Badge>
          ))}
        </Group>
        <Anchor size="sm" href={docs} target="_blank" rel="noreferrer" underline="always">
          Documentation of {label}
        </Anchor>
      </Stack>
    </Paper>
  )
}

interface OfferProps {
  fit: PresetFit | undefined
  /** The preset of the config that is shown. */
  used: unknown
  onUse: (config: Record<string, unknown>) => void
}

/** What a source received looks like a known sender's: its preset by a click. */
export function PresetOffer({ fit, used, onUse }: OfferProps) {
  if (!fit) return null
  const isUsed = used === fit.name
  const share = fit.fits === fit.sampled ? '' : ` (${fit.fits} of ${fit.sampled} payloads)`
  return (
    <Alert role="region" title={`This looks like ${fit.label}${share}`}>
      <Group gap="sm">
        <Text size="sm" aria-live="polite">
          {isUsed
            ? 'Its preset reads them. Roles you set here win over the preset.'
            : 'Its preset reads type, sentence, time, entity and labels as the sender documents them.'}
        </Text>
        {!isUsed && (
          <Button size="compact-sm" onClick={() => onUse(fit.config)}>
            Use the preset
          </Button>
        )}
      </Group>
    </Alert>
  )
}

/** The delivery its sender documents, where a source has a preset. */
export function useDocumented(name: unknown): SenderPreset['example'] | undefined {
  const { data } = usePresets()
  return data?.find((one) => one.name === name)?.example
}

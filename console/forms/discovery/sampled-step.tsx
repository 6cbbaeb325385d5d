/** What the chosen metrics say at present, the label that is the entity, and the config proposed for them. */
import { Alert, Badge, Button, Group, Loader, Radio, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  type Ask,
  metricsText,
  type Sampled,
  type SampledMetric,
  sampledOf,
  sampleText,
  valuesText,
} from './picking.ts'
import { type Form, ProposedChanges } from './proposal-view.tsx'

interface Props {
  id: number
  names: readonly string[]
  wantedKey: string | null
  onKey: (key: string | null) => void
  ask: Ask
  form: Form
  onBack: () => void
  onDrop: () => void
}

export function SampledStep({ id, names, wantedKey, onKey, ask, form, onBack, onDrop }: Props) {
  const found = useQuery({
    queryKey: ['discovery', id, 'selected', names, wantedKey],
    queryFn: ({ signal }) =>
      ask({ selected: names, ...(wantedKey === null ? {} : { key: wantedKey }) }, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const back = (
    <Button size="sm" variant="default" onClick={onBack}>
      Back
    </Button>
  )
  if (found.isPending)
    return (
      <Stack gap="sm" align="flex-start">
        <Group gap="xs" role="status">
          <Loader size="xs" aria-hidden />
          <Text size="sm">Taking samples of {metricsText(names.length)}, for at most 30 seconds…</Text>
        </Group>
        {back}
      </Stack>
    )
  if (found.error)
    return (
      <Stack gap="sm">
        <Alert color="red" title="Nothing was proposed" role="alert">
          {found.error.message}
        </Alert>
        <Group gap="xs">
          <Button size="sm" loading={found.isFetching} onClick={() => void found.refetch()}>
            Try again
          </Button>
          {wantedKey !== null && (
            <Button size="sm" variant="default" onClick={() => onKey(null)}>
              Use the suggested label
            </Button>
          )}
          {back}
        </Group>
      </Stack>
    )
  const sampled = sampledOf(found.data)
  const { summary } = found.data
  return (
    <Stack gap="md">
      <Text fw={600} role="status">
        {found.isPlaceholderData
          ? `Asking again with ${wantedKey ?? 'the suggested label'}…`
          : String(summary)}
      </Text>
      <SampleTable metrics={sampled.metrics} />
      <KeyRadios
        sampled={sampled}
        value={found.isPlaceholderData ? (wantedKey ?? sampled.suggested) : sampled.key}
        onChange={(key) => onKey(key === sampled.suggested ? null : key)}
      />
      <ProposedChanges
        {...form}
        proposed={sampled.proposed}
        isStale={found.isPlaceholderData}
        back={back}
        onDrop={onDrop}
      />
    </Stack>
  )
}

function SampleTable({ metrics }: { metrics: readonly SampledMetric[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must take the keyboard.
    <section className="pick-samples" aria-label="Samples" tabIndex={0}>
      <Table verticalSpacing={6} aria-label="Samples" stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Metric</Table.Th>
            <Table.Th>Type</Table.Th>
            <Table.Th ta="right">Sample</Table.Th>
            <Table.Th>Labels of that series</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {metrics.map(({ name, type, rate_over: over, sample, labels }) => (
            <Table.Tr key={name}>
              <Table.Td className="mono pick-name">{name}</Table.Td>
              <Table.Td>{over === undefined ? type : `${type}, read as its rate over ${over}`}</Table.Td>
              <Table.Td ta="right" {...(sample === null ? { c: 'dimmed' } : {})}>
                {sampleText(sample)}
              </Table.Td>
              <Table.Td className="mono pick-labels">
                {Object.entries(labels)
                  .map(([label, value]) => `${label}=${value}`)
                  .join('  ')}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

interface KeyProps {
  sampled: Sampled
  value: string | null
  onChange: (key: string) => void
}

function KeyRadios({ sampled: { choices, suggested }, value, onChange }: KeyProps) {
  if (choices.length === 0)
    return (
      <Text size="sm" c="dimmed">
        These series have no label that could say what they are about, so their events belong to no entity.
      </Text>
    )
  return (
    <Radio.Group
      label="Entity label"
      description="Says what a value is about: each of its values gets a timeline. Values are those of the series looked at."
      value={value}
      onChange={onChange}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" mt="xs">
        {choices.map((choice) => (
          <Radio
            key={choice.name}
            value={choice.name}
            label={
              <>
                {choice.name}{' '}
                {choice.name === suggested && (
                  <Badge size="sm" variant="default" tt="none">
                    suggested
                  </Badge>
                )}
              </>
            }
            description={valuesText(choice)}
            styles={{ description: { overflowWrap: 'anywhere' }, body: { minWidth: 0 } }}
          />
        ))}
      </SimpleGrid>
    </Radio.Group>
  )
}
